#include "launch/map/allocation.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/os_file.h"

namespace gex::launch {

namespace {

/// Where a batch system lists its hosts.
enum class List : std::uint8_t {
  count,  ///< a variable has their number; another one their names, in a form of its own
  words,  ///< a variable has the names, each once for each slot
  pairs,  ///< a variable has each name and its number of slots
  file,   ///< a variable names a file whose lines begin with the names
};

struct BatchSystem {
  const char* name;
  const char* job;  ///< the variable with the number of the job
  List list;
  const char* hosts;
  const char* names;
};
constexpr BatchSystem systems[] = {
    {"Slurm", "SLURM_JOB_ID", List::count, "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST"},
    {"Slurm", "SLURM_JOB_ID", List::count, "SLURM_NNODES", "SLURM_NODELIST"},
    {"PBS", "PBS_JOBID", List::file, "PBS_NODEFILE", nullptr},
    {"LSF", "LSB_JOBID", List::file, "LSB_DJOB_HOSTFILE", nullptr},
    {"LSF", "LSB_JOBID", List::pairs, "LSB_MCPU_HOSTS", nullptr},
    {"LSF", "LSB_JOBID", List::words, "LSB_HOSTS", nullptr},
    {"Grid Engine", "JOB_ID", List::file, "PE_HOSTFILE", nullptr},
    {"Cobalt", "COBALT_JOBID", List::file, "COBALT_NODEFILE", nullptr},
    {"OAR", "OAR_JOB_ID", List::file, "OAR_NODEFILE", nullptr},
    {"Flux", "FLUX_JOB_ID", List::count, "FLUX_JOB_NNODES", nullptr},
};

const char* value_of(const char* variable) {
  const char* const value = variable != nullptr ? std::getenv(variable) : nullptr;
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::vector<std::string> names_in(const BatchSystem& system, const char* value) {
  std::vector<std::string> names;
  std::istringstream text(system.list == List::file ? os::read_file(value).value_or("") : value);
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (system.list == List::file) {
    for (std::string line, name; std::getline(text, line);)
      if (std::istringstream(line) >> name) add(name);
    return names;
  }
  for (std::string name, slots; text >> name;) {
    add(name);
    if (system.list == List::pairs) text >> slots;
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t max_shown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), max_shown); ++i)
    list += (i == 0 ? "" : ",") + names[i];
  return names.size() > max_shown ? list + ",..." : list;
}

}  // namespace

std::optional<Allocation> allocation_of_several_hosts() {
  for (const BatchSystem& system : systems) {
    const char* const job = value_of(system.job);
    const char* const hosts = value_of(system.hosts);
    if (job == nullptr || hosts == nullptr) continue;
    Allocation found;
    found.system = std::string(system.name) + " job " + job;
    if (system.list == List::count) {
      found.hosts = static_cast<std::uint32_t>(std::max(std::atoi(hosts), 0));
      const char* const names = value_of(system.names);
      if (names != nullptr) found.names = names;
    } else {
      const std::vector<std::string> names = names_in(system, hosts);
      found.hosts = static_cast<std::uint32_t>(names.size());
      found.names = joined(names);
    }
    if (found.hosts > 1) return found;
  }
  return std::nullopt;
}

}  // namespace gex::launch
