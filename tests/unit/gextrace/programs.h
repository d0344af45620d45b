#pragma once
// Programs that no rank has run, step by step, and a machine for them.

#include <cstdint>
#include <numeric>
#include <vector>

#include "gextrace/machine.h"
#include "gextrace/program.h"

namespace gextrace {

constexpr double latency = 1000, send_overhead = 100, receive_overhead = 50;

/// A network of 1 GB/s: a byte takes a nanosecond.
inline Machine machine(std::uint32_t ranks_per_host = 1) {
  Machine made;
  made.network.latency = latency;
  made.network.send_overhead = send_overhead;
  made.network.receive_overhead = receive_overhead;
  made.network.bandwidth = 1e9;
  made.memory.latency = 10;
  made.memory.bandwidth = 1e10;
  made.ranks_per_host = ranks_per_host;
  return made;
}

inline Programs programs(std::uint32_t ranks) {
  Programs made;
  made.ranks.resize(ranks);
  return made;
}

inline void compute(Programs& programs, std::uint32_t rank, double ns) {
  programs.ranks[rank].steps.push_back({.kind = Step::Kind::compute, .ns = ns});
}

/// Returns the operation's number.
inline std::uint32_t transfer(Programs& programs, Step::Kind kind, std::uint32_t rank,
                              std::uint32_t peer, std::uint64_t bytes) {
  RankProgram& program = programs.ranks[rank];
  const std::uint32_t number = program.operations++;
  program.steps.push_back({.kind = kind, .peer = peer, .number = number, .bytes = bytes});
  return number;
}

inline void await(Programs& programs, std::uint32_t rank, std::uint32_t operation) {
  programs.ranks[rank].steps.push_back({.kind = Step::Kind::await, .number = operation});
}

/// A message, sent at the end of one rank's steps so far and handled at the end of the other's.
inline void message(Programs& programs, std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  const auto number = static_cast<std::uint32_t>(programs.messages.size());
  programs.messages.push_back({from, to, bytes});
  programs.ranks[from].steps.push_back(
      {.kind = Step::Kind::send, .peer = to, .number = number, .bytes = bytes});
  programs.ranks[to].steps.push_back({.kind = Step::Kind::handle, .number = number});
}

/// All ranks send one to the rank so far behind them, and then wait for their own.
inline void pass_on(Programs& programs, std::uint32_t distance, std::uint64_t bytes) {
  const auto ranks = static_cast<std::uint32_t>(programs.ranks.size());
  const auto first = static_cast<std::uint32_t>(programs.messages.size());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const std::uint32_t to = (rank + distance) % ranks;
    programs.messages.push_back({rank, to, bytes});
    programs.ranks[rank].steps.push_back(
        {.kind = Step::Kind::send, .peer = to, .number = first + rank, .bytes = bytes});
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    programs.ranks[rank].steps.push_back(
        {.kind = Step::Kind::handle, .number = first + (rank + ranks - distance) % ranks});
}

/// All ranks take part in a collective.
inline void meet(Programs& programs, CollectiveShape shape, std::uint64_t bytes = 0) {
  const auto number = static_cast<std::uint32_t>(programs.collectives.size());
  std::vector<std::uint32_t> all(programs.ranks.size());
  std::iota(all.begin(), all.end(), 0U);
  programs.collectives.push_back({shape, all, bytes});
  for (RankProgram& program : programs.ranks)
    for (const Step::Kind kind : {Step::Kind::arrive, Step::Kind::await_collective})
      program.steps.push_back({.kind = kind, .number = number});
}

}  // namespace gextrace
