// Barriers between neighborhoods in which members send for one another: no rank is done too early,
// whatever is sent twice or late, and ranks that poll are done although others compute.

#include "team/barrier_rounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "team/barrier_plan.h"

namespace gex::team {
namespace {

BarrierValue named(std::int32_t id) {
  return {Knowledge::named, id};
}

TEST(BarrierReport, GivesItsNumberAndItsValueBack) {
  for (const std::uint32_t number : {0U, 1U, 0x3FFF'FFFFU, 0x4000'0000U, 0x8000'0001U, ~0U}) {
    for (const BarrierValue& value : {named(-7), BarrierValue{}, {Knowledge::mismatch, 0}}) {
      const Report report(number, value);
      for (const std::uint32_t near : {number - 3, number, number + 1})
        EXPECT_EQ(report.number(near), number);
      EXPECT_EQ(report.value().knowledge, value.knowledge);
      EXPECT_EQ(report.value().id, value.id);
    }
  }
}

TEST(BarrierReport, OnlyTheFurthestCounts) {
  std::atomic<std::uint64_t> word{0};
  EXPECT_TRUE(raise(word, 3, named(3)));
  EXPECT_FALSE(raise(word, 1, named(1)));
  EXPECT_FALSE(raise(word, 3, named(4)));
  EXPECT_EQ(Report(word).value().id, 3);
  EXPECT_TRUE(raise(word, 5, named(5)));
  EXPECT_EQ(Report(word).number(4), 5U);
}

/// A job whose ranks are values. Messages wait at the rank to which they were sent until it polls.
class Job {
 public:
  Job(std::uint32_t hosts, std::uint32_t per_host, bool is_named, std::uint32_t seed)
      : per_host_(per_host), named_(is_named), all_{hosts}, random_(seed) {
    hosts_.resize(hosts);
    ranks_.resize(std::size_t{hosts} * per_host);
    for (Host& host : hosts_) {
      host.words = std::vector<shm::BarrierRound>(all_.rounds());
      host.rounds = BarrierRounds(host.words, named_);
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }
  std::uint32_t number_done(std::uint32_t rank) const { return hosts_[rank / per_host_].done; }
  std::int32_t id_of(std::uint32_t number) const { return static_cast<std::int32_t>(7 * number); }

  void arrive(std::uint32_t rank) {
    ++ranks_[rank].started;
    if (leads(rank)) advance(rank);
  }
  void set_computing(std::uint32_t rank, bool computes) { ranks_[rank].computes = computes; }

  /// Some rank that does not compute polls.
  void poll_any() {
    const auto rank = static_cast<std::uint32_t>(random_() % size());
    if (!ranks_[rank].computes) poll(rank);
  }
  bool all_done(std::uint32_t number) const {
    return std::ranges::all_of(hosts_, [&](const Host& host) {
      return reached(host.done, number) && (!named_ || host.result == 7 * std::int64_t{number});
    });
  }

 private:
  struct Host {
    std::vector<shm::BarrierRound> words;
    BarrierRounds rounds;
    std::uint32_t leader = 0;  ///< its place
    std::uint32_t done = 0;
    std::int64_t result = 0;
  };
  struct Message {
    bool is_question;
    std::uint32_t from;
    unsigned round;
    std::uint32_t number;
    BarrierValue value;
  };
  struct Rank {
    std::uint32_t started = 0;
    bool computes = false;
    bool spreads = false;  ///< it has taken the lead lately
    std::vector<Message> inbox;
  };

  bool leads(std::uint32_t rank) const {
    return hosts_[rank / per_host_].leader == rank % per_host_;
  }
  std::uint32_t level_of(std::uint32_t host) const {
    std::uint32_t level = ~0U;
    for (std::uint32_t place = 0; place < per_host_; ++place)
      level = std::min(level, ranks_[host * per_host_ + place].started);
    return level;
  }
  BarrierValue value_here(std::uint32_t number) const {
    return named_ ? named(id_of(number)) : BarrierValue{};
  }
  void send(std::uint32_t to, const Message& message) {
    ranks_[to].inbox.push_back(message);
    // Some are sent twice.
    if (random_() % 8 == 0) ranks_[to].inbox.push_back(message);
  }
  void send_to_host(std::uint32_t host, const Message& message) {
    for (std::uint32_t place = 0; place < std::min(4U, per_host_); ++place)
      send(host * per_host_ + place, message);
  }

  void poll(std::uint32_t rank) {
    Rank& self = ranks_[rank];
    const std::uint32_t here = rank / per_host_;
    Host& host = hosts_[here];
    while (!self.inbox.empty() && random_() % 3 != 0) {
      std::swap(self.inbox[random_() % self.inbox.size()], self.inbox.back());
      const Message message = self.inbox.back();
      self.inbox.pop_back();
      take(rank, message);
    }
    const std::uint32_t leader = here * per_host_ + host.leader;
    const bool waits = !reached(host.done, self.started);
    if (waits && ranks_[leader].computes && reached(level_of(here), host.done + 1)) {
      host.leader = rank % per_host_;
      self.spreads = true;
      ask(rank);
    } else if (waits && leads(rank) && random_() % 64 == 0) {
      ask(rank);
    }
    if (leads(rank)) advance(rank);
  }

  void take(std::uint32_t rank, const Message& message) {
    Host& host = hosts_[rank / per_host_];
    if (!message.is_question) {
      if (!named_ || !reached(host.done, message.number))
        host.rounds.receive(message.round, message.number, message.value);
      return;
    }
    const std::uint32_t sent = host.rounds.redirect(message.round, message.from);
    if (named_ && !reached(sent, message.number)) return;
    const std::uint32_t number = named_ ? message.number : sent;
    if (const auto value = host.rounds.value_sent(message.round, number, value_here(number)))
      send(message.from, {false, rank, message.round, number, *value});
  }

  void ask(std::uint32_t rank) {
    const std::uint32_t here = rank / per_host_;
    for (unsigned k = 0; k < all_.rounds(); ++k)
      send_to_host(all_.from(here, k), {true, rank, k, level_of(here), {}});
  }

  void advance(std::uint32_t rank) {
    const std::uint32_t here = rank / per_host_;
    Host& host = hosts_[here];
    const std::uint32_t level = level_of(here);
    if (reached(host.done, level)) return;
    const auto progress =
        host.rounds.advance(level, value_here(level),
                            [&](unsigned round, BarrierRounds::Receiver receiver,
                                std::uint32_t number, const BarrierValue& value) {
                              if (random_() % 8 == 0) return false;
                              const Message message{false, rank, round, number, value};
                              send(receiver.or_lowest(all_.to(here, round) * per_host_), message);
                              if (ranks_[rank].spreads) send_to_host(all_.to(here, round), message);
                              return true;
                            });
    if (!progress.complete || !raise_done(host, progress.level)) return;
    host.result = progress.value.id;
  }
  static bool raise_done(Host& host, std::uint32_t number) {
    if (reached(host.done, number)) return false;
    host.done = number;
    return true;
  }

  std::uint32_t per_host_;
  bool named_;
  Dissemination all_;
  std::minstd_rand random_;
  std::vector<Host> hosts_;
  std::vector<Rank> ranks_;
};

/// Some barriers, at each of which some rank of each host computes once it has arrived, first or
/// last, and does not poll until all others are done; and one rank is late.
void expect_barriers(std::uint32_t hosts, std::uint32_t per_host, bool is_named,
                     std::uint32_t seed) {
  SCOPED_TRACE(std::to_string(hosts) + " hosts of " + std::to_string(per_host));
  Job job(hosts, per_host, is_named, seed);
  std::minstd_rand random(seed);
  for (std::uint32_t number = 1; number <= 6; ++number) {
    std::vector<std::uint32_t> order(job.size());
    for (std::uint32_t rank = 0; rank < job.size(); ++rank) order[rank] = rank;
    std::ranges::shuffle(order, random);
    const std::uint32_t place = number < 3 ? 0 : random() % per_host;
    for (const std::uint32_t rank : order) {
      for (int polls = 0; polls < 200; ++polls) job.poll_any();
      for (std::uint32_t other = 0; other < job.size(); ++other)
        ASSERT_LT(job.number_done(other), number) << "before rank " << rank << " has arrived";
      job.arrive(rank);
      job.set_computing(rank, rank % per_host == place);
    }
    for (int polls = 0; polls < 200'000 && !job.all_done(number); ++polls) job.poll_any();
    ASSERT_TRUE(job.all_done(number)) << "barrier " << number << " of seed " << seed;
    for (std::uint32_t rank = 0; rank < job.size(); ++rank) job.set_computing(rank, false);
  }
}

TEST(BarrierRounds, EndThoughOneOfEachHostComputes) {
  for (std::uint32_t hosts = 2; hosts <= 9; ++hosts)
    for (const std::uint32_t per_host : {2U, 3U, 6U})
      for (const bool is_named : {false, true})
        for (std::uint32_t seed = 1; seed <= 3; ++seed)
          expect_barriers(hosts, per_host, is_named, seed);
}

TEST(BarrierRounds, AMemberThatAsksWhileAReportIsSentGetsItToo) {
  std::vector<shm::BarrierRound> words(1);
  BarrierRounds rounds(words, false);
  std::vector<std::uint32_t> receivers;
  rounds.advance(1, {}, [&](unsigned, BarrierRounds::Receiver receiver, std::uint32_t, auto&) {
    receivers.push_back(receiver.or_lowest(0));
    if (receivers.size() == 1) {
      EXPECT_EQ(rounds.redirect(0, 5), 0U) << "no answer yet";
    }
    return true;
  });
  EXPECT_EQ(receivers, (std::vector<std::uint32_t>{0, 5}));
  EXPECT_EQ(rounds.redirect(0, 6), 1U);
}

TEST(BarrierRounds, AMemberThatAsksGetsAReportHoweverItFallsTogetherWithItsSender) {
  constexpr std::uint32_t asker = 5;
  for (int i = 0; i < 2000; ++i) {
    std::vector<shm::BarrierRound> words(1);
    BarrierRounds rounds(words, false);
    std::atomic<bool> begun{false};
    bool sent_to_asker = false;
    std::uint32_t plain = 0;
    std::thread sender([&] {
      while (!begun) std::this_thread::yield();
      plain = 1;
      rounds.advance(1, {}, [&](unsigned, BarrierRounds::Receiver receiver, std::uint32_t, auto&) {
        sent_to_asker = receiver.or_lowest(0) == asker;
        return true;
      });
    });
    begun = true;
    const std::uint32_t answered = rounds.redirect(0, asker);
    if (answered == 1) {
      EXPECT_EQ(plain, 1U) << "what was done before the barrier";
    }
    sender.join();
    EXPECT_TRUE(answered == 1 || sent_to_asker);
  }
}

TEST(LeaderWatch, SeesALeaderThatStandsStillForSomeLooks) {
  LeaderWatch watch;
  const auto is_over = [](Tick passed) { return passed >= 10; };
  EXPECT_TRUE(watch.is_due(100, is_over));
  EXPECT_FALSE(watch.is_due(109, is_over));
  EXPECT_TRUE(watch.is_due(110, is_over));
  unsigned looks = 1;
  while (!watch.stands_still(0, 8, 3)) ++looks;
  EXPECT_GE(looks, 4U);
  EXPECT_FALSE(watch.stands_still(0, 9, 3)) << "it moves";
  EXPECT_FALSE(watch.stands_still(1, 9, 3)) << "another one leads";
  EXPECT_FALSE(watch.stands_still(1, 9, 4)) << "a barrier is done";
  watch.restart();
  EXPECT_FALSE(watch.stands_still(1, 9, 4));
}

}  // namespace
}  // namespace gex::team
