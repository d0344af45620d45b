#pragma once
// Collective operations of a team in one neighborhood, by posts (shm/posts.h) instead of messages.
//
// An operation takes a run of post numbers, the same at all members:
//  - direct: many bytes. Members post where their memory is, and copy straight from there
//  (direct.h,
//    shared_direct.cc). Where they cannot, the operation goes on as one of the others, whose
//    numbers it has taken as well.
//  - copy: a broadcast. The root posts the bytes, piece by piece, and the others read them.
//  - flat: a reduction of few operands. All post theirs; who wants the result reads all.
//  - grouped: the same among many members. The first of each group reads its group's operands and
//    posts what they make, of which the result is made.
//  - sliced: a reduction of many bytes. All post theirs, each member combines a slice of every
//    piece and posts it, and the result is put together from the slices.
//
// Operands are combined from the last rank down, each with what those behind it make, so their
// order is that of the ranks, and every member that makes a result makes the same.
//
// Members read in the order of operations; what they post of their own runs ahead as far as there
// are cells and data may move. Nothing here waits. All functions are called with the lock of the
// TeamCollectives held.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "coll/direct.h"
#include "coll/operation.h"
#include "core/team.h"
#include "shm/posts.h"

namespace gex::coll {

struct SharedOperation : Operation {
  enum class Shape : std::uint8_t { direct, copy, flat, grouped, sliced };
  /// How far a direct operation has come here.
  enum class Stage : std::uint8_t {
    describing,  ///< the members' memory is not known yet
    agreeing,    ///< on whether all of them reach it
    moving,      ///< bytes
    ending,      ///< other members are still to move theirs
  };
  Shape shape = Shape::copy;
  bool posts = false;           ///< this member posts an operand, or is the root of a broadcast
  bool reads = false;           ///< this member makes a result
  std::uint32_t first = 0;      ///< post number
  std::uint32_t pieces = 0;     ///< each takes one number, or two if grouped or sliced
  std::size_t piece_bytes = 0;  ///< whole elements
  std::uint32_t posted = 0;     ///< pieces of the own operand
  std::uint32_t piece = 0;      ///< being read
  bool second = false;          ///< of that piece: reading the second number
  gex_Rank_t next = 0;          ///< of that number: members still to be read are below
  std::uint32_t end = 0;        ///< the next operation's first number
  bool few = false;             ///< bytes that fit in a cell, posted if this member posts

  // Only direct operations have these.
  Stage stage = Stage::describing;
  bool described = false;  ///< the own memory has been posted, if others need it
  bool refused = false;    ///< a broadcast's source is not reached from here, or by a member
  bool agrees = true;      ///< so far all members; false of a broadcast's root: by pieces
  bool kernel_agrees = true;
  bool all_shared = false;    ///< all memory that is used lies in segments
  gex_Rank_t seen = 0;        ///< members whose posts of this stage have been read
  std::size_t moved = 0;      ///< bytes
  bool offered = false;       ///< the root may help
  std::uint32_t claimed = 0;  ///< chunks that this member has copied then

  std::uint32_t numbers_each() const noexcept {
    return shape == Shape::copy || shape == Shape::flat ? 1 : 2;
  }
  bool is_direct() const noexcept { return shape == Shape::direct; }
  /// Numbers that a direct operation takes for itself: before those of the pieces.
  static std::uint32_t numbers_before_pieces(Kind kind) noexcept {
    return kind == Kind::broadcast ? 1 : 3;
  }
  /// The elements that a member combines of `whole` bytes.
  struct Slice {
    std::size_t offset;
    std::size_t bytes;
  };
  Slice slice(std::size_t whole, gex_Rank_t member, gex_Rank_t members) const noexcept {
    const std::size_t element = request.reduction.element;
    const std::size_t count = whole / element;
    const std::size_t begin = count * member / members;
    const std::size_t behind_it = count * (std::size_t{member} + 1) / members;
    return {begin * element, (behind_it - begin) * element};
  }
  std::size_t offset(std::uint32_t number) const noexcept { return number * piece_bytes; }
  std::size_t size(std::uint32_t number) const noexcept {
    const std::size_t left = request.bytes - offset(number);
    return left < piece_bytes ? left : piece_bytes;
  }
};

class Shared {
 public:
  /// `slots`: of the members, by rank (shm::TeamSlots).
  Shared(Team& team, const std::vector<std::uint32_t>& slots);
  /// Leaves the own board as a slot that is not in use.
  ~Shared();
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  /// Returns true if this is the way for such an operation; the same answer at all members.
  static bool takes(const Request& request) noexcept;

  /// An operation of few bytes has one of these outcomes in its call.
  enum class AtOnce : std::uint8_t {
    nothing,
    posted,  ///< what this member posts: `launch` goes on from there
    done,    ///< all there is to do here
  };
  /// Before anything else is kept of an operation, the next of the team's: posts and reads it, if
  /// it is one of few bytes that depends on nothing, and nothing is under way.
  AtOnce do_at_once(const Request& request) noexcept;

  /// The operation is the next of the team's.
  void launch(SharedOperation& operation, bool posted = false);
  bool advance();
  /// Does the work of `advance` for an operation that is not done.
  void advance_to(SharedOperation& operation);
  /// False: nothing that `advance` would do is possible yet. Without the lock, for who waits: one
  /// word read.
  bool may_advance() const noexcept {
    const shm::StdAtomics::Ready* ready = awaited_.load(std::memory_order_relaxed);
    return ready == nullptr || shm::seems_posted<shm::StdAtomics>(
                                   *ready, awaited_number_.load(std::memory_order_relaxed));
  }
  /// Returns true if something was stored that other members may wait for, since the last call.
  bool take_shown() noexcept { return std::exchange(shown_, false); }
  /// Returns true if others may be waiting for something that this member would do in a poll.
  bool wants_polls() const noexcept;

 private:
  using Shape = SharedOperation::Shape;
  using Stage = SharedOperation::Stage;

  void shape(SharedOperation& operation) const noexcept;
  /// How it goes by pieces.
  Shape shape_of_pieces(const Request& request) const noexcept;
  bool post_operands();
  bool read(SharedOperation& operation);
  bool read_copy(SharedOperation& operation);
  bool read_flat(SharedOperation& operation);
  bool read_grouped(SharedOperation& operation);
  bool read_sliced(SharedOperation& operation);

  // Direct operations: true once the operation is over here, or goes on by pieces.
  bool describe(SharedOperation& operation);
  bool move_directly(SharedOperation& operation, bool& progressed);
  bool serve_copy(SharedOperation& operation, bool& progressed);
  bool take_copy(SharedOperation& operation, bool& progressed);
  bool reduce_directly(SharedOperation& operation, bool& progressed);
  bool agree_on_reduction(SharedOperation& operation, bool& progressed);
  bool post_verdict(SharedOperation& operation);
  bool combine_slice(SharedOperation& operation, bool& progressed);
  void combine_chunk(SharedOperation& operation, std::size_t offset, std::size_t bytes);
  void go_on_by_pieces(SharedOperation& operation);
  void finish_directly(SharedOperation& operation);
  struct Description;
  /// Returns what a member has posted of a direct operation, or null if it has not yet.
  Description* description_of(gex_Rank_t member, const SharedOperation& operation) noexcept;
  void post_description(const SharedOperation& operation, const Description& description) noexcept;
  /// Returns true if the root of a broadcast copies to the other member.
  bool may_help(const SharedOperation& operation) const noexcept;
  /// True once there is nothing to help with.
  bool help(SharedOperation& operation, bool& progressed);
  /// Copy from the root, which is not reached if the operation is `refused` then. True: all of it,
  /// or all that the root has not claimed.
  bool copy_all(SharedOperation& operation, const Description& root);
  bool copy_claimed(SharedOperation& operation, Description& root);
  bool refuse_copy(SharedOperation& operation);

  void post_few(std::uint32_t number, const std::byte* from, std::size_t bytes) noexcept;
  /// True once a `few` is done here, which is the only one under way.
  bool read_few(SharedOperation& operation);
  void show_awaited() noexcept;

  bool may_write(std::uint32_t number) noexcept;
  bool has_read(gex_Rank_t member, std::uint32_t number) const noexcept;
  bool is_posted(gex_Rank_t member, std::uint32_t number) const noexcept;
  /// Returns true if a member has posted, of an operation of so many bytes; ends the job if of
  /// another.
  bool has_posted(gex_Rank_t member, std::uint32_t number, std::size_t bytes) noexcept;
  [[noreturn]] void refuse_size(gex_Rank_t member, std::uint64_t there,
                                std::size_t bytes) const noexcept;
  [[noreturn]] void refuse_member(gex_Rank_t member) const noexcept;
  /// Returns what a member has posted, or null if it has not yet.
  const std::byte* posted(gex_Rank_t member, std::uint32_t number, std::size_t bytes) noexcept;
  /// Combines members [first, operation.next) from the last down into `to`, as far as they are
  /// there; members stand `step` apart. True once all are.
  bool combine(SharedOperation& operation, std::uint32_t number, gex_Rank_t first, gex_Rank_t last,
               gex_Rank_t step, std::size_t offset, std::size_t bytes, std::size_t posted_bytes,
               std::byte* to);

  Team& team_;
  std::vector<shm::PostBoard*> boards_;  ///< by rank
  DirectAccess access_;
  shm::PostWindow<shm::StdAtomics> window_;
  shm::PostReader<shm::StdAtomics> reader_;
  OperationQueue<SharedOperation> operations_;
  SharedOperation* posting_ = nullptr;  ///< the first whose operand is not all posted, or null
  std::uint32_t next_number_ = 0;
  bool shown_ = false;

  // What direct operations before have shown.
  bool mapped_refused_ = false;  ///< a member does not map what this one has in segments
  bool kernel_refused_ = false;  ///< for a member the kernel does not copy from this one
  /// States if the kernel copies between all members, once reductions have agreed on that; the same
  /// at all.
  enum class Kernel : std::uint8_t { unknown, between_all, not_between_all };
  Kernel kernel_ = Kernel::unknown;
  std::vector<Line> chunk_;  ///< a part of a slice, and operands that the kernel has copied

  /// The post for want of which the last `read` stopped, or null.
  const shm::StdAtomics::Ready* missing_ = nullptr;
  std::uint32_t missing_number_ = 0;
  /// That post where it is all that this member waits for: what `may_advance` reads. The two belong
  /// together only while no thread advances, so it may be wrong, but not for long.
  std::atomic<const shm::StdAtomics::Ready*> awaited_{nullptr};
  std::atomic<std::uint32_t> awaited_number_{0};
};

}  // namespace gex::coll
