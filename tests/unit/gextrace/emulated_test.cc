// The prediction of a replay, beside what the ranks would see over emu with the same model: the
// same programs, their transfers and messages timed by emu's own ports, on a clock that the test
// turns.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "base/os_mapping.h"
#include "base/random.h"
#include "gextrace/replay.h"
#include "net/emu/ports.h"
#include "programs.h"

namespace gextrace {
namespace {

using gex::Tick;
using gex::net::request_channel;
using gex::net::emu::Layout;
using gex::net::emu::Model;
using gex::net::emu::Ports;
using Kind = Step::Kind;

constexpr double never = std::numeric_limits<double>::infinity();

/// Ranks over emu's ports; a tick is a nanosecond. The one whose time is earliest takes a step.
class Emulated {
 public:
  Emulated(const Programs& programs, const Model& model)
      : programs_(programs),
        model_(model),
        ranks_(programs.ranks.size()),
        handled_at_(programs.messages.size(), never),
        layout_(static_cast<std::uint32_t>(ranks_.size()), 1),
        memory_(gex::os::Mapping::anonymous(layout_.file_size())) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      ports_.emplace_back(timing_of(model, 1e9), layout_, memory_.bytes(), rank, 0);
      ranks_[rank].done.assign(programs.ranks[rank].operations, never);
      due_.emplace(0, rank);
    }
  }

  double run() {
    double last = 0;
    while (!due_.empty()) {
      const auto [at, rank] = due_.top();
      due_.pop();
      State& state = ranks_[rank];
      state.at = at;
      const std::vector<Step>& steps = programs_.ranks[rank].steps;
      last = std::max(last, at);
      if (state.next == steps.size() || !take(rank, state, steps[state.next])) continue;
      ++state.next;
      due_.emplace(state.at, rank);
    }
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank)
      EXPECT_EQ(ranks_[rank].next, programs_.ranks[rank].steps.size()) << "rank " << rank;
    return last;
  }

 private:
  struct State {
    std::size_t next = 0;
    double at = 0;
    std::vector<double> done;     ///< by operation
    std::int64_t waits_for = -1;  ///< a message
  };

  /// Returns false if the rank waits for a message that is not sent yet.
  bool take(std::uint32_t rank, State& state, const Step& step) {
    const auto now = static_cast<Tick>(state.at);
    switch (step.kind) {
      case Kind::compute:
        state.at += step.ns;
        return true;
      case Kind::put:
        state.at += model_.send_overhead;
        state.done[step.number] =
            static_cast<double>(ports_[rank].put(step.peer, step.bytes, true, now).done);
        return true;
      case Kind::get:
        state.at += model_.send_overhead;
        state.done[step.number] =
            static_cast<double>(ports_[rank].get(step.peer, step.bytes, true, now));
        return true;
      case Kind::await:
        state.at = std::max(state.at, state.done[step.number]);
        return true;
      case Kind::send:
        state.at += model_.send_overhead;
        handled_at_[step.number] = static_cast<double>(
            ports_[rank].message(request_channel, step.peer, step.number, step.bytes, now));
        wake(step.peer, step.number);
        return true;
      case Kind::handle:
        state.waits_for = step.number;
        if (handled_at_[step.number] == never) return false;
        state.waits_for = -1;
        state.at = std::max(state.at, handled_at_[step.number]);
        return true;
      case Kind::arrive:
      case Kind::await_collective:
        ADD_FAILURE() << "a collective operation";
    }
    return true;
  }
  /// The rank may wait for this message.
  void wake(std::uint32_t rank, std::uint32_t message) {
    State& state = ranks_[rank];
    if (state.waits_for == message) due_.emplace(state.at, rank);
  }

  const Programs& programs_;
  Model model_;
  std::vector<State> ranks_;
  std::vector<double> handled_at_;
  Layout layout_;
  gex::os::Mapping memory_;
  std::deque<Ports> ports_;
  using Due = std::pair<double, std::uint32_t>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

/// Puts to all others, small messages beside them, gets, and barriers of messages.
Programs exchanges(std::uint32_t ranks, std::uint64_t bytes, std::uint64_t seed) {
  Programs made = programs(ranks);
  gex::SplitMix64 random(seed);
  for (int round = 0; round < 4; ++round) {
    std::vector<std::vector<std::uint32_t>> begun(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      compute(made, rank, static_cast<double>(random() % (4 * bytes)));
      // In one round all begin with the same target.
      for (std::uint32_t i = 0; i < ranks; ++i) {
        const std::uint32_t to = round % 2 == 0 ? (rank + i) % ranks : i;
        if (to == rank) continue;
        begun[rank].push_back(transfer(made, Kind::put, rank, to, 1 + random() % (2 * bytes)));
      }
    }
    pass_on(made, 1 + round, 64);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      begun[rank].push_back(transfer(made, Kind::get, rank, (rank + 3) % ranks, bytes));
      for (const std::uint32_t one : begun[rank]) await(made, rank, one);
    }
    for (std::uint32_t distance = 1; distance < ranks; distance *= 2) pass_on(made, distance, 16);
  }
  return made;
}

TEST(Emulated, TakesAsLongAsIsPredicted) {
  struct Case {
    const char* what;
    std::uint64_t bytes;
  };
  for (const auto& [what, bytes] : {Case{"latency rules", 100}, Case{"ports are full", 50'000}})
    for (const std::uint32_t ranks : {16U, 64U}) {
      SCOPED_TRACE(what + std::string(", ranks: ") + std::to_string(ranks));
      const Machine on = machine();
      const Programs made = exchanges(ranks, bytes, ranks);
      std::string why;
      const auto predicted = replay(made, on, why);
      ASSERT_TRUE(predicted) << why;
      EXPECT_NEAR(Emulated(made, on.network).run() / predicted->ns, 1, 0.1);
    }
}

}  // namespace
}  // namespace gextrace
