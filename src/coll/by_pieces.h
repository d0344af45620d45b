#pragma once
// The shapes of operations that go through the members' boards, piece by piece: a broadcast's copy,
// an exchange of few bytes, and three of reductions. Each is a class with the state of the piece
// that is being read; the own operand is posted apart (Posts::post_operands).
//
//   copy      root    posts p                       one number a piece
//             others        read p
//
//   exchange  all     post p: a block for each         one number, one piece
//             all           read their block of p of all
//
//   flat      all     post p                        one number a piece
//             results       read p of all, from the last member down, and combine
//
//   grouped   all     post p                        two numbers a piece
//             firsts        read p of their group, combine, post p'
//             results                read p' of the firsts, and combine
//
//   sliced    all     post p                        two numbers a piece
//             all           read a slice of p of all, combine, post p'
//             results                read p' of all: the slices
//
// Operands are combined from the last rank down, each with what those behind it make, so their
// order is that of the ranks, and every member that makes a result makes the same.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "coll/boards.h"
#include "coll/collective.h"

namespace gex::coll {

/// Operands that are read by each member that wants the result.
inline constexpr gex_Rank_t max_flat_members = 16;

/// A piece of an operation that is being read.
struct Piece {
  const Request& request;
  std::uint32_t number;  ///< of its first post
  std::size_t offset;
  std::size_t bytes;
  bool wants_result;   ///< this member makes one
  bool own_is_posted;  ///< the own operand's part, whose place the result may take

  std::byte* result() const noexcept { return request.destination + offset; }
};

/// The elements that a member combines of `whole` bytes.
struct Slice {
  std::size_t offset;
  std::size_t bytes;
};
inline Slice slice_of(std::size_t whole, std::size_t element, gex_Rank_t member,
                      gex_Rank_t members) noexcept {
  const std::size_t count = whole / element;
  const std::size_t begin = count * member / members;
  const std::size_t behind_it = count * (std::size_t{member} + 1) / members;
  return {begin * element, (behind_it - begin) * element};
}

/// Combines members' operands from the last down, as far as they are there.
class Combination {
 public:
  /// Members `first`, first + step, ... `last` have posted `bytes` at `offset` of a post of
  /// `post_bytes`. True once `to` is what all of them make.
  bool advance(Boards& boards, const Reduction& reduction, std::uint32_t number, gex_Rank_t first,
               gex_Rank_t last, gex_Rank_t step, Slice slice, std::size_t post_bytes,
               std::byte* to);
  void restart() noexcept { next_ = GEX_RANK_INVALID; }

 private:
  gex_Rank_t next_ = GEX_RANK_INVALID;  ///< members still to be read are below
};

// Each shape's `read` does what is possible of a piece, and returns true once it is done here; the
// next piece begins with a fresh object.

class Copy {
 public:
  static constexpr std::uint32_t numbers_each = 1;
  bool read(Boards& boards, const Piece& piece) {
    if (!piece.wants_result) return true;
    const std::byte* const from = boards.post_of(piece.request.root, piece.number, piece.bytes);
    if (from == nullptr) return false;
    copy_bytes(piece.result(), from, piece.bytes);
    return true;
  }
};

class Exchange {
 public:
  static constexpr std::uint32_t numbers_each = 1;
  bool read(Boards& boards, const Piece& piece);

 private:
  gex_Rank_t seen_ = 0;  ///< members whose blocks have been read, from this one on
};

class Flat {
 public:
  static constexpr std::uint32_t numbers_each = 1;
  bool read(Boards& boards, const Piece& piece) {
    if (!piece.wants_result) return true;
    // The own operand is needed until it is posted, and the result may take its place.
    if (!piece.own_is_posted) return false;
    return result_.advance(boards, piece.request.reduction, piece.number, 0, boards.size() - 1, 1,
                           {0, piece.bytes}, piece.bytes, piece.result());
  }

 private:
  Combination result_;
};

class Grouped {
 public:
  static constexpr std::uint32_t numbers_each = 2;
  bool read(Boards& boards, const Piece& piece);

 private:
  bool combine_group(Boards& boards, const Piece& piece);

  bool second_ = false;  ///< reading the second number
  Combination combination_;
};

class Sliced {
 public:
  static constexpr std::uint32_t numbers_each = 2;
  bool read(Boards& boards, const Piece& piece);

 private:
  bool combine_slice(Boards& boards, const Piece& piece);

  bool second_ = false;  ///< reading the second number
  gex_Rank_t left_ = 0;  ///< slices of members below are still to be read
  Combination combination_;
};

}  // namespace gex::coll
