#pragma once
// Ranges of addresses that are mapped to files in memory (os_memory.h), or to private pages.
//
// Failure is a value: an empty object with the reason in errno. Any thread may call anything; an
// object is used by one thread at a time.
//
//   Mapping mapping = Mapping::shared(file.descriptor.get(), 0, bytes);
//   if (!mapping) fatal_system("mapping the segments", errno);
//
// A source of its own, because tests whose ranks are parts of one process (tests/sim) have another
// one, in which all of them have a file's bytes at the same addresses.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace gex::os {

/// Owns a mapped range of addresses and unmaps it.
class Mapping {
 public:
  Mapping() noexcept = default;
  Mapping(Mapping&& other) noexcept
      : bytes_(std::exchange(other.bytes_, {})), guard_(std::exchange(other.guard_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    reset();
    bytes_ = std::exchange(other.bytes_, {});
    guard_ = std::exchange(other.guard_, 0);
    return *this;
  }
  ~Mapping() { reset(); }

  /// Maps a part of a file for reading and writing, shared with every process that maps it.
  /// `offset` is a multiple of the page size; `bytes` is not 0. No memory is reserved for it.
  static Mapping shared(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept;

  /// Maps whole pages as `shared` does, where they can be huge pages if `offset` is a multiple of
  /// `huge_page`, with a page behind them that is neither readable nor writable: what runs over
  /// their end gets a signal, whatever else is mapped.
  static Mapping guarded(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept;

  /// Maps a part of a file for reading, and for writing to pages of the process's own, which are
  /// copies: what others write to the file is seen in pages to which the process has not written.
  /// Otherwise as `shared`.
  static Mapping copied(int descriptor, std::uint64_t offset, std::size_t bytes) noexcept;

  /// Maps private zero pages for reading and writing. No memory is reserved for them.
  static Mapping anonymous(std::size_t bytes) noexcept;

  explicit operator bool() const noexcept { return !bytes_.empty(); }
  std::byte* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept { return bytes_.size(); }
  std::span<std::byte> bytes() const noexcept { return bytes_; }

  /// Gives the range up without unmapping it: for memory that lives as long as the process.
  std::span<std::byte> release() noexcept { return std::exchange(bytes_, {}); }

  /// Unmaps. Leaves errno as it was.
  void reset() noexcept;

 private:
  explicit Mapping(std::span<std::byte> bytes) noexcept : bytes_(bytes) {}
  static Mapping map(std::size_t bytes, int flags, int descriptor, std::uint64_t offset) noexcept;

  std::span<std::byte> bytes_;
  std::size_t guard_ = 0;  ///< bytes behind them
};

}  // namespace gex::os
