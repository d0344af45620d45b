#include "job/foreign.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <string>

#include "base/error.h"
#include "base/os_abstract_name.h"
#include "base/os_file.h"
#include "base/os_host.h"
#include "job/host_parts.h"
#include "job/launch_hook.h"

namespace gex::job {

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
  std::string identity = os::hostname() + "/" + os::boot_id();
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

os::FileDescriptor connect_to_guardian(const std::string& name) {
  os::FileDescriptor connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!connection || os::connect_abstract(connection.get(), name) != 0) {
    fatal_system("cannot connect to the guardian of this host", errno);
  }
  return connection;
}

}  // namespace

Membership join_foreign(ProcessManager& manager) {
  put(manager, "host", host_identity());
  fence(manager);
  const HostParts hosts = find_hosts(manager);
  const std::uint32_t host = hosts.host_of(manager.rank());

  std::string root;
  if (hosts.size() > 1) {
    if (manager.rank() == 0) put(manager, "root", launch_hook().start_root(hosts));
    fence(manager);
    root = get(manager, 0, "root");
  }
  const std::uint32_t first = hosts[host].ranks.front();
  if (manager.rank() == first) {
    const std::string name = launch_hook().start_guardian(hosts, host, root);
    if (name.empty())
      fatal("rank 0 published an invalid address of the job's root by %s", manager.protocol());
    put(manager, "guardian", name);
  }
  fence(manager);

  Membership membership;
  membership.control = connect_to_guardian(get(manager, first, "guardian")).release();
  membership.rank = manager.rank();
  membership.size = manager.size();
  return membership;
}

}  // namespace gex::job
