#pragma once
// Ownership of a file descriptor, and a few files.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gex::os {

/// Owns an open descriptor, or none, and closes it.
///
/// Functions that make one return an empty FileDescriptor on failure and leave the reason in errno.
class FileDescriptor {
 public:
  FileDescriptor() noexcept = default;
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~FileDescriptor() { reset(); }

  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  int get() const noexcept { return descriptor_; }

  /// Gives the descriptor up without closing it.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }

  /// Closes what is owned and takes over `descriptor`. Leaves errno as it was.
  void reset(int descriptor = -1) noexcept;

  /// A second descriptor, close-on-exec, for the same open file; empty with errno on failure.
  FileDescriptor duplicate() const noexcept;

 private:
  int descriptor_ = -1;
};

/// Something to read that is empty, close-on-exec, at the lowest number that is free: /dev/null, or
/// where that cannot be opened (a bare root) a pipe without a writer. What is written to it fails.
/// Empty with errno when neither can be had.
FileDescriptor open_empty_input() noexcept;

/// Makes sure that descriptors 0, 1 and 2 are open, so that no socket of ours takes their place
/// and is then written to as standard output. Writing to one that was closed fails as before.
void fill_standard_descriptors() noexcept;

/// Number of files that this process may have open.
std::uint64_t file_limit() noexcept;

/// Raises this process's limit of open files as far as it may; returns that limit.
std::uint64_t raise_file_limit() noexcept;

/// Bytes of an open file; 0 if that cannot be determined.
std::uint64_t file_size(int descriptor) noexcept;

/// The content of a file that a user has named, of at most 16 MiB; empty with errno on failure,
/// also of a folder (EISDIR) or a larger file (EFBIG).
std::optional<std::string> read_file(const std::string& path);

/// Writes a file with that content in place of the one that is there: readers see either the old
/// one or the whole new one. Returns 0 or errno, and leaves the old one then.
int replace_file(const std::string& path, std::string_view content);

}  // namespace gex::os
