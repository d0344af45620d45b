// emu with many threads on every rank, over one memory so that ThreadSanitizer sees both sides.

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "net/emu/ports.h"
#include "net/emu/receiving_port.h"
#include "ranks.h"

namespace gex::net::emu {
namespace {

struct Numbered {
  std::uint32_t sender;
  std::uint32_t number;
  std::uint64_t check;
  unsigned char fill[40];
};

class EmuThreads : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, EmuThreads, testing::Values(0, 11));

// Every thread of every rank sends requests to all peers and polls; each request is answered from
// its handler, which waits for reply room by polling replies only. One thread builds in place.
TEST_P(EmuThreads, HammerEachOtherAndLoseNothing) {
  constexpr std::uint32_t size = 3, threads_each = 3, per_thread = 1500;
  constexpr std::uint32_t senders = size * threads_each;
  Ranks ranks(size, 4, true, GetParam());
  std::vector<std::atomic<std::uint8_t>> asked(senders * per_thread),
      answered(senders * per_thread);
  std::atomic<std::uint32_t> answers{0}, wrong{0};

  const auto work = [&](std::uint32_t rank, std::uint32_t thread) {
    EmuNetwork& net = ranks[rank];
    handler = [&](std::uint32_t source, Channel channel, const void* data, std::size_t bytes) {
      Numbered message;
      if (bytes != sizeof message) {
        ++wrong;
        return;
      }
      std::memcpy(&message, data, sizeof message);
      const std::uint32_t index = message.sender * per_thread + message.number;
      if (message.check != ~std::uint64_t{index}) ++wrong;
      for (const unsigned char byte : message.fill)
        if (byte != static_cast<unsigned char>(index)) ++wrong;
      if (channel == reply_channel) {
        ++answered[index];
        ++answers;
        return;
      }
      ++asked[index];
      const Piece piece{&message, sizeof message};
      while (net.send(reply_channel, source, std::span(&piece, 1)) == would_block) {
        net.poll(replies, everything);
        std::this_thread::yield();
      }
    };
    const std::uint32_t sender = rank * threads_each + thread;
    for (std::uint32_t i = 0; i < per_thread; ++i) {
      const std::uint32_t index = sender * per_thread + i;
      Numbered message{sender, i, ~std::uint64_t{index}, {}};
      std::memset(message.fill, static_cast<int>(index & 255), sizeof message.fill);
      const std::uint32_t peer = (rank + 1 + i % (size - 1)) % size;
      Piece piece{&message, sizeof message};
      void* place = nullptr;
      if (thread == 0 && (place = net.buffer(request_channel, peer, sizeof message)) != nullptr) {
        std::memcpy(place, &message, sizeof message);
        piece.data = place;
      }
      while (net.send(request_channel, peer, std::span(&piece, 1)) == would_block) {
        net.poll(both, everything);
        std::this_thread::yield();
      }
      net.poll(both, 2);
    }
    while (answers < senders * per_thread) {
      if (net.poll(both, everything) == 0) std::this_thread::yield();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < size; ++rank)
      for (std::uint32_t thread = 0; thread < threads_each; ++thread)
        threads.emplace_back(work, rank, thread);
  }
  EXPECT_EQ(wrong, 0u);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(asked[i], 1) << i;
    ASSERT_EQ(answered[i], 1) << i;
  }
}

TEST_P(EmuThreads, AFloodOfLargestMessagesArrivesIntact) {
  Ranks ranks(2, 16, true, GetParam());
  constexpr std::uint32_t count = 3000;
  std::jthread flooder([&] {
    std::string message = pattern(max_message, 9);
    for (std::uint32_t i = 0; i < count;) {
      std::memcpy(message.data(), &i, sizeof i);
      if (send_bytes(ranks[0], request_channel, 1, message) == sent)
        ++i;
      else
        std::this_thread::yield();
    }
  });
  std::vector<std::uint8_t> seen(count);
  std::uint32_t arrived = 0;
  const std::string expected = pattern(max_message, 9);
  handler = [&](std::uint32_t, Channel, const void* data, std::size_t size) {
    ASSERT_EQ(size, max_message);
    std::uint32_t number = 0;
    std::memcpy(&number, data, sizeof number);
    ASSERT_LT(number, count);
    ++seen[number];
    ++arrived;
    ASSERT_EQ(std::memcmp(static_cast<const char*>(data) + sizeof number,
                          expected.data() + sizeof number, size - sizeof number),
              0);
  };
  while (arrived < count)
    if (ranks[1].poll(both, everything) == 0) std::this_thread::yield();
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(seen[i], 1) << i;
}

/// When the messages of rank 0's threads arrive, by their numbers.
std::map<std::uint32_t, Tick> arrivals_under_jitter(std::uint32_t threads) {
  constexpr std::uint32_t count = 64;
  const Layout layout(2, count);
  const os::Mapping memory = os::Mapping::anonymous(layout.file_size());
  const Host host{.version = interface_version,
                  .rank = 0,
                  .size = 2,
                  .threaded = true,
                  .deliver = deliver,
                  .fatal = die};
  Ports ports(timing_of(Model{.latency = 1000, .jitter = 500}, 1e9), layout, memory.bytes(), 0, 7);
  EmuNetwork network(host, layout, memory.bytes(), 7, &ports);
  {
    std::vector<std::jthread> senders;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      senders.emplace_back([&] {
        for (std::uint32_t i = 0; i < count / threads; ++i)
          EXPECT_EQ(send_number(network, request_channel, 1, i), sent);
      });
  }
  std::map<std::uint32_t, Tick> arrivals;
  for (std::uint32_t slot = 0; slot < count; ++slot) {
    const auto& record = *reinterpret_cast<const Record*>(
        memory.data() + layout.record(0, 1, request_channel, slot));
    arrivals[record.sequence] = record.due;
  }
  EXPECT_EQ(arrivals.size(), count);
  return arrivals;
}

TEST(EmuJitter, OfAMessageIsByItsNumberWhicheverThreadSendsIt) {
  const std::map<std::uint32_t, Tick> expected = arrivals_under_jitter(1);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(arrivals_under_jitter(4), expected);
}

TEST(EmuReceivingPortThreads, TakeNoTimeTwice) {
  constexpr std::uint32_t threads_each = 4, per_thread = 2000;
  constexpr Tick duration = 16, begin = 1'000'000;
  ReceivingPort port{};
  // The time before it is free.
  ASSERT_EQ(port.reserve(0, begin, duration), begin + duration);
  std::vector<std::atomic<std::uint8_t>> taken(threads_each * per_thread);
  std::atomic<std::uint32_t> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t thread = 0; thread < threads_each; ++thread)
      threads.emplace_back([&] {
        for (std::uint32_t i = 0; i < per_thread; ++i) {
          const Tick end = port.reserve(0, 0, duration);
          const Tick slot = end / duration - 1;
          if (end % duration != 0 || slot >= taken.size() || ++taken[slot] != 1) ++wrong;
        }
      });
  }
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace gex::net::emu
