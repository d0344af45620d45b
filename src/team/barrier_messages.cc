#include "team/barrier.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "am/internal.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/waiting.h"

namespace gex {

namespace team {

namespace {

using shm::BarrierKind;
using Arrival = TeamBarrier::Arrival;

/// A team of as many members as a rank can number has so many rounds.
constexpr unsigned max_rounds = 32;

/// A local member of a team, by its endpoint, and which of its barriers.
struct BarrierKey {
  TeamId team;
  unsigned endpoint_address;
  BarrierKind kind;

  bool operator==(const BarrierKey&) const = default;
};
BarrierKey barrier_key_of(const TeamBarrier& barrier) noexcept {
  const Team& team = barrier.team();
  return {team.id(), team.endpoint->address(), barrier.kind()};
}
struct BarrierKeyHash {
  std::size_t operator()(const BarrierKey& key) const noexcept {
    const std::size_t member =
        std::hash<std::uint64_t>()(key.team) * endpoint_addresses + key.endpoint_address;
    return member * shm::barrier_kinds + static_cast<std::size_t>(key.kind);
  }
};

/// Barriers of local members, and messages that arrived before a barrier was made.
struct BarrierRegistry {
  struct Entry {
    TeamBarrier* barrier = nullptr;
    /// One a round at most, the furthest: bounded whatever members that are ahead have started.
    std::vector<Arrival> early;
  };
  SpinLock lock;
  std::unordered_map<BarrierKey, Entry, BarrierKeyHash> entries;

  TeamBarrier* find(const BarrierKey& key) noexcept {
    const auto found = entries.find(key);
    return found == entries.end() ? nullptr : found->second.barrier;
  }
};
Immortal<BarrierRegistry> the_barriers;

// Relaxed: a count, which orders nothing.
std::atomic<std::uint64_t> barrier_messages_sent{0};

constinit am::Internal barrier_message{"barrier"};
constinit am::Internal completion_message{"barrier of completions"};
constinit am::Internal named_message{"named barrier"};
constinit am::Internal report_question{"question for a barrier's report"};
constinit am::Internal report_answer{"barrier's report that was asked for"};

am::Internal& message_of(BarrierKind kind) noexcept {
  return kind == BarrierKind::calls ? barrier_message : completion_message;
}

void keep_early(std::vector<Arrival>& early, const Arrival& arrival) {
  if (arrival.round >= max_rounds)
    fatal("rank %u: a barrier message names round %u", arrival.source, arrival.round);
  const auto same = std::find_if(early.begin(), early.end(),
                                 [&](const auto& other) { return other.round == arrival.round; });
  if (same == early.end())
    early.push_back(arrival);
  else if (!reached(same->number, arrival.number))
    *same = arrival;
}

struct ReportFields {
  am::Wide team;
  std::uint32_t round;
  std::uint32_t number;
};
struct NamedReportFields {
  ReportFields arrival;
  std::int32_t knowledge;
  std::int32_t id;
};
/// `member`: the one that asks, by its rank in the team.
struct ReportQuestion {
  ReportFields wanted;
  std::uint32_t kind;
  std::uint32_t member;
};
struct ReportAnswer {
  NamedReportFields report;
  std::uint32_t kind;
};

BarrierKind barrier_kind_of(gex_Token_t token, std::uint32_t kind) noexcept {
  if (kind >= shm::barrier_kinds)
    fatal("rank %u: a message is for a barrier of the invalid kind %u", token->header.source, kind);
  return static_cast<BarrierKind>(kind);
}

BarrierValue reported_value(gex_Token_t token, const NamedReportFields& fields) noexcept {
  if (fields.knowledge < 0 || fields.knowledge > static_cast<int>(Knowledge::mismatch))
    fatal("rank %u: a named barrier's message has the invalid state %d", token->header.source,
          fields.knowledge);
  return {static_cast<Knowledge>(fields.knowledge), fields.id};
}
NamedReportFields with_value(const ReportFields& fields, const BarrierValue& value) noexcept {
  return {fields, static_cast<std::int32_t>(value.knowledge), value.id};
}

BarrierKey barrier_key_of(gex_Token_t token, const ReportFields& fields,
                          BarrierKind kind) noexcept {
  return {fields.team, token->header.endpoints().target_address(), kind};
}

/// `may_be_early`: the barrier may have yet to be made.
void take_report(gex_Token_t token, BarrierKind kind, const ReportFields& fields,
                 const BarrierValue& value, bool may_be_early) noexcept {
  const Arrival arrival{.source = token->header.source,
                        .round = fields.round,
                        .number = fields.number,
                        .value = value};
  const BarrierKey key = barrier_key_of(token, fields, kind);
  bool wakes = false;
  BarrierRegistry& registry = the_barriers.get();
  {
    const OptionalGuard guard(registry.lock, true);
    if (TeamBarrier* const barrier = registry.find(key))
      wakes = barrier->arrived(arrival);
    else if (may_be_early)
      keep_early(registry.entries[key].early, arrival);
  }
  if (wakes) ring_neighbors();
}

template <BarrierKind kind>
void on_barrier(gex_Token_t token, const ReportFields& fields, void*, std::size_t) noexcept {
  take_report(token, kind, fields, {}, true);
}

void on_named_barrier(gex_Token_t token, const NamedReportFields& fields, void*,
                      std::size_t) noexcept {
  take_report(token, BarrierKind::named, fields.arrival, reported_value(token, fields), true);
}

void on_report_question(gex_Token_t token, const ReportQuestion& fields, void*,
                        std::size_t) noexcept {
  const BarrierKind kind = barrier_kind_of(token, fields.kind);
  const TeamBarrier::Question question{.source = token->header.source,
                                       .member = fields.member,
                                       .round = fields.wanted.round,
                                       .number = fields.wanted.number};
  std::optional<Arrival> report;
  BarrierRegistry& registry = the_barriers.get();
  {
    const OptionalGuard guard(registry.lock, true);
    // Where there is none yet, the member asks another one later.
    if (TeamBarrier* const barrier = registry.find(barrier_key_of(token, fields.wanted, kind)))
      report = barrier->asked(question);
  }
  if (!report) return;
  ReportFields sent = fields.wanted;
  sent.number = report->number;
  barrier_messages_sent.fetch_add(1, std::memory_order_relaxed);
  am::reply_with(token, report_answer, ReportAnswer{with_value(sent, report->value), fields.kind});
}

void on_report_answer(gex_Token_t token, const ReportAnswer& fields, void*, std::size_t) noexcept {
  take_report(token, barrier_kind_of(token, fields.kind), fields.report.arrival,
              reported_value(token, fields.report), false);
}

/// Never waits: what finds no room is sent by a later poll.
template <class Fields>
bool send_message(const TeamBarrier& barrier, gex_Rank_t to, const am::Internal& what,
                  const Fields& fields) noexcept {
  const Team& team = barrier.team();
  const am::Packed packed(fields);
  am::Outbound message = packed.message_for(what);
  message.what.set_endpoints(am::endpoints_of(team.endpoint, team.endpoint_of(to)));
  if (am::send_request(team.jobrank_of(to), message, true) != 0) return false;
  barrier_messages_sent.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace

}  // namespace team

void TeamBarrier::enter() {
  team::BarrierRegistry& registry = team::the_barriers.get();
  const OptionalGuard guard(registry.lock, true);
  team::BarrierRegistry::Entry& entry = registry.entries[team::barrier_key_of(*this)];
  entry.barrier = this;
  for (const Arrival& arrival : entry.early) arrived(arrival);
  entry.early.clear();
}

void TeamBarrier::leave() noexcept {
  team::BarrierRegistry& registry = team::the_barriers.get();
  const OptionalGuard guard(registry.lock, true);
  registry.entries.erase(team::barrier_key_of(*this));
}

bool TeamBarrier::send_report(gex_Rank_t to, unsigned round, std::uint32_t number,
                              const team::BarrierValue& value) const noexcept {
  const team::ReportFields fields{team_.id(), round, number};
  if (kind_ == Kind::named)
    return team::send_message(*this, to, team::named_message, team::with_value(fields, value));
  return team::send_message(*this, to, team::message_of(kind_), fields);
}

void TeamBarrier::send_question(gex_Rank_t to, unsigned round,
                                std::uint32_t number) const noexcept {
  team::send_message(
      *this, to, team::report_question,
      team::ReportQuestion{
          {team_.id(), round, number}, static_cast<std::uint32_t>(kind_), team_.rank});
}

namespace team {

void for_each_barrier(void (*act)(void* context, TeamBarrier& barrier), void* context) {
  BarrierRegistry& registry = the_barriers.get();
  const OptionalGuard guard(registry.lock, true);
  for (const auto& [key, entry] : registry.entries) {
    if (entry.barrier != nullptr && key.kind == BarrierKind::calls) act(context, *entry.barrier);
  }
}

void with_barrier(TeamId team, unsigned endpoint_address,
                  void (*act)(void* context, TeamBarrier& barrier), void* context) {
  BarrierRegistry& registry = the_barriers.get();
  const OptionalGuard guard(registry.lock, true);
  if (TeamBarrier* const barrier = registry.find({team, endpoint_address, BarrierKind::calls}))
    act(context, *barrier);
}

std::uint64_t barrier_messages() noexcept {
  return barrier_messages_sent.load(std::memory_order_relaxed);
}

void register_barrier_messages() noexcept {
  am::register_request<on_barrier<BarrierKind::calls>>(message_of(BarrierKind::calls));
  am::register_request<on_barrier<BarrierKind::completions>>(message_of(BarrierKind::completions));
  am::register_request<on_named_barrier>(named_message);
  am::register_request<on_report_question>(report_question);
  am::register_reply<on_report_answer>(report_answer);
}

}  // namespace team
}  // namespace gex
