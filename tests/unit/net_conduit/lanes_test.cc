// Threads that go by numbers (`enter_lane`), on every conduit: what is promised of threads holds
// for them, and over ofi and ucx a further thread gets an endpoint or a worker of its own, and a
// rank without one does not.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "promise.h"

namespace gex::net::test {
namespace {

constexpr std::uint32_t threads_each = 4;

/// The common state of a rank's threads.
struct Counters {
  std::atomic<std::uint32_t> received{0};
  std::atomic<std::uint32_t> idle{0};            ///< threads that have sent everything
  std::vector<std::atomic<std::uint32_t>> seen;  ///< by sender and number
};

bool listens(int file) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value != 0;
}

bool is_connected(int file) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  return getpeername(file, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
         peer.ss_family == AF_INET;
}

/// Sockets of this process of which something holds.
int sockets(bool (*holds)(int)) {
  int count = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored))
    if (holds(std::atoi(entry.path().filename().c_str()))) ++count;
  return count;
}

class LanesPromise : public ConduitPromise {
 protected:
  static constexpr std::uint32_t per_thread = 60;

  /// Where a rank's words can be reached.
  struct Published {
    std::uint64_t key[max_key_bytes / sizeof(std::uint64_t)];
    std::uint64_t address;
    std::uint32_t refused;
  };

  /// Registers the segment, and what every rank has registered; empty where one was refused.
  std::vector<Published> publish(const Host& host, std::vector<std::uint64_t>& segment) {
    Published mine{};
    mine.address = reinterpret_cast<std::uint64_t>(segment.data());
    const SegmentMemory memory{segment.data(), segment.size() * sizeof(std::uint64_t), host_memory,
                               0};
    mine.refused = conduit->register_segment(&memory, mine.key) == 0 ? 0 : 1;
    std::vector<Published> all(host.size);
    host.exchange(&mine, sizeof mine, all.data());
    for (const Published& one : all)
      if (one.refused != 0) return {};
    return all;
  }

  void on_threaded_ranks(std::uint32_t ranks,
                         const std::function<void(const Host&, const Limits&)>& body) {
    JobOptions options = GetParam().options();
    options.threaded = true;
    options.environment["GEX_OFI_LANES"] = threads_each;
    options.environment["GEX_UDP_LANES"] = threads_each;
    options.environment["GEX_UCX_LANES"] = threads_each;
    const Outcome outcome = run_ranks(ranks, options, [&](const Host& host) {
      Limits limits{};
      ASSERT_EQ(conduit->attach(&host, &limits), 0);
      body(host, limits);
      barrier_with_progress();
      conduit->detach();
    });
    EXPECT_TRUE(outcome.succeeded()) << outcome.message;
  }

  void enter(std::uint32_t number) {
    if (conduit->enter_lane != nullptr) conduit->enter_lane(number);
  }

  Handler count_in(Counters& counters) {
    return [&counters](std::uint32_t source, Channel, const void* message, std::size_t size) {
      const Stamp stamp = stamp_of(message, size);
      EXPECT_EQ(stamp.sender, source);
      if (stamp.number >= threads_each * per_thread) {
        ADD_FAILURE() << "message " << stamp.number;
        return;
      }
      ++counters.seen[source * threads_each * per_thread + stamp.number];
      ++counters.received;
    };
  }

  /// Sends all other ranks what thread `number` has for them.
  void send_all(const Host& host, const Limits& limits, std::uint32_t number) {
    for (std::uint32_t i = 0; i < per_thread; ++i) {
      const std::uint32_t id = number * per_thread + i;
      const std::size_t size = 8 + id * 97 % (limits.max_message - 8);
      const auto message = message_of(host.rank, id, size);
      for (std::uint32_t peer = 0; peer < host.size; ++peer) {
        if (peer == host.rank) continue;
        while (send(request_channel, peer, message) == would_block) poll_or_yield(both);
      }
    }
  }

  void expect_all_once(const Host& host, const Counters& counters) {
    for (std::uint32_t source = 0; source < host.size; ++source)
      for (std::uint32_t number = 0; number < threads_each * per_thread; ++number)
        EXPECT_EQ(counters.seen[source * threads_each * per_thread + number],
                  source == host.rank ? 0U : 1U)
            << "message " << number << " of rank " << source;
  }
};

INSTANTIATE_TEST_SUITE_P(Conduits, LanesPromise, testing::ValuesIn(conduits),
                         [](const auto& subject) { return subject.param.label; });

TEST_P(LanesPromise, AnImpossibleNumberIsRefusedInOneLine) {
  const std::string name = conduit->name;
  if (name != "ofi" && name != "ucx" && name != "udp") GTEST_SKIP() << "no variable for it";
  // 17: more than any of them has.
  for (const std::int64_t number : {-1, 17}) {
    JobOptions options = GetParam().options();
    options.threaded = true;
    for (const char* const variable : {"GEX_OFI_LANES", "GEX_UDP_LANES", "GEX_UCX_LANES"})
      options.environment[variable] = number;
    const Outcome outcome = run_ranks(2, options, [&](const Host& host) {
      Limits limits{};
      EXPECT_NE(conduit->attach(&host, &limits), 0);
    });
    EXPECT_NE(
        outcome.message.find("_LANES is " + std::to_string(number) + "; it must be from 0 to "),
        std::string::npos)
        << outcome.message;
    EXPECT_EQ(outcome.message.find('\n'), std::string::npos) << outcome.message;
  }
}

TEST_P(LanesPromise, ThreadsSendAndReceiveOnceAndWhole) {
  on_threaded_ranks(3, [&](const Host& host, const Limits& limits) {
    Counters counters;
    counters.seen = std::vector<std::atomic<std::uint32_t>>(host.size * threads_each * per_thread);
    const std::uint32_t expected = (host.size - 1) * threads_each * per_thread;
    const auto work = [&](std::uint32_t number) {
      enter(number);
      current_handler = count_in(counters);
      send_all(host, limits, number);
      while (counters.received != expected) poll_or_yield(both);
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t number = 1; number < threads_each; ++number)
        threads.emplace_back(work, number);
      work(0);
    }
    expect_all_once(host, counters);
  });
}

TEST_P(LanesPromise, WhatThreadsSentArrivesAfterTheirEnd) {
  on_threaded_ranks(2, [&](const Host& host, const Limits& limits) {
    Counters counters;
    counters.seen = std::vector<std::atomic<std::uint32_t>>(host.size * threads_each * per_thread);
    const std::uint32_t expected = threads_each * per_thread;
    const auto work = [&](std::uint32_t number) {
      enter(number);
      current_handler = count_in(counters);
      send_all(host, limits, number);
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t number = 1; number < threads_each; ++number)
        threads.emplace_back(work, number);
      work(0);
    }
    while (counters.received != expected) poll_or_yield(both);
    expect_all_once(host, counters);
  });
}

TEST_P(LanesPromise, ThreadsTransfer) {
  if (conduit->put == nullptr) GTEST_SKIP() << "no one-sided operations";
  on_threaded_ranks(2, [&](const Host& host, const Limits& limits) {
    constexpr std::uint32_t words = 64;
    std::vector<std::uint64_t> segment(threads_each * words);
    const std::vector<Published> all = publish(host, segment);
    if (all.empty()) return;
    ASSERT_GE(limits.max_transfer, sizeof(std::uint64_t));
    const Published& peer = all[1 - host.rank];
    const auto work = [&](std::uint32_t number) {
      enter(number);
      current_handler = [](std::uint32_t, Channel, const void*, std::size_t) {};
      for (std::uint32_t round = 0; round < 2; ++round) {
        for (std::uint32_t i = 0; i < words; ++i) {
          const std::uint64_t offset = (number * words + i) * sizeof(std::uint64_t);
          const Remote remote{1 - host.rank, peer.key, peer.address + offset};
          const std::uint64_t value = host.rank * 1000000 + number * 10000 + round * 1000 + i;
          Completion done{0}, got{0};
          while (conduit->put(&remote, &value, sizeof value, &done, nullptr) == would_block)
            poll_or_yield(both);
          while (done == 0) poll_or_yield(both);
          std::uint64_t back = 0;
          while (conduit->get(&remote, &back, sizeof back, &got) == would_block)
            poll_or_yield(both);
          while (got == 0) poll_or_yield(both);
          EXPECT_EQ(back, value);
        }
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t number = 1; number < threads_each; ++number)
        threads.emplace_back(work, number);
      work(0);
    }
    barrier_with_progress();
    conduit->deregister_segment(all[host.rank].key);
  });
}

// The puts have no completion, and a flush covers every lane that they took.
TEST_P(LanesPromise, AFlushReportsThePutsOfAllThreads) {
  if (conduit->flush == nullptr) GTEST_SKIP() << "no flush";
  on_threaded_ranks(2, [&](const Host& host, const Limits&) {
    constexpr std::uint32_t words = 200;
    std::vector<std::uint64_t> segment(threads_each * words);
    const std::vector<Published> all = publish(host, segment);
    if (all.empty()) return;
    const Published& peer = all[1 - host.rank];
    std::vector<std::uint64_t> values(segment.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1000 * (host.rank + 1) + i;
    const auto work = [&](std::uint32_t number) {
      enter(number);
      current_handler = [](std::uint32_t, Channel, const void*, std::size_t) {};
      for (std::uint32_t i = 0; i < words; ++i) {
        const std::uint32_t place = number * words + i;
        const Remote remote{1 - host.rank, peer.key, peer.address + place * sizeof(std::uint64_t)};
        // Gets at first, until the lanes of both ends are connected.
        if (i < words / 4) {
          Completion got{0};
          std::uint64_t back = 0;
          while (conduit->get(&remote, &back, sizeof back, &got) == would_block)
            poll_or_yield(both);
          while (got == 0) poll_or_yield(both);
        }
        while (conduit->put(&remote, &values[place], sizeof values[place], nullptr, nullptr) ==
               would_block)
          poll_or_yield(both);
      }
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t number = 1; number < threads_each; ++number)
        threads.emplace_back(work, number);
      work(0);
    }
    Completion done{0};
    while (conduit->flush(1 - host.rank, &done) == would_block) poll_or_yield(both);
    while (done == 0) poll_or_yield(both);
    barrier_with_progress();
    for (std::size_t i = 0; i < segment.size(); ++i)
      ASSERT_EQ(segment[i], 1000 * (2 - host.rank) + i) << "word " << i;
    EXPECT_EQ(done, 1);
    barrier_with_progress();
    conduit->deregister_segment(all[host.rank].key);
  });
}

/// Over networks where each lane waits for connections of its own: ofi's and ucx's TCP.
class ListeningLanes : public LanesPromise {};

std::vector<Subject> countable() {
  std::vector<Subject> found;
  for (const Subject& subject : conduits)
    if (subject.label == std::string("ofi") || subject.label == std::string("ucx"))
      found.push_back(subject);
  return found;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ListeningLanes);
INSTANTIATE_TEST_SUITE_P(Conduits, ListeningLanes, testing::ValuesIn(countable()),
                         [](const auto& subject) { return subject.param.label; });

TEST_P(ListeningLanes, AThreadHasAnEndpointAndARankWithoutThreadsHasOne) {
  on_threaded_ranks(2, [&](const Host& host, const Limits& limits) {
    const int at_first = sockets(&listens);
    Counters counters;
    counters.seen = std::vector<std::atomic<std::uint32_t>>(host.size * threads_each * per_thread);
    current_handler = count_in(counters);
    enter(0);
    if (host.rank == 0) {
      {
        std::vector<std::jthread> threads;
        for (std::uint32_t number = 1; number < threads_each; ++number)
          threads.emplace_back([&, number] {
            enter(number);
            current_handler = count_in(counters);
            send_all(host, limits, number);
          });
      }
      // As many for each lane: UCX listens on each interface.
      EXPECT_EQ(sockets(&listens), at_first * static_cast<int>(threads_each));
    } else {
      while (counters.received != (threads_each - 1) * per_thread) poll_or_yield(both);
      EXPECT_EQ(sockets(&listens), at_first);
    }
  });
}

TEST_P(ListeningLanes, ThreadsOfBothEndsGetConnectionsOfTheirOwn) {
  on_threaded_ranks(2, [&](const Host& host, const Limits&) {
    current_handler = [](std::uint32_t, Channel, const void*, std::size_t) {};
    enter(0);
    const int at_first = sockets(&is_connected);
    const auto work = [&](std::uint32_t number) {
      enter(number);
      current_handler = [](std::uint32_t, Channel, const void*, std::size_t) {};
      const auto message = message_of(host.rank, number, 64);
      while (send(request_channel, 1 - host.rank, message) == would_block) poll_or_yield(both);
      // A connection may exist twice for a moment.
      while (sockets(&is_connected) < at_first + static_cast<int>(threads_each) - 1)
        poll_or_yield(both);
    };
    std::vector<std::jthread> threads;
    for (std::uint32_t number = 1; number < threads_each; ++number)
      threads.emplace_back(work, number);
  });
}

}  // namespace
}  // namespace gex::net::test
