#include "launch/map/allocation.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "base/os_file.h"
#include "launch/map/host_list.h"
#include "launch/map/this_host.h"

namespace gex::launch {

namespace {

/// How a batch system lists its hosts.
enum class List : std::uint8_t {
  ranges,     ///< a variable has the names in a short form, others their slots likewise
  words,      ///< a variable has the names, each once for each slot
  pairs,      ///< a variable has each name and its number of slots
  file,       ///< a variable names a file with a name on each line, once for each slot
  slot_file,  ///< the same with the number of slots after each name
  count,      ///< a variable has the number of hosts only
};

struct BatchSystem {
  const char* name;
  const char* job;  ///< the variable with the number of the job
  List list;
  const char* hosts;
  std::vector<std::string> remote_start;
};

/// A step on a host beside others, with all the processors that the job has there. gexrun's own
/// processes are no ranks of Slurm's.
const std::vector<std::string> by_srun = {
    "srun",       "--quiet",    "--overlap",       "--nodes=1",
    "--ntasks=1", "--mpi=none", "--cpu-bind=none", "--kill-on-bad-exit=0",
    "--nodelist"};

constexpr const char* pbs = "PBS_JOBID";
constexpr const char* lsf = "LSB_JOBID";

const BatchSystem systems[] = {
    {"Slurm", "SLURM_JOB_ID", List::ranges, "SLURM_JOB_NODELIST", by_srun},
    {"Slurm", "SLURM_JOB_ID", List::ranges, "SLURM_NODELIST", by_srun},
    {"PBS", pbs, List::file, "PBS_NODEFILE", {"pbsdsh", "-n"}},
    {"LSF", lsf, List::file, "LSB_DJOB_HOSTFILE", {"blaunch"}},
    {"LSF", lsf, List::pairs, "LSB_MCPU_HOSTS", {"blaunch"}},
    {"LSF", lsf, List::words, "LSB_HOSTS", {"blaunch"}},
    {"Grid Engine", "JOB_ID", List::slot_file, "PE_HOSTFILE", {"qrsh", "-inherit"}},
    {"Cobalt", "COBALT_JOBID", List::file, "COBALT_NODEFILE", {}},
    {"Cobalt", "COBALT_JOBID", List::count, "COBALT_JOBSIZE", {}},
    {"OAR", "OAR_JOB_ID", List::file, "OAR_NODEFILE", {"oarsh"}},
    {"Flux", "FLUX_JOB_ID", List::count, "FLUX_JOB_NNODES", {}},
};

const char* value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

bool parse_slots(std::string_view text, std::uint32_t& number) {
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), number);
  return error == std::errc() && rest == text.end() && number > 0;
}

/// Slurm gives the slots of tasks where tasks were asked for, and else one for each processor.
std::vector<std::uint32_t> slots_of_slurm(std::size_t hosts) {
  const bool tasks_were_asked_for = value_of("SLURM_NTASKS") != nullptr;
  for (const char* const variable :
       {tasks_were_asked_for ? "SLURM_TASKS_PER_NODE" : "SLURM_JOB_CPUS_PER_NODE",
        "SLURM_TASKS_PER_NODE"}) {
    const char* const value = value_of(variable);
    auto slots = value != nullptr ? expand_counts(value) : std::nullopt;
    if (slots && slots->size() == hosts) return *std::move(slots);
  }
  return std::vector<std::uint32_t>(hosts, 1);
}

/// The hosts of a list, or why it has none.
struct Listed {
  std::vector<HostSlots> hosts;
  std::string why_none;
};

Listed hosts_of_ranges(const char* value) {
  const auto names = expand_host_list(value);
  if (!names) return {{}, "=" + in_quotes(value) + " is not a list of hosts"};
  const std::vector<std::uint32_t> slots = slots_of_slurm(names->size());
  std::vector<HostSlots> hosts;
  for (std::size_t i = 0; i < names->size(); ++i)
    if (!add_host((*names)[i], slots[i], hosts))
      return {{}, ": no host is " + in_quotes((*names)[i])};
  return {std::move(hosts), {}};
}

/// The hosts of names, each by itself or before its slots, one a line or between blanks.
Listed hosts_of_words(const std::string& words, bool with_slots, bool by_line) {
  std::istringstream text(words);
  std::vector<HostSlots> hosts;
  for (std::string name, rest; text >> name;) {
    std::uint32_t slots = 1;
    std::string number;
    if (with_slots && (!(text >> number) || !parse_slots(number, slots))) {
      name.append(" ").append(number);
      return {{}, ": " + in_quotes(name) + " is not a host and its slots"};
    }
    if (by_line) std::getline(text, rest);
    if (!add_host(name, slots, hosts)) return {{}, ": no host is " + in_quotes(name)};
  }
  if (hosts.empty()) return {{}, " lists no host"};
  return {std::move(hosts), {}};
}

/// `why_none` continues with the variable's name.
Listed hosts_in(List list, const char* value) {
  if (list == List::ranges) return hosts_of_ranges(value);
  if (list == List::count) return {{}, " has only their number"};
  const bool with_slots = list == List::pairs || list == List::slot_file;
  if (list == List::words || list == List::pairs) return hosts_of_words(value, with_slots, false);
  const std::string file = "=" + std::string(value);
  const auto text = os::read_file(value);
  if (!text) return {{}, file + " cannot be read: " + std::strerror(errno)};
  Listed listed = hosts_of_words(*text, with_slots, true);
  if (listed.hosts.empty()) listed.why_none.insert(0, file);
  return listed;
}

/// Torque may list each host once, with the slots of all hosts in a variable.
void set_slots_of_torque(std::vector<HostSlots>& hosts) {
  const char* const value = value_of("PBS_NUM_PPN");
  std::uint32_t slots = 0;
  if (slots_of(hosts) != hosts.size() || value == nullptr || !parse_slots(value, slots)) return;
  for (HostSlots& host : hosts) host.slots = slots;
}

/// Where IBM's CSM manages LSF's hosts, the first in the list is that of the batch script, with one
/// slot, on which no ranks run; and the others lack the daemons that blaunch needs.
void follow_csm(Allocation& found) {
  if (value_of("CSM_ALLOCATION_ID") == nullptr) return;
  found.remote_start.clear();
  if (found.hosts.size() > 1 && found.hosts.front().slots == 1)
    found.hosts.erase(found.hosts.begin());
}

/// The number of each host's first line, from 0.
std::map<std::string, std::string> lines_of_hosts(const char* file) {
  std::istringstream text(os::read_file(file).value_or(""));
  std::map<std::string, std::string> lines;
  std::size_t number = 0;
  for (std::string name; text >> name; ++number) lines.try_emplace(name, std::to_string(number));
  return lines;
}

/// Where the names cannot be read, the number of hosts alone may be known.
std::uint32_t number_of_hosts(const BatchSystem& system) {
  const bool of_slurm = system.list == List::ranges;
  std::uint32_t number = 0;
  for (const char* const variable : {of_slurm ? "SLURM_JOB_NUM_NODES" : system.hosts,
                                     of_slurm ? "SLURM_NNODES" : system.hosts}) {
    const char* const value = value_of(variable);
    if (value != nullptr && parse_slots(value, number)) return number;
  }
  return 0;
}

/// Returns the output of a command of the shell; empty if it fails.
std::string output_of(const char* command) {
  std::FILE* const pipe = popen(command, "re");
  if (pipe == nullptr) return {};
  std::string output;
  char piece[4096];
  while (const std::size_t got = std::fread(piece, 1, sizeof piece, pipe))
    output.append(piece, got);
  return pclose(pipe) == 0 ? output : std::string();
}

/// The Flux instance whose initial program (flux alloc, flux batch) this process belongs to. It
/// hides a batch system around it. A job of Flux's has a number besides.
std::optional<Allocation> flux_instance() {
  if (value_of("FLUX_URI") == nullptr || value_of("FLUX_JOB_ID") != nullptr) return std::nullopt;
  std::string list = output_of("flux getattr hostlist </dev/null 2>/dev/null");
  list.erase(list.find_last_not_of(" \n") + 1);
  const auto names = expand_host_list(list);
  if (!names) return std::nullopt;
  Allocation found;
  found.system = "this Flux instance";
  found.hosts_from = "flux getattr hostlist";
  found.remote_start = {"flux", "exec"};
  for (std::size_t broker = 0; broker < names->size(); ++broker) {
    const std::string& name = (*names)[broker];
    if (!add_host(name, 1, found.hosts)) return std::nullopt;
    found.start_words.try_emplace(name, "--rank=" + std::to_string(broker));
  }
  found.host_count = static_cast<std::uint32_t>(found.hosts.size());
  return found;
}

Allocation read_allocation(const BatchSystem& system, const char* job, const char* list) {
  Allocation found;
  found.system = std::string(system.name) + " job " + job;
  found.hosts_from = system.hosts;
  Listed listed = hosts_in(system.list, list);
  found.hosts = std::move(listed.hosts);
  found.why_no_hosts = listed.why_none.empty() ? "" : system.hosts + listed.why_none;
  found.remote_start = system.remote_start;
  if (system.job == pbs) {
    // pbsdsh takes the number of a line of PBS_NODEFILE for the host.
    set_slots_of_torque(found.hosts);
    found.start_words = lines_of_hosts(list);
    found.passes_streams = false;
  }
  if (system.job == lsf) follow_csm(found);
  found.host_count = found.hosts.empty() ? number_of_hosts(system)
                                         : static_cast<std::uint32_t>(found.hosts.size());
  return found;
}

}  // namespace

std::optional<Allocation> allocation() {
  if (auto instance = flux_instance()) return instance;
  std::optional<Allocation> without_hosts;
  for (const BatchSystem& system : systems) {
    const char* const job = value_of(system.job);
    const char* const list = value_of(system.hosts);
    if (job == nullptr || list == nullptr) continue;
    Allocation found = read_allocation(system, job, list);
    if (!found.hosts.empty()) return found;
    if (!without_hosts) without_hosts = std::move(found);
  }
  return without_hosts;
}

bool is_this_host_alone(const Allocation& allocation) {
  return allocation.host_count == 1 &&
         (allocation.hosts.empty() || is_this_host(allocation.hosts.front().name));
}

std::vector<HostSlots> with_slots_for(std::uint32_t ranks, std::vector<HostSlots> hosts) {
  const std::uint64_t all = slots_of(hosts);
  if (all >= ranks) return hosts;
  for (HostSlots& host : hosts)
    host.slots = static_cast<std::uint32_t>((host.slots * std::uint64_t{ranks} + all - 1) / all);
  return hosts;
}

}  // namespace gex::launch
