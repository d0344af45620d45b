#pragma once
// Blocks that members of a team have given to an exchange, in rank order, and the form in which
// they are sent: what blocks of equal size have in common is there once (job/packed_table.h).
//
// Pure: no process, no network.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gex::team {

class Blocks {
 public:
  std::size_t size() const noexcept { return size_; }
  std::span<const std::byte> operator[](std::size_t place) const noexcept {
    const std::size_t begin = ends_.empty() ? place * each_ : place == 0 ? 0 : ends_[place - 1];
    const std::size_t end = ends_.empty() ? begin + each_ : ends_[place];
    return std::span(bytes_).subspan(begin, end - begin);
  }

  class Iterator {
   public:
    using value_type = std::span<const std::byte>;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    Iterator(const Blocks& blocks, std::size_t place) noexcept : blocks_(&blocks), place_(place) {}
    value_type operator*() const noexcept { return (*blocks_)[place_]; }
    Iterator& operator++() noexcept {
      ++place_;
      return *this;
    }
    Iterator operator++(int) noexcept { return {*blocks_, place_++}; }
    bool operator==(const Iterator& other) const noexcept { return place_ == other.place_; }

   private:
    const Blocks* blocks_ = nullptr;
    std::size_t place_ = 0;
  };
  Iterator begin() const noexcept { return {*this, 0}; }
  Iterator end() const noexcept { return {*this, size_}; }

  void append(std::span<const std::byte> block);
  /// Appends `count` packed blocks, at least one. Returns false, and the blocks are no longer to be
  /// used, if that is no packed form of so many, each of `max_block` bytes at most.
  bool append_packed(std::span<const std::byte> packed, std::size_t count, std::size_t max_block);

  /// Requires one block at least.
  std::vector<std::byte> pack() const;

 private:
  bool append_sized(std::span<const std::byte> packed, std::size_t count, std::size_t max_block);
  bool append_table(std::span<const std::byte> packed, std::size_t count, std::size_t max_block);

  std::vector<std::byte> bytes_;
  std::size_t size_ = 0;
  std::size_t each_ = 0;           ///< bytes of each, as long as they are equally large
  std::vector<std::size_t> ends_;  ///< empty: they are
};

}  // namespace gex::team
