#pragma once
// This program's ranks and their memory, as UPC++ gives them: the like of gex/job.h.

#include <cstddef>
#include <string>
#include <upcxx/upcxx.hpp>
#include <vector>

namespace ft {

/// The job: all ranks, and memory of the same size in the shared heap of each.
///
/// Every member function but the queries is collective.
class Job {
 public:
  using Address = upcxx::global_ptr<std::byte>;

  Job(int* argc, char*** argv);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  static constexpr const char* kProgram = "ft_upcxx";
  static constexpr const char* kLibrary = "UPC++";

  unsigned rank() const { return static_cast<unsigned>(upcxx::rank_me()); }
  unsigned size() const { return static_cast<unsigned>(upcxx::rank_n()); }
  bool is_root() const { return rank() == 0; }

  /// The bytes that are left of the smallest shared heap.
  std::size_t largest_segment() const;

  /// Gives every rank `bytes` of its shared heap, aligned to a page.
  void attach(std::size_t bytes);
  Address segment_of(std::size_t rank) const { return segments_[rank]; }
  std::byte* segment() const { return segments_[rank()].local(); }

  void barrier() const { upcxx::barrier(); }

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
  std::vector<Address> segments_;
};

}  // namespace ft
