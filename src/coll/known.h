#pragma once
// Values of operations by leaders (by_leaders.h) that hold for good, and how a member asks others
// for them.
//
// A message to a neighborhood is taken by its leader, in a poll: while that one computes, nothing
// comes of it. But a result holds once it is there, and so does a neighborhood's operand, what the
// operands of its members make: any member that has them may send them, and one that comes twice or
// late does no harm. So of operations of few bytes members keep the last ones, and one that has
// waited for long asks:
//
//   turn 0        the member whose message or post it has to have: if that one answers, it polls,
//                 and all is left to it
//   turns behind  some members, each time others, with growing pauses. Of a broadcast for the
//                 result: in the neighborhood from which the own one has it, and in the root's. Of
//                 a reduction to all: in all neighborhoods for their operands, or the result
//
// A member makes the own neighborhood's operand of its posts, once they are there; a result of
// operands as the messages would make it (plan_quick_reduce_to_all). A leader that has the operands
// puts in place what others' messages would bring, and goes on.
//
// Pure: no process, no network.

#include <gasnetex.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "base/clock.h"
#include "coll/collective.h"
#include "coll/plan.h"

namespace gex::coll {

/// Operations of more bytes are left to the leaders, and reductions of more neighborhoods.
inline constexpr std::size_t max_known_bytes = 512;
inline constexpr std::uint32_t max_gathered = 64;

/// Values of the last operations, by number.
class KnownValues {
 public:
  static constexpr std::uint32_t kept = 16;

  void keep(std::uint32_t number, std::span<const std::byte> bytes) {
    if (entries_.empty()) entries_.resize(kept);
    Entry& entry = entries_[number % kept];
    if (!entry.bytes.empty() && static_cast<std::int32_t>(number - entry.number) <= 0) return;
    entry.number = number;
    entry.bytes.assign(bytes.begin(), bytes.end());
  }
  /// None: it is not known, or was not kept for so long.
  std::span<const std::byte> of(std::uint32_t number) const noexcept {
    if (entries_.empty()) return {};
    const Entry& entry = entries_[number % kept];
    return entry.number == number ? std::span<const std::byte>(entry.bytes)
                                  : std::span<const std::byte>();
  }

 private:
  struct Entry {
    std::uint32_t number = 0;
    std::vector<std::byte> bytes;  ///< none: of no operation
  };
  std::vector<Entry> entries_;  ///< none before the first
};

/// The neighborhoods' operands of a reduction, as far as a member has them.
class GatheredOperands {
 public:
  /// Begins to gather for an operation; false: it does so for an older one.
  bool begin(std::uint32_t number, std::uint32_t neighborhoods, std::size_t bytes) {
    if (gathers_ && number_ == number) return true;
    if (gathers_ && static_cast<std::int32_t>(number_ - number) < 0) return false;
    gathers_ = true;
    number_ = number;
    bytes_ = bytes;
    missing_ = neighborhoods;
    there_.assign(neighborhoods, false);
    places_.resize(neighborhoods * lines());
    return true;
  }
  void end(std::uint32_t number) noexcept {
    if (number_ == number) gathers_ = false;
  }
  void keep(std::uint32_t number, std::uint32_t neighborhood, std::span<const std::byte> bytes) {
    if (!gathers_ || number_ != number || bytes.size() != bytes_ || there_[neighborhood]) return;
    std::memcpy(place(neighborhood), bytes.data(), bytes.size());
    there_[neighborhood] = true;
    --missing_;
  }
  bool has(std::uint32_t neighborhood) const noexcept { return there_[neighborhood]; }
  bool has_all(std::uint32_t number) const noexcept {
    return gathers_ && number_ == number && missing_ == 0;
  }
  const std::byte* of(std::uint32_t neighborhood) const noexcept {
    return places_[neighborhood * lines()].bytes;
  }

 private:
  std::size_t lines() const noexcept { return round_up_to_line(bytes_) / cache_line; }
  std::byte* place(std::uint32_t neighborhood) noexcept {
    return places_[neighborhood * lines()].bytes;
  }

  bool gathers_ = false;
  std::uint32_t number_ = 0;
  std::size_t bytes_ = 0;
  std::uint32_t missing_ = 0;
  std::vector<bool> there_;
  std::vector<Line> places_;
};

/// In which order the messages of plan_quick_reduce_to_all combine operands.
class QuickOrder {
 public:
  explicit QuickOrder(std::uint32_t neighborhoods) noexcept : folded_(neighborhoods) {}

  /// Makes what a neighborhood sends to its partner in a round.
  template <class Operand>
  void combine(std::uint32_t partner, unsigned round, const Reduction& reduction, std::size_t bytes,
               Operand operand, std::byte* to) const {
    combine_from(folded_.index_of(partner) >> round << round, 1U << round, reduction, bytes,
                 operand, to);
  }
  /// `operand(neighborhood)` is where that one's is.
  template <class Operand>
  void make_result(const Reduction& reduction, std::size_t bytes, Operand operand,
                   std::byte* to) const {
    combine_from(0, folded_.count, reduction, bytes, operand, to);
  }

 private:
  template <class Operand>
  void combine_from(std::uint32_t first, std::uint32_t count, const Reduction& reduction,
                    std::size_t bytes, Operand operand, std::byte* to) const {
    if (count == 1) {
      const std::uint32_t group = folded_.group_at(first);
      const bool is_paired = folded_.is_paired(group);
      std::memcpy(to, operand(is_paired ? group + 1 : group), bytes);
      if (is_paired) reduction.apply(operand(group), to, bytes);
      return;
    }
    Line left[max_known_bytes / cache_line];
    combine_from(first, count / 2, reduction, bytes, operand, left[0].bytes);
    combine_from(first + count / 2, count / 2, reduction, bytes, operand, to);
    reduction.apply(left[0].bytes, to, bytes);
  }

  FoldedGroups folded_;
};

/// The member that has answered last, by operation.
class Answers {
 public:
  void note(std::uint32_t number, gex_Rank_t member) noexcept {
    entries_[number % entries_.size()] = {number, member};
  }
  void forget(std::uint32_t number) noexcept { note(number, GEX_RANK_INVALID); }
  bool has(std::uint32_t number, gex_Rank_t member) const noexcept {
    const Entry& entry = entries_[number % entries_.size()];
    return entry.number == number && entry.member == member;
  }

 private:
  struct Entry {
    std::uint32_t number = 0;
    gex_Rank_t member = GEX_RANK_INVALID;
  };
  std::array<Entry, KnownValues::kept> entries_;
};

struct Known {
  KnownValues results;
  KnownValues operands;  ///< of the own neighborhood
  GatheredOperands gathered;
  Answers answers;
};

/// When a member asks. `to_ns` converts ticks.
class Asking {
 public:
  unsigned turn() const noexcept { return turn_; }

  /// Returns true if it is time for a question, of `turn`; `pass` ends that turn.
  template <class ToNs>
  bool is_due(Tick now, std::uint64_t nap_ns, ToNs to_ns) noexcept {
    if (!since_) since_ = now;
    const std::uint64_t pause =
        std::min(2 * nap_ns * std::max(turn_, 1U) << times_, longest_pause_ns);
    if (to_ns(now - *since_) < pause) return false;
    since_ = now;
    return true;
  }
  void pass() noexcept { ++turn_; }
  /// The member that was asked in turn 0 polls: it is asked again, after a longer pause.
  void begin_again() noexcept {
    turn_ = 0;
    times_ = std::min(times_ + 1, 3U);
  }

 private:
  static constexpr std::uint64_t longest_pause_ns = 1'000'000'000;

  std::optional<Tick> since_;  ///< none: it has not looked
  unsigned turn_ = 0;
  unsigned times_ = 0;  ///< it has begun again
};

/// Members of a neighborhood that are asked in a turn behind the first, of which begins with the
/// one at a position.
inline std::vector<gex_Rank_t> some_of(const Groups::Members& members, std::uint32_t position,
                                       unsigned turn) {
  constexpr unsigned some = 2;
  std::vector<gex_Rank_t> asked;
  for (unsigned i = 0; i < std::min(some, members.size()); ++i)
    asked.push_back(members[(position + (turn - 1) * some + i) % members.size()]);
  return asked;
}

/// The members that are asked for a broadcast in a turn behind the first; `leader`: of the own
/// neighborhood, which is not the root's.
inline std::vector<gex_Rank_t> asked_for_broadcast(const Groups& groups, gex_Rank_t root,
                                                   gex_Rank_t leader, unsigned turn) {
  Plan plan;
  plan_broadcast(plan, groups, root, leader, Trees::between);
  const auto beside = [&](gex_Rank_t first) {
    return some_of(groups.members(groups.group_of(first)), groups.position_of(first), turn);
  };
  std::vector<gex_Rank_t> asked = beside(plan.result_sender);
  if (groups.group_of(plan.result_sender) == groups.group_of(root)) return asked;
  const std::vector<gex_Rank_t> of_root = beside(root);
  asked.insert(asked.end(), of_root.begin(), of_root.end());
  return asked;
}

}  // namespace gex::coll
