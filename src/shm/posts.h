#pragma once
// Posts: how the members of a team in one neighborhood show values to each other without messages.
//
// Each member has a board of cells. Posts are numbered alike by all members, from 0 for each team.
// A member that shows a value under a number writes it to that cell of its own board, once, and
// all others may read it there. A value of up to 48 bytes, unless its alignment needs 32, is in the
// cell, one cache line with its ready word, so that seeing it is one line transfer; any other is in
// the cell's companion buffer.
//
// A cell is reused after `depth` numbers. A member may write it only when every member has read
// what it needs of its previous number: each publishes in a word of its own how far it has read,
// every `lag` numbers. That is enough: a member that has read everything below a number p has
// published p - lag or more, and lag < depth.
//
// Templates over an atomics policy, so that an interleaving explorer runs the same text
// (tests/unit/shm_posts_relacy).

#include <cstddef>
#include <cstdint>

#include "base/cache_line.h"
#include "shm/ring.h"

namespace gex::shm {

inline constexpr std::size_t post_cell_bytes = 48;
inline constexpr std::size_t post_cell_alignment = 16;
inline constexpr std::size_t post_buffer_bytes = 8192;

struct PostShape {
  std::uint32_t depth;  ///< cells of a board; a power of two
  std::uint32_t lag;    ///< numbers read between two publications; a power of two
};
inline constexpr PostShape post_shape{8, 4};
static_assert(post_shape.lag < post_shape.depth);

struct alignas(cache_line) PostCell {
  StdAtomics::Ready ready;
  alignas(post_cell_alignment) std::byte bytes[post_cell_bytes];
};
static_assert(sizeof(PostCell) == cache_line);

/// Identifies the process of a board's owner to members for which the kernel copies.
/// Written before the owner's first post.
struct PostOwner {
  std::int32_t process;  ///< its id, as its owner sees it
  std::uint64_t token_address;
  std::uint64_t token;  ///< stands at that address in the owner's memory
};

/// A member's part of the shared memory of one team.
struct PostBoard {
  alignas(cache_line) StdAtomics::Word read;  ///< numbers below this one are read by its owner
  PostOwner owner;
  PostCell cells[post_shape.depth];
  alignas(cache_line) std::byte buffers[post_shape.depth][post_buffer_bytes];

  /// Where the `bytes` of a post are, aligned as a type of that size may ask for.
  std::byte* place(std::uint32_t number, std::size_t bytes) noexcept {
    const std::uint32_t index = number & (post_shape.depth - 1);
    const bool in_cell = bytes <= post_cell_bytes && bytes % (2 * post_cell_alignment) != 0;
    return in_cell ? cells[index].bytes : buffers[index];
  }
  /// Where a value of up to `post_cell_bytes` is whose place does not depend on its size.
  std::byte* cell(std::uint32_t number) noexcept {
    return cells[number & (post_shape.depth - 1)].bytes;
  }
  StdAtomics::Ready& ready(std::uint32_t number) noexcept {
    return cells[number & (post_shape.depth - 1)].ready;
  }
};

/// Shows what was written to the cell of `number`; `what` goes with it.
template <class Atomics>
void publish_post(typename Atomics::Ready& ready, std::uint32_t number,
                  std::uint32_t what) noexcept {
  // Release: the value is whole before it is seen.
  Atomics::store_release(ready, ready_value(number, what));
}

/// Returns true if the post is there; then `what` receives what its writer passed with it.
template <class Atomics>
bool post_arrived(const typename Atomics::Ready& ready, std::uint32_t number,
                  std::uint32_t& what) noexcept {
  // Acquire: the value is read after this.
  const std::uint64_t value = Atomics::load_acquire(ready);
  what = static_cast<std::uint32_t>(value >> 32);
  return has_arrived(value, number);
}

/// A hint for a member that waits for the post: orders nothing.
template <class Atomics>
bool seems_posted(const typename Atomics::Ready& ready, std::uint32_t number) noexcept {
  return has_arrived(Atomics::load_relaxed(ready), number);
}

/// Which cells of its own board a member may write. Used by one thread at a time.
template <class Atomics>
class PostWindow {
 public:
  explicit PostWindow(PostShape shape) noexcept : shape_(shape) {}

  /// `read_by(i)` is the word of member i, of `members`.
  template <class ReadBy>
  bool may_write(std::uint32_t number, std::uint32_t members, ReadBy read_by) noexcept {
    if (number - all_read_ < shape_.depth) return true;
    std::uint32_t least = number;
    for (std::uint32_t i = 0; i < members; ++i) {
      // Acquire: the member's reads of the cell precede our next write to it.
      const std::uint32_t read = Atomics::load_acquire(read_by(i));
      // Signed: a member that needs none of the missing posts may be ahead.
      if (static_cast<std::int32_t>(read - least) < 0) least = read;
    }
    all_read_ = least;
    return number - all_read_ < shape_.depth;
  }

 private:
  PostShape shape_;
  std::uint32_t all_read_ = 0;  ///< every member has read everything below
};

/// How far a member has read. Used by one thread at a time.
template <class Atomics>
class PostReader {
 public:
  explicit PostReader(PostShape shape) noexcept : shape_(shape) {}

  /// Everything below `number` is read; `word` is the member's own.
  void advance_to(std::uint32_t number, typename Atomics::Word& word) noexcept {
    publish(number & ~(shape_.lag - 1), word);
  }

  /// Everything below `number` is read, and so is other memory that the posts below it name.
  /// Publishes that at once.
  void advance_now_to(std::uint32_t number, typename Atomics::Word& word) noexcept {
    publish(number, word);
  }

 private:
  void publish(std::uint32_t due, typename Atomics::Word& word) noexcept {
    // Signed: what was published at once may be ahead.
    if (static_cast<std::int32_t>(due - published_) <= 0) return;
    published_ = due;
    // Release: our reads of the cells precede their writers' next writes.
    Atomics::store_release(word, due);
  }

  PostShape shape_;
  std::uint32_t published_ = 0;
};

}  // namespace gex::shm
