#pragma once
// Barriers over a team: any number in flight, none of which blocks.
//
// Barriers of a team are numbered from 1 by every member alike. `start` arrives at the next one and
// `done(n)` returns whether all have arrived at n. Both kinds work on monotone counts, so several
// barriers in flight need no more state than one.
//
//  - Members of different processes of one neighborhood, and each has a slot free: each has a flag
//    that holds the number it has arrived at, and a barrier is done when every flag has reached it.
//    Two members exchange one line each way at the same time. Of more than `max_watching_all`
//    members with a core each, the first one watches all and raises another flag for the others
//    (Gathering). Above `group_size` members the lowest of each group watches its group and raises
//    a group flag, which all watch.
//  - Members of several neighborhoods: each has a flag where it shares memory with others, and the
//    lowest of a neighborhood leads it (barrier_plan.h). Once all flags of its neighborhood have
//    reached a number it sends that to other leaders, by dissemination: in round k to the one 2^k
//    further on. What comes of that is in another flag, which the others watch.
//  - Where no two share memory, or a process has several members: dissemination among all.
//
// To arrive at a number is to have arrived at all before it, so what is not arrived at in calls, as
// Team::barrier is, has a TeamBarrier of another kind, with numbers, flags and messages of its own.
//
// Named barriers are one at a time. Each member arrives with a value, and flags and messages carry
// what values make together. A member can be one barrier ahead, so values have two places, by the
// parity of the number.

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/team.h"
#include "shm/team_slots.h"
#include "team/barrier_flags.h"
#include "team/barrier_plan.h"
#include "team/barrier_value.h"

namespace gex {

class TeamBarrier {
 public:
  /// A message's content, and the process that sent it.
  struct Arrival {
    gex_Rank_t source;
    unsigned round;
    std::uint32_t number;
    std::uint64_t value = 0;  ///< of named barriers
  };

  using Kind = shm::BarrierKind;

  /// `slots`: of the members, by rank (shm::TeamSlots), or none: messages among all. One of each
  /// kind for a member, which may make it later than others do.
  TeamBarrier(Team& team, std::vector<std::uint32_t> slots, Kind kind);
  /// Leaves the own flags as those of a slot that is not in use.
  ~TeamBarrier();
  TeamBarrier(const TeamBarrier&) = delete;
  TeamBarrier& operator=(const TeamBarrier&) = delete;

  /// Arrives; returns the barrier's number. One thread at a time. Release: what this thread did
  /// before is seen by every thread that finds the barrier done.
  std::uint32_t start() noexcept;
  /// Arrives at a named barrier, once the one before is done.
  std::uint32_t start(const team::BarrierValue& value) noexcept;

  /// Acquire on success. Any thread.
  bool done(std::uint32_t number) noexcept;

  /// The combined value of all members in the named barrier that was last started and is done.
  team::BarrierValue value() const noexcept;

  /// Returns true if a member that has not arrived at it may be waiting for this thread's core.
  /// False: all of them were last seen on others.
  bool needs_core(std::uint32_t number) const noexcept;

  /// A message of dissemination: `round`'s sender has come as far as `number`.
  void arrived(const Arrival& arrival) noexcept;

  /// Raises group flags or sends what can be sent; true if anything changed.
  bool advance() noexcept;

  /// True if nothing is left for this process to do until the next start.
  bool idle() noexcept;

  team::BarrierShape shape() const noexcept { return shape_; }
  /// Returns the members' slots, by rank; empty: messages.
  const std::vector<std::uint32_t>& slots() const noexcept { return slots_; }
  const Team& team() const noexcept { return team_; }
  /// The number of the last that this member has arrived at. Relaxed; any thread.
  std::uint32_t started() const noexcept { return started_.load(std::memory_order_relaxed); }

  /// Checked mode: events of barriers that were started and not synchronised. Relaxed: only a
  /// count.
  void count_event(std::int32_t change) noexcept {
    events_.fetch_add(change, std::memory_order_relaxed);
  }
  std::int32_t unsynchronised() const noexcept { return events_.load(std::memory_order_relaxed); }

 private:
  /// The own flag has been raised, and some neighbor sleeps: wakes all if it was the last flag.
  [[gnu::cold, gnu::noinline]] void wake_members(std::uint32_t number) noexcept;
  void watch_neighborhood(const team::BarrierPlan& plan);
  void meet(const std::vector<std::uint32_t>& participants);
  bool advance_group() noexcept;
  bool advance_rounds() noexcept;
  /// Sends a round's message; false: there is no room.
  bool send(unsigned round, std::uint32_t number, const team::BarrierValue& value) noexcept;
  /// The place of what belongs to a number.
  unsigned place_of(std::uint32_t number) const noexcept {
    return kind_ == Kind::named ? number & 1 : 0;
  }
  /// The combined value of this member and of those whose flags it watches.
  team::BarrierValue value_here(std::uint32_t number) const noexcept;

  Team& team_;
  team::BarrierShape shape_;
  Kind kind_;
  std::atomic<std::uint32_t> started_{0};
  std::atomic<std::uint32_t> done_{0};  ///< of who has rounds: all have arrived at this one
  /// Not of `flags`: where the number is at which all have arrived.
  const std::atomic<std::uint32_t>* done_at_ = &done_;

  /// The own flag, and that which this member raises for the others of its group; null: none.
  shm::BarrierFlag* own_flag_ = nullptr;
  shm::BarrierFlag* led_flag_ = nullptr;
  /// The flags of the members that share memory, in rank order.
  std::vector<shm::BarrierFlag*> flags_;
  std::vector<shm::BarrierFlag*> group_flags_;  ///< `flags`: of the groups' leaders
  team::Gathering gathering_;

  struct Round {
    gex_Rank_t to;
    gex_Rank_t from;
    std::atomic<std::uint32_t> received[2] = {};  ///< the furthest, by place
    std::atomic<std::uint64_t> values[2] = {};    ///< written before `received`
    std::atomic<std::uint32_t> sent{0};           ///< relaxed: orders nothing
  };
  std::vector<Round> rounds_;  ///< empty: another member meets the others for this one
  /// Named: own values where there is no flag, and what all values make where there are rounds.
  std::atomic<std::uint64_t> own_values_[2] = {};
  std::atomic<std::uint64_t> results_[2] = {};
  std::atomic<bool> advancing_{false};
  std::atomic<std::int32_t> events_{0};
  std::vector<std::uint32_t> slots_;
};

using BarrierSlot = Slot<Team, TeamSlot::barrier, TeamBarrier>;

/// The barrier of a team's calls, which it has from `give_barrier` to `take_barrier`.
inline TeamBarrier& barrier_of(const Team& team) noexcept {
  return *BarrierSlot::of(team);
}

namespace team {

/// gex_Coll_BarrierNB.
gex_Event_t start_barrier(Team& team) noexcept;
void barrier_blocking(Team& team);

/// The plan of a team's barriers.
BarrierPlan plan_of(const Team& team);

/// Gives a new team its barrier; `slots` as agreed by its members.
void give_barrier(Team& team, std::vector<std::uint32_t> slots);
void take_barrier(Team& team) noexcept;

/// Calls `act` with the barrier of calls of each local member of a team, which does not end
/// meanwhile; `act` sends nothing. Any thread.
void for_each_barrier(void (*act)(void* context, TeamBarrier& barrier), void* context);
/// Calls `act` for the barrier of one member, by its endpoint, if the team is there.
void with_barrier(TeamId team, unsigned endpoint_address,
                  void (*act)(void* context, TeamBarrier& barrier), void* context);

/// Messages that this process has sent for barriers.
std::uint64_t barrier_messages() noexcept;

void start_barriers();

}  // namespace team
}  // namespace gex
