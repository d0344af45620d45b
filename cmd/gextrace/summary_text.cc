#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "summary.h"
#include "units.h"

namespace gextrace {

namespace {

/// Lines that a table shows of what may have very many.
constexpr std::size_t max_rows = 20;

[[gnu::format(printf, 2, 3)]] void print(std::string& text, const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  text += line;
}

/// The rows of the map, the heaviest first.
template <class Map, class Weight>
auto by_weight(const Map& map, Weight weight) {
  std::vector<typename Map::const_iterator> rows;
  for (auto i = map.begin(); i != map.end(); ++i) rows.push_back(i);
  std::stable_sort(rows.begin(), rows.end(), [&](auto one, auto other) {
    return weight(one->second) > weight(other->second);
  });
  return rows;
}

void more(std::string& text, std::size_t rows) {
  if (rows > max_rows)
    print(text, "  ... and %zu more (--summary=json has all)\n", rows - max_rows);
}

void print_ranks(std::string& text, const Summary& summary) {
  print(text, "\n%6s  %-16s %10s %10s %10s %10s %10s  %s\n", "rank", "host", "events", "time",
        "in calls", "waiting", "handlers", "idle polls");
  std::size_t rows = 0;
  for (const RankSummary& rank : summary.ranks) {
    if (++rows > max_rows) continue;
    print(text, "%6u  %-16.16s %10llu %10s %10s %10s %10s  %llu%s\n", rank.rank, rank.host.c_str(),
          static_cast<unsigned long long>(rank.events), time_text(rank.end - rank.begin).c_str(),
          time_text(rank.calls).c_str(), time_text(rank.waiting).c_str(),
          time_text(rank.handlers).c_str(), static_cast<unsigned long long>(rank.questions.count),
          rank.closed ? "" : "  (did not end orderly)");
  }
  more(text, rows);
}

void print_calls(std::string& text, const Summary& summary) {
  const auto rows = by_weight(summary.calls, [](const CallSummary& call) { return call.all.ns; });
  if (rows.empty()) return;
  print(text, "\n%-46s %10s %10s %10s %10s\n", "call", "count", "time", "waiting", "bytes");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [name, call] = *rows[i];
    print(text, "%-46s %10llu %10s %10s %10s", name.c_str(),
          static_cast<unsigned long long>(call.all.count), time_text(call.all.ns).c_str(),
          time_text(call.waiting).c_str(), bytes_text(call.all.bytes).c_str());
    if (call.refused != 0)
      print(text, "  (%llu found no room)", static_cast<unsigned long long>(call.refused));
    text += "\n";
    const auto peers = by_weight(call.peers, [](const Tally& tally) { return tally.ns; });
    constexpr std::size_t max_peers = 4;
    for (std::size_t p = 0; p < std::min(peers.size(), max_peers); ++p) {
      const auto& [peer, tally] = *peers[p];
      print(text, "    peer %-37u %10llu %10s %10s %10s\n", peer,
            static_cast<unsigned long long>(tally.count), time_text(tally.ns).c_str(), "",
            bytes_text(tally.bytes).c_str());
    }
    if (peers.size() > max_peers) print(text, "    ... %zu more peers\n", peers.size() - max_peers);
  }
}

void print_waits(std::string& text, const Summary& summary) {
  const auto rows = by_weight(summary.waits, [](const Tally& tally) { return tally.ns; });
  if (rows.empty()) return;
  print(text, "\n%-20s %-46s %10s %10s\n", "waiting for", "of", "count", "time");
  for (std::size_t i = 0; i < std::min(rows.size(), max_rows); ++i) {
    const auto& [key, tally] = *rows[i];
    print(text, "%-20s %-46s %10llu %10s\n", key.first.c_str(), key.second.c_str(),
          static_cast<unsigned long long>(tally.count), time_text(tally.ns).c_str());
  }
  more(text, rows.size());
}

void print_handlers(std::string& text, const char* title,
                    const std::map<std::string, Tally>& handlers) {
  const auto rows = by_weight(handlers, [](const Tally& tally) { return tally.ns; });
  if (rows.empty()) return;
  print(text, "\n%-46s %10s %10s %10s\n", title, "count", "time", "bytes");
  for (std::size_t i = 0; i < std::min(rows.size(), max_rows); ++i) {
    const auto& [name, tally] = *rows[i];
    print(text, "%-46s %10llu %10s %10s\n", name.c_str(),
          static_cast<unsigned long long>(tally.count), time_text(tally.ns).c_str(),
          bytes_text(tally.bytes).c_str());
  }
  more(text, rows.size());
}

void print_last_arrivals(std::string& text, const Summary& summary) {
  const auto rows = by_weight(summary.last_arrivals, [](const Tally& tally) { return tally.ns; });
  if (rows.empty()) return;
  print(text, "\n%-46s %10s %10s\n", "last at barriers and other collectives", "times", "late by");
  for (std::size_t i = 0; i < std::min(rows.size(), max_rows); ++i)
    print(text, "rank %-41u %10llu %10s\n", rows[i]->first,
          static_cast<unsigned long long>(rows[i]->second.count),
          time_text(rows[i]->second.ns).c_str());
  more(text, rows.size());
}

void print_pairs(std::string& text, const Summary& summary) {
  const auto rows = by_weight(summary.pairs, [](const PairSummary& pair) {
    return pair.puts.bytes + pair.gets.bytes + pair.messages.bytes + pair.own_messages.bytes;
  });
  if (rows.empty()) return;
  print(text, "\n%6s %6s %12s %12s %10s %10s %12s %10s %12s\n", "from", "to", "put", "got",
        "atomics", "messages", "payload", "library's", "payload");
  for (std::size_t i = 0; i < std::min(rows.size(), max_rows); ++i) {
    const auto& [ranks, pair] = *rows[i];
    print(text, "%6u %6u %12s %12s %10llu %10llu %12s %10llu %12s\n", ranks.first, ranks.second,
          bytes_text(pair.puts.bytes).c_str(), bytes_text(pair.gets.bytes).c_str(),
          static_cast<unsigned long long>(pair.atomics.count),
          static_cast<unsigned long long>(pair.messages.count),
          bytes_text(pair.messages.bytes).c_str(),
          static_cast<unsigned long long>(pair.own_messages.count),
          bytes_text(pair.own_messages.bytes).c_str());
  }
  more(text, rows.size());
}

void print_untraced(std::string& text, const Sums& sums) {
  if (sums.ranks == 0) return;
  print(text, "\n%-12s %-46s %10s %10s %10s\n", ("sums of " + std::to_string(sums.ranks)).c_str(),
        "ranks that were not traced", "count", "time", "bytes");
  for (const gex::trace::Sum& row : sums.rows)
    print(text, "%-12s %-46s %10llu %10s %10s\n", kind_of(row), row.name,
          static_cast<unsigned long long>(row.count),
          time_text(static_cast<std::int64_t>(row.ns)).c_str(), bytes_text(row.bytes).c_str());
}

}  // namespace

std::string as_text(const Summary& summary) {
  std::string text = summary.program + "\n";
  print(text, "%u ranks%s%s, %zu of them here\n", summary.job_size,
        summary.conduit.empty() ? "" : ", network ", summary.conduit.c_str(), summary.ranks.size());
  for (std::size_t i = 0; i < std::min(summary.remarks.size(), max_rows); ++i)
    text += "note: " + summary.remarks[i] + "\n";
  more(text, summary.remarks.size());
  print_ranks(text, summary);
  print_calls(text, summary);
  print_waits(text, summary);
  print_last_arrivals(text, summary);
  print_handlers(text, "handler", summary.handlers);
  print_handlers(text, "handler of the library's own", summary.own_handlers);
  print_handlers(text, "interval named by a layer above", summary.intervals);
  print_pairs(text, summary);
  print_untraced(text, summary.untraced);
  print(text,
        "\n%llu messages sent, %llu handled, %llu with both ends here; %llu arrivals at barriers, "
        "%llu at other collective operations\n",
        static_cast<unsigned long long>(summary.messages_sent),
        static_cast<unsigned long long>(summary.messages_handled),
        static_cast<unsigned long long>(summary.arrows),
        static_cast<unsigned long long>(summary.barriers),
        static_cast<unsigned long long>(summary.collectives));
  return text;
}

}  // namespace gextrace
