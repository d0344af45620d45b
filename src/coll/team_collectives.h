#pragma once
// The state of this process for the collective operations of a team.
//
// Made when the team's first collective call is made here, or when the first message about one
// arrives, and ended with the team. An operation is launched in the call that starts it, in checked
// mode when all members have made the same call (agreement.h). Once it is done, its event's probe
// finds that. If it completes together, this member then arrives at a barrier that was numbered in
// the call, and the probe waits for that as well.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/spin_lock.h"
#include "coll/agreement.h"
#include "coll/by_doubling.h"
#include "coll/by_leaders.h"
#include "coll/by_posts.h"
#include "coll/collective.h"
#include "coll/composed.h"
#include "coll/known.h"
#include "coll/messages.h"
#include "coll/wire.h"
#include "core/team.h"

namespace gex::coll {

class TeamCollectives;
using CollectivesSlot = Slot<Team, TeamSlot::collectives, TeamCollectives>;

class TeamCollectives {
 public:
  TeamCollectives() noexcept;
  TeamCollectives(const TeamCollectives&) = delete;
  TeamCollectives& operator=(const TeamCollectives&) = delete;

  /// Returns what is kept for the team; null before its first collective call here.
  static TeamCollectives* find(const Team& team) noexcept { return CollectivesSlot::of(team); }
  /// Returns what is kept for the team, made and bound to it if there is none.
  static TeamCollectives& of(Team& team);

  gex_Event_t start(const Request& request) noexcept;
  /// Checked mode: a call of which nothing else is done here.
  void announce(const Announcement& announcement) noexcept;

  /// It has work for polls. Without the lock.
  void activate() noexcept;
  /// For the active list.
  bool advance() noexcept;
  bool idle() noexcept;

  /// Events of operations that have not been synchronised yet.
  std::size_t unsynchronised() noexcept;

  /// Waits until nothing is left to do or to receive for calls that were made; no more will come.
  void settle() noexcept;

  /// Does something to a part with the lock held; from handlers.
  template <class Do>
  void with_messages(Do act) noexcept {
    const OptionalGuard guard(lock_, threaded_);
    act(messages_);
  }
  template <class Do>
  void with_known(Do act) noexcept {
    const OptionalGuard guard(lock_, threaded_);
    act(known_);
  }
  /// A member has answered with a value of an operation; without bytes: that it has none.
  void answered(std::uint32_t number, gex_Rank_t source, Wanted value,
                std::span<const std::byte> bytes);
  template <class Do>
  void with_agreement(Do act) noexcept {
    const OptionalGuard guard(lock_, threaded_);
    act(agreement_);
  }

 private:
  void bind(Team& team);
  Way way_of(const Request& request) const noexcept;
  Collective& take(const Request& request, Way way);
  std::unique_ptr<Collective> make(Way way);
  void give_back(Collective& operation) noexcept;
  /// `at_once`: what Posts::do_at_once has done of it.
  void launch(Collective& operation, Posts::AtOnce at_once = Posts::AtOnce::nothing);
  bool advance_locked() noexcept;
  bool advance_posts_and_launch_order() noexcept;
  bool idle_locked() const noexcept;
  /// Returns true if messages are still to come.
  bool is_owed() noexcept;
  void number_completion(Collective& operation);
  /// Arrives at the barriers of operations that are done here.
  void arrive_at_completions() noexcept;
  /// Wakes other members, and other threads of this one, for what `posts_` has stored.
  void ring_if_shown() noexcept;
  /// Returns true if an operation that is done here need not be done elsewhere, or is. Acquire. Any
  /// thread.
  bool has_completed_together(const Collective& operation) const noexcept;
  /// Called with the lock.
  bool is_done_and_complete(const Collective& operation) const noexcept {
    return is_done(operation) && has_completed_together(operation);
  }
  // The probe of an operation's event; gives the operation back if it is complete.
  static bool complete_if_done(void* operation, std::uint32_t) noexcept;
  static bool needs_core(void* operation, std::uint32_t) noexcept;
  /// Does what posts allow, and gives the operation back if it is complete then, which it returns.
  bool conclude(Collective& operation) noexcept;

  bool threaded_;
  SpinLock lock_;
  Team* team_ = nullptr;
  Agreement agreement_;
  Messages messages_;
  /// Null: no other member shares memory with this one, or a process has several members.
  std::unique_ptr<Posts> posts_;
  Known known_;
  /// None: all members share memory, or no two do, or a process has several members.
  std::optional<Leaders> leaders_;
  LaunchOrder launch_order_{messages_};
  bool is_whole_ = false;  ///< `posts_` is of all members
  /// Barriers of operations that complete together; null before the first.
  std::unique_ptr<TeamBarrier> completions_;
  std::uint32_t completions_numbered_ = 0;
  /// At the barriers of these operations, in the order of calls, this member has not arrived.
  std::deque<Collective*> completing_;
  /// Checked mode: operations that are not agreed on yet, with their numbers.
  std::deque<std::pair<std::uint32_t, Collective*>> unagreed_;

  /// Operations under way that call an operator of the client's.
  std::uint32_t with_client_operator_ = 0;

  /// Operations that go one way, made when there is none that is free.
  struct Pool {
    std::vector<std::unique_ptr<Collective>> all;
    std::vector<Collective*> free;
  };
  Pool pools_[ways];
  Pool& pool_of(Way way) noexcept { return pools_[static_cast<std::size_t>(way)]; }
};

/// The state that a message is for, made if there is none yet.
TeamCollectives& collectives_of(TeamId team, gex_Rank_t member);
/// Gives `act` the state that a message is for, if there is one, which does not end meanwhile.
void with_collectives(TeamId team, gex_Rank_t member,
                      const std::function<void(TeamCollectives& collectives)>& act) noexcept;

/// Ends what is kept for a team whose operations are all done.
void end_collectives(Team& team) noexcept;

void start_team_collectives();

}  // namespace gex::coll
