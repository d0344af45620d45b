#pragma once
// The ranks and their memory, as MPI gives them.

#include <cstddef>
#include <memory>

namespace ft {

/// MPI_COMM_WORLD, and memory on every rank.
class Ranks {
 public:
  static constexpr const char* kProgram = "ft_mpi";
  static constexpr const char* kLibrary = "MPI";

  unsigned rank() const { return rank_; }
  unsigned size() const { return size_; }
  std::byte* segment() const { return segment_.get(); }

 protected:
  struct Free {
    void operator()(std::byte* memory) const;
  };

  unsigned rank_ = 0;
  unsigned size_ = 0;
  std::unique_ptr<std::byte, Free> segment_;
};

}  // namespace ft
