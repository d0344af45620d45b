#include "gextrace/align.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "../temporary_folder.h"
#include "gextrace/match.h"
#include "written_trace.h"

namespace gextrace {
namespace {

constexpr std::uint8_t by_network = gex::trace::by_network;

/// Ranks on hosts whose clocks are not to be trusted, and the messages between them at true times.
class Hosts {
 public:
  /// Host h's counter shows `ticks` at true time 0, and its time of day is wrong by `error` ns.
  void add(std::uint64_t ticks, std::int64_t error) {
    const auto rank = static_cast<std::uint32_t>(traces.size());
    traces.emplace_back(rank, 8);
    traces.back().set_host("host" + std::to_string(rank));
    traces.back().set_clock(ticks, error, 50'000'000);
    zero.push_back(ticks);
  }
  void message(std::uint32_t from, std::uint64_t sent, std::uint32_t to, std::uint64_t handled) {
    const std::uint64_t number = numbers[{from, to}]++;
    traces[from].add(Kind::message_sent, zero[from] + sent, 200, to, 8, number, by_network);
    const std::uint64_t lower = number & ((1U << gex::trace::network_id_bits) - 1);
    traces[to].add(Kind::handler_begin, zero[to] + handled, 200, from, 8, lower, by_network);
    traces[to].add(Kind::handler_end, zero[to] + handled + 10, 200, from, 8, lower, by_network);
  }
  Job job() {
    TemporaryFolder folder;
    for (WrittenTrace& trace : traces) {
      trace.header.job_size = static_cast<std::uint32_t>(traces.size());
      trace.write(folder.path() + "/t." + std::to_string(trace.header.rank));
    }
    std::string why;
    std::optional<Job> job = read_job({folder.path() + "/t"}, {}, why);
    if (!job) throw std::runtime_error(why);
    convert_ticks(*job);
    return *std::move(job);
  }

  std::vector<WrittenTrace> traces;
  std::vector<std::uint64_t> zero;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> numbers;
};

std::int64_t time_of(const Job& job, const Place& place) {
  return job.ranks[place.rank].events[place.event].at;
}

/// The shortest time that a message seems to take.
std::int64_t shortest(const Job& job, const Messages& messages) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const Arrow& arrow : messages.arrows)
    least = std::min(least, time_of(job, arrow.to) - time_of(job, arrow.from));
  return least;
}

TEST(Align, FindsTheDifferenceOfTwoClocksByTheirMessages) {
  Hosts hosts;
  hosts.add(5'000'000, 0);
  hosts.add(900'000'000'000, -7'000'000);  // time of day 7 ms behind
  for (std::uint64_t i = 0; i < 100; ++i) {
    hosts.message(0, 10'000 * i, 1, 10'000 * i + 2'000 + 17 * i);
    hosts.message(1, 10'000 * i + 5'000, 0, 10'000 * i + 7'000 + 13 * i);
  }
  Job job = hosts.job();
  const Messages messages = match(job);
  ASSERT_EQ(messages.arrows.size(), 200U);
  EXPECT_LT(shortest(job, messages), 0);
  correct_clocks(job, messages);
  EXPECT_EQ(shortest(job, messages), 2'000);
  EXPECT_TRUE(job.remarks.empty());
}

TEST(Align, LetsNoArrowRunBackwardsWhereMessagesGoOneWay) {
  Hosts hosts;
  hosts.add(0, 0);
  hosts.add(50, -40'000'000);
  hosts.add(7'777, 3'000'000);
  for (std::uint64_t i = 0; i < 50; ++i) {
    hosts.message(0, 10'000 * i, 1, 10'000 * i + 3'000);
    hosts.message(1, 10'000 * i + 4'000, 2, 10'000 * i + 5'000);
  }
  Job job = hosts.job();
  const Messages messages = match(job);
  correct_clocks(job, messages);
  EXPECT_GE(shortest(job, messages), 0);
}

TEST(Align, CorrectsHostsThatAreNotNeighborsInAChain) {
  Hosts hosts;
  std::mt19937_64 random(42);
  for (unsigned host = 0; host < 6; ++host)
    hosts.add(random() % 1'000'000'000,
              static_cast<std::int64_t>(random() % 20'000'000) - 10'000'000);
  for (std::uint64_t i = 0; i < 300; ++i) {
    const auto from = static_cast<std::uint32_t>(random() % 5);
    const std::uint64_t at = 20'000 * i;
    hosts.message(from, at, from + 1, at + 1'500 + random() % 4'000);
    hosts.message(from + 1, at + 9'000, from, at + 10'500 + random() % 4'000);
  }
  Job job = hosts.job();
  const Messages messages = match(job);
  ASSERT_EQ(messages.arrows.size(), 600U);
  correct_clocks(job, messages);
  EXPECT_GE(shortest(job, messages), 0);
  // Every message took 1.5 to 5.5 us, so clocks are right to 2 us for each step of the chain.
  std::int64_t longest = 0;
  for (const Arrow& arrow : messages.arrows)
    longest = std::max(longest, time_of(job, arrow.to) - time_of(job, arrow.from));
  EXPECT_LE(longest, 5'500 + 4'000);
}

TEST(Align, TakesRanksOfAHostForOneClock) {
  Hosts hosts;
  hosts.add(1'000, 0);
  hosts.add(1'000, 0);
  // The second rank has started later, and its own measurement of the counter was bad.
  hosts.traces[0].set_host("same");
  hosts.traces[1].set_host("same");
  hosts.traces[1].set_clock(30'001'000, 30'000'000 + 400, 20'000'000);
  hosts.traces[1].header.ticks_per_second = 1'010'000'000;
  hosts.message(0, 40'000'000, 1, 40'000'150);
  Job job = hosts.job();
  const Messages messages = match(job);
  correct_clocks(job, messages);
  EXPECT_EQ(shortest(job, messages), 150);
}

TEST(Match, FollowsNumbersThatWrapAndMessagesThatOvertake) {
  Hosts hosts;
  hosts.add(0, 0);
  hosts.add(0, 0);
  hosts.traces[0].set_host("same");
  hosts.traces[1].set_host("same");
  std::mt19937_64 random(7);
  constexpr std::uint64_t count = 20'000;
  for (std::uint64_t i = 0; i < count; ++i)
    hosts.message(0, 1'000 * i, 1, 1'000 * i + random() % 300'000);
  Job job = hosts.job();
  const Messages messages = match(job);
  ASSERT_EQ(messages.arrows.size(), count);
  for (const Arrow& arrow : messages.arrows) {
    const std::int64_t took = time_of(job, arrow.to) - time_of(job, arrow.from);
    ASSERT_GE(took, 0);
    ASSERT_LT(took, 300'000);
  }
}

/// Two ranks of a host, of whose messages the first have left the ring of one of them, or both.
void expect_whole_numbers(std::size_t kept_sent, std::size_t kept_handled, std::size_t least) {
  Hosts hosts;
  hosts.add(0, 0);
  hosts.add(0, 0);
  hosts.traces[0].set_host("same");
  hosts.traces[1].set_host("same");
  for (std::uint64_t i = 0; i < 30'000; ++i) hosts.message(0, 1'000 * i, 1, 1'000 * i + 5'000);
  const auto keep = [](auto& chunks, std::size_t count) {
    if (chunks.size() > count)
      chunks.erase(chunks.begin(), chunks.end() - static_cast<std::ptrdiff_t>(count));
  };
  keep(hosts.traces[0].chunks, kept_sent);
  keep(hosts.traces[1].chunks, kept_handled);
  Job job = hosts.job();
  const Messages messages = match(job);
  EXPECT_GE(messages.arrows.size(), least);
  for (const Arrow& arrow : messages.arrows)
    ASSERT_EQ(time_of(job, arrow.to) - time_of(job, arrow.from), 5'000);
}

TEST(Match, StartsWhereTheRingOfTheReceiverDoes) {
  expect_whole_numbers(100, 3, 2'000);
}
TEST(Match, StartsWhereTheRingOfTheSenderDoes) {
  expect_whole_numbers(4, 100, 6'000);
}
TEST(Match, StartsWhereBothRingsDo) {
  expect_whole_numbers(3, 3, 2'000);
}

TEST(Match, TakesNothingForAMessageThatIsMissing) {
  Hosts hosts;
  hosts.add(0, 0);
  hosts.add(0, 0);
  hosts.traces[0].set_host("same");
  hosts.traces[1].set_host("same");
  for (std::uint64_t i = 0; i < 20'000; ++i) hosts.message(0, 1'000 * i, 1, 1'000 * i + 500);
  // A chunk in the middle of the sender's is gone.
  auto& chunks = hosts.traces[0].chunks;
  chunks.erase(chunks.begin() + 4);
  Job job = hosts.job();
  const Messages messages = match(job);
  EXPECT_EQ(messages.arrows.size(), messages.sent);
  for (const Arrow& arrow : messages.arrows)
    ASSERT_EQ(time_of(job, arrow.to) - time_of(job, arrow.from), 500);
}

}  // namespace
}  // namespace gextrace
