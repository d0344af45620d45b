// Several threads of each rank send, put, get, flush and poll at once.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstring>
#include <thread>
#include <vector>

#include "ranks.h"

namespace gex::net::udp::test {
namespace {

constexpr std::uint32_t threads_of_rank = 2;
constexpr std::uint32_t rounds = 100;
/// Bytes of a put that is cut into packets. Each thread has a place for it.
constexpr std::size_t size_of_put = 10'000;

class Threads : public testing::TestWithParam<double> {
 protected:
  Threads()
      : ranks(2, {.seed = 5, .loss = GetParam(), .reordering = 0.05, .delay = 2'000}, {}, 0x1000,
              true) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      memory[rank].resize(threads_of_rank * size_of_put);
      EXPECT_TRUE(ranks.segments[rank]->add(memory[rank].data(), memory[rank].size(), keys[rank]));
    }
  }

  /// Polls until it has happened, while the network's time goes on.
  template <class Done>
  void poll_until(std::uint32_t rank, Done is_done) {
    while (!is_done()) {
      ranks.poll(rank);
      ranks.network.now += 1'000;
      std::this_thread::yield();
    }
  }

  void use(std::uint32_t rank, std::uint32_t thread) {
    Endpoint& endpoint = *ranks.endpoints[rank];
    const std::uint32_t peer = 1 - rank;
    const Remote place{peer, &keys[peer],
                       reinterpret_cast<std::uint64_t>(memory[peer].data()) + thread * size_of_put};
    std::vector<std::byte> source(size_of_put);
    std::vector<std::byte> back(size_of_put);
    begin.arrive_and_wait();
    for (std::uint32_t round = 0; round < rounds; ++round) {
      poll_until(rank, [&] {
        return ranks.send(rank, request_channel, peer, message_of(rank, round, 40 + 30 * thread)) ==
               sent;
      });
      const std::size_t size = round % 4 == 0 ? size_of_put : 64 + round;
      std::memset(source.data(), static_cast<int>(round + thread), size);
      int put = 0;
      int flushed = 0;
      int got = 0;
      const auto happened = [](int& count) { return std::atomic_ref(count).load() == 1; };
      poll_until(rank, [&] {
        void* const done = round % 2 == 0 ? &put : nullptr;
        return endpoint.put(place, source.data(), size, done, nullptr, ranks.network.now) == sent;
      });
      if (round % 2 == 0) {
        poll_until(rank, [&] { return happened(put); });
      } else {
        poll_until(rank, [&] { return endpoint.flush(peer, &flushed) == sent; });
        poll_until(rank, [&] { return happened(flushed); });
      }
      poll_until(rank, [&] {
        return endpoint.get(place, back.data(), size, &got, ranks.network.now) == sent;
      });
      poll_until(rank, [&] { return happened(got); });
      ASSERT_EQ(std::memcmp(source.data(), back.data(), size), 0) << round;
    }
    ++finished;
    // The other rank's puts and messages need this one's polls.
    poll_until(rank, [&] { return finished == 2 * threads_of_rank && handled == all_messages; });
  }

  static constexpr std::uint32_t all_messages = 2 * threads_of_rank * rounds;
  Ranks ranks;
  std::array<std::vector<std::byte>, 2> memory;
  std::array<SegmentKey, 2> keys{};
  std::barrier<> begin{2 * threads_of_rank};
  std::atomic<std::uint32_t> finished = 0;
  std::atomic<std::uint32_t> handled = 0;
};

TEST_P(Threads, UseAnEndpointAtOnce) {
  handler = [&](std::uint32_t, std::uint32_t, Channel, std::span<const std::byte> message) {
    number_of(message);
    ++handled;
  };
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < 2; ++rank)
    for (std::uint32_t thread = 0; thread < threads_of_rank; ++thread)
      threads.emplace_back([this, rank, thread] { use(rank, thread); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(handled, all_messages);
  EXPECT_TRUE(ranks.settle());
}

INSTANTIATE_TEST_SUITE_P(WithoutLossAndWith, Threads, testing::Values(0.0, 0.05));

}  // namespace
}  // namespace gex::net::udp::test
