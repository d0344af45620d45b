#include "job/place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/os_name_claim.h"
#include "base/os_process.h"

namespace gex::job {

namespace {

constexpr const char* mark_name = "GEX_PLACE";

/// Variables by which launchers identify a process and its job.
constexpr const char* place_variables[] = {"PMIX_NAMESPACE",
                                           "PMIX_RANK",
                                           "PMI_FD",
                                           "PMI_RANK",
                                           "PMI_SIZE",
                                           "PMI_JOBID",
                                           "SLURM_JOB_ID",
                                           "SLURM_STEP_ID",
                                           "SLURM_PROCID",
                                           "OMPI_COMM_WORLD_SIZE",
                                           "SLURM_STEP_NUM_TASKS",
                                           "PMI_PORT",
                                           "PMI_ID",
                                           "MV2_COMM_WORLD_SIZE",
                                           "JSM_NAMESPACE_SIZE"};

/// A hash of the text (FNV-1a).
std::uint64_t digest(std::string_view text) noexcept {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char one : text) value = (value ^ static_cast<unsigned char>(one)) * 0x100000001b3;
  return value;
}

/// The inode of the socket PMI_FD, 0 if that is no socket: two launchers may use the same number.
std::uint64_t wire() noexcept {
  const char* const text = std::getenv("PMI_FD");
  struct stat status {};
  if (text == nullptr || fstat(std::atoi(text), &status) != 0 || !S_ISSOCK(status.st_mode))
    return 0;
  return status.st_ino;
}

struct Mark {
  int process = 0;
  std::uint64_t start = 0;  ///< 0: unknown, without /proc
  std::uint64_t place = 0;
  std::uint64_t wire = 0;

  static Mark own() {
    std::string place;
    for (const char* const variable : place_variables) {
      const char* const value = std::getenv(variable);
      if (value != nullptr) place += std::string(variable) + '=' + value + '\n';
    }
    return {os::process_id(), os::process_start(), digest(place), job::wire()};
  }

  bool same_process(const Mark& other) const noexcept {
    const bool known = start != 0 && other.start != 0;
    return process == other.process && (!known || start == other.start);
  }
  /// Returns true if both are the same place. A program may lack the descriptors of its parent.
  bool same_place(const Mark& other) const noexcept {
    const bool known = wire != 0 && other.wire != 0;
    return place == other.place && (!known || wire == other.wire);
  }
};

/// A hash that is equal in the processes of one launcher's job on a host, and differs between jobs.
std::uint64_t job_digest() {
  std::string job;
  for (const char* const variable :
       {"PMIX_NAMESPACE", "PMI_SIZE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr) job += std::string(variable) + '=' + value + '\n';
  }
  return digest(job + std::to_string(getppid()));
}

}  // namespace

bool claim_long_wait() {
  os::FileDescriptor claim = os::claim_name("libgex-long-wait-" + std::to_string(job_digest()));
  const bool taken = !claim && errno == EADDRINUSE;
  // Keep the claim until the process ends.
  static_cast<void>(claim.release());
  return !taken;
}

bool is_place_of_ancestor() {
  const char* const text = env::raw(env::Variable::place);
  Mark left;
  if (text == nullptr || std::sscanf(text, "%d:%" SCNu64 ":%" SCNx64 ":%" SCNu64, &left.process,
                                     &left.start, &left.place, &left.wire) != 4) {
    return false;
  }
  const Mark own = Mark::own();
  return left.same_place(own) && !left.same_process(own);
}

void mark_place() {
  const Mark own = Mark::own();
  char text[96];
  std::snprintf(text, sizeof text, "%d:%" PRIu64 ":%" PRIx64 ":%" PRIu64, own.process, own.start,
                own.place, own.wire);
  setenv(mark_name, text, 1);
}

}  // namespace gex::job
