#include "launch/hang/hang_report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "launch/hang/circles.h"
#include "launch/hang/report_words.h"

namespace gex::launch {

namespace {

using Ranks = std::vector<std::uint32_t>;

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

class Analysis {
 public:
  explicit Analysis(std::vector<RankReport> ranks) {
    std::sort(ranks.begin(), ranks.end(),
              [](const RankReport& a, const RankReport& b) { return a.rank < b.rank; });
    report_.ranks = std::move(ranks);
  }

  HangReport run() {
    report_.classes = classes_of(report_.ranks);
    find_teams();
    for (const RankReport& rank : report_.ranks) find_waits(rank);
    find_mismatches();
    find_circles();
    find_culprits();
    find_others();
    return std::move(report_);
  }

 private:
  /// The teams that threads wait in, if they are several: what distinguishes them is reported.
  void find_teams() {
    std::map<std::uint64_t, const TeamReport*> found;
    std::vector<std::uint64_t> order;
    for (const RankReport& rank : report_.ranks)
      for (const ThreadReport& thread : rank.threads) {
        if (!thread.wait || !is_of_team(thread.wait->kind)) continue;
        const TeamReport* const team = team_of(rank, thread.wait->team);
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
    for (const RankReport& rank : report_.ranks)
      if (parent == nullptr) parent = team_of(rank, team.parent);
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

  void find_waits(const RankReport& rank) {
    for (const ThreadReport& thread : rank.threads) {
      if (thread.wait)
        add_wait(rank, thread, *thread.wait);
      else if (thread.condition_s)
        add_condition(rank, thread);
    }
  }

  void add_wait(const RankReport& rank, const ThreadReport& thread, const OpReport& op) {
    RankWait wait{rank.rank, thread.number, op, no_ranks_, {}};
    if (op.kind == job::OpKind::annotated) {
      explain_annotated(wait, rank, thread);
    } else if (is_of_team(op.kind)) {
      explain_team(wait);
    } else if (op.peer) {
      wait.waits_for = std::make_shared<const Ranks>(1, *op.peer);
      explain_peer(wait);
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

  /// The peers of a rank's operations in flight.
  static std::shared_ptr<const Ranks> peers_of(const RankReport& rank) {
    std::set<std::uint32_t> peers;
    for (const OpReport& op : rank.operations)
      if (op.peer) peers.insert(*op.peer);
    return std::make_shared<const Ranks>(peers.begin(), peers.end());
  }

  /// A layer has named the rank that it waits for, or operations in flight are likely.
  void explain_annotated(RankWait& wait, const RankReport& rank, const ThreadReport& thread) const {
    wait.why = "waits in " + thread.annotation;
    if (wait.op.peer)
      wait.why += text_of(", from rank %u", *wait.op.peer);
    else if (!rank.operations.empty())
      wait.why += " with " + count_of(rank.operations);
    wait.waits_for =
        wait.op.peer ? std::make_shared<const Ranks>(1, *wait.op.peer) : peers_of(rank);
  }

  static std::string count_of(const std::vector<OpReport>& operations) {
    return text_of("%zu operation%s in flight", operations.size(),
                   operations.size() == 1 ? "" : "s");
  }

  /// Adds the client's own condition, whose cause is unknown; operations in flight are likely.
  void add_condition(const RankReport& rank, const ThreadReport& thread) {
    RankWait wait{rank.rank, thread.number, {}, no_ranks_, {}};
    wait.op.age_s = thread.condition_s;
    wait.waits_for = peers_of(rank);
    wait.why = "polls in a loop (GASNET_BLOCKUNTIL)";
    wait.why += rank.operations.empty()
                    ? " with no operation in flight: for a message that has not come"
                    : " with " + count_of(rank.operations);
    report_.waits.push_back(std::move(wait));
  }

  /// The members of a team that have not made a call.
  struct Missing {
    std::uint32_t members = 0;  ///< that are known
    std::uint32_t size = 0;
    std::shared_ptr<const Ranks> ranks;
  };
  const Missing& missing_in(const OpReport& op) {
    const auto [at, made] = missing_.try_emplace({op.team, op.kind, op.sequence});
    Missing& missing = at->second;
    if (!made) return missing;
    Ranks ranks;
    for (const RankReport& rank : report_.ranks) {
      const TeamReport* team = team_of(rank, op.team);
      if (team == nullptr) continue;
      ++missing.members;
      missing.size = team->size;
      if (!has_reached(team->calls(op.kind), op.sequence)) ranks.push_back(rank.rank);
    }
    missing.ranks = std::make_shared<const Ranks>(std::move(ranks));
    return missing;
  }

  void explain_team(RankWait& wait) {
    const OpReport& op = wait.op;
    const auto& [members, size, ranks] = missing_in(op);
    wait.waits_for = ranks;
    const char* const what = op.kind == job::OpKind::named_barrier ? "barrier" : name_of(op.kind);
    wait.why = text_of("waits in %s, %s %u of %s", call_name(op).c_str(), what, op.sequence,
                       name_of_team(op.team, size).c_str());
    if (!ranks->empty())
      wait.why +=
          ", which " + ranks_of(*ranks) + (ranks->size() == 1 ? " has" : " have") + " not called";
    else if (members < size)
      wait.why += text_of("; nothing is known of %u of its members", size - members);
    else
      wait.why += ", which all its members have called";
  }

  static void explain_peer(RankWait& wait) {
    const OpReport& op = wait.op;
    if (op.kind == job::OpKind::message)
      wait.why = text_of("waits in %s: no room for a message to rank %u, which takes none in",
                         call_name(op).c_str(), *op.peer);
    else
      wait.why = text_of("waits in %s for a %s of %llu bytes with rank %u", call_name(op).c_str(),
                         name_of(op.kind), static_cast<unsigned long long>(op.bytes), *op.peer);
    if (const char* const way = memory_way_of(op))
      wait.why += std::string(" (memory of a device, ") + way + ")";
    if (op.implicit_parts > 1)
      wait.why += text_of(" (the last of %u parts in flight)", op.implicit_parts);
  }

  void find_mismatches() {
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::map<std::string, Ranks>> calls;
    for (const RankWait& wait : report_.waits)
      if (wait.op.kind == job::OpKind::collective && !wait.op.call.empty())
        calls[{wait.op.team, wait.op.sequence}][wait.op.call].push_back(wait.rank);
    for (const auto& [which, by_call] : calls) {
      if (by_call.size() < 2) continue;
      HangReport::Mismatch mismatch{which.first, which.second, {}, {}};
      for (const auto& [call, ranks] : by_call) {
        mismatch.ranks.insert(mismatch.ranks.end(), ranks.begin(), ranks.end());
        if (!mismatch.what.empty()) mismatch.what += ", ";
        mismatch.what += call + " on " + ranks_of(ranks);
      }
      std::sort(mismatch.ranks.begin(), mismatch.ranks.end());
      report_.mismatches.push_back(std::move(mismatch));
    }
  }

  /// Ranks that wait for one another in a circle, and ranks that wait for themselves. What several
  /// ranks wait for is a vertex as well, which waits for each of those that are missing: so there
  /// are no more edges than ranks that wait and that are missing.
  void find_circles() {
    constexpr std::uint32_t first_set = 1U << 31;
    Edges edges;
    std::map<const Ranks*, std::uint32_t> sets;
    for (const RankWait& wait : report_.waits) {
      const Ranks& ranks = *wait.waits_for;
      if (ranks.size() < 2) {
        edges[wait.rank].insert(ranks.begin(), ranks.end());
        continue;
      }
      const auto [at, made] =
          sets.try_emplace(&ranks, first_set + static_cast<std::uint32_t>(sets.size()));
      if (made) edges[at->second] = {ranks.begin(), ranks.end()};
      edges[wait.rank].insert(at->second);
    }
    for (Ranks& circle : circles_of(edges)) {
      circle.erase(std::lower_bound(circle.begin(), circle.end(), first_set), circle.end());
      report_.circles.push_back(std::move(circle));
    }
    std::sort(report_.circles.begin(), report_.circles.end());
  }

  void find_culprits() {
    std::set<std::uint32_t> waiting;
    std::set<std::uint32_t> wanted;
    std::set<const Ranks*> seen;
    for (const RankWait& wait : report_.waits) {
      const Ranks& ranks = *wait.waits_for;
      if (!ranks.empty()) waiting.insert(wait.rank);
      if (seen.insert(&ranks).second) wanted.insert(ranks.begin(), ranks.end());
    }
    for (const std::uint32_t rank : wanted) {
      const auto found = std::lower_bound(report_.ranks.begin(), report_.ranks.end(), rank,
                                          [](const RankReport& report, std::uint32_t wanted_rank) {
                                            return report.rank < wanted_rank;
                                          });
      const bool known = found != report_.ranks.end() && found->rank == rank;
      const bool stopped = known && found->state == 'T';
      if (waiting.count(rank) != 0 && !stopped) continue;
      if (known)
        report_.culprits.push_back(deed_of(*found));
      else
        report_.culprits.push_back({rank, "of which nothing is known", 0, ""});
    }
  }

  void find_others() {
    std::set<std::uint32_t> named;
    for (const RankWait& wait : report_.waits) named.insert(wait.rank);
    for (const HangReport::Deed& deed : report_.culprits) named.insert(deed.rank);
    for (const RankReport& rank : report_.ranks)
      if (named.count(rank.rank) == 0) report_.others.push_back(deed_of(rank));
  }

  static HangReport::Deed deed_of(const RankReport& rank) {
    return {rank.rank, what_it_does(rank), rank.cpu_s, rank.last_call};
  }

  static std::string where_it_sleeps(const RankReport& rank) {
    const auto found = std::find_if(rank.threads.begin(), rank.threads.end(),
                                    [](const ThreadReport& t) { return !t.system_call.empty(); });
    return found != rank.threads.end() ? ", in " + found->system_call : "";
  }

  static std::string what_it_does(const RankReport& rank) {
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

  HangReport report_;
  const std::shared_ptr<const Ranks> no_ranks_ = std::make_shared<const Ranks>();
  std::map<std::tuple<std::uint64_t, job::OpKind, std::uint32_t>, Missing> missing_;
};

}  // namespace

HangReport analyse(std::vector<RankReport> ranks) {
  return Analysis(std::move(ranks)).run();
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
