#include "job/process_manager.h"

#include <cstdlib>

#include "base/env.h"
#include "base/error.h"
#include "job/limits.h"
#include "job/place.h"
#include "job/pmi_wire.h"

namespace gex::job {

namespace {

/// A variable that holds the number of processes of a launcher, and the launcher's name for
/// messages.
struct Sign {
  const char* variable;
  const char* launcher;
};
constexpr Sign signs[] = {
    {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
    {"PMI_SIZE", "a launcher that speaks PMI"},
    {"SLURM_STEP_NUM_TASKS", "srun"},
    {"MV2_COMM_WORLD_SIZE", "MVAPICH's mpirun_rsh"},
    {"JSM_NAMESPACE_SIZE", "jsrun"},
};

std::unique_ptr<ProcessManager> connect_pmi(std::string& why) {
  const auto place = pmi_place();
  if (!place) {
    why = "PMI_FD, PMI_RANK and PMI_SIZE are not the place of one of up to " +
          std::to_string(max_ranks) + " processes";
    return nullptr;
  }
  const std::int64_t version = env::integer(env::Variable::pmi);
  if (version == 1) return connect_pmi1(*place, why);
  if (version == 2) return connect_pmi2(*place, why);
  why = "GEX_PMI=" + std::to_string(version) + ": expected 1 or 2";
  return nullptr;
}

}  // namespace

std::unique_ptr<ProcessManager> find_process_manager(std::string& why) {
  if (std::getenv("PMIX_NAMESPACE") != nullptr) return connect_pmix(why);
  if (std::getenv("PMI_FD") != nullptr) return connect_pmi(why);
  // Such a launcher gives no number of processes in the environment.
  if (const char* const port = std::getenv("PMI_PORT"); port != nullptr) {
    why = std::string("its launcher offers PMI at a port (PMI_PORT=") + port +
          "), which libgex does not speak; start it without -pmi-port, or by gexrun";
    return nullptr;
  }
  for (const Sign& sign : signs) {
    const char* const size = std::getenv(sign.variable);
    if (size != nullptr && std::atoi(size) > 1) {
      why = std::string(sign.launcher) + " (" + sign.variable + "=" + size +
            ") offers this process neither PMIx nor PMI";
      if (sign.variable == std::string("SLURM_STEP_NUM_TASKS")) why += " (srun --mpi=pmix does)";
      return nullptr;
    }
  }
  return nullptr;
}

void report_long_wait(const char* protocol, std::uint32_t rank, std::uint32_t size) {
  if (!claim_long_wait()) return;
  warn(
      "rank %u of %u has waited for %d s for the launcher's other processes by %s: each of them "
      "must call gex_Client_Init; a program that one of them runs is not a rank of its own",
      rank, size, long_wait_ms / 1000, protocol);
}

void forget_process_manager() {
  unsetenv("PMIX_NAMESPACE");
  unsetenv("PMI_FD");
  unsetenv("PMI_PORT");
  for (const Sign& sign : signs) unsetenv(sign.variable);
}

}  // namespace gex::job
