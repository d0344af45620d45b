// How long a program takes by a replay, and by SimGrid's simulation, in which flows share links by
// max-min fairness and there are no ports.
//
//   gextrace_simgrid_test PATTERN

#include <xbt/log.h>
#include <simgrid/s4u.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gextrace/replay.h"
#include "programs.h"

namespace gextrace {
namespace {

namespace s4u = simgrid::s4u;
using Kind = Step::Kind;

constexpr double seconds = 1e-9;
constexpr std::uint32_t ranks = 16;

/// The program's ranks as actors, each on a host with a link of its own to all others.
class Simulated {
 public:
  Simulated(const Programs& programs, const gex::net::emu::Model& model)
      : programs_(programs), model_(model) {
    s4u::NetZone* const zone = s4u::create_star_zone("cluster");
    for (std::uint32_t rank = 0; rank < programs.ranks.size(); ++rank) {
      const std::string name = "host" + std::to_string(rank);
      hosts_.push_back(zone->create_host(name, 1e9));
      const s4u::SplitDuplexLink* const link =
          zone->create_split_duplex_link("link" + std::to_string(rank), model.bandwidth);
      link->get_link_up()->set_latency(model.latency * seconds / 2);
      link->get_link_down()->set_latency(model.latency * seconds / 2);
      zone->add_route(hosts_.back()->get_netpoint(), nullptr, nullptr, nullptr,
                      {{link, s4u::LinkInRoute::Direction::UP}}, true);
    }
    zone->seal();
    messages_.resize(programs.messages.size());
    for (Arrival& message : messages_) message = arrival();
    for (std::uint32_t rank = 0; rank < hosts_.size(); ++rank)
      s4u::Actor::create("rank" + std::to_string(rank), hosts_[rank], [this, rank] { run(rank); });
  }

 private:
  struct Arrival {
    s4u::SemaphorePtr has_come;
    double at = 0;
  };
  static Arrival arrival() { return {s4u::Semaphore::create(0), 0}; }

  void run(std::uint32_t rank) {
    std::vector<Arrival> operations(programs_.ranks[rank].operations);
    for (Arrival& operation : operations) operation = arrival();
    for (const Step& step : programs_.ranks[rank].steps) {
      switch (step.kind) {
        case Kind::compute:
          s4u::this_actor::sleep_for(step.ns * seconds);
          break;
        case Kind::put:
          begin(rank, step.peer, step.bytes, 0, model_.latency, operations[step.number]);
          break;
        case Kind::get:
          begin(step.peer, rank, step.bytes, model_.latency, 0, operations[step.number]);
          break;
        case Kind::send:
          begin(rank, step.peer, step.bytes, 0, model_.receive_overhead, messages_[step.number]);
          break;
        case Kind::await:
          wait(operations[step.number]);
          break;
        case Kind::handle:
          wait(messages_[step.number]);
          break;
        case Kind::arrive:
        case Kind::await_collective:
          std::fputs("a collective operation: these programs have none\n", stderr);
          std::abort();
      }
    }
  }
  /// Bytes from one to the other, `before` ns from now; seen `after` ns after they have come.
  void begin(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, double before, double after,
             Arrival& arrival) {
    s4u::this_actor::sleep_for(model_.send_overhead * seconds);
    s4u::Actor::create("transfer", s4u::this_actor::get_host(), [=, this, &arrival] {
      s4u::this_actor::sleep_for(before * seconds);
      s4u::Comm::sendto(hosts_[from], hosts_[to], std::max<std::uint64_t>(bytes, 1));
      arrival.at = s4u::Engine::get_clock() + after * seconds;
      arrival.has_come->release();
    });
  }
  static void wait(const Arrival& arrival) {
    arrival.has_come->acquire();
    s4u::this_actor::sleep_until(arrival.at);
  }

  const Programs& programs_;
  gex::net::emu::Model model_;
  std::vector<s4u::Host*> hosts_;
  std::vector<Arrival> messages_;
};

void barrier(Programs& made) {
  for (std::uint32_t distance = 1; distance < ranks; distance *= 2) pass_on(made, distance, 16);
}

Programs barriers() {
  Programs made = programs(ranks);
  for (int round = 0; round < 4; ++round) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) compute(made, rank, 100.0 * rank);
    barrier(made);
  }
  return made;
}

/// A binomial tree, from rank 0. A rank waits for each put before the next: flows share a link
/// where a port has one after the other, which makes a difference if both are under way.
Programs broadcast() {
  Programs made = programs(ranks);
  for (std::uint32_t distance = ranks / 2; distance >= 1; distance /= 2)
    for (std::uint32_t rank = 0; rank < ranks; rank += 2 * distance) {
      await(made, rank, transfer(made, Kind::put, rank, rank + distance, 50'000));
      message(made, rank, rank + distance, 16);
    }
  return made;
}

/// Each rank of a ring passes its edges to both neighbors.
Programs halo() {
  Programs made = programs(ranks);
  for (int round = 0; round < 4; ++round) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) compute(made, rank, 5000);
    pass_on(made, 1, 20'000);
    pass_on(made, ranks - 1, 20'000);
  }
  return made;
}

/// Each rank puts to all others, which begin with another one each, and gets from one.
Programs exchange() {
  Programs made = programs(ranks);
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::vector<std::uint32_t> begun;
      for (std::uint32_t i = 1; i < ranks; ++i)
        begun.push_back(transfer(made, Kind::put, rank, (rank + i) % ranks, 50'000));
      begun.push_back(transfer(made, Kind::get, rank, (rank + 5) % ranks, 50'000));
      for (const std::uint32_t one : begun) await(made, rank, one);
    }
    barrier(made);
  }
  return made;
}

int compare(const std::string& pattern, s4u::Engine& engine) {
  const std::map<std::string, std::function<Programs()>> patterns = {
      {"barriers", barriers}, {"broadcast", broadcast}, {"halo", halo}, {"exchange", exchange}};
  const auto found = patterns.find(pattern);
  if (found == patterns.end()) {
    std::fputs("usage: gextrace_simgrid_test barriers|broadcast|halo|exchange\n", stderr);
    return 2;
  }
  const Programs program = found->second();
  std::string why;
  const auto predicted = replay(program, machine(), why);
  if (!predicted) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  const Simulated simulated(program, machine().network);
  engine.run();
  const double ns = s4u::Engine::get_clock() / seconds;
  std::printf("%s: SimGrid %.0f ns, gextrace %.0f ns\n", pattern.c_str(), ns, predicted->ns);
  return std::abs(predicted->ns / ns - 1) <= 0.1 ? 0 : 1;
}

}  // namespace
}  // namespace gextrace

int main(int count, char** arguments) {
  simgrid::s4u::Engine engine(&count, arguments);
  xbt_log_control_set("xbt_cfg.thres:warning");
  // Latency and bandwidth as they are given, and nothing of TCP.
  for (const char* setting :
       {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1",
        "network/weight-S:0", "network/TCP-gamma:0", "network/crosstraffic:0"})
    simgrid::s4u::Engine::set_config(setting);
  return gextrace::compare(count > 1 ? arguments[1] : "", engine);
}
