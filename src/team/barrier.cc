#include "team/barrier.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "am/internal.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/os_cpu.h"
#include "base/os_process_fence.h"
#include "base/spin_lock.h"
#include "core/active_list.h"
#include "core/initiate.h"
#include "core/process.h"
#include "core/progress.h"
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
/// A team of as many members as a rank can number has so many rounds.
constexpr unsigned max_rounds = 32;

/// A local member of a team, by its endpoint, and which of its barriers.
struct Key {
  TeamId team;
  unsigned endpoint_address;
  TeamBarrier::Kind kind;

  bool operator==(const Key&) const = default;
};
Key key_of(const Team& team, TeamBarrier::Kind kind) noexcept {
  return {team.id(), team.endpoint->address(), kind};
}
struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept {
    const std::size_t member =
        std::hash<std::uint64_t>()(key.team) * endpoint_addresses + key.endpoint_address;
    return member * shm::barrier_kinds + static_cast<std::size_t>(key.kind);
  }
};

/// Barriers of local members, and messages that arrived before a barrier was made.
struct Registry {
  struct Entry {
    TeamBarrier* barrier = nullptr;
    /// One a round at most, the furthest: bounded whatever members that are ahead have started.
    std::vector<TeamBarrier::Arrival> early;
  };
  SpinLock lock;
  std::unordered_map<Key, Entry, KeyHash> entries;
};
Immortal<Registry> the_registry;

/// Barriers that have messages to send or group flags to raise.
Immortal<ActiveList<TeamBarrier>> the_active;

// Relaxed: a count, which orders nothing.
std::atomic<std::uint64_t> messages_sent{0};

constinit am::Internal barrier_message{"barrier"};
constinit am::Internal completion_message{"barrier of completions"};
constinit am::Internal named_message{"named barrier"};

am::Internal& message_of(TeamBarrier::Kind kind) noexcept {
  return kind == TeamBarrier::Kind::calls ? barrier_message : completion_message;
}

void keep_early(std::vector<TeamBarrier::Arrival>& early, const TeamBarrier::Arrival& arrival) {
  if (arrival.round >= max_rounds)
    fatal("rank %u: a barrier message names round %u", arrival.source, arrival.round);
  const auto same = std::find_if(early.begin(), early.end(),
                                 [&](const auto& other) { return other.round == arrival.round; });
  if (same == early.end()) {
    early.push_back(arrival);
    return;
  }
  if (same->source != arrival.source)
    fatal("rank %u: a barrier message of round %u, which rank %u sends", arrival.source,
          arrival.round, same->source);
  if (!reached(same->number, arrival.number)) *same = arrival;
}

struct ArrivalFields {
  am::Wide team;
  std::uint32_t round;
  std::uint32_t number;
};

struct NamedFields {
  ArrivalFields arrival;
  std::int32_t knowledge;
  std::int32_t id;
};

void receive(gex_Token_t token, TeamBarrier::Kind kind, const ArrivalFields& fields,
             std::uint64_t value) noexcept {
  Registry& registry = the_registry.get();
  const OptionalGuard guard(registry.lock, true);
  Registry::Entry& entry =
      registry.entries[{fields.team, token->header.endpoints().target_address(), kind}];
  const TeamBarrier::Arrival arrival{.source = token->header.source,
                                     .round = fields.round,
                                     .number = fields.number,
                                     .value = value};
  if (entry.barrier != nullptr)
    entry.barrier->arrived(arrival);
  else
    keep_early(entry.early, arrival);
}

template <TeamBarrier::Kind kind>
void on_barrier(gex_Token_t token, const ArrivalFields& fields, void*, std::size_t) noexcept {
  receive(token, kind, fields, 0);
}

void on_named_barrier(gex_Token_t token, const NamedFields& fields, void*, std::size_t) noexcept {
  if (fields.knowledge < 0 || fields.knowledge > static_cast<int>(team::Knowledge::mismatch))
    fatal("rank %u: a named barrier's message has the invalid state %d", token->header.source,
          fields.knowledge);
  receive(token, TeamBarrier::Kind::named, fields.arrival,
          team::packed({static_cast<team::Knowledge>(fields.knowledge), fields.id}));
}

}  // namespace

TeamBarrier::TeamBarrier(Team& team, std::vector<std::uint32_t> slots, Kind kind)
    : team_(team), shape_(team::BarrierShape::messages), kind_(kind), slots_(std::move(slots)) {
  if (slots_.empty()) {
    std::vector<std::uint32_t> all(team.size);
    std::iota(all.begin(), all.end(), 0U);
    meet(all);
  } else {
    const team::BarrierPlan plan = team::plan_of(team);
    shape_ = plan.shape;
    watch_neighborhood(plan);
    if (shape_ == team::BarrierShape::leaders && plan.near.front() == team.rank) meet(plan.leaders);
  }
  Registry& registry = the_registry.get();
  const OptionalGuard guard(registry.lock, true);
  Registry::Entry& entry = registry.entries[key_of(team, kind)];
  entry.barrier = this;
  for (const Arrival& arrival : entry.early) arrived(arrival);
  entry.early.clear();
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
    flags_.push_back(&shared.barrier_flag(slots_[member], kind_, index));
    const bool leads = has_groups ? i % group_size == 0 : i == 0;
    if (leads) group_flags_.push_back(&shared.group_flag(slots_[member], kind_, index));
    if (member != team_.rank) continue;
    own_flag_ = flags_.back();
    if (leads) led_flag_ = group_flags_.back();
  }
  if (!has_groups && led_flag_ == nullptr) done_at_ = &group_flags_.front()->number;
}

/// Plans the rounds of dissemination among some members, of which this is one.
void TeamBarrier::meet(const std::vector<std::uint32_t>& participants) {
  const auto own = std::ranges::lower_bound(participants, team_.rank) - participants.begin();
  const auto self = static_cast<std::uint32_t>(own);
  const team::Dissemination all{static_cast<std::uint32_t>(participants.size())};
  rounds_ = std::vector<Round>(all.rounds());
  for (unsigned k = 0; k < rounds_.size(); ++k) {
    rounds_[k].to = participants[all.to(self, k)];
    rounds_[k].from = participants[all.from(self, k)];
  }
}

TeamBarrier::~TeamBarrier() {
  the_active.get().deactivate(*this);
  // Relaxed: the slot is used again only after all members have agreed that it is free.
  for (shm::BarrierFlag* const flag : {own_flag_, led_flag_})
    if (flag != nullptr) flag->number.store(0, std::memory_order_relaxed);
  Registry& registry = the_registry.get();
  const OptionalGuard guard(registry.lock, true);
  registry.entries.erase(key_of(team_, kind_));
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
    done_.store(number, std::memory_order_release);
    return number;
  }
  if (own_flag_ != nullptr) {
    // Release: as above.
    own_flag_->number.store(number, std::memory_order_release);
    if (any_neighbor_sleeps()) [[unlikely]]
      wake_members(number);
  }
  if (rounds_.empty()) return number;
  advance();
  the_active.get().activate(*this);
  return number;
}

std::uint32_t TeamBarrier::start(const team::BarrierValue& value) noexcept {
  const unsigned place = place_of(started() + 1);
  // Relaxed: `start` releases it with the number.
  auto& word = own_flag_ != nullptr ? own_flag_->values[place] : own_values_[place];
  word.store(packed(value), std::memory_order_relaxed);
  return start();
}

team::BarrierValue TeamBarrier::value_here(std::uint32_t number) const noexcept {
  const unsigned place = place_of(number);
  // Relaxed: the numbers that were acquired order it.
  const auto value_in = [](const std::atomic<std::uint64_t>& word) {
    return team::unpacked(word.load(std::memory_order_relaxed));
  };
  if (flags_.empty()) return value_in(own_values_[place]);
  team::BarrierValue value;
  for (const shm::BarrierFlag* const flag : flags_)
    value = combine(value, value_in(flag->values[place]));
  return value;
}

team::BarrierValue TeamBarrier::value() const noexcept {
  const std::uint32_t number = started();
  if (shape_ == team::BarrierShape::flags || team_.size == 1) return value_here(number);
  const bool met_here = done_at_ == &done_;
  const auto& values = met_here ? results_ : group_flags_.front()->values;
  return team::unpacked(values[place_of(number)].load(std::memory_order_relaxed));
}

bool TeamBarrier::done(std::uint32_t number) noexcept {
  if (shape_ != team::BarrierShape::flags)
    return reached(done_at_->load(std::memory_order_acquire), number);
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

void TeamBarrier::arrived(const Arrival& arrival) noexcept {
  const auto& [source, round, number, value] = arrival;
  if (round >= rounds_.size())
    fatal("rank %u: a barrier message names round %u of %zu", source, round, rounds_.size());
  const gex_Rank_t from = rounds_[round].from;
  if (team_.jobrank_of(from) != source)
    fatal("rank %u: a barrier message of round %u, which rank %u sends", source, round,
          team_.jobrank_of(from));
  // A member has no barrier but the next one to start before this one is done here.
  if (kind_ == Kind::named && number - done_.load(std::memory_order_relaxed) - 1 > 1)
    fatal("rank %u: a named barrier's message is of barrier %u, %u are done here", source, number,
          done_.load(std::memory_order_relaxed));
  const unsigned place = place_of(number);
  rounds_[round].values[place].store(value, std::memory_order_relaxed);
  std::atomic<std::uint32_t>& received = rounds_[round].received[place];
  // Messages may overtake each other: the furthest counts.
  std::uint32_t seen = received.load(std::memory_order_relaxed);
  while (!reached(seen, number) &&
         !received.compare_exchange_weak(seen, number, std::memory_order_release,
                                         std::memory_order_relaxed)) {
  }
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

bool TeamBarrier::send(unsigned round, std::uint32_t number,
                       const team::BarrierValue& value) noexcept {
  const ArrivalFields fields{team_.id(), round, number};
  const gex_Rank_t to = rounds_[round].to;
  const auto send_packed = [&](const auto& packed, am::Internal& what) {
    am::Outbound message = packed.message_for(what);
    message.endpoints = am::endpoints_of(team_.endpoint, team_.endpoint_of(to));
    // Never waits: what finds no room is sent by a later poll.
    return am::send_request(team_.jobrank_of(to), message, true) == 0;
  };
  if (kind_ == Kind::named)
    return send_packed(
        am::Packed(NamedFields{fields, static_cast<std::int32_t>(value.knowledge), value.id}),
        named_message);
  return send_packed(am::Packed(fields), message_of(kind_));
}

/// Sends what can be sent, and takes what has come, round by round.
bool TeamBarrier::advance_rounds() noexcept {
  bool changed = false;
  std::uint32_t level = started_.load(std::memory_order_acquire);
  if (!flags_.empty()) level = least_of(flags_, level);
  const std::uint32_t before = done_.load(std::memory_order_relaxed);
  const bool named = kind_ == Kind::named;
  if (named && level == before) return false;
  team::BarrierValue value = named ? value_here(level) : team::BarrierValue{};
  const unsigned place = place_of(level);
  bool all_rounds = true;
  for (unsigned k = 0; k < rounds_.size(); ++k) {
    Round& round = rounds_[k];
    if (round.sent.load(std::memory_order_relaxed) != level) {
      if (!send(k, level, value)) {
        all_rounds = false;
        break;
      }
      round.sent.store(level, std::memory_order_relaxed);
      messages_sent.fetch_add(1, std::memory_order_relaxed);
      changed = true;
    }
    const std::uint32_t received = round.received[place].load(std::memory_order_acquire);
    if (!named) {
      if (!reached(received, level)) level = received;
      continue;
    }
    if (received != level) {
      all_rounds = false;
      break;
    }
    value = combine(value, team::unpacked(round.values[place].load(std::memory_order_relaxed)));
  }
  if (all_rounds && level != before && reached(level, before)) {
    if (named) results_[place].store(packed(value), std::memory_order_relaxed);
    done_.store(level, std::memory_order_release);
    if (led_flag_ != nullptr) {
      if (named) led_flag_->values[place].store(packed(value), std::memory_order_relaxed);
      // Release: hands on what all members released.
      led_flag_->number.store(level, std::memory_order_release);
      ring_neighbors();
    }
    changed = true;
  }
  return changed;
}

bool TeamBarrier::idle() noexcept {
  const std::uint32_t started = started_.load(std::memory_order_relaxed);
  if (shape_ == team::BarrierShape::flags)
    return led_flag_ == nullptr || led_flag_->number.load(std::memory_order_relaxed) == started;
  if (done_.load(std::memory_order_relaxed) != started) return false;
  return std::all_of(rounds_.begin(), rounds_.end(), [&](const Round& round) {
    return round.sent.load(std::memory_order_relaxed) == started;
  });
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

void for_each_barrier(void (*act)(void* context, TeamBarrier& barrier), void* context) {
  Registry& registry = the_registry.get();
  const OptionalGuard guard(registry.lock, true);
  for (const auto& [key, entry] : registry.entries) {
    if (entry.barrier != nullptr && key.kind == TeamBarrier::Kind::calls)
      act(context, *entry.barrier);
  }
}

void with_barrier(TeamId team, unsigned endpoint_address,
                  void (*act)(void* context, TeamBarrier& barrier), void* context) {
  Registry& registry = the_registry.get();
  const OptionalGuard guard(registry.lock, true);
  const auto found = registry.entries.find({team, endpoint_address, TeamBarrier::Kind::calls});
  if (found != registry.entries.end() && found->second.barrier != nullptr)
    act(context, *found->second.barrier);
}

std::uint64_t barrier_messages() noexcept {
  return messages_sent.load(std::memory_order_relaxed);
}

void start_barriers() {
  using Kind = TeamBarrier::Kind;
  am::register_request<on_barrier<Kind::calls>>(message_of(Kind::calls));
  am::register_request<on_barrier<Kind::completions>>(message_of(Kind::completions));
  am::register_request<on_named_barrier>(named_message);
  register_poller([]() noexcept { return the_active.get().advance(); });
}

}  // namespace team
}  // namespace gex
