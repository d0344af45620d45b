// The promises of conduit.h, tried on every conduit at hand between real processes.
//
// The body names no network: a new conduit is one more line in `conduits` below.

#include <gex/plugin/conduit.h>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "net/registry.h"
#include "promise.h"

namespace gex::net::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Conduits, ConduitPromise, testing::ValuesIn(conduits),
                         [](const auto& subject) { return subject.param.label; });

TEST_P(ConduitPromise, LimitsAreUsableAndEqualOnAllRanks) {
  on_ranks(3, false, [&](const Host& host, const Limits& limits) {
    EXPECT_GE(limits.max_message, 1024u);
    EXPECT_GE(limits.reply_depth, 1u);
    const Limits mine = limits;
    std::vector<Limits> all(host.size);
    host.exchange(&mine, sizeof mine, all.data());
    for (const Limits& other : all) {
      EXPECT_EQ(other.max_message, limits.max_message);
      EXPECT_EQ(other.reply_depth, limits.reply_depth);
    }
  });
}

// Requests of many sizes to every rank, each answered from its handler.
TEST_P(ConduitPromise, EveryMessageArrivesOnceAndWholeBetweenAllPairs) {
  for (const std::uint32_t ranks : {1u, 2u, 4u}) {
    on_ranks(ranks, false, [&](const Host& host, const Limits& limits) {
      constexpr std::uint32_t per_peer = 150;
      const std::uint32_t expected = per_peer * (host.size - 1);
      std::vector<std::vector<int>> asked(host.size, std::vector<int>(per_peer));
      auto answered = asked;
      std::uint32_t requests_seen = 0, replies_seen = 0;
      std::vector<std::uint32_t> outstanding(host.size);
      current_handler = [&](std::uint32_t source, Channel channel, const void* data,
                            std::size_t size) {
        const Stamp stamp = stamp_of(data, size);
        ASSERT_LT(stamp.number, per_peer);
        if (channel == reply_channel) {
          EXPECT_EQ(stamp.sender, host.rank);
          ++answered[source][stamp.number];
          ++replies_seen;
          --outstanding[source];
          return;
        }
        EXPECT_EQ(stamp.sender, source);
        ++asked[source][stamp.number];
        ++requests_seen;
        // Room for it was promised: as many requests as `reply_depth` are out.
        EXPECT_EQ(send(reply_channel, source, message_of(stamp.sender, stamp.number, size)), sent);
      };
      Random random(99, host.rank);
      for (std::uint32_t number = 0; number < per_peer; ++number) {
        for (std::uint32_t peer = 0; peer < host.size; ++peer) {
          if (peer == host.rank) continue;
          const std::size_t size =
              random.below(4) == 0 ? limits.max_message : 8 + random.below(limits.max_message - 7);
          const auto message = message_of(host.rank, number, size);
          while (outstanding[peer] == limits.reply_depth ||
                 send(request_channel, peer, message) == would_block)
            poll_or_yield(both);
          ++outstanding[peer];
        }
      }
      while (requests_seen < expected || replies_seen < expected) poll_or_yield(both);
      for (std::uint32_t peer = 0; peer < host.size; ++peer) {
        if (peer == host.rank) continue;
        EXPECT_EQ(asked[peer], std::vector<int>(per_peer, 1)) << "requests of " << peer;
        EXPECT_EQ(answered[peer], std::vector<int>(per_peer, 1)) << "replies of " << peer;
      }
      barrier_with_progress();
      EXPECT_EQ(conduit->poll(both, everything), 0u);
    });
  }
}

TEST_P(ConduitPromise, RepliesHaveTheirRoomAtAPeerThatDoesNotPoll) {
  on_ranks(3, false, [&](const Host& host, const Limits& limits) {
    const std::uint32_t depth = limits.reply_depth;
    if (host.rank != 0) {
      // Requests stand in the way as far as they can.
      for (int i = 0; i < 1000; ++i)
        send(request_channel, 0, message_of(host.rank, 0, limits.max_message));
      for (std::uint32_t i = 0; i < depth; ++i)
        EXPECT_EQ(send(reply_channel, 0, message_of(host.rank, i, limits.max_message)), sent)
            << "reply " << i << " of " << depth;
    }
    barrier();
    if (host.rank == 0) {
      std::vector<std::vector<int>> seen(3, std::vector<int>(depth));
      std::uint32_t arrived = 0;
      current_handler = [&](std::uint32_t source, Channel channel, const void* data,
                            std::size_t size) {
        EXPECT_EQ(channel, reply_channel);
        const Stamp stamp = stamp_of(data, size);
        EXPECT_EQ(stamp.sender, source);
        ASSERT_LT(stamp.number, depth);
        ++seen[source][stamp.number];
        ++arrived;
      };
      while (arrived < 2 * depth) poll_or_yield(replies, 1);
      EXPECT_EQ(seen[1], std::vector<int>(depth, 1));
      EXPECT_EQ(seen[2], std::vector<int>(depth, 1));
    }
  });
}

TEST_P(ConduitPromise, AFloodIsHeldBackNotLostAndNotWithoutBound) {
  on_ranks(2, false, [&](const Host& host, const Limits& limits) {
    std::uint32_t accepted = 0;
    if (host.rank == 0) {
      // Memory per peer is bounded, so a peer that never polls must at some time be refused more.
      while (send(request_channel, 1, message_of(0, accepted, limits.max_message)) == sent) {
        ++accepted;
        ASSERT_LT(accepted, 100000u);
      }
      EXPECT_GE(accepted, 1u);
    }
    std::uint32_t accepted_by[2];
    host.exchange(&accepted, sizeof accepted, accepted_by);
    if (host.rank == 1) {
      std::vector<int> seen(accepted_by[0]);
      std::uint32_t arrived = 0;
      current_handler = [&](std::uint32_t, Channel, const void* data, std::size_t size) {
        const Stamp stamp = stamp_of(data, size);
        ASSERT_LT(stamp.number, seen.size());
        ++seen[stamp.number];
        ++arrived;
      };
      while (arrived < accepted_by[0]) poll_or_yield(both, 3);
      EXPECT_EQ(seen, std::vector<int>(accepted_by[0], 1));
    }
    barrier_with_progress();
    if (host.rank == 0) {
      EXPECT_EQ(send(request_channel, 1, message_of(0, 0, 8)), sent);
    }
  });
}

TEST_P(ConduitPromise, AHandlerMayPollRepliesAboveARequest) {
  on_ranks(2, false, [&](const Host& host, const Limits&) {
    if (host.rank == 0) {
      ASSERT_EQ(send(request_channel, 1, message_of(0, 1, 64)), sent);
      ASSERT_EQ(send(reply_channel, 1, message_of(0, 2, 64)), sent);
    }
    barrier();
    if (host.rank == 1) {
      int running = 0;
      bool answered = false, asked = false;
      current_handler = [&](std::uint32_t, Channel channel, const void* data, std::size_t size) {
        const Stamp before = stamp_of(data, size);
        ++running;
        if (channel == request_channel) {
          EXPECT_EQ(running, 1);
          while (!answered) poll_or_yield(replies);
          asked = true;
        } else {
          answered = true;
        }
        --running;
        // The message is still what it was.
        EXPECT_EQ(stamp_of(data, size).number, before.number);
      };
      while (!asked) poll_or_yield(1u << request_channel);
    }
  });
}

TEST_P(ConduitPromise, WhatWasSentBeforeDetachStillArrives) {
  const JobOptions options = GetParam().options();
  const Outcome outcome = run_ranks(2, options, [&](const Host& host) {
    Limits limits{};
    ASSERT_EQ(conduit->attach(&host, &limits), 0);
    if (host.rank == 0) {
      ASSERT_EQ(send(request_channel, 1, message_of(0, 1, limits.max_message)), sent);
      ASSERT_EQ(send(reply_channel, 1, message_of(0, 2, 8)), sent);
      if (GetParam().manual_progress) barrier();
      conduit->detach();
    }
    // Where leaving takes both ends, the receiver polls meanwhile.
    if (!GetParam().manual_progress || host.rank == 1) barrier();
    if (host.rank == 1) {
      int arrived = 0;
      current_handler = [&](std::uint32_t, Channel channel, const void* data, std::size_t size) {
        EXPECT_EQ(stamp_of(data, size).number, channel == request_channel ? 1u : 2u);
        ++arrived;
      };
      while (arrived < 2) poll_or_yield(both);
      conduit->detach();
    }
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.message;
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

std::set<std::string> files_in_shm() {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    files.insert(entry.path().filename());
  return files;
}

/// Files of /dev/shm that a process has mapped or open: in use, and so not left behind.
std::set<std::string> files_in_use() {
  namespace fs = std::filesystem;
  const std::string folder = "/dev/shm/";
  std::set<std::string> files;
  std::error_code ended;  // a process may end at any moment
  for (const auto& process : fs::directory_iterator("/proc", ended)) {
    std::ifstream maps(process.path() / "maps");
    for (std::string line; std::getline(maps, line);) {
      const std::size_t name = line.find(folder);
      if (name != std::string::npos) files.insert(line.substr(name + folder.size()));
    }
    std::error_code unreadable;
    for (fs::directory_iterator file(process.path() / "fd", unreadable), end;
         !unreadable && file != end; file.increment(unreadable)) {
      const std::string path = fs::read_symlink(file->path(), ended).string();
      if (path.starts_with(folder)) files.insert(path.substr(folder.size()));
    }
  }
  return files;
}

/// Mappings of shared files.
std::size_t shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("rw-s") != std::string::npos;
  return count;
}

TEST_P(ConduitPromise, NothingIsLeftAfterDetach) {
  const JobOptions options = GetParam().options();
  const std::set<std::string> before = files_in_shm();
  const Outcome outcome = run_ranks(2, options, [&](const Host& host) {
    std::size_t descriptors = open_descriptors();
    std::size_t mappings = shared_mappings();
    // Twice: a network that was left can be joined again.
    for (int round = 0; round < 2; ++round) {
      Limits limits{};
      ASSERT_EQ(conduit->attach(&host, &limits), 0);
      send(request_channel, 1 - host.rank, message_of(host.rank, 1, 8));
      barrier();
      conduit->detach();
      if (GetParam().keeps == Kept::library && round == 0) {
        descriptors = open_descriptors();
        mappings = shared_mappings();
      }
    }
    if (GetParam().keeps == Kept::parts) return;
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_EQ(shared_mappings(), mappings);
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.message;
  // The files of other tests, which may run at the same time, are in use, or soon removed.
  std::set<std::string> left;
  for (int tries = 0; tries < 50; ++tries) {
    left = files_in_shm();
    std::erase_if(left, [&](const std::string& file) { return before.contains(file); });
    if (left.empty()) break;
    const std::set<std::string> in_use = files_in_use();
    std::erase_if(left, [&](const std::string& file) { return in_use.contains(file); });
    if (left.empty()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(left, std::set<std::string>());
}

TEST_P(ConduitPromise, ThreadsMaySendAndPollAtTheSameTime) {
  on_ranks(2, true, [&](const Host& host, const Limits& limits) {
    constexpr std::uint32_t threads_each = 3, per_thread = 200;
    constexpr std::uint32_t total = threads_each * per_thread;
    const std::uint32_t peer = 1 - host.rank;
    std::vector<std::atomic<int>> asked(total), answered(total);
    std::atomic<std::uint32_t> requests_seen{0}, replies_seen{0};
    std::atomic<std::uint32_t> credits{limits.reply_depth};
    const auto work = [&](std::uint32_t thread) {
      current_handler = [&](std::uint32_t source, Channel channel, const void* data,
                            std::size_t size) {
        const Stamp stamp = stamp_of(data, size);
        ASSERT_LT(stamp.number, total);
        if (channel == reply_channel) {
          ++answered[stamp.number];
          ++replies_seen;
          ++credits;
          return;
        }
        ++asked[stamp.number];
        const auto answer = message_of(stamp.sender, stamp.number, size);
        // A reply whose handler still runs in another thread may occupy its place.
        while (send(reply_channel, source, answer) == would_block) poll_or_yield(replies);
        ++requests_seen;
      };
      for (std::uint32_t i = 0; i < per_thread; ++i) {
        const std::uint32_t number = thread * per_thread + i;
        const auto message = message_of(host.rank, number, 8 + number % (limits.max_message - 7));
        for (;;) {
          std::uint32_t left = credits;
          if (left > 0 && credits.compare_exchange_strong(left, left - 1)) break;
          poll_or_yield(both, 2);
        }
        while (send(request_channel, peer, message) == would_block) poll_or_yield(both);
      }
      while (requests_seen < total || replies_seen < total) poll_or_yield(both);
    };
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t thread = 0; thread < threads_each; ++thread)
        threads.emplace_back(work, thread);
    }
    for (std::uint32_t number = 0; number < total; ++number) {
      EXPECT_EQ(asked[number], 1) << number;
      EXPECT_EQ(answered[number], 1) << number;
    }
  });
}

TEST_P(ConduitPromise, BuffersAreOptionalButThenWork) {
  ASSERT_EQ(conduit->buffer == nullptr, conduit->release == nullptr);
  if (conduit->buffer == nullptr) return;
  on_ranks(2, false, [&](const Host& host, const Limits& limits) {
    if (host.rank == 0) {
      const std::size_t payload_size = limits.max_message - 256;
      const auto message = message_of(0, 5, payload_size + 32);
      void* place = conduit->buffer(request_channel, 1, payload_size);
      ASSERT_NE(place, nullptr);
      conduit->release(place);
      place = conduit->buffer(request_channel, 1, payload_size);
      ASSERT_NE(place, nullptr);
      std::memcpy(place, message.data() + 32, payload_size);
      const Piece pieces[] = {{message.data(), 32}, {place, payload_size}};
      while (conduit->send(request_channel, 1, pieces, 2) == would_block) poll_or_yield(both);
    } else {
      int arrived = 0;
      current_handler = [&](std::uint32_t, Channel, const void* data, std::size_t size) {
        EXPECT_EQ(size, limits.max_message - 256 + 32);
        EXPECT_EQ(stamp_of(data, size).number, 5u);
        ++arrived;
      };
      while (arrived == 0) poll_or_yield(both);
    }
  });
}

// What each conduit prints when it cannot be used.

TEST_P(ConduitPromise, RanksOnSeveralHostsAreRefusedByNetworksOfOneMachine) {
  const bool states_so = (conduit->capabilities & one_machine) != 0;
  EXPECT_FALSE(states_so && GetParam().crosses_hosts);
  if (GetParam().crosses_hosts) GTEST_SKIP() << "a network of several machines";
  // libgex refuses for it.
  if (states_so) return;
  JobOptions options = GetParam().options();
  options.hosts = {0, 0, 1};
  const Outcome outcome = run_ranks(3, options, [&](const Host& host) {
    Limits limits{};
    EXPECT_NE(conduit->attach(&host, &limits), 0);
  });
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_NE(outcome.message.find("one machine"), std::string::npos) << outcome.message;
}

TEST(EmuSettings, RankZerosHoldForAll) {
  JobOptions options;
  options.environment = {{"GEX_EMU_QUEUE@0", 3}, {"GEX_EMU_QUEUE", 900}};
  const Outcome outcome = run_ranks(3, options, [&](const Host& host) {
    Limits limits{};
    const Conduit* emu = find("emu");
    ASSERT_EQ(emu->attach(&host, &limits), 0);
    EXPECT_EQ(limits.reply_depth, 3u);
    EXPECT_EQ(limits.max_message, 16640u);
    barrier();
    emu->detach();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.message;
}

TEST(EmuSettings, AnImpossibleDepthEndsTheJobInOneLine) {
  for (const std::int64_t depth : {-1, 0, 65}) {
    JobOptions options;
    options.environment = {{"GEX_EMU_QUEUE", depth}};
    const Outcome outcome = run_ranks(2, options, [&](const Host& host) {
      Limits limits{};
      find("emu")->attach(&host, &limits);
    });
    EXPECT_EQ(outcome.statuses[0], fatal_status);
    EXPECT_EQ(outcome.message,
              "GEX_EMU_QUEUE is " + std::to_string(depth) + "; it must be from 1 to 64");
  }
}

TEST(ExampleLimits, MoreRanksThanItTakesAreRefused) {
  const Conduit* example = find(GEX_EXAMPLE_CONDUIT);
  Host host{};
  static std::string warning;
  host.version = interface_version;
  host.size = 65;
  host.host_of = [](std::uint32_t) { return 0u; };
  host.warn = [](const char* text) { warning = text; };
  Limits limits{};
  EXPECT_NE(example->attach(&host, &limits), 0);
  EXPECT_NE(warning.find("at most 64 ranks"), std::string::npos) << warning;
}

#ifdef GEX_OFI_CONDUIT
/// Connections over TCP of this process.
int connections() {
  int count = 0;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    sockaddr_storage peer{};
    socklen_t size = sizeof peer;
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
        (peer.ss_family == AF_INET || peer.ss_family == AF_INET6))
      ++count;
  }
  return count;
}

// Five ranks: each has a power of two between it and every other.
TEST(OfiConnections, AreThereFromTheStartWhereMemoryIsNotShared) {
  for (const bool shared : {false, true}) {
    JobOptions options;
    options.texts = {{"GEX_OFI_PROVIDER", "tcp;ofi_rxm"}};
    options.shares_memory = shared;
    const Outcome outcome = run_ranks(5, options, [shared](const Host& host) {
      const Conduit* ofi = find(GEX_OFI_CONDUIT);
      Limits limits{};
      ASSERT_EQ(ofi->attach(&host, &limits), 0);
      if (shared)
        EXPECT_EQ(connections(), 0);
      else
        EXPECT_GE(connections(), 4);
      barrier();
      ofi->detach();
    });
    EXPECT_TRUE(outcome.succeeded()) << outcome.message;
  }
}
#endif

}  // namespace
}  // namespace gex::net::test
