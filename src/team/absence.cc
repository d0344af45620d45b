#include "team/absence.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "am/internal.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/clock.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/team.h"
#include "team/barrier.h"
#include "team/barrier_flags.h"
#include "team/named_barrier.h"

namespace gex::team {

namespace {

constinit am::Internal question_message{"question about an absent rank"};
constinit am::Internal answer_message{"answer about an absent rank"};

/// Between two rounds of questions. The first comes as late: mostly all leave within that time.
constexpr std::uint64_t question_interval_ns = 500'000'000;

/// Members asked in one round; the next round goes on behind them.
constexpr gex_Rank_t max_questions = 256;

/// Calls of each kind that a member has made over a team: each kind counts for itself, as its
/// messages or flags do.
struct Calls {
  enum Kind { barriers, exchanges, collectives, named_barriers, kinds };
  std::array<std::uint32_t, kinds> begun{};
  std::array<bool, kinds> under_way{};

  bool any_under_way() const noexcept {
    return std::any_of(under_way.begin(), under_way.end(), [](bool one) { return one; });
  }
};

bool has_named_barriers(const Team& team) noexcept {
  return gasnet1_client() != nullptr && &Team::from(gasnet1_client()->team) == &team;
}

Calls calls_of(TeamBarrier& barrier) noexcept {
  const Team& team = barrier.team();
  Calls calls;
  const auto set = [&calls](Calls::Kind kind, std::uint32_t begun, bool under_way) {
    calls.begun[kind] = begun;
    calls.under_way[kind] = under_way;
  };
  const auto set_counted = [&set](Calls::Kind kind, const CollectiveCalls& counted) {
    const std::uint32_t begun = counted.begun.load(std::memory_order_relaxed);
    set(kind, begun, begun != counted.over.load(std::memory_order_relaxed));
  };
  const std::uint32_t started = barrier.started();
  set(Calls::barriers, started, !barrier.is_complete(started));
  set_counted(Calls::exchanges, team.exchanges);
  set_counted(Calls::collectives, team.collectives_called);
  if (has_named_barriers(team)) {
    const NamedBarrierState named = named_barrier_state();
    set(Calls::named_barriers, named.notified, named.under_way);
  }
  return calls;
}

struct QuestionFields {
  am::Wide team;
};
struct AnswerFields {
  am::Wide team;
  std::array<std::uint32_t, Calls::kinds> begun;  ///< calls of each kind
};

struct Question {
  TeamId team;
  gex_Rank_t jobrank;
  Endpoints endpoints;
};

/// Where the next round begins, as a distance from the own rank.
std::atomic<gex_Rank_t> next_distance{0};

void ask(const Question& question) noexcept {
  const am::Packed packed(QuestionFields{question.team});
  am::Outbound message = packed.message_for(question_message);
  message.what.set_endpoints(question.endpoints);
  // What finds no room is asked in a later round.
  am::send_request(question.jobrank, message, true);
}

void note_questions(void* context, TeamBarrier& barrier) {
  if (!calls_of(barrier).any_under_way()) return;
  auto& questions = *static_cast<std::vector<Question>*>(context);
  const Team& team = barrier.team();
  const gex_Rank_t begin = next_distance.load(std::memory_order_relaxed);
  const gex_Rank_t count = std::min(max_questions, team.size - 1);
  for (gex_Rank_t i = 0; i < count; ++i) {
    // From 1 to size - 1: all other members.
    const std::uint64_t distance = 1 + (std::uint64_t{begin} + i) % (team.size - 1);
    const auto member = static_cast<gex_Rank_t>((team.rank + distance) % team.size);
    if (team.jobrank_of(member) == gex_proc_.jobrank) continue;
    questions.push_back({team.id(), team.jobrank_of(member),
                         am::endpoints_of(team.endpoint, team.endpoint_of(member))});
  }
}

void watch() noexcept {
  if (process().job->left()) return;
  static std::atomic<std::uint64_t> next_round_ns{0};
  const std::uint64_t now = now_ns();
  std::uint64_t due = next_round_ns.load(std::memory_order_relaxed);
  if (now < due) return;
  // One thread asks.
  if (!next_round_ns.compare_exchange_strong(due, now + question_interval_ns,
                                             std::memory_order_relaxed))
    return;
  if (due == 0) return;
  std::vector<Question> questions;
  for_each_barrier(note_questions, &questions);
  next_distance.fetch_add(max_questions, std::memory_order_relaxed);
  for (const Question& question : questions) ask(question);
}

void on_question(gex_Token_t token, const QuestionFields& question, void*, std::size_t) noexcept {
  if (!process().job->left()) return;
  struct Found {
    Calls calls;
    bool there = false;
  } found;
  with_barrier(
      question.team, token->header.endpoints().target_address(),
      [](void* context, TeamBarrier& barrier) {
        *static_cast<Found*>(context) = {calls_of(barrier), true};
      },
      &found);
  // A team that is ended here had all its calls made.
  if (!found.there) return;
  am::reply_with(token, answer_message, AnswerFields{question.team, found.calls.begun});
}

void on_answer(gex_Token_t token, const AnswerFields& fields, void*, std::size_t) noexcept {
  struct Answer {
    const AnswerFields& fields;
    bool never_made = false;
  } answer{fields};
  with_barrier(
      fields.team, token->header.endpoints().target_address(),
      [](void* context, TeamBarrier& barrier) {
        auto& theirs = *static_cast<Answer*>(context);
        const Calls mine = calls_of(barrier);
        for (std::size_t kind = 0; kind < Calls::kinds; ++kind) {
          theirs.never_made |=
              mine.under_way[kind] && !reached(theirs.fields.begun[kind], mine.begun[kind]);
        }
      },
      &answer);
  if (answer.never_made) process().job->report_exited_peer(token->header.source);
}

}  // namespace

void start_absence() {
  am::register_request<on_question>(question_message);
  am::register_reply<on_answer>(answer_message);
  register_absence_watch(watch);
}

}  // namespace gex::team
