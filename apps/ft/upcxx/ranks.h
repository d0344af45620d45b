#pragma once
// The ranks and their memory, as UPC++ gives them.

#include <cstddef>
#include <upcxx/upcxx.hpp>
#include <vector>

namespace ft {

/// All ranks, and memory in the shared heap of each.
class Ranks {
 public:
  using Address = upcxx::global_ptr<std::byte>;

  static constexpr const char* kProgram = "ft_upcxx";
  static constexpr const char* kLibrary = "UPC++";

  unsigned rank() const { return static_cast<unsigned>(upcxx::rank_me()); }
  unsigned size() const { return static_cast<unsigned>(upcxx::rank_n()); }
  Address segment_of(std::size_t rank) const { return segments_[rank]; }
  std::byte* segment() const { return segments_[rank()].local(); }

 protected:
  std::vector<Address> segments_;
};

}  // namespace ft
