#include "shm/team_slots.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/os_mapping.h"
#include "base/os_memory.h"
#include "base/os_memory_limits.h"
#include "base/round_up.h"

namespace gex::shm {

namespace {

constexpr std::uint64_t page = 4096;

/// For each kind of barrier a slot has a member's own flag and its group's; some lines are spare.
constexpr std::uint32_t flags_each = std::bit_ceil(2 * barrier_kinds);
/// Slots whose flags lie together: of each member one page.
constexpr std::uint32_t group = page / (flags_each * sizeof(BarrierFlag));
static_assert(group == 8 && max_team_slots % group == 0 && min_team_slots % group == 0);

/// Slots whose stages lie together: of each member one page.
constexpr std::uint32_t stage_group = page / sizeof(SlotStages);
static_assert(group % stage_group == 0);

/// The bytes of the flags or the stages of a group of slots.
constexpr std::uint64_t group_bytes(std::uint32_t members) {
  return members * page;
}
constexpr std::uint64_t board_bytes(std::uint32_t members) {
  return round_up(sizeof(PostBoard) * members, page);
}

}  // namespace

std::uint64_t TeamSlots::bytes(std::uint32_t members, std::uint32_t count) noexcept {
  return (count / group + count / stage_group) * group_bytes(members) +
         count * board_bytes(members);
}

std::uint32_t TeamSlots::count_within(std::uint64_t limit, std::uint32_t members) noexcept {
  const std::uint64_t groups = limit / bytes(members, group);
  return static_cast<std::uint32_t>(
             std::clamp<std::uint64_t>(groups, min_team_slots / group, max_team_slots / group)) *
         group;
}

std::uint64_t TeamSlots::slot_bytes() noexcept {
  return flags_each * sizeof(BarrierFlag) + sizeof(SlotStages) + sizeof(PostBoard);
}

TeamSlots::TeamSlots(int file, std::uint64_t offset, std::uint32_t members, std::uint32_t count)
    : file_(file),
      offset_(offset),
      members_(members),
      count_(count),
      flags_(count / group),
      boards_(count),
      stages_(count / stage_group) {
}

std::uint32_t TeamSlots::reserve(std::uint32_t limit) noexcept {
  const std::lock_guard guard(mutex_);
  const auto free = std::find(used_.begin(), used_.end(), false);
  const auto slot = static_cast<std::uint32_t>(free - used_.begin());
  if (slot >= std::min(limit, count_)) return none;
  if (free == used_.end())
    used_.push_back(true);
  else
    *free = true;
  return slot;
}

void TeamSlots::release(std::uint32_t slot, std::uint32_t member, bool has_stages) noexcept {
  const std::lock_guard guard(mutex_);
  // Relaxed, all of it: the members that use the slot next have agreed on it with this process.
  const auto clear = [](auto& word) { word.store(0, std::memory_order_relaxed); };
  if (flags_[slot / group] != nullptr) {
    BarrierFlag* const flags = flags_in(slot, member);
    for (std::uint32_t i = 0; i < 2 * barrier_kinds; ++i) {
      clear(flags[i].number);
      for (auto& value : flags[i].values) clear(value);
    }
  }
  if (has_stages) {
    for (BarrierStage& stage : stages_in(slot, member).of) {
      clear(stage.leader);
      for (BarrierRound& round : stage.rounds) {
        for (auto& received : round.received) clear(received);
        clear(round.sent);
      }
    }
  }
  used_[slot] = false;
}

BarrierFlag& TeamSlots::barrier_flag(std::uint32_t slot, BarrierKind kind, std::uint32_t member) {
  return flags_of(slot, kind, member)[0];
}

BarrierFlag& TeamSlots::group_flag(std::uint32_t slot, BarrierKind kind, std::uint32_t member) {
  return flags_of(slot, kind, member)[1];
}

BarrierFlag* TeamSlots::flags_of(std::uint32_t slot, BarrierKind kind, std::uint32_t member) {
  const std::lock_guard guard(mutex_);
  BarrierFlag*& flags = flags_[slot / group];
  const std::uint64_t bytes = group_bytes(members_);
  if (flags == nullptr) flags = reinterpret_cast<BarrierFlag*>(map(slot / group * bytes, bytes));
  return flags_in(slot, member) + 2 * static_cast<std::uint32_t>(kind);
}

BarrierStage& TeamSlots::barrier_stage(std::uint32_t slot, BarrierKind kind, std::uint32_t member) {
  const std::lock_guard guard(mutex_);
  SlotStages*& stages = stages_[slot / stage_group];
  const std::uint64_t bytes = group_bytes(members_);
  if (stages == nullptr)
    stages = reinterpret_cast<SlotStages*>(
        map(count_ / group * bytes + count_ * board_bytes(members_) + slot / stage_group * bytes,
            bytes));
  return stages_in(slot, member).of[static_cast<std::uint32_t>(kind)];
}

BarrierFlag* TeamSlots::flags_in(std::uint32_t slot, std::uint32_t member) const noexcept {
  return flags_[slot / group] + (member * group + slot % group) * flags_each;
}

SlotStages& TeamSlots::stages_in(std::uint32_t slot, std::uint32_t member) const noexcept {
  return stages_[slot / stage_group][member * stage_group + slot % stage_group];
}

PostBoard& TeamSlots::post_board(std::uint32_t slot, std::uint32_t member) {
  const std::lock_guard guard(mutex_);
  PostBoard*& boards = boards_[slot];
  const std::uint64_t bytes = board_bytes(members_);
  if (boards == nullptr)
    boards = reinterpret_cast<PostBoard*>(
        map(count_ / group * group_bytes(members_) + slot * bytes, bytes));
  return boards[member];
}

std::byte* TeamSlots::map(std::uint64_t offset, std::uint64_t bytes) const {
  os::Mapping mapping = os::Mapping::shared(file_, offset_ + offset, bytes);
  if (!mapping)
    fatal("cannot map %s of shared memory for a team: %s", os::format_bytes(bytes).c_str(),
          std::strerror(errno));
  static_cast<void>(os::exclude_from_core_dumps(mapping.bytes()));
  // For the life of the process: later teams use it again.
  return mapping.release().data();
}

}  // namespace gex::shm
