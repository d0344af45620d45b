#include "replay.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "coll/plan.h"
#include "team/barrier_plan.h"

namespace gextrace {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Trees pass on what is longer in parts, one while the next comes.
constexpr std::uint64_t max_part = std::uint64_t{16} << 10;

/// How many hosts its members are on.
std::size_t hosts_of(const ProgramCollective& collective, const Machine& machine) {
  std::size_t hosts = 1;
  for (std::size_t member = 1; member < collective.members.size(); ++member)
    if (machine.host_of(collective.members[member]) !=
        machine.host_of(collective.members[member - 1]))
      ++hosts;
  return hosts;
}

/// A collective whose messages are those of the library's plans.
class Planned {
 public:
  Planned(const ProgramCollective& collective, const Machine& machine,
          const std::vector<double>& arrivals)
      : collective_(collective),
        machine_(machine),
        arrivals_(arrivals),
        part_(std::min(collective.bytes, max_part)),
        plans_(arrivals.size()),
        combined_(arrivals.size(), -1),
        over_(arrivals.size(), -1) {
    std::vector<std::uint32_t> hosts;
    for (const std::uint32_t rank : collective.members) hosts.push_back(machine.host_of(rank));
    const gex::coll::Groups groups(hosts);
    for (std::uint32_t me = 0; me < plans_.size(); ++me) make_plan(groups, me);
  }

  std::vector<double> run() {
    for (std::uint32_t me = 0; me < plans_.size(); ++me) combined(me);
    exchange();
    for (std::uint32_t me = 0; me < plans_.size(); ++me) over(me);
    const double rest = rest_of_parts();
    for (double& at : over_) at += rest;
    return std::move(over_);
  }

 private:
  void make_plan(const gex::coll::Groups& groups, std::uint32_t me) {
    gex::coll::Plan& plan = plans_[me];
    if (collective_.shape == CollectiveShape::broadcast)
      plan_broadcast(plan, groups, 0, me);
    else if (collective_.shape == CollectiveShape::reduce_to_one)
      plan_reduce_to_one(plan, groups, 0, me, false);
    else if (collective_.bytes <= max_part)
      plan_quick_reduce_to_all(plan, groups, me, false);
    else
      plan_reduce_to_all(plan, groups, me, false);
  }

  double hop(std::uint32_t from, std::uint32_t to) const {
    return machine_.one_way(collective_.members[from], collective_.members[to], part_);
  }
  /// The parts behind the first follow one another.
  double rest_of_parts() const {
    const double bandwidth = machine_.network.bandwidth;
    return bandwidth == 0 ? 0 : static_cast<double>(collective_.bytes - part_) / bandwidth * 1e9;
  }

  /// When what the contributors have sent is combined with the member's own.
  double combined(std::uint32_t me) {
    if (combined_[me] >= 0) return combined_[me];
    double at = arrivals_[me];
    for (const gex_Rank_t from : plans_[me].contributors)
      at = std::max(at, combined(from) + hop(from, me));
    return combined_[me] = at;
  }

  void exchange() {
    std::size_t rounds = 0;
    for (const gex::coll::Plan& plan : plans_) rounds = std::max(rounds, plan.rounds.size());
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<double> next = combined_;
      for (std::uint32_t me = 0; me < plans_.size(); ++me) {
        if (round >= plans_[me].rounds.size()) continue;
        const gex_Rank_t partner = plans_[me].rounds[round].partner;
        next[me] = std::max(next[me], combined_[partner] + hop(partner, me));
      }
      combined_ = std::move(next);
    }
  }

  double over(std::uint32_t me) {
    if (over_[me] >= 0) return over_[me];
    const gex::coll::Plan& plan = plans_[me];
    if (plan.result_sender == GEX_RANK_INVALID) return over_[me] = combined_[me];
    const std::vector<gex_Rank_t>& before = plans_[plan.result_sender].receivers;
    const auto place = std::find(before.begin(), before.end(), me) - before.begin();
    const double each =
        hop(plan.result_sender, me) -
        machine_.between(collective_.members[plan.result_sender], collective_.members[me]).latency;
    return over_[me] =
               std::max(arrivals_[me], over(plan.result_sender) + hop(plan.result_sender, me) +
                                           static_cast<double>(place) * each);
  }

  const ProgramCollective& collective_;
  const Machine& machine_;
  const std::vector<double>& arrivals_;
  std::uint64_t part_;
  std::vector<gex::coll::Plan> plans_;
  std::vector<double> combined_;
  std::vector<double> over_;
};

/// Each member sends each other one a block.
std::vector<double> blocks(const ProgramCollective& collective, const Machine& machine,
                           const std::vector<double>& arrivals) {
  const std::size_t members = arrivals.size();
  const double last = *std::max_element(arrivals.begin(), arrivals.end());
  const double hosts = static_cast<double>(hosts_of(collective, machine));
  const double each = static_cast<double>(members) / hosts;
  const gex::net::emu::Model& network = machine.network;
  const double of_port =
      network.bandwidth == 0 ? 0 : static_cast<double>(collective.bytes) / network.bandwidth * 1e9;
  const double away = static_cast<double>(members) - each;
  const double sends = static_cast<double>(members - 1) * network.send_overhead;
  const double time = std::max(sends, away * each * of_port) +
                      (hosts > 1 ? network.latency + network.receive_overhead : 0);
  return std::vector<double>(members, last + time);
}

/// A barrier in progress: of each host the lowest member meets those of the others.
struct Barrier {
  struct Host {
    std::uint32_t leader;   ///< the member
    std::uint32_t missing;  ///< members that have not arrived
    double at = 0;          ///< when the leader has taken its last step
    unsigned round = 0;
    bool has_sent = false;   ///< in this round
    std::uint32_t came = 0;  ///< bit k: the message of round k
  };
  std::vector<Host> hosts;
  std::vector<std::uint32_t> host_of;  ///< by member
  gex::team::Dissemination plan{0};

  Barrier() = default;
  Barrier(const ProgramCollective& collective, const Machine& machine) {
    const std::vector<std::uint32_t>& ranks = collective.members;
    for (std::uint32_t member = 0; member < ranks.size(); ++member) {
      const bool is_leader =
          member == 0 || machine.host_of(ranks[member]) != machine.host_of(ranks[member - 1]);
      if (is_leader) hosts.push_back({.leader = member, .missing = 0});
      ++hosts.back().missing;
      host_of.push_back(static_cast<std::uint32_t>(hosts.size() - 1));
    }
    plan.count = static_cast<std::uint32_t>(hosts.size());
  }
};

class Simulation {
 public:
  Simulation(const Programs& programs, const Machine& machine)
      : programs_(programs),
        machine_(machine),
        ports_(machine, static_cast<std::uint32_t>(programs.ranks.size())),
        ranks_(programs.ranks.size()),
        arrival_of_(programs.messages.size(), never),
        meetings_(programs.collectives.size()) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].done.assign(programs.ranks[rank].operations, never);
      ranks_[rank].at = programs.ranks[rank].begin_ns;
      run_at(ranks_[rank].at, rank);
    }
    for (std::size_t i = 0; i < meetings_.size(); ++i) {
      const ProgramCollective& collective = programs.collectives[i];
      meetings_[i].over.assign(collective.members.size(), never);
      if (collective.shape == CollectiveShape::barrier)
        meetings_[i].barrier = Barrier(collective, machine);
      else
        meetings_[i].arrivals.assign(collective.members.size(), never);
    }
  }

  std::optional<Replayed> run(std::string& why) {
    while (!due_.empty()) {
      const Due next = due_.top();
      due_.pop();
      switch (next.what) {
        case Due::What::rank:
          advance(next.number);
          break;
        case Due::What::departure:
          depart(next.number, next.at);
          break;
        case Due::What::arrival:
          arrive_at_port(next.number, next.at);
          break;
        case Due::What::barrier:
          come(next.number, next.at);
          break;
      }
    }
    Replayed result;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      const State& state = ranks_[rank];
      if (state.next != programs_.ranks[rank].steps.size()) {
        why = blocked(rank);
        return std::nullopt;
      }
      result.ranks.push_back({state.at, state.computing, state.waiting});
      result.ns = std::max(result.ns, state.at);
    }
    result.hosts = ports_.loads();
    return result;
  }

 private:
  struct State {
    std::size_t next = 0;  ///< step
    double at = 0;
    double computing = 0;
    double waiting = 0;
    std::vector<double> done;  ///< by operation
    bool waits = false;        ///< for the next step, which is not possible yet
  };
  struct Meeting {
    std::vector<double> over;  ///< by member
    Barrier barrier;
    // Unless it is a barrier:
    std::vector<double> arrivals;  ///< by member
    std::uint32_t arrived = 0;
  };
  /// Bytes on their way between hosts.
  struct Flight {
    Step::Kind kind;     ///< arrive: a message of a barrier
    std::uint32_t rank;  ///< that takes the step
    std::uint32_t peer;
    std::uint32_t number;
    std::uint64_t bytes;
    std::uint32_t host = 0;  ///< of a barrier's message: the target, by its number in the barrier
    unsigned round = 0;
  };
  /// The next event.
  struct Due {
    enum class What : std::uint8_t { rank, departure, arrival, barrier };
    double at;
    std::uint64_t turn;  ///< of equal times the first made comes first
    What what;
    std::uint32_t number;
    bool operator>(const Due& other) const {
      return at != other.at ? at > other.at : turn > other.turn;
    }
  };

  void push(double at, Due::What what, std::uint32_t number) {
    due_.push({at, turns_++, what, number});
  }
  void run_at(double at, std::uint32_t rank) { push(at, Due::What::rank, rank); }

  /// Takes the rank's steps until another one's turn is earlier, or it waits.
  void advance(std::uint32_t rank) {
    State& state = ranks_[rank];
    const std::vector<Step>& steps = programs_.ranks[rank].steps;
    while (state.next < steps.size()) {
      state.waits = !take(rank, state, steps[state.next]);
      if (state.waits) return;
      ++state.next;
      if (!due_.empty() && due_.top().at <= state.at) {
        run_at(state.at, rank);
        return;
      }
    }
  }
  /// The rank may wait for this step.
  void wake(std::uint32_t rank, Step::Kind kind, std::uint32_t number) {
    State& state = ranks_[rank];
    if (!state.waits) return;
    const Step& step = programs_.ranks[rank].steps[state.next];
    if (step.kind != kind || step.number != number) return;
    state.waits = false;
    run_at(state.at, rank);
  }

  /// Returns false if the rank waits for another one, or for what is on its way.
  bool take(std::uint32_t rank, State& state, const Step& step) {
    switch (step.kind) {
      case Step::Kind::compute: {
        const double ns = step.ns * machine_.compute_factor;
        state.at += ns;
        state.computing += ns;
        return true;
      }
      case Step::Kind::put:
      case Step::Kind::get:
      case Step::Kind::send:
        state.at += machine_.between(rank, step.peer).send_overhead;
        // Within a host the rank copies.
        if (machine_.host_of(rank) == machine_.host_of(step.peer))
          state.at += machine_.transmission(rank, step.peer, step.bytes);
        begin({step.kind, rank, step.peer, step.number, step.bytes}, state.at);
        return true;
      case Step::Kind::await:
        return wait_until(state, state.done[step.number]);
      case Step::Kind::handle:
        if (!wait_until(state, arrival_of_[step.number])) return false;
        state.at += machine_.between(programs_.messages[step.number].from, rank).receive_overhead;
        return true;
      case Step::Kind::arrive:
        meet(rank, step.number);
        return true;
      case Step::Kind::await_collective:
        return wait_until(state, meetings_[step.number].over[member_of(rank, step.number)]);
    }
    return true;
  }

  /// Returns false if that time is not known yet.
  static bool wait_until(State& state, double at) {
    if (at == never) return false;
    state.waiting += std::max(0.0, at - state.at);
    state.at = std::max(state.at, at);
    return true;
  }

  void begin(const Flight& flight, double now) {
    const double latency = machine_.between(flight.rank, flight.peer).latency;
    if (machine_.host_of(flight.rank) == machine_.host_of(flight.peer)) {
      end(flight, now + latency);
      return;
    }
    const std::uint32_t number = keep(flight);
    if (flight.kind == Step::Kind::get)
      push(now + latency, Due::What::departure, number);
    else
      depart(number, now);
  }
  std::uint32_t keep(const Flight& flight) {
    if (free_.empty()) {
      flights_.push_back(flight);
      return static_cast<std::uint32_t>(flights_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    flights_[number] = flight;
    return number;
  }
  void depart(std::uint32_t number, double now) {
    const Flight& flight = flights_[number];
    const bool gets = flight.kind == Step::Kind::get;
    const double there = gets ? ports_.send(flight.peer, flight.rank, flight.bytes, now)
                              : ports_.send(flight.rank, flight.peer, flight.bytes, now);
    push(there, Due::What::arrival, number);
  }
  void arrive_at_port(std::uint32_t number, double now) {
    const Flight flight = flights_[number];
    free_.push_back(number);
    const std::uint32_t target = flight.kind == Step::Kind::get ? flight.rank : flight.peer;
    end(flight, ports_.receive(target, flight.bytes, now));
  }
  /// Its last byte comes at that time.
  void end(const Flight& flight, double at) {
    if (flight.kind == Step::Kind::arrive) {
      push(at + machine_.network.receive_overhead, Due::What::barrier, keep(flight));
      return;
    }
    if (flight.kind == Step::Kind::send) {
      arrival_of_[flight.number] = at;
      wake(flight.peer, Step::Kind::handle, flight.number);
      return;
    }
    const bool puts = flight.kind == Step::Kind::put;
    ranks_[flight.rank].done[flight.number] =
        at + (puts ? machine_.between(flight.rank, flight.peer).latency : 0);
    wake(flight.rank, Step::Kind::await, flight.number);
  }

  std::size_t member_of(std::uint32_t rank, std::uint32_t collective) const {
    const std::vector<std::uint32_t>& members = programs_.collectives[collective].members;
    return static_cast<std::size_t>(std::lower_bound(members.begin(), members.end(), rank) -
                                    members.begin());
  }

  void meet(std::uint32_t rank, std::uint32_t collective) {
    Meeting& meeting = meetings_[collective];
    const ProgramCollective& of = programs_.collectives[collective];
    const std::size_t member = member_of(rank, collective);
    if (of.shape == CollectiveShape::barrier) {
      const std::uint32_t number = meeting.barrier.host_of[member];
      Barrier::Host& host = meeting.barrier.hosts[number];
      host.at = std::max(host.at, ranks_[rank].at + flag(of, host.leader, member));
      if (--host.missing == 0) go_on(collective, number);
      return;
    }
    meeting.arrivals[member] = ranks_[rank].at;
    if (++meeting.arrived != meeting.arrivals.size()) return;
    meeting.over = completions_of(of, machine_, meeting.arrivals);
    for (const std::uint32_t each : of.members)
      wake(each, Step::Kind::await_collective, collective);
  }

  /// Between the leader of a host and a member there.
  double flag(const ProgramCollective& of, std::size_t leader, std::size_t member) const {
    return leader == member ? 0 : machine_.one_way(of.members[leader], of.members[member], 0);
  }

  /// The steps of a host in a barrier, all of whose members have arrived, as far as messages of the
  /// others have come.
  void go_on(std::uint32_t collective, std::uint32_t number) {
    Meeting& meeting = meetings_[collective];
    const ProgramCollective& of = programs_.collectives[collective];
    const Barrier& barrier = meeting.barrier;
    Barrier::Host& host = meeting.barrier.hosts[number];
    for (; host.round < barrier.plan.rounds(); ++host.round, host.has_sent = false) {
      if (!host.has_sent) {
        host.has_sent = true;
        host.at += machine_.network.send_overhead;
        const std::uint32_t to = barrier.plan.to(number, host.round);
        begin({Step::Kind::arrive, of.members[host.leader], of.members[barrier.hosts[to].leader],
               collective, 0, to, host.round},
              host.at);
      }
      if ((host.came >> host.round & 1) == 0) return;
    }
    for (std::size_t member = host.leader;
         member < of.members.size() && barrier.host_of[member] == number; ++member) {
      meeting.over[member] = host.at + flag(of, host.leader, member);
      wake(of.members[member], Step::Kind::await_collective, collective);
    }
  }
  /// A barrier's message has come.
  void come(std::uint32_t number, double now) {
    const Flight flight = flights_[number];
    free_.push_back(number);
    Barrier::Host& host = meetings_[flight.number].barrier.hosts[flight.host];
    host.came |= 1U << flight.round;
    if (host.missing != 0 || host.round != flight.round) return;
    host.at = std::max(host.at, now);
    go_on(flight.number, flight.host);
  }

  std::string blocked(std::uint32_t rank) const {
    const Step& step = programs_.ranks[rank].steps[ranks_[rank].next];
    const std::string text =
        "the recorded order of steps cannot be kept: rank " + std::to_string(rank) + " waits for ";
    if (step.kind != Step::Kind::handle)
      return text + "a collective operation at which not all arrive";
    return text + "a message of rank " + std::to_string(programs_.messages[step.number].from);
  }

  const Programs& programs_;
  const Machine& machine_;
  HostPorts ports_;
  std::vector<State> ranks_;
  std::vector<double> arrival_of_;  ///< by message
  std::vector<Meeting> meetings_;
  std::vector<Flight> flights_;
  std::vector<std::uint32_t> free_;  ///< of flights_
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::uint64_t turns_ = 0;
};

}  // namespace

std::vector<double> completions_of(const ProgramCollective& collective, const Machine& machine,
                                   const std::vector<double>& arrivals) {
  if (collective.members.size() == 1) return arrivals;
  if (collective.shape == CollectiveShape::blocks) return blocks(collective, machine, arrivals);
  return Planned(collective, machine, arrivals).run();
}

std::optional<Replayed> replay(const Programs& programs, const Machine& machine, std::string& why) {
  return Simulation(programs, machine).run(why);
}

}  // namespace gextrace
