// The rows of several threads, and of many ranks: the same measurements of more and more of them.

#include <deque>

#include "catalogue.h"

namespace gexperf {

namespace {

constexpr unsigned thread_counts[] = {1, 2, 4, 8};
constexpr unsigned rank_counts[] = {2, 8, 16};

/// T threads are to have at least 0.75 T times the rate of one.
constexpr double scaling_budget = 1 / 0.75;

/// Keeps a text for as long as the program runs.
std::string_view keep(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text));
}

std::string_view count_of(unsigned count, const std::string& what) {
  return keep(std::to_string(count) + " " + what + (count == 1 ? "" : "s"));
}

Row thread_row(std::string_view measurement, unsigned threads) {
  return {.name = keep(std::string(measurement) + "." + std::to_string(threads)),
          .group = Group::threads,
          .size = count_of(threads, "thread"),
          .measurement = measurement,
          .mode = Mode::par,
          .threads = threads};
}

Row core_row(const std::string& name, std::string_view measurement, unsigned ranks) {
  return {.name = keep(name + "." + std::to_string(ranks)),
          .group = Group::cores,
          .size = count_of(ranks, "rank"),
          .measurement = measurement,
          .ranks = ranks};
}

Row collective_row(std::string_view measurement, std::string_view bytes, std::string_view place,
                   unsigned ranks, double budget) {
  std::string name = std::string(measurement) + "." + std::string(bytes);
  if (place == "private") name += ".private";
  Row row = core_row(name, measurement, ranks);
  row.bytes = bytes;
  row.place = place;
  row.held = Budget::ratio;
  row.budget = budget;
  return row;
}

}  // namespace

std::vector<Row> thread_rows() {
  std::vector<Row> rows;
  for (const unsigned threads : thread_counts) {
    Row flood = thread_row("threads.flood", threads);
    flood.quantity = Quantity::rate;
    flood.messages = threads;
    flood.floor_ns = 1;
    rows.push_back(flood);
  }
  for (const unsigned threads : thread_counts) {
    if (threads == 1) continue;
    Row scaling = thread_row("threads.flood", threads);
    scaling.name = keep("threads.flood.scaling." + std::to_string(threads));
    scaling.quantity = Quantity::rate;
    scaling.messages = threads;
    scaling.against = Against::one_thread;
    scaling.held = Budget::ratio;
    scaling.budget = scaling_budget;
    rows.push_back(scaling);
  }
  for (const unsigned threads : thread_counts) {
    Row trip = thread_row("threads.rtt", threads);
    trip.held = Budget::ratio;
    trip.budget = 1.25;
    trip.floor = 0.85;
    rows.push_back(trip);
  }
  for (const unsigned threads : thread_counts) rows.push_back(thread_row("threads.put", threads));
  for (const unsigned threads : thread_counts) {
    Row add = thread_row("threads.fadd", threads);
    add.held = Budget::ratio;
    add.budget = 1.15;
    add.floor = 0.85;
    rows.push_back(add);
  }
  for (const unsigned threads : thread_counts) rows.push_back(thread_row("threads.mixed", threads));
  return rows;
}

std::vector<Row> core_rows() {
  std::vector<Row> rows;
  for (const unsigned ranks : rank_counts) {
    Row barrier = core_row("cores.barrier", "cores.barrier", ranks);
    barrier.held = Budget::ratio;
    barrier.budget = 1.2;
    rows.push_back(barrier);
  }
  for (const std::string_view bytes : {"8", "65536", "1048576", "16777216"})
    for (const unsigned ranks : rank_counts)
      rows.push_back(collective_row("cores.broadcast", bytes, "segment", ranks, 1.2));
  for (const unsigned ranks : rank_counts)
    rows.push_back(collective_row("cores.broadcast", "1048576", "private", ranks, 1.2));
  for (const std::string_view bytes : {"8", "65536", "1048576", "16777216"})
    for (const unsigned ranks : rank_counts)
      rows.push_back(
          collective_row("cores.reduce_to_all", bytes, "segment", ranks, bytes == "8" ? 1.5 : 1.2));
  for (const unsigned ranks : rank_counts)
    rows.push_back(collective_row("cores.reduce_to_all", "1048576", "private", ranks, 1.2));
  for (const unsigned ranks : rank_counts) {
    Row to_one = core_row("cores.to_one", "cores.to_one", ranks);
    to_one.quantity = Quantity::rate;
    to_one.messages = ranks - 1;
    rows.push_back(to_one);
  }
  for (const unsigned ranks : rank_counts) {
    Row to_all = core_row("cores.to_all", "cores.to_all", ranks);
    to_all.quantity = Quantity::rate;
    to_all.messages = ranks * (ranks - 1);
    rows.push_back(to_all);
  }
  for (const unsigned ranks : rank_counts)
    rows.push_back(core_row("cores.hot_spot", "cores.hot_spot", ranks));
  return rows;
}

}  // namespace gexperf
