#include "bare_mpi.h"

#include <unistd.h>

#include <algorithm>

#include "child.h"

namespace gexperf {

namespace {

/// Bytes that one measurement moves, and the exchanges it makes; a run of MPI's lasts long beside
/// its start then.
constexpr std::size_t mpi_bytes_moved = std::size_t{128} << 20;
constexpr std::size_t max_mpi_messages = 20000;

std::string launcher_of(std::string_view mpi) {
  return "mpirun." + std::string(mpi);
}

std::string program_of(const Plan& plan, std::string_view mpi) {
  return plan.worker_folder + "/gexperf-mpi-bare-" + std::string(mpi);
}

/// Two processes of a command by an MPI's launcher, each bound to one of the plan's processors.
std::vector<std::string> by_launcher(const Plan& plan, std::string_view mpi,
                                     const std::vector<std::string>& command) {
  std::vector<std::string> words = {"env",
                                    "GEX_MPI=" + std::string(mpi),
                                    "GEX_CONDUIT=mpi",
                                    "OMPI_ALLOW_RUN_AS_ROOT=1",
                                    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                    "OMPI_MCA_rmaps_base_oversubscribe=1",
                                    "OMPI_MCA_hwloc_base_binding_policy=none",
                                    launcher_of(mpi)};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    if (rank != 0) words.emplace_back(":");
    words.insert(words.end(), {"-n", "1", "taskset", "-c", std::to_string(plan.processors[rank])});
    words.insert(words.end(), command.begin(), command.end());
  }
  return words;
}

}  // namespace

bool needs_mpirun(const Row& row) {
  return row.mpi == "openmpi";
}

std::vector<std::string> start_by_mpirun(const Plan& plan, const Row& row,
                                         const std::vector<std::string>& worker) {
  return by_launcher(plan, row.mpi, worker);
}

std::string why_no_bare_mpi(const Plan& plan, std::string_view mpi) {
  const std::string program = program_of(plan, mpi);
  if (access(program.c_str(), X_OK) != 0)
    return program + " is not there: gexperf was built without this MPI";
  for (const std::string& tool : {launcher_of(mpi), std::string("taskset")})
    if (!run({"sh", "-c", "command -v \"$1\" >/dev/null", "sh", tool}).succeeded)
      return tool + " is not in the PATH";
  return {};
}

bool time_bare_mpi(const Plan& plan, const Row& row, double& us, double& used_ns,
                   std::string& trouble) {
  const std::size_t count =
      std::clamp<std::size_t>(mpi_bytes_moved / row.bare_bytes, 1, max_mpi_messages);
  const Finished done =
      run(by_launcher(plan, row.mpi,
                      {program_of(plan, row.mpi), row.bare == Bare::flood ? "flood" : "ping_pong",
                       std::to_string(row.bare_bytes), std::to_string(count)}));
  used_ns += done.processor_ns;
  if (done.succeeded && parse_last_column(done.output, 0, us)) return true;
  trouble = program_of(plan, row.mpi) + " failed: " + done.trouble;
  return false;
}

}  // namespace gexperf
