#pragma once
// Collective operations of a team's members that share memory, by posts (shm/posts.h) instead of
// messages: whole operations where all members do, else parts of operations (by_leaders.h). A root
// is numbered as its board is (boards.h).
//
// An operation takes a run of post numbers, the same at all members, and has a shape, of which each
// is a class (by_pieces.h, direct_copy.h, helped_copy.h, direct_reduction.h). That of an exchange,
// whose blocks fit in a post, is Exchange. Others:
//
//   bytes             broadcast                            reduction
//   up to 1 KiB       Copy                                 Flat; Grouped among many members
//   more than 1 KiB   Copy                                 Sliced, unless two members
//   more than 8 KiB   DirectCopy                           DirectReduction, of up to 64 members
//   from 48 KiB       HelpedCopy, of two members with a    DirectReduction, of up to 64 members
//                     core each; else DirectCopy
//
// Where members do not reach each other's memory, or the root declines (direct_team.cc), a direct
// one goes on as above, piece by piece. The root of a DirectCopy declines if its source is in no
// segment and there are more than three members.
//
// Members read in the order of operations; what they post of their own runs ahead as far as there
// are cells and data may move. Nothing here waits:
//
//   do_at_once      an operation of few bytes, in its call, if nothing is under way
//   launch          any other: `set_up` chooses its shape, and its numbers
//   advance         `post_operands` of all, as far as there are cells: a direct one posts where its
//                   memory is (`describe`). Then `advance_front`: the shape of the first reads
//                   piece after piece (`read`), or copies (`advance_directly`)
//   advance_to      advances one, whose event asks for it
//   finish          it has moved all pieces
//
// All functions are called with the lock of the TeamCollectives held.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "coll/boards.h"
#include "coll/by_pieces.h"
#include "coll/collective.h"
#include "coll/direct_copy.h"
#include "coll/direct_reduction.h"
#include "coll/direct_team.h"
#include "coll/helped_copy.h"

namespace gex::coll {

using PieceShape = std::variant<Copy, Flat, Exchange, Grouped, Sliced>;
/// For many bytes; where one does not reach, the operation goes on by pieces.
using DirectShape = std::variant<DirectCopy, HelpedCopy, DirectReduction>;

struct PostCollective : Collective {
  PostCollective() noexcept : Collective(Way::posts) {}

  /// How its bytes move.
  enum class Stage : std::uint8_t {
    describe,  ///< by `direct`, for which this member is to post where its memory is
    direct,    ///< by `direct`
    pieces,    ///< by `shape`
  };

  Stage stage = Stage::pieces;
  DirectShape direct;
  PieceShape shape;
  bool keeps_posts = false;       ///< they are read only with a later operation's
  std::uint32_t first = 0;        ///< post number: those of `direct`, if any, then those of pieces
  std::uint32_t first_piece = 0;  ///< number of the first piece
  std::uint32_t end = 0;          ///< the next operation's first number
  std::uint32_t pieces = 0;
  std::uint32_t numbers_each = 1;   ///< of a piece: those of `shape`
  std::size_t piece_bytes = 0;      ///< whole elements
  std::uint32_t pieces_posted = 0;  ///< of the own operand; all, if there is none
  std::uint32_t pieces_read = 0;

  bool is_posted() const noexcept { return pieces_posted == pieces; }
  /// Returns true if its one piece is posted here, and there is nothing to do but to read the
  /// others'.
  bool is_only_to_be_read() const noexcept {
    return pieces == 1 && pieces_posted == 1 && numbers_each == 1;
  }
  /// Returns true if all pieces are posted and read.
  bool has_moved() const noexcept { return pieces_read == pieces && is_posted(); }
  /// The first post number, the place and the size of a piece.
  std::uint32_t number_of(std::uint32_t index) const noexcept {
    return first_piece + index * numbers_each;
  }
  std::size_t offset(std::uint32_t index) const noexcept { return index * piece_bytes; }
  std::size_t size(std::uint32_t index) const noexcept {
    const std::size_t left = request.bytes - offset(index);
    return left < piece_bytes ? left : piece_bytes;
  }
};

class Posts {
 public:
  /// As Boards has them.
  Posts(Team& team, std::vector<gex_Rank_t> members, const std::vector<std::uint32_t>& slots);
  Posts(const Posts&) = delete;
  Posts& operator=(const Posts&) = delete;

  /// Returns true if this is the way for such an operation; the same answer at all members.
  static bool suits(const Request& request) noexcept;
  /// The answer for an operation of a whole team, all of whose `members` share memory.
  static bool suits_whole(const Request& request, gex_Rank_t members) noexcept;

  /// An operation of few bytes has one of these outcomes in its call.
  enum class AtOnce : std::uint8_t {
    nothing,         ///< `launch` does all
    operand_posted,  ///< `launch` goes on from there
    done,            ///< nothing is left to do here
  };
  /// Before anything else is kept of an operation, the next of the team's, for which this is the
  /// way: posts and reads it, if it is one of few bytes that depends on nothing, and nothing is
  /// under way.
  AtOnce do_at_once(const Request& request) noexcept;

  /// The operation is the next of the team's.
  void launch(PostCollective& operation, AtOnce at_once = AtOnce::nothing);
  bool advance();
  /// Advances an operation that is not done: others too, unless it is the only one and all that is
  /// left of it is to read one piece.
  void advance_to(PostCollective& operation);
  /// The result of a broadcast of one piece has come another way; true if it is taken so, and the
  /// operation is done.
  bool take_result(PostCollective& operation, const std::byte* bytes);
  /// Combines the posts of a reduction of one piece whose posts are kept; false: some are missing.
  bool combine_posts(const PostCollective& operation, std::byte* to);
  /// False: nothing that `advance` would do is possible yet. Without the lock, for who waits.
  bool may_advance() const noexcept { return boards_.may_advance(); }
  /// Returns true if something was stored that other members may wait for, since the last call.
  bool take_shown() noexcept { return boards_.take_shown(); }
  /// Returns true if others may be waiting for something that this member would do in a poll.
  bool wants_polls() const noexcept;

 private:
  /// Returns true if this member has an operand to post, or the source of a broadcast.
  bool has_operand(const Request& request) const noexcept {
    return reads_source(request, boards_.own());
  }
  /// Returns true if this member makes a result of what others post.
  bool wants_result(const Request& request) const noexcept {
    if (request.kind == Kind::broadcast) return !is_root(request);
    return writes_destination(request, boards_.own());
  }
  /// Returns true if each member posts once, in its cell unless the alignment needs 32 bytes, and
  /// that is all that others read of it.
  bool is_small(const Request& request) const noexcept;
  bool is_root(const Request& request) const noexcept { return request.root == boards_.own(); }

  DirectOperation as_direct(const PostCollective& operation) const noexcept {
    return {operation.request, is_root(operation.request), operation.first, operation.end};
  }
  PieceShape piece_shape(const Request& request) const noexcept;
  /// Returns the direct way of an operation of this kind and size, if it has one; the same at all
  /// members.
  std::optional<DirectShape> direct_shape(const Request& request) const noexcept;
  void set_up(PostCollective& operation) const noexcept;

  bool post_operands();
  bool describe(PostCollective& operation);

  /// Makes progress with the oldest operation, which is this one.
  bool advance_front(PostCollective& operation);
  /// Does what is possible of a direct operation; `by_pieces`: it has been made ready for them.
  Step advance_directly(PostCollective& operation, bool& progressed);
  void finish(PostCollective& operation);
  void show_awaited() noexcept;

  Team& team_;
  Boards boards_;
  DirectTeam direct_;
  CollectiveQueue<PostCollective> operations_;
  PostCollective* posting_ = nullptr;  ///< the first whose operand is not all posted, or null
  std::uint32_t next_number_ = 0;
};

}  // namespace gex::coll
