#include "launch/hang/hang_report.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "launch/hang/report_words.h"
#include "launch/hang/wait_graph.h"

namespace gex::launch {

namespace {

const TeamReport* team_of(const RankReport& rank, std::uint64_t id) noexcept {
  const auto found = std::find_if(rank.teams.begin(), rank.teams.end(),
                                  [id](const TeamReport& team) { return team.id == id; });
  return found == rank.teams.end() ? nullptr : &*found;
}

/// Returns true if a count of calls, which may wrap around, has reached a number.
bool has_reached(std::uint32_t count, std::uint32_t number) noexcept {
  return static_cast<std::int32_t>(count - number) >= 0;
}

/// The call as reports show it.
std::string call_name(const OpReport& op) {
  if (!op.call.empty()) return op.call;
  switch (op.kind) {
    case job::OpKind::none:
      return "a loop of polls (GASNET_BLOCKUNTIL)";
    case job::OpKind::agreement:
      return "a set-up call of a team";
    case job::OpKind::lock:
      return "gex_HSL_Lock";
    default:
      return "a call of the library";
  }
}

std::string where_it_sleeps(const RankReport& rank) {
  const auto found = std::find_if(rank.threads.begin(), rank.threads.end(),
                                  [](const ThreadReport& t) { return !t.system_call.empty(); });
  return found != rank.threads.end() ? ", in " + found->system_call : "";
}

std::string what_it_does(const RankReport& rank) {
  const auto any = [&](const auto& is) {
    return std::any_of(rank.threads.begin(), rank.threads.end(), is);
  };
  switch (rank.state) {
    case 'T':
    case 't':
      return "is stopped by a signal";
    case 'Z':
    case 'X':
      return "has ended";
    case 'D':
      return "sleeps in the kernel, uninterruptibly" + where_it_sleeps(rank);
    default:
      break;
  }
  if (rank.left)
    return "has left the job: it has returned from main, or called exit or gasnet_exit";
  if (rank.process == 0 && !rank.shown) return "has ended, or has not been started";
  if (any([](const ThreadReport& t) { return t.in_handler; }))
    return "is in a handler that has not returned";
  for (const ThreadReport& thread : rank.threads)
    if (thread.wait && !thread.annotation.empty()) return "waits in " + thread.annotation;
  if (any([](const ThreadReport& t) { return t.condition_s.has_value(); }))
    return "polls in a loop (GASNET_BLOCKUNTIL)";
  if (any([](const ThreadReport& t) { return t.polls; }))
    return "polls in a loop, in which nothing arrives";
  if (rank.state == 'R')
    return "runs, and is in no wait of the library: it computes, or is in a loop";
  return "sleeps outside the library" + where_it_sleeps(rank);
}

/// Operations in flight of a rank that have different peers.
std::vector<const OpReport*> with_peers(const RankReport& rank) {
  std::set<std::uint32_t> peers;
  std::vector<const OpReport*> made;
  for (const OpReport& op : rank.operations)
    if (op.peer && peers.insert(*op.peer).second) made.push_back(&op);
  return made;
}

RankRuns without_peers(const RankRuns& ranks) {
  RankUnion made;
  made.add(ranks);
  return made.take();
}

class Analysis {
 public:
  explicit Analysis(const RankClasses& classes) {
    report_.classes = by_rank(classes);
    report_.left_out = classes.left_out;
    for (const RankClass& one : report_.classes) {
      Waiters& waiters = graph_.waiters.emplace_back();
      waiters.ranks = one.members;
      waiters.stopped = one.example.state == 'T';
    }
  }

  HangReport run() {
    find_teams();
    for (std::size_t i = 0; i < report_.classes.size(); ++i) find_waits(i);
    find_mismatches();
    Circles circles = circles_of(graph_);
    report_.circles = std::move(circles.found);
    report_.not_followed = std::move(circles.not_followed);
    find_culprits();
    return std::move(report_);
  }

 private:
  /// The teams that threads wait in, if they are several: what distinguishes them is reported.
  void find_teams() {
    std::map<std::uint64_t, const TeamReport*> found;
    std::vector<std::uint64_t> order;
    for (const RankClass& one : report_.classes)
      for (const ThreadReport& thread : one.example.threads) {
        if (!thread.wait || !is_of_team(thread.wait->kind)) continue;
        const TeamReport* const team = team_of(one.example, thread.wait->team);
        if (team != nullptr && found.emplace(team->id, team).second) order.push_back(team->id);
      }
    if (order.size() < 2) return;
    for (const std::uint64_t id : order)
      report_.teams.push_back({*found[id], origin_of(*found[id])});
  }

  std::string origin_of(const TeamReport& team) const {
    if (team.made_as == 0) return "the primordial team";
    std::string text = text_of("team %u made of ", team.made_as);
    const TeamReport* parent = nullptr;
    for (const RankClass& one : report_.classes)
      if (parent == nullptr) parent = team_of(one.example, team.parent);
    if (parent == nullptr)
      text += "a team that is no more";
    else if (parent->made_as == 0)
      text += "the primordial team";
    else
      text += text_of("team %u of its parent", parent->made_as);
    text += ", by " + (team.made_by.empty() ? "a call of the library" : team.made_by);
    if (!team.made_at.empty()) text += " at " + team.made_at;
    return text;
  }

  /// "a team of 4", or "team B", which is described apart.
  std::string name_of_team(std::uint64_t id, std::uint32_t size) const {
    for (std::size_t i = 0; i < report_.teams.size(); ++i)
      if (report_.teams[i].team.id == id) return "team " + letter_of(i);
    return text_of("a team of %u", size);
  }

  void find_waits(std::size_t number) {
    for (const ThreadReport& thread : report_.classes[number].example.threads) {
      if (thread.wait)
        add_wait(number, thread, *thread.wait);
      else if (thread.condition_s)
        add_condition(number, thread);
    }
  }

  RankWait wait_of(std::size_t number, const ThreadReport& thread, const OpReport& op) const {
    const RankClass& one = report_.classes[number];
    const double age_s = one.members.count == 1 ? op.age_s.value_or(0) : one.max_age_s;
    return {one.example.rank, without_peers(one.members), thread.number, op, age_s, no_ranks_, {}};
  }

  void add_wait(std::size_t number, const ThreadReport& thread, const OpReport& op) {
    RankWait wait = wait_of(number, thread, op);
    if (op.kind == job::OpKind::annotated) {
      explain_annotated(wait, number, thread);
    } else if (is_of_team(op.kind)) {
      explain_team(wait, number);
    } else if (op.peer) {
      explain_peer(wait, wait_for_peer(wait, number, op));
    } else if (op.kind == job::OpKind::lock) {
      wait.why = "waits in gex_HSL_Lock for a lock that another thread of its process holds";
    } else {
      wait.why = "waits in " + call_name(op);
    }
    constexpr std::string_view verb = "waits in ";
    if (op.kind != job::OpKind::annotated && !thread.annotation.empty())
      wait.why.insert(verb.size(), thread.annotation + ": ");
    report_.waits.push_back(std::move(wait));
  }

  /// Adds a wait of a class, or an operation of it that is likely to be waited for, to the graph.
  const std::vector<RankRun>& add_peers(std::size_t number, const OpReport& op) {
    const RankClass& one = report_.classes[number];
    std::vector<RankRun>& runs = graph_.waiters[number].for_peers.emplace_back(one.members.runs);
    if (&op == awaited_of(one.example)) return runs;
    // Other operations of a class's ranks have peers at the same distance.
    for (RankRun& run : runs) {
      run.peer = run.first + (*op.peer - one.example.rank);
      run.peer_stride = run.count == 1 ? 0 : static_cast<std::int32_t>(run.stride);
    }
    return runs;
  }

  /// The ranks of a class wait for one rank each; returns these as text.
  std::string wait_for_peer(RankWait& wait, std::size_t number, const OpReport& op) {
    wait.waits_for = std::make_shared<const RankRuns>(only(*op.peer));
    return peers_in_order(add_peers(number, op));
  }

  /// Ranks wait for the peers of their operations in flight, probably.
  void add_operations(RankWait& wait, std::size_t number) {
    std::vector<RankRun> peers;
    for (const OpReport* const op : with_peers(report_.classes[number].example)) {
      add_peers(number, *op);
      peers.push_back(run_of(*op->peer));
    }
    wait.waits_for = std::make_shared<const RankRuns>(united(std::move(peers)));
  }

  /// A layer has named the rank that it waits for, or operations in flight are likely.
  void explain_annotated(RankWait& wait, std::size_t number, const ThreadReport& thread) {
    const RankReport& rank = report_.classes[number].example;
    wait.why = "waits in " + thread.annotation;
    if (thread.wait->peer) {
      wait.why += ", from " + wait_for_peer(wait, number, *thread.wait);
      return;
    }
    if (!rank.operations.empty()) wait.why += " with " + count_of(rank.operations);
    add_operations(wait, number);
  }

  static std::string count_of(const std::vector<OpReport>& operations) {
    return text_of("%zu operation%s in flight", operations.size(),
                   operations.size() == 1 ? "" : "s");
  }

  /// Adds the client's own condition, whose cause is unknown; operations in flight are likely.
  void add_condition(std::size_t number, const ThreadReport& thread) {
    OpReport none;
    none.age_s = thread.condition_s;
    RankWait wait = wait_of(number, thread, none);
    add_operations(wait, number);
    wait.why = "polls in a loop (GASNET_BLOCKUNTIL)";
    const std::vector<OpReport>& operations = report_.classes[number].example.operations;
    wait.why += operations.empty() ? " with no operation in flight: for a message that has not come"
                                   : " with " + count_of(operations);
    report_.waits.push_back(std::move(wait));
  }

  /// The members of a team that have not made a call.
  struct Missing {
    std::uint64_t members = 0;  ///< that are known
    std::uint32_t size = 0;
    std::shared_ptr<const RankRuns> ranks;
    std::uint32_t call = 0;  ///< its number in the graph
  };
  const Missing& missing_in(const OpReport& op) {
    const auto [at, made] = missing_.try_emplace({op.team, op.kind, op.sequence});
    Missing& missing = at->second;
    if (!made) return missing;
    missing.call = static_cast<std::uint32_t>(graph_.missing.size());
    std::vector<std::uint32_t>& classes = graph_.missing.emplace_back();
    RankUnion ranks;
    for (std::uint32_t i = 0; i < report_.classes.size(); ++i) {
      const RankClass& one = report_.classes[i];
      const TeamReport* const team = team_of(one.example, op.team);
      if (team == nullptr) continue;
      missing.members += one.members.count;
      missing.size = team->size;
      if (has_reached(team->calls(op.kind), op.sequence)) continue;
      classes.push_back(i);
      ranks.add(one.members);
    }
    missing.ranks = std::make_shared<const RankRuns>(ranks.take());
    return missing;
  }

  void explain_team(RankWait& wait, std::size_t number) {
    const OpReport& op = wait.op;
    const auto& [members, size, ranks, call] = missing_in(op);
    wait.waits_for = ranks;
    if (!ranks->empty()) graph_.waiters[number].for_calls.push_back(call);
    const char* const what = op.kind == job::OpKind::named_barrier ? "barrier" : name_of(op.kind);
    wait.why = text_of("waits in %s, %s %u of %s", call_name(op).c_str(), what, op.sequence,
                       name_of_team(op.team, size).c_str());
    if (!ranks->empty())
      wait.why +=
          ", which " + ranks_of(*ranks) + (ranks->count == 1 ? " has" : " have") + " not called";
    else if (members < size)
      wait.why += text_of("; nothing is known of %llu of its members",
                          static_cast<unsigned long long>(size - members));
    else
      wait.why += ", which all its members have called";
  }

  static void explain_peer(RankWait& wait, const std::string& peers) {
    const OpReport& op = wait.op;
    if (op.kind == job::OpKind::message)
      wait.why =
          text_of("waits in %s: no room for a message to %s, which take%s none in",
                  call_name(op).c_str(), peers.c_str(), peers.starts_with("rank ") ? "s" : "");
    else
      wait.why =
          text_of("waits in %s for a %s of %llu bytes with %s", call_name(op).c_str(),
                  name_of(op.kind), static_cast<unsigned long long>(op.bytes), peers.c_str());
    if (const char* const way = memory_way_of(op))
      wait.why += std::string(" (memory of a device, ") + way + ")";
    if (op.implicit_parts > 1)
      wait.why += text_of(" (the last of %u parts in flight)", op.implicit_parts);
  }

  void find_mismatches() {
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::map<std::string, RankUnion>> calls;
    for (const RankWait& wait : report_.waits)
      if (wait.op.kind == job::OpKind::collective && !wait.op.call.empty())
        calls[{wait.op.team, wait.op.sequence}][wait.op.call].add(wait.ranks);
    for (auto& [which, by_call] : calls) {
      if (by_call.size() < 2) continue;
      HangReport::Mismatch mismatch{which.first, which.second, {}, {}};
      RankUnion all;
      for (auto& [call, waiting] : by_call) {
        const RankRuns ranks = waiting.take();
        all.add(ranks);
        if (!mismatch.what.empty()) mismatch.what += ", ";
        mismatch.what += call + " on " + ranks_of(ranks);
      }
      mismatch.ranks = all.take();
      report_.mismatches.push_back(std::move(mismatch));
    }
  }

  /// Divides the ranks that do not wait into those that others wait for and the others.
  void find_culprits() {
    const Wanted wanted = wanted_in(graph_);
    std::set<std::uint32_t> named;
    for (const RankWait& wait : report_.waits) named.insert(wait.rank);
    for (std::size_t i = 0; i < report_.classes.size(); ++i) {
      const RankRuns& looked_for = wanted.ranks[i];
      if (!looked_for.empty()) report_.culprits.push_back(deed_of(i, looked_for));
      const RankClass& one = report_.classes[i];
      if (named.count(one.example.rank) != 0) continue;
      RankRuns rest = united(without(one.members.runs, looked_for.runs));
      rest.count = one.members.count - looked_for.count;
      if (!rest.runs.empty()) report_.others.push_back(deed_of(i, rest));
    }
    const char* const what = "of which nothing is known";
    if (wanted.unknown.count > max_ranks_in_full)
      report_.culprits.push_back({wanted.unknown, what, 0, 0, "", {}});
    else
      for (const std::uint32_t rank : first_of(wanted.unknown, max_ranks_in_full))
        report_.culprits.push_back({only(rank), what, 0, 0, "", {}});
    std::ranges::sort(report_.culprits, {},
                      [](const HangReport::Deed& deed) { return deed.ranks.lowest(); });
  }

  HangReport::Deed deed_of(std::size_t number, const RankRuns& ranks) const {
    const RankClass& one = report_.classes[number];
    return {without_peers(ranks), what_it_does(one.example), one.min_cpu_s,
            one.max_cpu_s,        one.example.last_call,     number};
  }

  HangReport report_;
  WaitGraph graph_;
  const std::shared_ptr<const RankRuns> no_ranks_ = std::make_shared<const RankRuns>();
  std::map<std::tuple<std::uint64_t, job::OpKind, std::uint32_t>, Missing> missing_;
};

}  // namespace

HangReport analyse(const RankClasses& classes) {
  return Analysis(classes).run();
}

bool is_waiting(const RankReport& rank, double seconds) noexcept {
  const auto lasts = [seconds](const std::optional<double>& age_s) {
    return age_s && *age_s >= seconds;
  };
  return std::any_of(rank.threads.begin(), rank.threads.end(),
                     [&](const ThreadReport& thread) {
                       return (thread.wait && lasts(thread.wait->age_s)) ||
                              lasts(thread.condition_s);
                     }) ||
         std::any_of(rank.operations.begin(), rank.operations.end(),
                     [&](const OpReport& op) { return lasts(op.age_s); });
}

}  // namespace gex::launch
