#pragma once
// This program's ranks and their memory, as MPI gives them: the like of gex/job.h.

#include <cstddef>
#include <memory>
#include <string>

namespace ft {

/// The job: MPI_COMM_WORLD, and memory of the same size on every rank.
///
/// Every member function but the queries is collective. A call that MPI refuses ends the job.
class Job {
 public:
  Job(int* argc, char*** argv);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  static constexpr const char* kProgram = "ft_mpi";
  static constexpr const char* kLibrary = "MPI";

  unsigned rank() const { return rank_; }
  unsigned size() const { return size_; }
  bool is_root() const { return rank_ == 0; }

  /// MPI sets no limit.
  std::size_t largest_segment() const { return static_cast<std::size_t>(-1); }

  /// Gives every rank `bytes` of memory, aligned to a page.
  void attach(std::size_t bytes);
  std::byte* segment() const { return segment_.get(); }

  void barrier() const;

  /// Gives all ranks the root's `bytes`.
  void share(void* cell, std::size_t bytes) const;

  /// Leaves every rank's `bytes` at `all` of the root, in the order of ranks.
  void gather(const void* mine, void* all, std::size_t bytes) const;

  /// Ends the job with that status, which all ranks give.
  [[noreturn]] void exit(int status) const;

  /// Ends the job with status 2 for a reason that every rank has found alike; one of them reports
  /// it.
  [[noreturn]] void refuse(const std::string& reason) const;

  /// Ends the job for a reason that only this rank has found.
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  unsigned rank_ = 0;
  unsigned size_ = 0;
  std::unique_ptr<std::byte, Free> segment_;
};

}  // namespace ft
