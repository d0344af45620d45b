#include "catalogue.h"

#include <algorithm>
#include <cstdio>

namespace gexperf {

namespace {

/// An idle poll may cost 2 ns and 0.3 ns for each ring that comes from another rank: of two ranks,
/// one with requests and one with replies.
constexpr double idle_poll_budget = 2 + 2 * 0.3;

/// A second sending thread is to leave at least 0.8 of the rate of one.
constexpr double two_threads_budget = 1 / 0.8;

/// A strided transfer may take so long to fold each of its dimensions.
constexpr double fold_ns = 15;

/// Nanoseconds that a message may take beside the sender's own work.
constexpr double beside_work_allowance_ns = 45;

/// A line cannot come and go between two cores in less.
constexpr double line_floor_ns = 20;

// The members of a row beside its group, its name and its size.
/// The measurement, where it has not the row's name; empty as in `Row`.
struct Of {
  std::string_view measurement;
};
struct Ranks {
  unsigned count;
};
/// Budgets. `Ratio` and `Excess` are of the limit; `floor` as in `Row`.
struct Ratio {
  double budget;
  double floor = 0;
  double allowance_ns = 0;
};
struct Value {
  double budget;
};
struct Excess {
  double budget;
  double floor;
};
/// Floors of rows without such a budget.
struct Floor {
  double ratio;
};
struct FloorNs {
  double time;
};
/// Over emu, whose model gives the limit, or of which nothing is modelled.
struct Modelled {
  OverEmu what;
  std::size_t bytes;
};
constexpr struct Emu {
} over_emu;

constexpr void set(Row& row, Of of) {
  row.measurement = of.measurement;
}
constexpr void set(Row& row, Quantity quantity) {
  row.quantity = quantity;
}
constexpr void set(Row& row, Mode mode) {
  row.mode = mode;
}
constexpr void set(Row& row, Ranks ranks) {
  row.ranks = ranks.count;
}
constexpr void set(Row& row, Ratio ratio) {
  row.held = Budget::ratio;
  row.budget = ratio.budget;
  row.floor = ratio.floor;
  row.allowance_ns = ratio.allowance_ns;
}
constexpr void set(Row& row, Value value) {
  row.held = Budget::value;
  row.budget = value.budget;
}
constexpr void set(Row& row, Excess excess) {
  row.held = Budget::excess;
  row.budget = excess.budget;
  row.floor = excess.floor;
}
constexpr void set(Row& row, Floor floor) {
  row.floor = floor.ratio;
}
constexpr void set(Row& row, FloorNs floor) {
  row.floor_ns = floor.time;
}
constexpr void set(Row& row, Emu) {
  row.conduit = "emu";
}
constexpr void set(Row& row, Modelled modelled) {
  row.conduit = "emu";
  row.over_emu = modelled.what;
  row.emu_bytes = modelled.bytes;
}

template <class... Settings>
constexpr Row row(Group group, std::string_view name, std::string_view size, Settings... settings) {
  Row made{.name = name, .group = group, .size = size, .measurement = name};
  (set(made, settings), ...);
  return made;
}

using enum Group;
using enum OverEmu;

constexpr Row table[] = {
    row(limits, "limit.copy.8", "8", Of{"put.8.blocking"}),
    row(limits, "limit.copy.8.rate", "8", Of{"put.8.rate"}),
    row(limits, "limit.fetch.8", "8", Of{"get.8.blocking"}),
    row(limits, "limit.memcpy.1048576", "1048576", Of{"put.1048576"}, FloorNs{1000}),
    row(limits, "limit.fadd.8", "8", Of{"atomic.fadd.8"}),
    row(limits, "limit.line", "1 line", Of{"am.short.rtt"}, FloorNs{line_floor_ns}),
    row(limits, "limit.lines.2", "2 lines", Of{"am.medium.64.rtt"}, FloorNs{line_floor_ns}),
    row(limits, "limit.word", "1 word", Of{"word"}, FloorNs{line_floor_ns}),
    row(limits, "limit.memory.65536", "65536", Of{"am.np.65536"}, FloorNs{1000}),
    row(limits, "limit.exchange", "2 lines", Of{"barrier.2"}, FloorNs{line_floor_ns}),
    row(limits, "limit.yield", "2 ranks", Of{"barrier.many"}, Ranks{4}, FloorNs{50}),
    row(limits, "limit.spawn.2", "2 processes", Of{""}),

    row(put, "put.8.blocking", "8", Ratio{1.05, 0.9}),
    row(put, "put.8.rate", "8", Floor{0.8}),
    row(put, "put.8.nbi", "8", Ratio{1.1}),
    row(put, "put.8.nb", "8", Ratio{1.1}),
    row(put, "put.1048576", "1048576", Ratio{1.05, 0.9}),

    row(get, "get.8.blocking", "8", Ratio{1.05, 0.9}),

    row(atomic, "atomic.fadd.8", "8", Ratio{1.15, 0.85}),
    row(atomic, "atomic.fadd.8.nbi", "8", Ratio{1.15, 0.85}),
    row(atomic, "atomic.add.8", "8", Floor{0.8}),
    row(atomic, "atomic.fadd.dbl", "8", Floor{0.8}),
    row(atomic, "atomic.fadd.8.variable_op", "8", Ratio{1.2, 0.85}),
    row(atomic, "atomic.fadd.8.variable_op.nbi", "8", Ratio{1.2, 0.85}),
    row(atomic, "atomic.fadd.8.variable_op.wait", "8", Floor{0.85}),
    row(atomic, "atomic.add.8.variable_op", "8", Ratio{1.2, 0.8}),
    row(atomic, "atomic.fadd.same_word", "8", Ratio{1.15, 0.85}),
    row(atomic, "atomic.fadd.hot_spot", "8", Ratio{1.15, 0.7}),

    row(vis, "vis.strided.3.65536", "65536", Of{"vis.strided.3"}, Ratio{1.1, 0.85, 3 * fold_ns}),
    row(vis, "vis.strided.8.65536", "65536", Of{"vis.strided.8"}, Ratio{1.1, 0.85, 8 * fold_ns}),
    row(vis, "vis.strided.32.65536", "65536", Of{"vis.strided.32"}, Ratio{1.1, 0.85, 32 * fold_ns}),

    row(am, "am.short.rtt", "0", Ratio{1.15, 0.85}),
    row(am, "am.short.rtt.par", "0", Of{"am.short.rtt"}, Mode::par, Ratio{1.25, 0.85}),
    row(am, "am.short.flood", "0", Value{15}, FloorNs{1}),
    row(am, "am.short.flood.par", "0", Of{"am.short.flood"}, Mode::par, Value{25}, FloorNs{1}),
    row(am, "am.short.flood.par2", "0", Of{"am.short.flood.2"}, Mode::par,
        Ratio{two_threads_budget}, FloorNs{1}),
    row(am, "am.short.flood.both", "0", FloorNs{1}),
    row(am, "am.short.flood.both.work", "0", Ratio{1, 0.9, beside_work_allowance_ns}),
    row(am, "am.short.flood.both.stores", "0", Ratio{1, 0.9, beside_work_allowance_ns}),
    row(am, "am.short.flood.both.self", "0", Ratio{1.2}, FloorNs{1}),
    row(am, "am.short.flood.emu", "0", Of{"am.short.flood"}, over_emu, Value{15}, FloorNs{1}),
    row(am, "am.medium.8.rtt", "8", Ratio{1.2, 0.85}),
    row(am, "am.medium.8.rtt.par", "8", Of{"am.medium.8.rtt"}, Mode::par, Ratio{1.2, 0.85}),
    row(am, "am.medium.64.rtt", "64", Ratio{1.2, 0.7}),
    row(am, "am.medium.64.rtt.par", "64", Of{"am.medium.64.rtt"}, Mode::par, Ratio{1.2, 0.7}),
    row(am, "am.short.self", "0", Value{20}),
    row(am, "am.short.self.par", "0", Of{"am.short.self"}, Mode::par, Value{20}),
    row(am, "am.medium.64.self", "64", Value{40}),
    row(am, "am.medium.64.self.par", "64", Of{"am.medium.64.self"}, Mode::par, Value{40}),
    row(am, "am.np.65536", "65536", Ratio{1.15, 0.85}),
    row(am, "am.np.65536.par", "65536", Of{"am.np.65536"}, Mode::par, Ratio{1.15, 0.85}),

    row(barrier, "barrier.2", "2 ranks", Ratio{1.2, 0.85}),
    row(barrier, "barrier.4", "4 ranks", Of{"barrier.many"}, Ranks{4}, Ratio{1.2, 0.85}),
    row(barrier, "barrier.8", "8 ranks", Of{"barrier.many"}, Ranks{8}, Ratio{4, 0.85}),

    row(coll, "coll.broadcast.8", "8", Ratio{1.2, 0.85}),
    row(coll, "coll.reduce_to_all.8", "8", Ratio{1.5, 0.85}),

    row(poll, "poll.idle", "2 rings", Value{idle_poll_budget}),
    row(poll, "event.nb", "", Value{5}),
    row(poll, "am.immediate.failed", "0", Value{5}),

    row(emu, "emu.put.8", "8", Modelled{transfer, 8}, Ratio{1.05, 0.95}),
    row(emu, "emu.get.8", "8", Modelled{transfer, 8}, Ratio{1.05, 0.95}),
    row(emu, "emu.am.short.rtt", "0", Modelled{round_trip, 0}, Ratio{1.05, 0.95}),
    row(emu, "emu.put.65536.flood", "65536", Modelled{transfer_flood, 65536}, Ratio{1.05, 0.95}),
    row(emu, "emu.get.65536.flood", "65536", Modelled{transfer_flood, 65536}, Ratio{1.05, 0.95}),
    row(emu, "emu.am.8192.flood", "8192", Modelled{message_flood, 8192}, Ratio{1.05, 0.95}),

    row(launch, "launch.2", "2 ranks", Of{""}, Excess{10, 0.9}),

    row(scale, "scale.64.launch", "64 ranks", Of{""}, Ranks{64}),
    row(scale, "scale.64.memory", "64 ranks", Of{""}, Quantity::memory, Ranks{64}),
    row(scale, "scale.256.launch", "256 ranks", Of{""}, Ranks{256}),
    row(scale, "scale.256.memory", "256 ranks", Of{""}, Quantity::memory, Ranks{256}),
    row(scale, "scale.1024.launch", "1024 ranks", Of{""}, Ranks{1024}),
    row(scale, "scale.1024.memory", "1024 ranks", Of{""}, Quantity::memory, Ranks{1024}),
};

}  // namespace

std::string Row::budget_text() const {
  char text[32] = "";
  switch (held) {
    case Budget::none:
      break;
    case Budget::ratio:
      std::snprintf(text, sizeof text, allowance_ns != 0 ? "%.3gx+%.3g" : "%.3gx", budget,
                    allowance_ns);
      break;
    case Budget::value:
      std::snprintf(text, sizeof text, "%.3g %s", budget, std::string(unit()).c_str());
      break;
    case Budget::excess:
      std::snprintf(text, sizeof text, "+%.3g %s", budget, std::string(unit()).c_str());
      break;
  }
  return text;
}

std::span<const Row> rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> joined(std::begin(table), std::end(table));
    for (const std::vector<Row>& more : {network_rows(), thread_rows(), core_rows(), cuda_rows()})
      joined.insert(joined.end(), more.begin(), more.end());
    std::ranges::stable_sort(joined, {}, &Row::group);
    return joined;
  }();
  return all;
}

}  // namespace gexperf
