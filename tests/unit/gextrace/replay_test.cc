// Replays of programs whose times are known.

#include "gextrace/replay.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "gextrace/goal.h"
#include "programs.h"

namespace gextrace {
namespace {

using Kind = Step::Kind;

double time_of(const Programs& programs, const Machine& on) {
  std::string why;
  const auto replayed = replay(programs, on, why);
  EXPECT_TRUE(replayed) << why;
  return replayed ? replayed->ns : -1;
}

TEST(Replay, APutIsCompleteTwoLatenciesAfterItsBytesHaveLeft) {
  Programs made = programs(2);
  compute(made, 0, 500);
  await(made, 0, transfer(made, Kind::put, 0, 1, 3000));
  EXPECT_DOUBLE_EQ(time_of(made, machine()), 500 + send_overhead + 3000 + 2 * latency);
  Machine slower = machine();
  slower.compute_factor = 2;
  EXPECT_DOUBLE_EQ(time_of(made, slower), 1000 + send_overhead + 3000 + 2 * latency);
  EXPECT_DOUBLE_EQ(time_of(made, machine(2)), 500 + 2 * 10.0 + 300);
}

TEST(Replay, AGetTakesAsLongWhicheverWayItsBytesGo) {
  Programs made = programs(2);
  await(made, 0, transfer(made, Kind::get, 0, 1, 3000));
  EXPECT_DOUBLE_EQ(time_of(made, machine()), send_overhead + 3000 + 2 * latency);
}

TEST(Replay, WorkBesideATransferCostsNoTime) {
  Programs made = programs(2);
  const std::uint32_t put = transfer(made, Kind::put, 0, 1, 3000);
  compute(made, 0, 4000);
  await(made, 0, put);
  EXPECT_DOUBLE_EQ(time_of(made, machine()), send_overhead + 3000 + 2 * latency);
}

TEST(Replay, AMessageAndItsAnswerAreTwoWays) {
  Programs made = programs(2);
  message(made, 0, 1, 0);
  compute(made, 1, 700);  // the handler
  message(made, 1, 0, 0);
  EXPECT_DOUBLE_EQ(time_of(made, machine()),
                   2 * (send_overhead + latency + receive_overhead) + 700);
}

TEST(Replay, APortSendsOneThingAfterTheOther) {
  Programs made = programs(3);
  const std::uint32_t one = transfer(made, Kind::put, 0, 1, 3000);
  const std::uint32_t other = transfer(made, Kind::put, 0, 2, 3000);
  await(made, 0, one);
  await(made, 0, other);
  EXPECT_DOUBLE_EQ(time_of(made, machine()), send_overhead + 2 * 3000 + 2 * latency);
}

TEST(Replay, APortReceivesOneThingAfterTheOther) {
  Programs made = programs(3);
  for (const std::uint32_t rank : {0U, 1U})
    await(made, rank, transfer(made, Kind::put, rank, 2, 3000));
  EXPECT_DOUBLE_EQ(time_of(made, machine()), send_overhead + 2 * 3000 + 2 * latency);
}

TEST(Replay, RanksOfAHostShareItsPort) {
  Programs made = programs(4);
  for (const std::uint32_t rank : {0U, 1U})
    await(made, rank, transfer(made, Kind::put, rank, rank + 2, 3000));
  EXPECT_DOUBLE_EQ(time_of(made, machine()), send_overhead + 3000 + 2 * latency);
  EXPECT_DOUBLE_EQ(time_of(made, machine(2)), send_overhead + 2 * 3000 + 2 * latency);
}

TEST(Replay, AnExchangeOfAllKeepsAllPortsBusy) {
  constexpr std::uint32_t ranks = 8;
  Programs made = programs(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::uint32_t> puts;
    for (std::uint32_t i = 1; i < ranks; ++i)
      puts.push_back(transfer(made, Kind::put, rank, (rank + i) % ranks, 10'000));
    for (const std::uint32_t put : puts) await(made, rank, put);
  }
  EXPECT_DOUBLE_EQ(time_of(made, machine()), send_overhead + 7 * 10'000 + 2 * latency);
}

TEST(Replay, ABarrierIsOfLeadersByDissemination) {
  Programs made = programs(12);
  meet(made, CollectiveShape::barrier);
  const double round = send_overhead + latency + receive_overhead;
  EXPECT_DOUBLE_EQ(time_of(made, machine()), 4 * round);
  // Three hosts: two rounds, and a flag there and back.
  EXPECT_DOUBLE_EQ(time_of(made, machine(4)), 2 * round + 2 * 10);
  compute(made, 3, 5000);
  meet(made, CollectiveShape::barrier);
  EXPECT_DOUBLE_EQ(time_of(made, machine()), 4 * round + 5000 + 4 * round);
}

TEST(Replay, TreesAreThoseOfTheLibrary) {
  const double hop = send_overhead + latency + receive_overhead;
  for (const auto& [shape, hops] : {std::pair(CollectiveShape::reduce_to_one, 3),
                                    std::pair(CollectiveShape::reduce_to_all, 3)}) {
    Programs made = programs(8);
    meet(made, shape);
    EXPECT_DOUBLE_EQ(time_of(made, machine()), hops * hop);
  }
  // The root's third message comes after its first two.
  Programs made = programs(8);
  meet(made, CollectiveShape::broadcast);
  EXPECT_GE(time_of(made, machine()), 3 * hop);
  EXPECT_LE(time_of(made, machine()), 3 * (hop + send_overhead + receive_overhead));
}

TEST(Replay, NamesAMessageThatIsNeverSent) {
  Programs made = programs(2);
  made.messages.push_back({1, 0, 8});
  made.ranks[0].steps.push_back({.kind = Kind::handle, .number = 0});
  std::string why;
  EXPECT_FALSE(replay(made, machine(), why));
  EXPECT_EQ(why,
            "the recorded order of steps cannot be kept: rank 0 waits for a message of rank 1");
}

TEST(Goal, HasALineForEachStep) {
  Programs made = programs(2);
  compute(made, 0, 500);
  await(made, 0, transfer(made, Kind::put, 0, 1, 64));
  message(made, 0, 1, 8);
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const file = open_memstream(&text, &size);
  write_goal(file, made);
  std::fclose(file);
  EXPECT_STREQ(text,
               "num_ranks 2\n"
               "\nrank 0 {\n"
               "l1: calc 0\n"
               "l2: calc 500\nl2 requires l1\n"
               "l3: send 64b to 1 tag 1\nl3 requires l2\n"
               "l4: recv 1b from 1 tag 2\nl4 requires l3\n"
               "l5: calc 0\nl5 requires l3\nl5 requires l4\n"
               "l6: send 8b to 1 tag 0\nl6 requires l5\n"
               "}\n"
               "\nrank 1 {\n"
               "l1: recv 64b from 0 tag 1\n"
               "l2: send 1b to 0 tag 2\nl2 requires l1\n"
               "l3: calc 0\n"
               "l4: recv 8b from 0 tag 0\nl4 requires l3\n"
               "}\n");
  std::free(text);
}

}  // namespace
}  // namespace gextrace
