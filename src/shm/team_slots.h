#pragma once
// Memory that a team's members of one neighborhood share: barrier flags, stages of barriers
// (shm/barrier_stage.h), and boards of posts (shm/posts.h).
//
// Each member of the neighborhood has numbered slots of its own, one for each such team that it is
// a member of, and takes the lowest that is free. So teams without a common member do not compete,
// and a member finds those of another by its number, which members exchange when the team is made.
// Memory is used as slots are touched and is used again by later teams.
//
// A process maps what its teams use: flags of 8 slots at a time, stages of two, boards of one, of
// all members each.
//
// Thread rules: any thread, any function. All but `reserve` end the job in one line where memory
// cannot be mapped.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/cache_line.h"
#include "shm/barrier_stage.h"
#include "shm/posts.h"

namespace gex::shm {

/// A team has three sequences of barriers, each numbered alike by all members.
enum class BarrierKind : std::uint32_t {
  calls,        ///< at which a member arrives in its calls
  completions,  ///< at which it arrives when a collective operation is done there
  named,        ///< of GASNet-1: one at a time, each with a value of the member
};
inline constexpr std::uint32_t barrier_kinds = 3;

/// A member shows these of a team's barriers.
struct alignas(cache_line) BarrierFlag {
  std::atomic<std::uint32_t> number;  ///< of the one at which it has arrived
  std::atomic<std::uint32_t> core;  ///< on which it ran then, where there are more ranks than cores
  /// Named barriers: the member's, or that of all, by the parity of their numbers. Written before
  /// `number`.
  std::atomic<std::uint64_t> values[2];
};
static_assert(sizeof(BarrierFlag) == cache_line);

/// The stages of a slot, by kind of barrier. Two slots' make a page.
struct alignas(2048) SlotStages {
  BarrierStage of[barrier_kinds];
};
static_assert(sizeof(SlotStages) == 2048);

/// Slots of a member, and so teams that it can be a member of at a time; members of further ones
/// use messages.
inline constexpr std::uint32_t max_team_slots = 4096;
/// So many there are however little memory may be used.
inline constexpr std::uint32_t min_team_slots = 32;

class TeamSlots {
 public:
  static constexpr std::uint32_t none = ~0U;

  /// Bytes that `count` slots of each of `members` take in the file; `count` is a multiple of 8.
  static std::uint64_t bytes(std::uint32_t members, std::uint32_t count) noexcept;
  /// How many of these take at most `limit` bytes; at least `min_team_slots`.
  static std::uint32_t count_within(std::uint64_t limit, std::uint32_t members) noexcept;
  /// Bytes of a member for one team.
  static std::uint64_t slot_bytes() noexcept;

  /// In a file, which stays open, from `offset` on, a multiple of the page size.
  TeamSlots(int file, std::uint64_t offset, std::uint32_t members, std::uint32_t count);

  /// The lowest free slot of this process below `limit`, or `none`. All flags, stages, ready words
  /// and counts of it are 0.
  std::uint32_t reserve(std::uint32_t limit) noexcept;
  /// Makes flags of the slot of this process, which is `member`, 0, and stages if it `has_stages`.
  /// Requires: its board is 0 again, and no other member uses any of it any more.
  void release(std::uint32_t slot, std::uint32_t member, bool has_stages) noexcept;

  /// Flags of a member, each alone in its cache line: its own, and the one that it raises for a
  /// group that it leads.
  BarrierFlag& barrier_flag(std::uint32_t slot, BarrierKind kind, std::uint32_t member);
  BarrierFlag& group_flag(std::uint32_t slot, BarrierKind kind, std::uint32_t member);
  BarrierStage& barrier_stage(std::uint32_t slot, BarrierKind kind, std::uint32_t member);
  /// Returns the board of a member's posts in the team's collectives.
  PostBoard& post_board(std::uint32_t slot, std::uint32_t member);

 private:
  BarrierFlag* flags_of(std::uint32_t slot, BarrierKind kind, std::uint32_t member);
  /// Requires: the group of the slot is mapped.
  BarrierFlag* flags_in(std::uint32_t slot, std::uint32_t member) const noexcept;
  SlotStages& stages_in(std::uint32_t slot, std::uint32_t member) const noexcept;
  std::byte* map(std::uint64_t offset, std::uint64_t bytes) const;

  int file_;
  std::uint64_t offset_;
  std::uint32_t members_;
  std::uint32_t count_;
  std::mutex mutex_;
  std::vector<bool> used_;           ///< this process's
  std::vector<BarrierFlag*> flags_;  ///< by group of slots; null: not mapped
  std::vector<PostBoard*> boards_;   ///< of member 0, by slot; null: not mapped
  std::vector<SlotStages*> stages_;  ///< by group of slots; null: not mapped
};

}  // namespace gex::shm
