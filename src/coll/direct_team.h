#pragma once
// The common part of a team's direct operations: members post where their memory is, under the
// operation's first number, and copy straight from there (direct_access.h). Where that does not
// reach, the operation goes on by pieces, whose numbers it has taken as well.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/boards.h"
#include "coll/collective.h"
#include "coll/direct_access.h"

namespace gex::coll {

/// A member's post of a direct operation. Fits in a cell. The lower half of the number of bytes
/// stands in the ready word.
struct Description {
  MemoryAt source;
  MemoryAt destination;
  std::uint32_t upper_bytes;
  std::uint32_t direct;  ///< of a broadcast's root; 0: it declines
  /// At a broadcast's root: claims (helped_copy.h). At another member: not 0 if it does not reach
  /// the root's memory. It changes after it has been posted.
  std::uint32_t shared_word;
};
static_assert(sizeof(Description) <= shm::post_cell_bytes);

/// An operation, as its direct way has it.
struct DirectOperation {
  const Request& request;
  bool is_root;         ///< this member is
  std::uint32_t first;  ///< its first number: those of the direct way, then those of the pieces
  std::uint32_t end;    ///< behind them
};

/// The result of a step of a direct operation.
enum class Step : std::uint8_t {
  incomplete,
  done,       ///< nothing is left of it to do here
  by_pieces,  ///< it goes on by pieces, at all members
};

/// How far a call that copies a broadcast's bytes has come.
enum class Taken : std::uint8_t {
  some,
  all,       ///< that it is to copy
  declined,  ///< it does not reach the source
};

/// Bytes that one call copies: then others may want the core, or handlers run.
inline constexpr std::size_t max_copied_at_once = 1 << 20;
/// Copies begin at a multiple of this many bytes, a page's.
inline constexpr std::size_t page_bytes = 4096;

class DirectTeam {
 public:
  explicit DirectTeam(Boards& boards) : boards(boards), access(boards) {}

  Boards& boards;
  DirectAccess access;
  /// A part of a reduction's slice, and operands that the kernel has copied.
  std::vector<Line> workspace;

  // Ways in which a member has declined earlier operations of this one's.
  bool mapped_declined = false;  ///< a member does not map what this one has in segments
  bool kernel_declined = false;  ///< for a member the kernel does not copy from this one
  /// States if the kernel copies between all members, once reductions have agreed on that; the same
  /// at all.
  enum class KernelAgreement : std::uint8_t { unknown, between_all, not_between_all };
  KernelAgreement kernel = KernelAgreement::unknown;

  /// Returns what a member has posted of an operation, or null if it has not yet.
  const Description* description_of(gex_Rank_t member, const DirectOperation& operation) noexcept;
  /// The word of a member's post that changes; the member has posted.
  std::atomic_ref<std::uint32_t> word_of(gex_Rank_t member,
                                         const DirectOperation& operation) const noexcept;
  void post(const DirectOperation& operation, Description description) noexcept;
};

/// The root's part that direct broadcasts have in common.
class DirectRoot {
 public:
  /// Posts where the source is, and whether members may copy from there. False: there is no room
  /// for the post now.
  bool describe(DirectTeam& team, const DirectOperation& operation) noexcept;
  const MemoryAt& source() const noexcept { return source_; }
  /// Goes on with the own result. Done: it is made. By pieces: this member declines. `progressed`
  /// becomes true if anything was done.
  Step make_own(const Request& request, bool& progressed) noexcept;
  /// Another member has declined: it does not reach the source.
  Step note_decline(DirectTeam& team) const noexcept;

 private:
  MemoryAt source_;
  bool is_direct_ = false;    ///< members may copy from the source; else this one declines
  std::size_t own_made_ = 0;  ///< bytes of the own result
};

/// Ends the job: memory that was reached in an earlier step of the operation is not any more.
[[noreturn]] void refuse_memory_of(gex_Rank_t rank) noexcept;

}  // namespace gex::coll
