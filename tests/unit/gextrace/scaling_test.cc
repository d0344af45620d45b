// Estimates for other numbers of ranks, of programs whose laws are known.

#include "gextrace/scaling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "gextrace/replay.h"
#include "programs.h"

namespace gextrace {
namespace {

using Kind = Step::Kind;

TEST(Law, IsFoundWhereThereIsOne) {
  const std::vector<double> sizes = {4, 8, 16, 32};
  for (const double logarithms : {0.0, 1.0}) {
    const Law true_law{.factor = 3, .power = -1.5, .logarithms = logarithms};
    std::vector<double> numbers;
    numbers.reserve(sizes.size());
    for (const double size : sizes) numbers.push_back(true_law.at(size));
    const Law found = fit(sizes, numbers);
    EXPECT_LT(found.misfit, 1e-9);
    EXPECT_NEAR(found.at(4096) / true_law.at(4096), 1, 1e-6);
  }
  EXPECT_EQ(fit(sizes, std::vector<double>(4, 0.0)).at(100), 0);
  EXPECT_GT(fit(sizes, std::vector<double>{1, 100, 1, 100}).misfit, 0.5);
}

/// Ranks share work, exchange with all others, share a sum, and pass something on in a ring.
Programs exchange(std::uint32_t ranks) {
  Programs made = programs(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    compute(made, rank, 1e8 / ranks);
    std::vector<std::uint32_t> puts;
    for (std::uint32_t i = 1; i < ranks; ++i)
      puts.push_back(
          transfer(made, Kind::put, rank, (rank + i) % ranks, 1'000'000'000 / (ranks * ranks)));
    for (const std::uint32_t put : puts) await(made, rank, put);
  }
  meet(made, CollectiveShape::reduce_to_all, 8);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    await(made, rank, transfer(made, Kind::get, rank, (rank + ranks - 1) % ranks, 100'000));
  meet(made, CollectiveShape::barrier);
  return made;
}

std::optional<Estimate> estimate_of(const std::function<Programs(std::uint32_t)>& program,
                                    std::uint32_t ranks, const Machine& on, std::string& why,
                                    Work work = fitted_work) {
  std::vector<Recorded> recorded;
  for (const std::uint32_t size : {4U, 8U, 16U}) {
    auto phases = phases_of(program(size), why);
    if (!phases) return std::nullopt;
    recorded.push_back({size, *phases});
  }
  return estimate(recorded, ranks, work, on, why);
}

TEST(Estimate, IsNearTheReplayOfThatSize) {
  for (const std::uint32_t ranks : {16U, 64U, 256U})
    for (const std::uint32_t ranks_per_host : {1U, 4U, 16U}) {
      const Machine on = machine(ranks_per_host);
      std::string why;
      const auto estimated = estimate_of(exchange, ranks, on, why);
      ASSERT_TRUE(estimated) << why;
      const auto replayed = replay(exchange(ranks), on, why);
      ASSERT_TRUE(replayed) << why;
      EXPECT_NEAR(estimated->ns / replayed->ns, 1, 0.1)
          << ranks << " ranks, " << ranks_per_host << " on a host";
      EXPECT_NEAR(estimated->computing_ns, 1e8 / ranks, 100);
    }
}

TEST(Estimate, TakesAMillionRanks) {
  std::string why;
  const auto estimated = estimate_of(exchange, 1 << 20, machine(128), why);
  ASSERT_TRUE(estimated) << why;
  EXPECT_LT(estimated->count_misfit, 0.01);
  // What a host sends: of each of its ranks to each rank elsewhere, and one part of the ring.
  EXPECT_NEAR(estimated->port_messages / (128.0 * ((1 << 20) - 128)), 1, 0.001);
}

TEST(Estimate, TakesWorkAsSharedOrOfEach) {
  std::string why;
  const auto shared = estimate_of(exchange, 64, machine(), why, shared_work);
  ASSERT_TRUE(shared) << why;
  EXPECT_NEAR(shared->computing_ns, 1e8 / 64, 1);
  const auto each = estimate_of(exchange, 64, machine(), why, work_of_each);
  ASSERT_TRUE(each) << why;
  EXPECT_NEAR(each->computing_ns, 1e8 / 4, 1);
}

TEST(Estimate, TakesAnyPowerAsWork) {
  std::string why;
  const auto grown = estimate_of(exchange, 64, machine(), why, Work(0.5));
  ASSERT_TRUE(grown) << why;
  EXPECT_NEAR(grown->computing_ns, 1e8 / 4 * 4, 1);
}

TEST(Phases, ThoseBetweenTwoCollectivesCanBeKept) {
  std::string why;
  std::vector<Phase> phases = *phases_of(exchange(8), why);
  ASSERT_EQ(phases.size(), 3u);
  ASSERT_TRUE(keep_between(phases, 1, 2, why));
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases.front().number, 1u);
  EXPECT_EQ(phases.front().collective, CollectiveShape::barrier);
  phases = *phases_of(exchange(8), why);
  EXPECT_FALSE(keep_between(phases, 0, 3, why));
  EXPECT_EQ(why, "there are 2 collective operations of all ranks, and no number 3");
}

TEST(Estimate, CountsWhatRank0DoesAlone) {
  const auto program = [](std::uint32_t ranks) {
    Programs made = programs(ranks);
    for (std::uint32_t peer = 1; peer < ranks; ++peer)
      await(made, 0, transfer(made, Kind::put, 0, peer, 1000));
    meet(made, CollectiveShape::barrier);
    for (std::uint32_t rank = 1; rank < ranks; ++rank)
      await(made, rank, transfer(made, Kind::put, rank, 0, 1000));
    meet(made, CollectiveShape::barrier);
    return made;
  };
  std::string why;
  const auto estimated = estimate_of(program, 64, machine(), why);
  ASSERT_TRUE(estimated) << why;
  const auto replayed = replay(program(64), machine(), why);
  ASSERT_TRUE(replayed) << why;
  EXPECT_NEAR(estimated->ns / replayed->ns, 1, 0.2);
}

TEST(Estimate, IsRefusedWhereThereIsNoLaw) {
  const auto expect_refused = [](const std::function<Programs(std::uint32_t)>& program,
                                 const char* reason) {
    std::string why;
    EXPECT_FALSE(estimate_of(program, 64, machine(), why));
    EXPECT_NE(why.find(reason), why.npos) << why;
  };
  expect_refused(
      [](std::uint32_t ranks) {
        Programs made = exchange(ranks);
        if (ranks == 8) meet(made, CollectiveShape::barrier);
        return made;
      },
      "collective operations");
  expect_refused(
      [](std::uint32_t ranks) {
        Programs made = programs(ranks);
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
          await(made, rank, transfer(made, Kind::put, rank, rank ^ 1U, 8));
        return made;
      },
      "sends to other ranks");
  expect_refused(
      [](std::uint32_t ranks) {
        Programs made = programs(ranks);
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
          await(made, rank,
                transfer(made, Kind::put, rank, (rank + 1) % ranks, ranks == 8 ? 8 : 8000));
        return made;
      },
      "keep no law");
  expect_refused(
      [](std::uint32_t ranks) {
        Programs made = programs(ranks);
        for (std::uint32_t rank = 0; rank < ranks; ++rank)
          compute(made, rank, ranks == 8 ? 1e9 : 1e6);
        return made;
      },
      "computing times keep no law");
  expect_refused(
      [](std::uint32_t ranks) {
        Programs made = programs(ranks);
        made.collectives.push_back({CollectiveShape::barrier, {0, 1}, 0});
        return made;
      },
      "a collective operation of 2 ranks");
}

}  // namespace
}  // namespace gextrace
