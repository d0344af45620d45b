#pragma once
// Claims on the processors that a job has bound its ranks to, visible to other jobs of this host.
//
// A claim on a processor is a Unix socket bound to an abstract name with the processor's number.
// Only one socket at a time can be bound to a name; it leaves no file, is closed with the process
// that holds it, and is visible to jobs of all users, but not in another network namespace.

#include <cstdint>
#include <span>
#include <vector>

#include "base/os_file.h"

namespace gex::launch {

class CoreClaims {
 public:
  struct Refusal {
    int error = 0;           ///< EADDRINUSE: another job has claimed it; 0: all were claimed
    std::uint32_t core = 0;  ///< the processor that could not be claimed
  };

  /// Claims all of these processors or none. They must be in rising order, so that one of two jobs
  /// that claim at the same time succeeds.
  Refusal claim_all(std::span<const std::uint32_t> rising);

  /// Claims those of the processors that are not claimed yet.
  void claim_free(std::span<const std::uint32_t> cores);

 private:
  std::vector<os::FileDescriptor> sockets_;
};

}  // namespace gex::launch
