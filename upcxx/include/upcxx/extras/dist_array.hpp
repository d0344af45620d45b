/// @file
/// An array whose elements are in the shared heaps of all members of a team. Needs C++20.
#ifndef UPCXX_EXTRAS_DIST_ARRAY_HPP_
#define UPCXX_EXTRAS_DIST_ARRAY_HPP_

#include <upcxx/extras/gather.hpp>

namespace upcxx::extras {

/// Blocks of equal size, one on each member in their order. Constructing one is collective, with
/// user progress. Each member keeps a pointer to every block.
template <class T>
class dist_array {
 public:
  explicit dist_array(std::size_t size, const team& of = world())
      : size_(size),
        block_((size + std::size_t(of.rank_n()) - 1) / std::size_t(of.rank_n())),
        me_(std::size_t(of.rank_me())),
        blocks_(gather_all(new_array<T>(block_), of).wait()) {}
  dist_array(const dist_array&) = delete;
  dist_array& operator=(const dist_array&) = delete;
  /// The caller's block. Others must have ended their puts and gets to it.
  ~dist_array() { delete_array(blocks_[me_]); }

  std::size_t size() const { return size_; }
  /// Where an element is.
  global_ptr<T> operator[](std::size_t index) const {
    return blocks_[index / block_] + std::ptrdiff_t(index % block_);
  }
  /// The caller's elements: where they are, the index of the first, and their number.
  T* local() const { return blocks_[me_].local(); }
  std::size_t local_begin() const { return std::min(size_, me_ * block_); }
  std::size_t local_size() const { return std::min(size_, (me_ + 1) * block_) - local_begin(); }

 private:
  std::size_t size_;
  std::size_t block_;
  std::size_t me_;
  std::vector<global_ptr<T>> blocks_;
};

}  // namespace upcxx::extras

#endif
