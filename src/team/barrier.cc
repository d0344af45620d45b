#include "team/barrier.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/immortal.h"
#include "base/os_cpu.h"
#include "base/os_process_fence.h"
#include "base/patience.h"
#include "core/active_list.h"
#include "core/initiate.h"
#include "core/process.h"
#include "core/progress.h"
#include "job/limits.h"
#include "observe/restricted.h"
#include "observe/trace.h"
#include "team/barrier_flags.h"

namespace gex {

namespace {

using team::any_missing_on;
using team::least_of;
using team::reached;

/// Members that watch each other's flags directly; larger teams are watched by group.
constexpr std::uint32_t group_size = 32;
/// Where each has a core of its own, so many members are as fast when each watches all.
constexpr std::uint32_t max_watching_all = 6;

/// Barriers that have messages to send or group flags to raise.
Immortal<ActiveList<TeamBarrier>> the_active;

}  // namespace

TeamBarrier::TeamBarrier(Team& team, std::vector<std::uint32_t> slots, Kind kind)
    : team_(team),
      shape_(team::BarrierShape::messages),
      kind_(kind),
      rounds_({}, kind == Kind::named),
      slots_(std::move(slots)) {
  if (slots_.empty()) {
    std::vector<std::uint32_t> all(team.size);
    std::iota(all.begin(), all.end(), 0U);
    meet(all, team.rank);
  } else {
    const team::BarrierPlan plan = team::plan_of(team);
    shape_ = plan.shape;
    watch_neighborhood(plan);
    if (shape_ == team::BarrierShape::leaders) meet(plan.leaders, plan.near.front());
  }
  if (flags_.empty()) flags_.push_back(own_flag_);
  enter();
}

/// Finds the flags of the members that share memory.
void TeamBarrier::watch_neighborhood(const team::BarrierPlan& plan) {
  if (plan.near.size() < 2) return;
  const shm::Neighborhood& neighborhood = process().neighborhood;
  shm::TeamSlots& shared = neighborhood.team_slots();
  const bool has_groups = shape_ == team::BarrierShape::flags;
  for (std::size_t i = 0; i < plan.near.size(); ++i) {
    const gex_Rank_t member = plan.near[i];
    const std::uint32_t index = neighborhood.local_index_of(team_.jobrank_of(member));
    flags_.push_back(&shared.barrier_flag(slots_[i], kind_, index));
    const bool leads = has_groups ? i % group_size == 0 : i == 0;
    if (leads) group_flags_.push_back(&shared.group_flag(slots_[i], kind_, index));
    if (member != team_.rank) continue;
    place_ = static_cast<std::uint32_t>(i);
    own_flag_ = flags_.back();
    if (leads) led_flag_ = group_flags_.back();
  }
  if (has_groups) return;
  done_flag_ = group_flags_.front();
  const gex_Rank_t lowest = plan.near.front();
  stage_ = &shared.barrier_stage(slots_.front(), kind_,
                                 neighborhood.local_index_of(team_.jobrank_of(lowest)));
}

/// Plans the rounds of dissemination among some members, `own` for those that share memory with
/// this one.
void TeamBarrier::meet(const std::vector<std::uint32_t>& participants, std::uint32_t own) {
  const auto self = static_cast<std::uint32_t>(std::ranges::lower_bound(participants, own) -
                                               participants.begin());
  const team::Dissemination all{static_cast<std::uint32_t>(participants.size())};
  for (unsigned k = 0; k < all.rounds(); ++k)
    peers_.push_back({participants[all.to(self, k)], participants[all.from(self, k)]});
  std::span<shm::BarrierRound> words;
  if (stage_ != nullptr) {
    static_assert(job::max_ranks <= 1U << shm::max_barrier_rounds);
    words = std::span(stage_->rounds).first(peers_.size());
  } else {
    private_rounds_ = std::vector<shm::BarrierRound>(peers_.size());
    words = private_rounds_;
  }
  rounds_ = team::BarrierRounds(words, kind_ == Kind::named);
}

TeamBarrier::~TeamBarrier() {
  the_active.get().deactivate(*this);
  leave();
}

std::uint32_t TeamBarrier::start() noexcept {
  // One thread at a time starts, so the count needs no read-modify-write.
  const std::uint32_t number = started_.load(std::memory_order_relaxed) + 1;
  if (kind_ == Kind::calls) team_.status.barriers.store(number, std::memory_order_relaxed);
  if (shape_ == team::BarrierShape::flags) {
    started_.store(number, std::memory_order_relaxed);
    if (oversubscribed())
      own_flag_->core.store(os::current_core(), std::memory_order_relaxed);
    else if (team_.size > max_watching_all)
      gathering_.arrive();
    // Release: what this thread did before the barrier is seen by a thread that sees the flag.
    own_flag_->number.store(number, std::memory_order_release);
    if (any_neighbor_sleeps()) [[unlikely]]
      wake_members(number);
    if (team_.size > group_size && led_flag_ != nullptr) {
      advance();
      the_active.get().activate(*this);
    }
    return number;
  }
  // Release: pairs with the acquire in `advance_rounds`, which sends it to the next member.
  started_.store(number, std::memory_order_release);
  if (team_.size == 1) {
    done_flag_->number.store(number, std::memory_order_release);
    return number;
  }
  // Release: as above.
  own_flag_->number.store(number, std::memory_order_release);
  if (flags_.size() > 1 && any_neighbor_sleeps()) [[unlikely]]
    wake_members(number);
  if (!leads()) return number;
  advance();
  the_active.get().activate(*this);
  return number;
}

std::uint32_t TeamBarrier::start(const team::BarrierValue& value) noexcept {
  const unsigned place = rounds_.place_of(started() + 1);
  // Relaxed: `start` releases it with the number.
  own_flag_->values[place].store(packed(value), std::memory_order_relaxed);
  return start();
}

team::BarrierValue TeamBarrier::value_here(std::uint32_t number) const noexcept {
  if (kind_ != Kind::named) return {};
  const unsigned place = rounds_.place_of(number);
  team::BarrierValue value;
  // Relaxed: the numbers that were acquired order it.
  for (const shm::BarrierFlag* const flag : flags_)
    value = combine(value, team::unpacked(flag->values[place].load(std::memory_order_relaxed)));
  return value;
}

team::BarrierValue TeamBarrier::value() const noexcept {
  const std::uint32_t number = started();
  if (shape_ == team::BarrierShape::flags || team_.size == 1) return value_here(number);
  const auto& word = done_flag_->values[rounds_.place_of(number)];
  return team::Report(word.load(std::memory_order_relaxed)).value();
}

bool TeamBarrier::is_complete(std::uint32_t number) noexcept {
  if (shape_ != team::BarrierShape::flags)
    return reached(done_flag_->number.load(std::memory_order_acquire), number);
  // Members that share a core would wait for the first one's turn.
  if (team_.size > max_watching_all && team_.size <= group_size && !oversubscribed() &&
      !looks_last())
    return gathering_.done(flags_, group_flags_[0]->number, team_.rank == 0, number);
  if (team_.size <= group_size) return least_of(flags_, number) == number;
  return least_of(group_flags_, number) == number;
}

void TeamBarrier::wake_members(std::uint32_t number) noexcept {
  // The last one to arrive wakes all: of two that are last at once, each has stored its flag before
  // this fence, so one of them sees the other's. Without the fence neither might.
  os::own_fence();
  // The flags of the own group are watched; without groups the leader watches all.
  const bool has_groups = shape_ == team::BarrierShape::flags;
  const std::size_t group = has_groups ? team_.rank / group_size * group_size : 0;
  const std::size_t left = flags_.size() - group;
  const std::size_t count = has_groups ? std::min<std::size_t>(group_size, left) : left;
  if (least_of({&flags_[group], count}, number) == number) ring_neighbors();
}

bool TeamBarrier::needs_core(std::uint32_t number) const noexcept {
  if (shape_ != team::BarrierShape::flags || team_.size > group_size) return true;
  return any_missing_on(os::current_core(), flags_, number);
}

bool TeamBarrier::may_act_for(gex_Rank_t jobrank, gex_Rank_t member) const noexcept {
  const gex_Rank_t other = team_.jobrank_of(member);
  const auto& neighborhood = process().placement.neighborhood;
  return jobrank == other ||
         (shape_ == team::BarrierShape::leaders && neighborhood[jobrank] == neighborhood[other]);
}

bool TeamBarrier::arrived(const Arrival& arrival) noexcept {
  const auto& [source, round, number, value] = arrival;
  if (round >= peers_.size())
    fatal("rank %u: a barrier message names round %u of %zu", source, round, peers_.size());
  if (!may_act_for(source, peers_[round].from))
    fatal("rank %u: a barrier message of round %u, which rank %u sends", source, round,
          team_.jobrank_of(peers_[round].from));
  if (kind_ == Kind::named) {
    const std::uint32_t done = done_flag_->number.load(std::memory_order_relaxed);
    // One that is sent twice may come late.
    if (reached(done, number)) return false;
    // A member has no barrier but the next one to start before this one is done here.
    if (number - done - 1 > 1)
      fatal("rank %u: a named barrier's message is of barrier %u, %u are done here", source, number,
            done);
  }
  return rounds_.receive(round, number, value) && !leads();
}

std::optional<TeamBarrier::Arrival> TeamBarrier::asked(const Question& question) noexcept {
  const auto& [source, member, round, number] = question;
  if (round >= peers_.size() || member >= team_.size || team_.jobrank_of(member) != source ||
      !may_act_for(source, peers_[round].to))
    fatal("rank %u: an invalid question for a barrier's round %u, of member %u", source, round,
          member);
  return sent_in(round, rounds_.redirect(round, member), number);
}

/// Returns a round's message, which has been sent as far as `sent`; of named barriers that of
/// `number`, if it has been sent.
std::optional<TeamBarrier::Arrival> TeamBarrier::sent_in(unsigned round, std::uint32_t sent,
                                                         std::uint32_t number) const noexcept {
  if (kind_ == Kind::named) {
    if (!reached(sent, number)) return {};
    sent = number;
  }
  const auto value = rounds_.value_sent(round, sent, value_here(sent));
  if (!value) return {};
  return Arrival{.source = gex_proc_.jobrank, .round = round, .number = sent, .value = *value};
}

bool TeamBarrier::advance() noexcept {
  if (advancing_.exchange(true, std::memory_order_acquire)) return false;
  const bool changed = shape_ == team::BarrierShape::flags ? advance_group() : advance_rounds();
  advancing_.store(false, std::memory_order_release);
  return changed;
}

/// Raises the flag of the group that this member leads as far as its members have come.
bool TeamBarrier::advance_group() noexcept {
  const std::uint32_t goal = started_.load(std::memory_order_relaxed);
  const std::size_t count = std::min<std::size_t>(group_size, team_.size - team_.rank);
  const std::uint32_t least = least_of({&flags_[team_.rank], count}, goal);
  std::atomic<std::uint32_t>& mine = led_flag_->number;
  if (mine.load(std::memory_order_relaxed) == least) return false;
  // Release: hands on what the group's members released.
  mine.store(least, std::memory_order_release);
  ring_neighbors();
  return true;
}

/// Sends what can be sent, and takes what has come, round by round.
bool TeamBarrier::advance_rounds() noexcept {
  if (!leads()) return false;
  const std::uint32_t before = done_flag_->number.load(std::memory_order_relaxed);
  const std::uint32_t level = least_of(flags_, started_.load(std::memory_order_acquire));
  // Relaxed: it need only change.
  if (stage_ != nullptr)
    stage_->pulse.store(stage_->pulse.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  if (reached(before, level)) return false;
  if (took_lead_.load(std::memory_order_relaxed))
    take_lead(level);
  else if (questions_.any && questions_.level != level)
    begin_questions(level);
  const auto progress =
      rounds_.advance(level, value_here(level),
                      [&](unsigned round, team::BarrierRounds::Receiver receiver,
                          std::uint32_t number, const team::BarrierValue& value) noexcept {
                        const gex_Rank_t to = receiver.or_lowest(peers_[round].to);
                        if (!send_report(to, round, number, value)) return false;
                        if (questions_.spreads) [[unlikely]]
                          spread({.round = round, .number = number, .value = value});
                        return true;
                      });
  if (!progress.complete || reached(before, progress.level)) {
    if (questions_.any && progress.missing < peers_.size()) ask_if_late(progress.missing);
    return progress.sent;
  }
  const unsigned place = rounds_.place_of(progress.level);
  if (kind_ == Kind::named) team::raise(done_flag_->values[place], progress.level, progress.value);
  team::raise(done_flag_->number, progress.level);
  if (stage_ != nullptr) ring_neighbors();
  return true;
}

void TeamBarrier::watch_leader(std::uint32_t number) noexcept {
  const Tick now = PatienceActions::now();
  const std::uint64_t patience_ns = Patience::nap_ns();
  // A leader that waits looks as often, even if it sleeps.
  if (!leader_watch_.is_due(
          now, [&](Tick interval) { return PatienceActions::to_ns(interval) >= patience_ns; }))
    return;
  std::uint32_t leader = stage_->leader.load(std::memory_order_relaxed);
  const bool stands =
      leader_watch_.stands_still(leader, stage_->pulse.load(std::memory_order_relaxed),
                                 done_flag_->number.load(std::memory_order_relaxed));
  // The leader can do nothing before.
  if (least_of(flags_, number) != number) return leader_watch_.restart();
  if (!stands) return;
  // Relaxed: it orders nothing.
  if (!stage_->leader.compare_exchange_strong(leader, place_, std::memory_order_relaxed)) return;
  took_lead_.store(true, std::memory_order_relaxed);
  the_active.get().activate(*this);
}

/// The lowest members of other neighborhoods may compute as the one here does. So messages for this
/// one are asked of several members, before they have this one's, without which they mostly wait,
/// too; and those of this one are sent to several, in this barrier.
void TeamBarrier::take_lead(std::uint32_t level) noexcept {
  took_lead_.store(false, std::memory_order_relaxed);
  begin_questions(level);
  for (unsigned round = 0; round < peers_.size(); ++round) ask(round);
  questions_.spreads = true;
  const std::uint32_t done = done_flag_->number.load(std::memory_order_relaxed);
  for (unsigned round = 0; round < peers_.size(); ++round) {
    const std::uint32_t sent = rounds_.sent(round);
    if (reached(done, sent)) continue;
    if (const auto arrival = sent_in(round, sent, level)) spread(*arrival);
  }
}

void TeamBarrier::begin_questions(std::uint32_t level) noexcept {
  questions_ = {.any = true,
                .spreads = false,
                .turn = 0,
                .level = level,
                .since = PatienceActions::now(),
                .patience_ns = Patience::nap_ns()};
}

void TeamBarrier::ask_if_late(unsigned round) noexcept {
  constexpr std::uint64_t longest_ns = 1'000'000'000;
  const Tick now = PatienceActions::now();
  if (PatienceActions::to_ns(now - questions_.since) < questions_.patience_ns) return;
  questions_.since = now;
  ask(round);
  ++questions_.turn;
  questions_.patience_ns = std::min(questions_.patience_ns + Patience::nap_ns(), longest_ns);
}

void TeamBarrier::ask(unsigned round) noexcept {
  // What finds no room is asked later.
  for (const gex_Rank_t member : some_beside(peers_[round].from, questions_.turn))
    send_question(member, round, questions_.level);
}

void TeamBarrier::spread(const Arrival& arrival) noexcept {
  const auto& [source, round, number, value] = arrival;
  for (const gex_Rank_t member : some_beside(peers_[round].to, questions_.turn))
    send_report(member, round, number, value);
}

/// Some members of a neighborhood, by its lowest; in the next turn those behind them.
std::vector<gex_Rank_t> TeamBarrier::some_beside(gex_Rank_t lowest, unsigned turn) const noexcept {
  constexpr std::size_t some = 4;
  std::vector<gex_Rank_t> members;
  for (const gex_Rank_t jobrank : process().placement.neighborhood_of(team_.jobrank_of(lowest)))
    if (const gex_Rank_t member = team_.rank_of(jobrank); member != GEX_RANK_INVALID)
      members.push_back(member);
  std::ranges::sort(members);
  const std::size_t first = some * turn % members.size();
  std::rotate(members.begin(), members.begin() + static_cast<std::ptrdiff_t>(first), members.end());
  members.resize(std::min(some, members.size()));
  return members;
}

bool TeamBarrier::idle() noexcept {
  const std::uint32_t started = started_.load(std::memory_order_relaxed);
  if (shape_ == team::BarrierShape::flags)
    return led_flag_ == nullptr || led_flag_->number.load(std::memory_order_relaxed) == started;
  return !leads() || reached(done_flag_->number.load(std::memory_order_relaxed), started);
}

namespace team {

namespace {
bool barrier_done(void* subject, std::uint32_t number) noexcept {
  return static_cast<TeamBarrier*>(subject)->done(number);
}
bool barrier_needs_core(void* subject, std::uint32_t number) noexcept {
  return static_cast<TeamBarrier*>(subject)->needs_core(number);
}
/// Checked mode: an event is synchronised once.
bool counted_barrier_done(void* subject, std::uint32_t number) noexcept {
  auto& barrier = *static_cast<TeamBarrier*>(subject);
  if (!barrier.done(number)) return false;
  barrier.count_event(-1);
  return true;
}
Op op_of(const Team& team, Call call, std::uint32_t number) noexcept {
  return Op::with_team(OpKind::barrier, number_of(call), team.id(), number);
}
}  // namespace

gex_Event_t start_barrier(Team& team) noexcept {
  const std::uint32_t number = barrier_of(team).start();
  trace::collective(trace::Collective::barrier, team.id(), number, team.size);
  static constexpr Probe probe{barrier_done, barrier_needs_core};
  static constexpr Probe counted_probe{counted_barrier_done, barrier_needs_core};
  if (checked()) barrier_of(team).count_event(1);
  return event_of(op_of(team, Call::barrier, number), checked() ? counted_probe : probe,
                  BarrierSlot::of(team), number);
}

void barrier_blocking(Team& team) {
  TeamBarrier& barrier = barrier_of(team);
  const std::uint32_t number = barrier.start();
  trace::collective(trace::Collective::barrier, team.id(), number, team.size);
  wait_until_or_cancelled([&]() noexcept { return op_of(team, Call::barrier_blocking, number); },
                          [&]() noexcept { return barrier.done(number); },
                          [&]() noexcept { return barrier.needs_core(number); },
                          WaitCause::barrier);
}

BarrierPlan plan_of(const Team& team) {
  const shm::Placement& placement = process().placement;
  return BarrierPlan::of(
      team.size, team.rank, placement.neighborhood_count, gex_proc_.jobsize,
      [&](std::uint32_t member) { return team.jobrank_of(member); },
      [&](std::uint32_t jobrank) { return placement.neighborhood[jobrank]; });
}

void give_barrier(Team& team, std::vector<std::uint32_t> slots) {
  BarrierSlot::set(team, new TeamBarrier(team, std::move(slots), TeamBarrier::Kind::calls));
}

void take_barrier(Team& team) noexcept {
  delete BarrierSlot::of(team);
  BarrierSlot::set(team, nullptr);
}

void start_barriers() {
  register_barrier_messages();
  register_poller([]() noexcept { return the_active.get().advance(); });
}

}  // namespace team
}  // namespace gex
