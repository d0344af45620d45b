#include "align.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <queue>

namespace gextrace {

namespace {

using gex::trace::Anchor;
using gex::trace::TickSource;

/// Ranks with the same clocks.
struct Host {
  std::string name;
  std::vector<std::uint32_t> ranks;  ///< indices
  Anchor first{};
  double ns_per_tick = 1;
  std::int64_t correction = 0;  ///< ns, added to its time of day
};

std::vector<Host> hosts_of(const Job& job) {
  std::map<std::string, std::size_t> known;
  std::vector<Host> hosts;
  for (std::uint32_t i = 0; i < job.ranks.size(); ++i) {
    const RankTrace& trace = job.ranks[i];
    const std::string clock =
        (trace.boot_id.empty() ? trace.host : trace.boot_id) +
        (trace.tick_source == TickSource::counter ? " counter" : " monotonic");
    const auto [at, made] = known.emplace(clock, hosts.size());
    if (made) hosts.push_back({trace.host, {}, {}, 1, 0});
    hosts[at->second].ranks.push_back(i);
  }
  for (Host& host : hosts) {
    const RankTrace& any = job.ranks[host.ranks.front()];
    Anchor last = any.first;
    host.first = any.first;
    for (const std::uint32_t i : host.ranks) {
      const RankTrace& trace = job.ranks[i];
      if (trace.first.ticks < host.first.ticks) host.first = trace.first;
      if (trace.latest.ticks > last.ticks) last = trace.latest;
    }
    host.ns_per_tick = 1e9 / static_cast<double>(any.ticks_per_second);
    // Over a longer time the anchors give it more exactly than the rank's own start did.
    constexpr std::uint64_t long_enough = 20'000'000;
    if (any.tick_source == TickSource::counter &&
        last.monotonic_ns > host.first.monotonic_ns + long_enough)
      host.ns_per_tick = static_cast<double>(last.monotonic_ns - host.first.monotonic_ns) /
                         static_cast<double>(last.ticks - host.first.ticks);
  }
  return hosts;
}

void set_clocks(Job& job, const std::vector<Host>& hosts) {
  std::uint64_t begin = ~std::uint64_t{0};
  for (const Host& host : hosts) begin = std::min(begin, host.first.realtime_ns);
  for (const Host& host : hosts) {
    const auto start = static_cast<double>(host.first.realtime_ns - begin);
    for (const std::uint32_t i : host.ranks)
      job.ranks[i].clock = {host.first.ticks, start, host.ns_per_tick, 0};
  }
}

/// How much host `to` must be set forward against host `from` at least, by the
/// messages.
using Bounds = std::map<std::pair<std::size_t, std::size_t>, std::int64_t>;

Bounds bounds_of(const Job& job, const std::vector<Host>& hosts, const Messages& messages) {
  std::vector<std::size_t> host_of(job.ranks.size());
  for (std::size_t h = 0; h < hosts.size(); ++h)
    for (const std::uint32_t i : hosts[h].ranks) host_of[i] = h;
  Bounds bounds;
  for (const Arrow& arrow : messages.arrows) {
    const std::size_t from = host_of[arrow.from.rank];
    const std::size_t to = host_of[arrow.to.rank];
    if (from == to) continue;
    const std::int64_t least = job.ranks[arrow.from.rank].events[arrow.from.event].at -
                               job.ranks[arrow.to.rank].events[arrow.to.event].at;
    const auto [at, made] = bounds.emplace(std::pair(from, to), least);
    if (!made) at->second = std::max(at->second, least);
  }
  return bounds;
}

/// From the first host on, along the pairs of hosts whose difference is known best.
void correct_by_pairs(std::vector<Host>& hosts, const Bounds& bounds) {
  struct Step {
    std::int64_t width;
    std::size_t host;
    std::int64_t correction;
    bool operator<(const Step& other) const { return width > other.width; }
  };
  std::priority_queue<Step> steps;
  std::vector<bool> done(hosts.size());
  for (std::size_t start = 0; start < hosts.size(); ++start) {
    if (!done[start]) steps.push({0, start, 0});
    while (!steps.empty()) {
      const Step step = steps.top();
      steps.pop();
      if (done[step.host]) continue;
      done[step.host] = true;
      hosts[step.host].correction = step.correction;
      for (const auto& [pair, least] : bounds) {
        const auto& [from, to] = pair;
        const auto back = bounds.find({to, from});
        if (from != step.host || done[to] || back == bounds.end()) continue;
        const std::int64_t max = -back->second;
        steps.push({max - least, to, step.correction + least + (max - least) / 2});
      }
    }
  }
}

/// Sets hosts forward until no message arrives before it was sent; false if that cannot be: a clock
/// has run differently at the beginning and at the end.
bool correct_by_bounds(std::vector<Host>& hosts, const Bounds& bounds) {
  for (std::size_t round = 0; round <= hosts.size(); ++round) {
    bool changed = false;
    for (const auto& [pair, least] : bounds) {
      const auto& [from, to] = pair;
      const std::int64_t needed = hosts[from].correction + least;
      if (hosts[to].correction >= needed) continue;
      hosts[to].correction = needed;
      changed = true;
    }
    if (!changed) return true;
  }
  return false;
}

}  // namespace

void convert_ticks(RankTrace& trace) {
  const auto convert = [&](std::int64_t& at) {
    at = trace.clock.ns_of(static_cast<std::uint64_t>(at));
  };
  if (trace.earliest != std::numeric_limits<std::int64_t>::max()) convert(trace.earliest);
  for (Event& event : trace.events) {
    convert(event.at);
    if (event.kind == Kind::questions)
      event.id = static_cast<std::uint64_t>(trace.clock.ns_of(event.id));
  }
}

void convert_ticks(Job& job) {
  set_clocks(job, hosts_of(job));
  for (RankTrace& trace : job.ranks) convert_ticks(trace);
}

void correct_clocks(Job& job, const Messages& messages) {
  std::vector<Host> hosts = hosts_of(job);
  if (hosts.size() > 1) {
    const Bounds bounds = bounds_of(job, hosts, messages);
    correct_by_pairs(hosts, bounds);
    if (!correct_by_bounds(hosts, bounds))
      job.remarks.emplace_back(
          "the hosts' clocks ran at different speeds: some messages seem to arrive before they "
          "were sent");
  }
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const Host& host : hosts) {
    for (const std::uint32_t i : host.ranks) {
      const RankTrace& trace = job.ranks[i];
      if (trace.earliest < first - host.correction) first = trace.earliest + host.correction;
      for (const Event& event : trace.events) first = std::min(first, event.at + host.correction);
    }
  }
  for (const Host& host : hosts) {
    for (const std::uint32_t i : host.ranks) {
      const std::int64_t shift = host.correction - first;
      job.ranks[i].clock.correction += shift;
      for (Event& event : job.ranks[i].events) {
        event.at += shift;
        if (event.kind == Kind::questions) event.id += static_cast<std::uint64_t>(shift);
      }
    }
  }
}

}  // namespace gextrace
