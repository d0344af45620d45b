#pragma once
// This program's ranks and their segments, as GASNet-EX gives them. mpi/job.h has the like.

#include <gasnetex.h>

#include <cstddef>
#include <string>
#include <vector>

namespace ft {

/// The job: one client, its primordial team, and a segment of the same size on every rank.
///
/// Every member function but the queries is collective. A call that GASNet-EX refuses ends the job
/// with one line that names it.
class Job {
 public:
  Job(int* argc, char*** argv);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  static constexpr const char* kProgram = "ft";
  static constexpr const char* kLibrary = "GASNet-EX";

  gex_TM_t team() const { return team_; }
  gex_Rank_t rank() const { return rank_; }
  gex_Rank_t size() const { return size_; }
  bool is_root() const { return rank_ == 0; }

  /// The largest segment that every rank can attach, in bytes.
  std::size_t largest_segment() const;

  /// Gives every rank a segment of at least `bytes`.
  void attach(std::size_t bytes);

  /// Where `rank`'s segment begins, in that rank's addresses; it is `segment()` for this one.
  std::byte* segment_of(gex_Rank_t rank) const { return segments_[rank]; }
  std::byte* segment() const { return segments_[rank_]; }

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

 private:
  void check(int status, const char* call) const;

  /// Where `cell` of this rank's segment lies in the segment of `rank`.
  void* at(gex_Rank_t rank, void* cell) const {
    return segment_of(rank) + (static_cast<std::byte*>(cell) - segment());
  }

  gex_TM_t team_{};
  gex_Rank_t rank_ = 0;
  gex_Rank_t size_ = 0;
  std::vector<std::byte*> segments_;
};

}  // namespace ft
