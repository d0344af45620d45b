#pragma once
// Which processors of this host a job has bound its ranks to, for other jobs to see.
//
// A claim of a processor is a Unix socket bound to an abstract name with the processor's number. Of
// such a name the kernel knows one at a time, whoever binds it first; it leaves no file, ends with
// the process that holds it however that ends, and is seen by jobs of all users. It is not seen in
// another network namespace.

#include <cstdint>
#include <span>
#include <vector>

#include "base/os_file.h"

namespace gex::boot {

class CoreClaims {
 public:
  struct Refusal {
    int error = 0;           ///< EADDRINUSE: another job has claimed it; 0: all were claimed
    std::uint32_t core = 0;  ///< that could not be claimed
  };

  /// Claims all of these, which must rise so that of two jobs that ask at once one gets its own, or
  /// none of them.
  Refusal claim_all(std::span<const std::uint32_t> rising);

  /// Claims those of them that can be had.
  void claim_free(std::span<const std::uint32_t> cores);

 private:
  std::vector<os::FileDescriptor> sockets_;
};

}  // namespace gex::boot
