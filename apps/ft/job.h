#pragma once
// The job, by the library of communication that this program is compiled for: a folder each, of
// which `ranks.h` declares what that library keeps, and job.cc has the calls.

#include <cstddef>
#include <string>

#ifdef FT_ON_MPI
#include "mpi/ranks.h"
#elif defined(FT_ON_UPCXX)
#include "upcxx/ranks.h"
#else
#include "gex/ranks.h"
#endif

namespace ft {

/// All ranks, and memory of the same size on each, its segment.
///
/// Every member function but the queries (`Ranks`) is collective. A call that the library refuses
/// ends the job.
class Job : public Ranks {
 public:
  Job(int* argc, char*** argv);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool is_root() const { return rank() == 0; }

  /// The largest segment that every rank can have, in bytes.
  std::size_t largest_segment() const;

  /// Gives every rank a segment of at least `bytes`, aligned to a page.
  void attach(std::size_t bytes);

  void barrier() const;

  /// Gives all ranks the root's `bytes` at the same place of their segments.
  void share(void* cell, std::size_t bytes) const;

  /// Leaves every rank's `bytes` at `all`, of the root's segment, in the order of ranks.
  void gather(const void* mine, void* all, std::size_t bytes) const;

  /// Ends the job with that status, which all ranks give.
  [[noreturn]] void exit(int status) const;

  /// Ends the job with status 2 for a reason that every rank has found alike; one of them reports
  /// it.
  [[noreturn]] void refuse(const std::string& reason) const;

  /// Ends the job for a reason that only this rank has found.
  [[noreturn]] void fail(const std::string& reason) const;
};

}  // namespace ft
