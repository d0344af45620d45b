#include <nlohmann/json.hpp>

#include "summary.h"

namespace gextrace {

namespace {

using nlohmann::ordered_json;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

ordered_json to_json(const Tally& tally) {
  return {{"count", tally.count}, {"seconds", seconds(tally.ns)}, {"bytes", tally.bytes}};
}

ordered_json of_messages(const Tally& tally) {
  return {{"count", tally.count}, {"bytes", tally.bytes}};
}

ordered_json to_json(const std::map<std::string, Tally>& tallies) {
  ordered_json list = ordered_json::array();
  for (const auto& [name, tally] : tallies) {
    ordered_json one = {{"name", name}};
    one.update(to_json(tally));
    list.push_back(std::move(one));
  }
  return list;
}

ordered_json ranks_of(const Summary& summary) {
  ordered_json list = ordered_json::array();
  for (const RankSummary& rank : summary.ranks)
    list.push_back({{"rank", rank.rank},
                    {"host", rank.host},
                    {"process", rank.process},
                    {"ended_orderly", rank.closed},
                    {"events", rank.events},
                    {"lost_events", rank.lost},
                    {"begin", seconds(rank.begin)},
                    {"end", seconds(rank.end)},
                    {"in_calls", seconds(rank.calls)},
                    {"waiting", seconds(rank.waiting)},
                    {"in_handlers", seconds(rank.handlers)},
                    {"idle_polls", rank.questions.count},
                    {"idle_polling", seconds(rank.questions.ns)}});
  return list;
}

ordered_json calls_of(const Summary& summary) {
  ordered_json list = ordered_json::array();
  for (const auto& [name, call] : summary.calls) {
    ordered_json peers = ordered_json::array();
    for (const auto& [peer, tally] : call.peers) {
      ordered_json one = {{"peer", peer}};
      one.update(to_json(tally));
      peers.push_back(std::move(one));
    }
    ordered_json one = {{"name", name}, {"kind", call.kind}};
    one.update(to_json(call.all));
    one["refused"] = call.refused;
    one["waiting"] = seconds(call.waiting);
    one["peers"] = std::move(peers);
    list.push_back(std::move(one));
  }
  return list;
}

ordered_json waits_of(const Summary& summary) {
  ordered_json list = ordered_json::array();
  for (const auto& [key, tally] : summary.waits)
    list.push_back({{"cause", key.first},
                    {"call", key.second},
                    {"count", tally.count},
                    {"seconds", seconds(tally.ns)}});
  return list;
}

ordered_json pairs_of(const Summary& summary) {
  ordered_json list = ordered_json::array();
  for (const auto& [ranks, pair] : summary.pairs)
    list.push_back({{"from", ranks.first},
                    {"to", ranks.second},
                    {"puts", of_messages(pair.puts)},
                    {"gets", of_messages(pair.gets)},
                    {"atomics", of_messages(pair.atomics)},
                    {"messages", of_messages(pair.messages)},
                    {"library_messages", of_messages(pair.own_messages)}});
  return list;
}

ordered_json last_arrivals_of(const Summary& summary) {
  ordered_json list = ordered_json::array();
  for (const auto& [rank, tally] : summary.last_arrivals)
    list.push_back({{"rank", rank}, {"count", tally.count}, {"seconds", seconds(tally.ns)}});
  return list;
}

ordered_json untraced_of(const Sums& sums) {
  ordered_json list = ordered_json::array();
  for (const gex::trace::Sum& row : sums.rows)
    list.push_back({{"kind", kind_of(row)},
                    {"name", row.name},
                    {"count", row.count},
                    {"seconds", seconds(static_cast<std::int64_t>(row.ns))},
                    {"bytes", row.bytes}});
  return {{"ranks", sums.ranks}, {"sums", list}};
}

}  // namespace

std::string as_json(const Summary& summary) {
  const ordered_json all = {{"program", summary.program},
                            {"conduit", summary.conduit},
                            {"job_size", summary.job_size},
                            {"remarks", summary.remarks},
                            {"ranks", ranks_of(summary)},
                            {"calls", calls_of(summary)},
                            {"waits", waits_of(summary)},
                            {"messages",
                             {{"sent", summary.messages_sent},
                              {"handled", summary.messages_handled},
                              {"arrows", summary.arrows},
                              {"backwards", summary.backwards}}},
                            {"handlers", to_json(summary.handlers)},
                            {"library_handlers", to_json(summary.own_handlers)},
                            {"intervals", to_json(summary.intervals)},
                            {"barriers", summary.barriers},
                            {"collectives", summary.collectives},
                            {"last_arrivals", last_arrivals_of(summary)},
                            {"pairs", pairs_of(summary)},
                            {"untraced", untraced_of(summary.untraced)}};
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gextrace
