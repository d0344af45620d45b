#include "launch/client/hook.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/os_abstract_name.h"
#include "base/os_host.h"
#include "job/launch_hook.h"
#include "launch/hosts/auth_handshake.h"
#include "launch/hosts/launch_ports.h"
#include "launch/hosts/root.h"
#include "launch/hosts/root_place.h"
#include "launch/launcher_signals.h"
#include "launch/local/binding.h"
#include "launch/local/guardian.h"
#include "launch/local/launcher.h"
#include "launch/report.h"
#include "launch/terminal.h"

namespace gex::launch {

namespace {

Launch launch_on(const job::HostParts& hosts) {
  Launch launch;
  launch.hosts = hosts;
  launch.program = program_invocation_name;
  launch.exit_timeout = env::seconds(env::Variable::exit_timeout);
  launch.exit_grace = env::seconds(env::Variable::exit_grace);
  launch.hang = hang_options_of_environment();
  return launch;
}

job::Membership fork_ranks(std::uint32_t ranks) {
  job::HostParts here;
  here.add(os::hostname(), ranks);
  Launch plan = launch_on(here);
  plan.bind = bind_of_environment();
  return launch(plan);
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

std::string start_root(const job::HostParts& hosts) {
  Launch launch = launch_on(hosts);
  launch.launcher = getppid();
  RootAddress address;
  const std::optional<Secret> secret = Secret::generate();
  os::FileDescriptor listener = listen_for_guardians(address, Reach::all_hosts, launch_ports());
  if (!listener) fatal_system(cannot_listen().c_str(), errno);
  if (!secret) fatal_system("cannot draw the job's secret", errno);
  run_detached("cannot start the root of the job", [&] {
    keep_only({listener.get()});
    prctl(PR_SET_NAME, "gex-root");
    return run_root_of_started(launch, *secret, std::move(listener));
  });
  return text_of({address, *secret});
}

std::string start_guardian(const job::HostParts& hosts, std::uint32_t host,
                           const std::string& root) {
  std::optional<RootPlace> place;
  if (!root.empty()) {
    place = root_of(root);
    if (!place) return {};
  }
  Launch launch = launch_on(hosts);
  launch.host = host;
  std::string name;
  const os::FileDescriptor listener = listen_for_ranks(name);
  if (!listener) fatal_system("cannot listen for the ranks of this host", errno);
  launch.adopts = listener.get();
  launch.launcher = getppid();
  run_detached("cannot start the guardian of this host", [&] {
    keep_only({listener.get()});
    if (place) {
      std::string why;
      RootConnection root = connect_to_root(place->address, place->secret, launch.host, why);
      launch.root = root.socket.release();
      launch.root_keys = root.keys;
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

void register_launch_hook() noexcept {
  job::set_launch_hook({fork_ranks, start_root, start_guardian});
}

}  // namespace gex::launch
