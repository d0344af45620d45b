#include "boot/foreign.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/os_abstract_name.h"
#include "boot/auth_handshake.h"
#include "boot/guardian.h"
#include "boot/launcher_signals.h"
#include "boot/process_tree.h"
#include "boot/root.h"
#include "boot/root_place.h"
#include "boot/terminal.h"

namespace gex::boot {

namespace {

[[noreturn]] void fail(const ProcessManager& manager, const char* what) {
  fatal("cannot %s by %s: %s", what, manager.protocol(), manager.error().c_str());
}

void put(ProcessManager& manager, const char* key, const std::string& value) {
  if (!manager.put(key, value)) fail(manager, "publish this process's address");
}

std::string get(ProcessManager& manager, std::uint32_t rank, const char* key) {
  const auto value = manager.get(rank, key);
  if (!value) fail(manager, "look up the other processes");
  return *value;
}

void fence(ProcessManager& manager) {
  if (!manager.fence()) fail(manager, "wait for the other processes");
}

/// Identifies the host of processes that can share descriptors and detect each other's end: the
/// boot of the machine, its name, and the network and process namespaces.
std::string host_identity() {
  char boot[64] = "";
  const os::FileDescriptor file(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (file && read(file.get(), boot, 36) != 36) boot[0] = '\0';
  std::string identity = host_name() + "/" + boot;
  for (const char* const name : {"/proc/self/ns/net", "/proc/self/ns/pid"}) {
    struct stat status {};
    if (stat(name, &status) == 0) identity += "/" + std::to_string(status.st_ino);
  }
  return identity;
}

std::string name_of(const std::string& identity) {
  return identity.substr(0, identity.find('/'));
}

/// The hosts on which the launcher has placed the ranks.
HostParts find_hosts(ProcessManager& manager) {
  HostParts hosts;
  std::map<std::string, std::uint32_t> numbers;
  for (std::uint32_t rank = 0; rank < manager.size(); ++rank) {
    const std::string identity = get(manager, rank, "host");
    const auto [found, is_new] = numbers.try_emplace(identity, hosts.size());
    if (is_new) hosts.add(name_of(identity));
    hosts.place_next(found->second);
  }
  return hosts;
}

os::FileDescriptor listen_for_ranks(std::string& name) {
  std::array<std::byte, 16> random;
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) return {};
  name = "gex-" + hex(random);
  os::FileDescriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener || os::bind_abstract(listener.get(), name) != 0 ||
      listen(listener.get(), SOMAXCONN) != 0) {
    return {};
  }
  return listener;
}

os::FileDescriptor connect_to_guardian(const std::string& name) {
  os::FileDescriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!connection || os::connect_abstract(connection.get(), name) != 0) {
    fatal_system("cannot connect to the guardian of this host", errno);
  }
  return connection;
}

/// Closes all descriptors but these and standard error: the launcher and the client may be waiting
/// for their ends of them to be closed.
void keep_only(const std::vector<int>& kept) {
  const os::FileDescriptor nothing = os::open_empty_input();
  dup2(nothing.get(), STDIN_FILENO);
  dup2(nothing.get(), STDOUT_FILENO);
  std::vector<int> unwanted;
  const std::unique_ptr<DIR, int (*)(DIR*)> open_files(opendir("/proc/self/fd"), closedir);
  const auto consider = [&](int descriptor) {
    if (descriptor > STDERR_FILENO &&
        std::find(kept.begin(), kept.end(), descriptor) == kept.end()) {
      unwanted.push_back(descriptor);
    }
  };
  while (const dirent* const entry = open_files ? readdir(open_files.get()) : nullptr)
    consider(std::atoi(entry->d_name));
  // Without /proc try all numbers.
  const long numbers = open_files ? 0 : std::min(sysconf(_SC_OPEN_MAX), 65536L);
  for (int descriptor = 0; descriptor < numbers; ++descriptor) consider(descriptor);
  for (const int descriptor : unwanted) close(descriptor);
}

/// Runs `work` in an orphaned process, in a process group of its own, with all signals blocked.
void run_detached(const char* what, const std::function<int()>& work) {
  const pid_t intermediate = fork();
  if (intermediate < 0) fatal_system(what, errno);
  if (intermediate == 0) {
    leave_terminal();
    const pid_t detached = fork();
    if (detached != 0) _exit(detached < 0 ? errno : 0);
    take_over_signals();
    _exit(work());
  }
  int status = 0;
  while (waitpid(intermediate, &status, 0) < 0 && errno == EINTR) {
  }
  // A client that reaps all children may have reaped this one. Then connecting fails instead.
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) fatal_system(what, WEXITSTATUS(status));
}

/// Starts the root of a job of several hosts on rank 0's host; returns its address as text.
std::string start_root(const Launch& launch) {
  RootAddress address;
  const std::optional<Secret> secret = Secret::generate();
  os::FileDescriptor listener = listen_for_guardians(address, Reach::all_hosts);
  if (!secret || !listener) fatal_system("cannot listen for the other hosts", errno);
  run_detached("cannot start the root of the job", [&] {
    keep_only({listener.get()});
    prctl(PR_SET_NAME, "gex-root");
    return run_root_of_started(launch, *secret, std::move(listener));
  });
  return text_of({address, *secret});
}

/// Starts the guardian of this host; returns the name of its socket.
std::string start_guardian(Launch launch, const std::optional<RootPlace>& root) {
  std::string name;
  const os::FileDescriptor listener = listen_for_ranks(name);
  if (!listener) fatal_system("cannot listen for the ranks of this host", errno);
  launch.adopts = listener.get();
  launch.launcher = getppid();
  run_detached("cannot start the guardian of this host", [&] {
    keep_only({listener.get()});
    if (root) {
      std::string why;
      launch.root = connect_to_root(root->address, root->secret, launch.host, why).release();
      if (launch.root < 0) {
        report(launch.program_name, "host %s: cannot connect to the root of the job: %s",
               launch.part().name.c_str(), why.c_str());
        return 1;
      }
    }
    Guardian guardian(launch, os::FileDescriptor(), {});
    guardian.start();
    return guardian.serve_watched();
  });
  return name;
}

}  // namespace

Membership join_foreign(ProcessManager& manager) {
  put(manager, "host", host_identity());
  fence(manager);
  Launch launch;
  launch.hosts = find_hosts(manager);
  launch.exit_timeout = env::seconds(env::Variable::exit_timeout);
  launch.exit_grace = env::seconds(env::Variable::exit_grace);
  launch.host = launch.hosts.host_of(manager.rank());

  std::optional<RootPlace> root;
  if (launch.hosts.size() > 1) {
    if (manager.rank() == 0) put(manager, "root", start_root(launch));
    fence(manager);
    root = root_of(get(manager, 0, "root"));
    if (!root)
      fatal("rank 0 published an invalid address of the job's root by %s", manager.protocol());
  }
  const std::uint32_t first = launch.part().ranks.front();
  if (manager.rank() == first) put(manager, "guardian", start_guardian(launch, root));
  fence(manager);

  Membership membership;
  membership.control = connect_to_guardian(get(manager, first, "guardian")).release();
  membership.rank = manager.rank();
  membership.size = manager.size();
  return membership;
}

}  // namespace gex::boot
