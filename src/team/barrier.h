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
//  - Members of several neighborhoods: each has a flag where it shares memory with others, and one
//    of a neighborhood leads it, at first the lowest (barrier_plan.h). Once all flags of its
//    neighborhood have reached a number it sends that to other neighborhoods, by dissemination: in
//    round k to the one 2^k further on. What comes of that is in another flag, which the others
//    watch. A member that waits while the leader computes takes its place (barrier_rounds.h).
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
#include <optional>
#include <vector>

#include "core/team.h"
#include "shm/team_slots.h"
#include "team/barrier_flags.h"
#include "team/barrier_plan.h"
#include "team/barrier_rounds.h"
#include "team/barrier_value.h"

namespace gex {

class TeamBarrier {
 public:
  /// A message's content, and the process that sent it.
  struct Arrival {
    gex_Rank_t source = 0;
    unsigned round;
    std::uint32_t number;
    team::BarrierValue value;  ///< of named barriers
  };
  /// A member wants the reports of a round to be sent to it, from `number` on.
  struct Question {
    gex_Rank_t source;
    gex_Rank_t member;
    unsigned round;
    std::uint32_t number;
  };

  using Kind = shm::BarrierKind;

  /// `slots`: of the members of the neighborhood, by rank (shm::TeamSlots), or none: messages among
  /// all. One of each kind for a member, which may make it later than others do.
  TeamBarrier(Team& team, std::vector<std::uint32_t> slots, Kind kind);
  /// Leaves what members share as it is (TeamSlots::release).
  ~TeamBarrier();
  TeamBarrier(const TeamBarrier&) = delete;
  TeamBarrier& operator=(const TeamBarrier&) = delete;

  /// Arrives; returns the barrier's number. One thread at a time. Release: what this thread did
  /// before is seen by every thread that finds the barrier done.
  std::uint32_t start() noexcept;
  /// Arrives at a named barrier, once the one before is done.
  std::uint32_t start(const team::BarrierValue& value) noexcept;

  /// Acquire on success. Any thread. By a thread that waits and polls: it may find that this member
  /// must lead its neighborhood.
  bool done(std::uint32_t number) noexcept {
    if (is_complete(number)) return true;
    if (!leads()) watch_leader(number);
    return false;
  }
  /// By one that does not wait.
  bool is_complete(std::uint32_t number) noexcept;

  /// The combined value of all members in the named barrier that was last started and is done.
  team::BarrierValue value() const noexcept;

  /// Returns true if a member that has not arrived at it may be waiting for this thread's core.
  /// False: all of them were last seen on others.
  bool needs_core(std::uint32_t number) const noexcept;

  /// A message of dissemination: `round`'s sender has come as far as `number`. Returns true if it
  /// is for neighbors too, whose bells the caller rings.
  bool arrived(const Arrival& arrival) noexcept;
  /// Returns the round's message, if it has been sent to another member.
  std::optional<Arrival> asked(const Question& question) noexcept;

  /// Raises group flags or sends what can be sent; true if anything changed.
  bool advance() noexcept;

  /// True if nothing is left for this process to do until the next start.
  bool idle() noexcept;

  Kind kind() const noexcept { return kind_; }
  team::BarrierShape shape() const noexcept { return shape_; }
  /// Returns true if what a neighborhood shares of its team's barriers is in this member's slot.
  bool has_stages() const noexcept { return stage_ != nullptr && place_ == 0; }
  /// Returns the slots of the neighborhood's members, by rank; empty: messages.
  const std::vector<std::uint32_t>& slots() const noexcept { return slots_; }
  std::uint32_t own_slot() const noexcept {
    return slots_.empty() ? shm::TeamSlots::none : slots_[place_];
  }
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
  void meet(const std::vector<std::uint32_t>& participants, std::uint32_t own);
  bool advance_group() noexcept;
  bool advance_rounds() noexcept;
  /// The combined value of this member and of those whose flags it watches.
  team::BarrierValue value_here(std::uint32_t number) const noexcept;

  /// Returns true if it is for this member to send and to take messages, or to raise a group flag.
  bool leads() const noexcept {
    // Relaxed: two that take themselves for it do no harm.
    return stage_ == nullptr || stage_->leader.load(std::memory_order_relaxed) == place_;
  }
  /// Messages reach this barrier, those also that came before, until `leave` (barrier_messages.cc).
  void enter();
  void leave() noexcept;
  /// Sends a round's message to a member; false: there is no room.
  bool send_report(gex_Rank_t to, unsigned round, std::uint32_t number,
                   const team::BarrierValue& value) const noexcept;
  /// Asks a member to have the messages of a round, from `number` on, sent to this one, if there is
  /// room. It answers if one has been sent to another member.
  void send_question(gex_Rank_t to, unsigned round, std::uint32_t number) const noexcept;

  [[gnu::noinline]] void watch_leader(std::uint32_t number) noexcept;
  [[gnu::cold, gnu::noinline]] void take_lead(std::uint32_t level) noexcept;
  void begin_questions(std::uint32_t level) noexcept;
  /// Asks for the messages of a round that has taken long.
  void ask_if_late(unsigned round) noexcept;
  [[gnu::cold, gnu::noinline]] void ask(unsigned round) noexcept;
  /// Sends a round's message to several members.
  [[gnu::cold, gnu::noinline]] void spread(const Arrival& arrival) noexcept;
  std::vector<gex_Rank_t> some_beside(gex_Rank_t lowest, unsigned turn) const noexcept;
  std::optional<Arrival> sent_in(unsigned round, std::uint32_t sent,
                                 std::uint32_t number) const noexcept;
  /// Returns true if that process sends and takes messages for a member.
  bool may_act_for(gex_Rank_t jobrank, gex_Rank_t member) const noexcept;

  Team& team_;
  team::BarrierShape shape_;
  Kind kind_;
  std::atomic<std::uint32_t> started_{0};

  /// A member that shares memory with no other has these for its own and for what is done.
  shm::BarrierFlag private_flags_[2] = {};
  /// The own flag, and that which this member raises for the others of its group; null: none.
  shm::BarrierFlag* own_flag_ = &private_flags_[0];
  shm::BarrierFlag* led_flag_ = nullptr;
  /// The number and the value of the barrier at which all have arrived; not of shape `flags`.
  shm::BarrierFlag* done_flag_ = &private_flags_[1];
  /// The flags of the members that share memory, in rank order; the own one at least.
  std::vector<shm::BarrierFlag*> flags_;
  std::vector<shm::BarrierFlag*> group_flags_;  ///< `flags`: of the groups' leaders
  team::Gathering gathering_;

  /// The lowest members of two neighborhoods, of which one has a round's messages of this one, and
  /// the other one sends them.
  struct Peers {
    gex_Rank_t to;
    gex_Rank_t from;
  };
  std::vector<Peers> peers_;            ///< of each round
  shm::BarrierStage* stage_ = nullptr;  ///< null: this member leads
  std::vector<shm::BarrierRound> private_rounds_;
  team::BarrierRounds rounds_;
  std::uint32_t place_ = 0;  ///< among the members of the neighborhood
  team::LeaderWatch leader_watch_;

  std::atomic<bool> took_lead_{false};  ///< and has sent nothing yet. Relaxed
  /// How a member that has taken the lead once asks for messages; under `advancing_`.
  struct Questions {
    bool any = false;         ///< it has taken it
    bool spreads = false;     ///< in the barrier that is under way
    unsigned turn = 0;        ///< which members are asked next
    std::uint32_t level = 0;  ///< so far all of the neighborhood have come
    Tick since = 0;           ///< when it asked last, or came so far
    std::uint64_t patience_ns = 0;
  } questions_;

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

void register_barrier_messages() noexcept;
void start_barriers();

}  // namespace team
}  // namespace gex
