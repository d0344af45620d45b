#include "hosts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "../default_rsh.h"
#include "../shell_words.h"
#include "debugger.h"
#include "launch/agents/task_shell.h"
#include "launch/map/allocation.h"
#include "launch/map/this_host.h"
#include "launch/report.h"

namespace gexrun {

namespace {

using gex::launch::Allocation;
using gex::launch::HostSlots;

constexpr const char* name = "gexrun";

std::string listed(const std::vector<HostSlots>& hosts) {
  constexpr std::size_t max_shown = 8;
  std::string list;
  for (std::size_t i = 0; i < hosts.size() && i < max_shown; ++i)
    list += (i == 0 ? "" : ",") + hosts[i].name + ":" + std::to_string(hosts[i].slots);
  return hosts.size() > max_shown ? list + ",..." : list;
}

void report_unused(const Allocation& allocation, const std::string& why) {
  const std::string number =
      allocation.host_count == 0 ? "" : std::to_string(allocation.host_count) + " ";
  gex::launch::report(name,
                      "all ranks run on this host; the %shosts of %s are used only if they are "
                      "named (--hosts, --hostfile), or under srun, mpirun or mpiexec: %s",
                      number.c_str(), allocation.system.c_str(), why.c_str());
}

/// The batch system's own command, if it is installed, needs no keys and counts what is used.
void start_by_system(const Allocation& allocation, gex::launch::RemoteStart& remote) {
  if (allocation.remote_start.empty() || find_program(allocation.remote_start.front()).empty())
    return;
  if (!allocation.passes_streams) {
    if (!gex::launch::is_plain_path(remote.gexrun)) return;
    remote.rsh = {gex::launch::own_path(), gex::launch::task_shell_argument};
  } else {
    remote.rsh.clear();
  }
  remote.rsh.insert(remote.rsh.end(), allocation.remote_start.begin(),
                    allocation.remote_start.end());
  remote.words = allocation.start_words;
  remote.by_shell = false;
  remote.from_all_hosts = false;
}

void use(const Allocation& allocation, const Options& options, Hosts& hosts) {
  hosts.slots = gex::launch::with_slots_for(options.ranks, allocation.hosts);
  if (options.rsh.empty()) start_by_system(allocation, hosts.remote);
  if (options.verbose) {
    gex::launch::report(name, "the hosts of %s (%s), reached by %s: %s", allocation.system.c_str(),
                        allocation.hosts_from.c_str(),
                        hosts.remote.by_shell ? hosts.remote.rsh.front().c_str()
                                              : allocation.remote_start.front().c_str(),
                        listed(hosts.slots).c_str());
  }
}

}  // namespace

Hosts choose_hosts(const Options& options, bool nested) {
  Hosts hosts{.slots = options.hosts, .remote = {}};
  hosts.remote.rsh =
      options.rsh.empty() ? gex::cmd::shell_words(gex::cmd::default_rsh).value() : options.rsh;
  hosts.remote.gexrun =
      options.prefix.empty() ? gex::launch::own_path() : options.prefix + "/bin/gexrun";
  if (!options.hosts.empty() || nested) return hosts;
  const std::optional<Allocation> allocation = gex::launch::allocation();
  if (!allocation || is_this_host_alone(*allocation)) return hosts;
  if (allocation->hosts.empty())
    report_unused(*allocation, allocation->why_no_hosts);
  else if (options.debugger == Debugger::gdb)
    report_unused(*allocation, "--debugger gdb works on this host only");
  else
    use(*allocation, options, hosts);
  return hosts;
}

std::string why_unreachable(const gex::job::HostParts& parts, const Hosts& hosts) {
  const auto is_here = [](const gex::job::HostPart& part) {
    return gex::launch::is_this_host(part.name);
  };
  const auto other = std::find_if_not(parts.begin(), parts.end(), is_here);
  const std::string& command = hosts.remote.rsh.front();
  if (other == parts.end() || !find_program(command).empty()) return {};
  const int error = errno;
  return "cannot execute '" + command + "' to reach host " + other->name + ": " +
         std::strerror(error) + " (--rsh)";
}

}  // namespace gexrun
