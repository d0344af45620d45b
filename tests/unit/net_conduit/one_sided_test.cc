// Put, get and atomic operations as conduit.h promises them, on every conduit that has them for a
// rank's own memory.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "base/atomic_operations.h"
#include "promise.h"

namespace gex::net::test {
namespace {

class OneSidedPromise : public ConduitPromise {
 protected:
  static constexpr std::size_t segment_size = std::size_t{2} << 20;

  /// Where a rank's segment can be reached.
  struct Published {
    std::uint64_t key[max_key_bytes / sizeof(std::uint64_t)];
    std::uint64_t address;
    std::uint32_t refused;
    Remote at(std::uint32_t peer, std::size_t offset) const {
      return {peer, key, address + offset};
    }
  };

  /// Runs a body on ranks whose segments are known to all; the body is left out where a rank's own
  /// memory is not reached by one-sided operations.
  void on_ranks_with_segments(
      std::uint32_t ranks, bool threaded,
      const std::function<void(const Host&, const Limits&, const std::vector<Published>&,
                               unsigned char*)>& body) {
    if (conduit->put == nullptr) GTEST_SKIP() << "no one-sided operations";
    on_ranks(ranks, threaded, [&](const Host& host, const Limits& limits) {
      std::vector<unsigned char> segment(segment_size);
      Published mine{};
      mine.address = reinterpret_cast<std::uint64_t>(segment.data());
      // Behind the bytes of the key nothing is the conduit's to write.
      ASSERT_EQ(limits.key_bytes % sizeof(std::uint64_t), 0U);
      ASSERT_LE(limits.key_bytes, sizeof mine.key);
      std::memset(mine.key, 0x5a, sizeof mine.key);
      const SegmentMemory memory{segment.data(), segment.size(), host_memory, 0};
      EXPECT_NE(conduit->capabilities & registers_host_memory, 0U);
      mine.refused = conduit->register_segment(&memory, mine.key) == 0 ? 0 : 1;
      for (std::size_t i = limits.key_bytes; i < sizeof mine.key; ++i)
        EXPECT_EQ(reinterpret_cast<const unsigned char*>(mine.key)[i], 0x5a);
      std::vector<Published> all(host.size);
      host.exchange(&mine, sizeof mine, all.data());
      for (const Published& one : all) {
        EXPECT_FALSE(GetParam().reaches_any_memory && one.refused != 0);
        if (one.refused != 0) return;
      }
      body(host, limits, all, segment.data());
      barrier_with_progress();
      conduit->deregister_segment(mine.key);
    });
  }

  void wait_for(const Completion& completion) {
    while (completion.load() == 0) poll_or_yield(both);
  }
};

INSTANTIATE_TEST_SUITE_P(Conduits, OneSidedPromise, testing::ValuesIn(conduits),
                         [](const auto& subject) { return subject.param.label; });

constexpr std::size_t sizes[] = {1, 8, 64, 65, 1000, 16640, 16641, 100001, 700000};

TEST_P(OneSidedPromise, EveryByteGoesThereAndComesBack) {
  for (const bool threaded : {false, true})
    on_ranks_with_segments(
        3, threaded,
        [&](const Host& host, const Limits& limits, const std::vector<Published>& all,
            unsigned char* segment) {
          const std::uint32_t to = (host.rank + 1) % host.size;
          const std::uint32_t from = (host.rank + host.size - 1) % host.size;
          std::size_t offset = 3;
          std::uint32_t number = 0;
          for (const std::size_t size : sizes) {
            ASSERT_LE(size, limits.max_transfer);
            const auto pattern = message_of(host.rank, number, size);
            auto source = pattern;
            const Remote remote = all[to].at(to, offset);
            Completion done{0}, local_done{0};
            while (conduit->put(&remote, source.data(), size, &done, &local_done) == would_block)
              poll_or_yield(both);
            wait_for(local_done);
            // From here on the source is ours.
            std::fill(source.begin(), source.end(), 0xee);
            wait_for(done);
            std::vector<unsigned char> back(size);
            Completion got{0};
            while (conduit->get(&remote, back.data(), size, &got) == would_block)
              poll_or_yield(both);
            wait_for(got);
            EXPECT_EQ(std::memcmp(back.data(), pattern.data(), size), 0) << size << " bytes";
            EXPECT_EQ(done, 1);
            EXPECT_EQ(local_done, 1);
            EXPECT_EQ(got, 1);
            offset += size + 5;
            ++number;
          }
          barrier_with_progress();
          offset = 3;
          number = 0;
          for (const std::size_t size : sizes) {
            const auto pattern = message_of(from, number++, size);
            EXPECT_EQ(std::memcmp(segment + offset, pattern.data(), size), 0) << size << " bytes";
            // Nothing beside it was written.
            EXPECT_EQ(segment[offset - 1], 0);
            EXPECT_EQ(segment[offset + size], 0);
            offset += size + 5;
          }
        });
}

// A network that distinguishes both is for this: the source of a put is the sender's again while it
// has not yet seen that the bytes are there. A sender that loses its processor sees both at once;
// not each time.
TEST_P(OneSidedPromise, ASourceIsFreeBeforeThePutIsDone) {
  if (!GetParam().frees_sources_early) GTEST_SKIP() << "local completion comes with the other";
  on_ranks_with_segments(
      2, false,
      [&](const Host& host, const Limits&, const std::vector<Published>& all,
          unsigned char* segment) {
        constexpr std::size_t size = 40000;
        constexpr int max_rounds = 200;
        const auto pattern = message_of(0, 1, size);
        bool was_free_before = false;
        for (int round = 0; host.rank == 0 && round < max_rounds && !was_free_before; ++round) {
          auto source = pattern;
          const Remote remote = all[1].at(1, 0);
          Completion done{0}, local_done{0};
          while (conduit->put(&remote, source.data(), size, &done, &local_done) == would_block)
            poll_or_yield(both);
          wait_for(local_done);
          was_free_before = done == 0;
          std::fill(source.begin(), source.end(), 0xee);
          wait_for(done);
        }
        EXPECT_EQ(was_free_before, host.rank == 0);
        barrier_with_progress();
        if (host.rank == 1) {
          EXPECT_EQ(std::memcmp(segment, pattern.data(), size), 0);
        }
      });
}

// A message that leaves after `done` finds the bytes, however many are under way beside it.
TEST_P(OneSidedPromise, WhatIsDoneIsThereForAMessageThatFollows) {
  on_ranks_with_segments(
      2, false,
      [&](const Host& host, const Limits&, const std::vector<Published>& all,
          unsigned char* segment) {
        constexpr std::uint32_t rounds = 100;
        constexpr std::size_t size = 40000;
        std::uint32_t seen = 0;
        current_handler = [&](std::uint32_t, Channel channel, const void* data, std::size_t bytes) {
          if (channel == reply_channel) {
            ++seen;
            return;
          }
          const Stamp stamp = stamp_of(data, bytes);
          const std::size_t length = stamp.number % 2 == 0 ? 8 : size;
          const auto pattern = message_of(0, stamp.number, length);
          EXPECT_EQ(std::memcmp(segment, pattern.data(), length), 0) << "round " << stamp.number;
          EXPECT_EQ(send(reply_channel, 0, message_of(1, stamp.number, 8)), sent);
          ++seen;
        };
        for (std::uint32_t round = 0; round < rounds; ++round) {
          if (host.rank == 0) {
            const Remote remote = all[1].at(1, 0);
            const auto pattern = message_of(0, round, round % 2 == 0 ? 8 : size);
            Completion done{0};
            while (conduit->put(&remote, pattern.data(), pattern.size(), &done, nullptr) ==
                   would_block)
              poll_or_yield(both);
            wait_for(done);
            while (send(request_channel, 1, message_of(0, round, 8)) == would_block)
              poll_or_yield(both);
          }
          while (seen <= round) poll_or_yield(both);
        }
      });
}

TEST_P(OneSidedPromise, ThreadsMayPutAndGetAtTheSameTime) {
  on_ranks_with_segments(
      2, true,
      [&](const Host& host, const Limits&, const std::vector<Published>& all, unsigned char*) {
        constexpr std::uint32_t threads_each = 3, rounds = 50;
        constexpr std::size_t part = std::size_t{64} << 10;
        const std::uint32_t peer = 1 - host.rank;
        const auto work = [&](std::uint32_t thread) {
          current_handler = [](std::uint32_t, Channel, const void*, std::size_t) {};
          for (std::uint32_t round = 0; round < rounds; ++round) {
            const std::size_t size = 1 + (round * 733 + thread * 17) % part;
            auto source = message_of(host.rank * threads_each + thread, round, size);
            const Remote remote = all[peer].at(peer, thread * part);
            Completion done{0}, got{0};
            while (conduit->put(&remote, source.data(), size, &done, nullptr) == would_block)
              poll_or_yield(both);
            wait_for(done);
            std::vector<unsigned char> back(size);
            while (conduit->get(&remote, back.data(), size, &got) == would_block)
              poll_or_yield(both);
            wait_for(got);
            ASSERT_EQ(std::memcmp(back.data(), source.data(), size), 0) << "round " << round;
          }
        };
        std::vector<std::jthread> threads;
        for (std::uint32_t thread = 0; thread < threads_each; ++thread)
          threads.emplace_back(work, thread);
      });
}

// The pieces of one end do not match those of the other; nothing beside them is touched.
TEST_P(OneSidedPromise, PiecesGoWhereTheyBelong) {
  if (conduit->put_pieces == nullptr) GTEST_SKIP() << "no transfers of pieces";
  on_ranks_with_segments(
      2, false,
      [&](const Host& host, const Limits& limits, const std::vector<Published>& all,
          unsigned char* segment) {
        if (limits.max_pieces == 0) return;
        ASSERT_GE(limits.max_pieces, 3U);
        ASSERT_NE(limits.max_remote_pieces, 1U);
        const std::uint32_t peer = 1 - host.rank;
        auto source = message_of(host.rank, 3, 600);
        const auto pattern = source;
        const Remote remote = all[peer].at(peer, 0);
        const RemotePiece there[] = {{all[peer].address + 1000, 7}, {all[peer].address + 10, 593}};
        const LocalPiece here[] = {
            {source.data(), 100}, {source.data() + 100, 1}, {source.data() + 101, 499}};
        Completion done{0}, local_done{0}, got{0};
        while (conduit->put_pieces(&remote, there, 2, here, 3, &done, &local_done) == would_block)
          poll_or_yield(both);
        wait_for(local_done);
        std::fill(source.begin(), source.end(), 0xee);
        wait_for(done);
        while (conduit->get_pieces(&remote, there, 2, here, 3, &got) == would_block)
          poll_or_yield(both);
        wait_for(got);
        EXPECT_EQ(source, pattern);
        barrier_with_progress();
        const auto others = message_of(peer, 3, 600);
        EXPECT_EQ(std::memcmp(segment + 1000, others.data(), 7), 0);
        EXPECT_EQ(std::memcmp(segment + 10, others.data() + 7, 593), 0);
        for (const int beside : {9, 603, 999, 1007}) EXPECT_EQ(segment[beside], 0) << beside;
      });
}

// As many at either end as there may be, and their lists are the caller's when the call returns.
TEST_P(OneSidedPromise, AsManyPiecesAsTheLimits) {
  if (conduit->put_pieces == nullptr) GTEST_SKIP() << "no transfers of pieces";
  on_ranks_with_segments(
      2, false,
      [&](const Host& host, const Limits& limits, const std::vector<Published>& all,
          unsigned char* segment) {
        if (limits.max_pieces == 0) return;
        const std::uint32_t peer = 1 - host.rank;
        const std::size_t own = limits.max_pieces;
        const std::size_t remotes =
            limits.max_remote_pieces != 0 ? limits.max_remote_pieces : limits.max_pieces;
        constexpr std::size_t each = 24;  // bytes, of a piece of the end that has more of them
        const std::size_t bytes = each * std::max(own, remotes);
        const Remote remote = all[peer].at(peer, 0);
        for (std::uint32_t round = 0; round < 20; ++round) {
          auto source = message_of(host.rank, round, 2 * bytes);
          std::vector<unsigned char> got(2 * bytes);
          std::vector<RemotePiece> there(remotes);
          std::vector<LocalPiece> here(own), back(own);
          // With a gap behind each; the last has what does not divide.
          const auto cut = [&](auto& pieces, auto place) {
            const std::size_t part = bytes / pieces.size();
            for (std::size_t i = 0; i < pieces.size(); ++i)
              pieces[i] = {place(2 * part * i),
                           i + 1 != pieces.size() ? part : bytes - part * (pieces.size() - 1)};
          };
          cut(there, [&](std::size_t at) { return all[peer].address + at; });
          cut(here, [&](std::size_t at) -> void* { return source.data() + at; });
          cut(back, [&](std::size_t at) -> void* { return got.data() + at; });
          Completion done{0}, got_done{0};
          auto lists_there = there;
          auto lists_here = here;
          while (conduit->put_pieces(&remote, lists_there.data(), remotes, lists_here.data(), own,
                                     &done, nullptr) == would_block)
            poll_or_yield(both);
          std::fill(lists_there.begin(), lists_there.end(), RemotePiece{0, 0});
          std::fill(lists_here.begin(), lists_here.end(), LocalPiece{nullptr, 0});
          wait_for(done);
          lists_there = there;
          lists_here = back;
          while (conduit->get_pieces(&remote, lists_there.data(), remotes, lists_here.data(), own,
                                     &got_done) == would_block)
            poll_or_yield(both);
          std::fill(lists_there.begin(), lists_there.end(), RemotePiece{0, 0});
          std::fill(lists_here.begin(), lists_here.end(), LocalPiece{nullptr, 0});
          wait_for(got_done);
          EXPECT_EQ(done, 1);
          EXPECT_EQ(got_done, 1);
          for (std::size_t i = 0; i < own; ++i)
            ASSERT_EQ(std::memcmp(back[i].data, here[i].data, here[i].size), 0) << "piece " << i;
        }
        barrier_with_progress();
        // The last round is there, whole.
        const auto others = message_of(peer, 19, 2 * bytes);
        std::vector<unsigned char> sent_bytes, found;
        const auto take = [](std::vector<unsigned char>& to, const unsigned char* from,
                             std::size_t pieces, std::size_t all_bytes) {
          const std::size_t part = all_bytes / pieces;
          for (std::size_t i = 0; i < pieces; ++i) {
            const std::size_t size = i + 1 != pieces ? part : all_bytes - part * (pieces - 1);
            to.insert(to.end(), from + 2 * part * i, from + 2 * part * i + size);
          }
        };
        take(sent_bytes, others.data(), own, bytes);
        take(found, segment, remotes, bytes);
        EXPECT_EQ(found, sent_bytes);
      });
}

TEST_P(OneSidedPromise, AFlushReportsThePutsBeforeIt) {
  if (conduit->flush == nullptr) GTEST_SKIP() << "no flush";
  on_ranks_with_segments(
      2, false,
      [&](const Host& host, const Limits& limits, const std::vector<Published>& all,
          unsigned char* segment) {
        constexpr std::uint32_t puts = 50;
        const std::uint32_t peer = 1 - host.rank;
        std::vector<std::uint64_t> values(puts);
        Completion flushed{0};
        for (std::uint32_t i = 0; i < puts; ++i) {
          values[i] = host.rank * 1000 + i + 1;
          const Remote remote = all[peer].at(peer, 8 * std::size_t{i});
          const bool in_pieces = i % 2 != 0 && limits.max_pieces > 1;
          const auto* half = reinterpret_cast<unsigned char*>(&values[i]) + 4;
          const LocalPiece halves[] = {{&values[i], 4}, {const_cast<unsigned char*>(half), 4}};
          const RemotePiece whole{remote.address, 8};
          while ((in_pieces
                      ? conduit->put_pieces(&remote, &whole, 1, halves, 2, nullptr, nullptr)
                      : conduit->put(&remote, &values[i], 8, nullptr, nullptr)) == would_block)
            poll_or_yield(both);
        }
        while (conduit->flush(peer, &flushed) == would_block) poll_or_yield(both);
        wait_for(flushed);
        EXPECT_EQ(flushed, 1);
        barrier_with_progress();
        for (std::uint32_t i = 0; i < puts; ++i) {
          std::uint64_t word = 0;
          std::memcpy(&word, segment + 8 * std::size_t{i}, sizeof word);
          ASSERT_EQ(word, peer * 1000 + i + 1);
        }
      });
}

// Operations are refused for lack of room, not lost, and never without bound.
TEST_P(OneSidedPromise, ManyAtOnceAllComplete) {
  on_ranks_with_segments(
      2, false,
      [&](const Host& host, const Limits&, const std::vector<Published>& all, unsigned char*) {
        if (host.rank != 0) return;
        constexpr int puts = 3000;
        Completion done{0}, local_done{0};
        std::vector<std::uint64_t> values(puts);
        for (int i = 0; i < puts; ++i) {
          values[i] = std::uint64_t{0x0123456789abcdef} * (i + 1);
          const Remote remote = all[1].at(1, 8 * i);
          while (conduit->put(&remote, &values[i], 8, &done, &local_done) == would_block)
            poll_or_yield(both);
        }
        while (done < puts || local_done < puts) poll_or_yield(both);
        std::vector<std::uint64_t> back(puts);
        Completion got{0};
        const Remote remote = all[1].at(1, 0);
        while (conduit->get(&remote, back.data(), 8 * puts, &got) == would_block)
          poll_or_yield(both);
        wait_for(got);
        EXPECT_EQ(back, values);
        EXPECT_EQ(done, puts);
        EXPECT_EQ(local_done, puts);
      });
}

TEST_P(OneSidedPromise, APeerThatDoesNothingHoldsUpNoOtherRank) {
  if (GetParam().completes_in_order) GTEST_SKIP() << "the provider completes in order";
  on_ranks_with_segments(
      3, false,
      [&](const Host& host, const Limits&, const std::vector<Published>& all,
          unsigned char* segment) {
        constexpr std::uint32_t max = 20000;
        std::vector<std::uint64_t> values(max);
        for (std::uint32_t i = 0; i < max; ++i) values[i] = i + 1;
        Completion to_idle{0}, to_other{0};
        const auto put = [&](std::uint32_t peer, std::uint32_t number, Completion& done) {
          const Remote remote = all[peer].at(peer, 8 * std::size_t{number});
          return conduit->put(&remote, &values[number], 8, &done, nullptr) == sent;
        };
        const auto put_to_other = [&](std::uint32_t number) {
          while (!put(2, number, to_other)) poll_or_yield(both);
          while (to_other != static_cast<int>(number) + 1) poll_or_yield(both);
        };
        // Connections are made while all poll.
        int accepted = 0;
        if (host.rank == 0) {
          while (!put(1, 0, to_idle)) poll_or_yield(both);
          wait_for(to_idle);
          accepted = 1;
          put_to_other(0);
        }
        barrier_with_progress();
        if (host.rank == 0) {
          for (int refused = 0; refused < 1000 && accepted < static_cast<int>(max);) {
            if (put(1, static_cast<std::uint32_t>(accepted), to_idle))
              ++accepted;
            else
              ++refused;
            conduit->poll(both, everything);
          }
          put_to_other(1);
        }
        // Rank 1 polls in no way until it is over.
        if (host.rank == 1)
          barrier();
        else
          barrier_with_progress();
        while (host.rank == 0 && to_idle < accepted) poll_or_yield(both);
        barrier_with_progress();
        std::vector<int> counts(host.size);
        host.exchange(&accepted, sizeof accepted, counts.data());
        std::uint64_t word = 0;
        for (int i = 0; host.rank == 1 && i < counts[0]; ++i) {
          std::memcpy(&word, segment + 8 * i, sizeof word);
          ASSERT_EQ(word, values[i]);
        }
      });
}

/// A type of atomic operations, and bits of it to compute with.
struct Numbers {
  gex_DT_t type;
  std::uint64_t first, operand1, operand2;
};
constexpr Numbers numbers[] = {
    {GEX_DT_I32, 0xfffffff0, 5, 0x7fffffff},
    {GEX_DT_U32, 0xfffffff0, 0x90, 77},
    {GEX_DT_I64, 0xfffffffffffffff0, 0x8000000000000000, 3},
    {GEX_DT_U64, 0x123456789abcdef0, 0xfedcba9876543210, 4},
    {GEX_DT_FLT, 0x40200000, 0x3f800000, 0xc0000000},         // 2.5, 1, -2
    {GEX_DT_DBL, 0x4004000000000000, 0, 0xc000000000000000},  // 2.5, 0, -2
};

TEST_P(OneSidedPromise, AtomicOperationsDoWhatTheProcessorsDo) {
  if (conduit->atomic == nullptr) GTEST_SKIP() << "no atomic operations";
  // Every operation and type that the network offers, on memory of one rank, which may be this one.
  // The memory of this rank, `memory`, is then another's, or its own.
  const auto expect_all = [&](const Remote& remote, unsigned char* memory) {
    for (const Numbers& number : numbers) {
      const std::uint32_t offered = conduit->atomic_operations(number.type);
      EXPECT_EQ(offered & ~atomic::operations_of(number.type), 0U);
      for (gex_OP_t operation = 1; operation <= GEX_OP_GET; operation <<= 1) {
        if ((offered & operation) == 0) continue;
        // A comparison that fails, and one that does not.
        for (const std::uint64_t operand1 : {number.operand1, number.first}) {
          std::memcpy(memory, &number.first, sizeof number.first);
          barrier_with_progress();
          std::uint64_t expected = number.first;
          const std::uint64_t former =
              atomic::apply(number.type, &expected, operation, operand1, number.operand2, 0);
          std::uint64_t result = 0;
          Completion done{0};
          while (conduit->atomic(&remote, number.type, operation, &operand1, &number.operand2,
                                 atomic::fetches(operation) ? &result : nullptr,
                                 &done) == would_block)
            poll_or_yield(both);
          wait_for(done);
          barrier_with_progress();
          EXPECT_EQ(std::memcmp(memory, &expected, atomic::size_of(number.type)), 0)
              << "type " << number.type << ", operation " << operation;
          if (atomic::fetches(operation)) {
            EXPECT_EQ(std::memcmp(&result, &former, atomic::size_of(number.type)), 0)
                << "type " << number.type << ", operation " << operation;
          }
          barrier_with_progress();
        }
      }
    }
  };
  on_ranks_with_segments(2, false,
                         [&](const Host& host, const Limits&, const std::vector<Published>& all,
                             unsigned char* segment) {
                           for (const std::uint32_t rank : {1 - host.rank, host.rank})
                             expect_all(all[rank].at(rank, 64), segment + 64);
                         });
}

TEST_P(OneSidedPromise, NoAtomicOperationIsLost) {
  if (conduit->atomic == nullptr) GTEST_SKIP() << "no atomic operations";
  on_ranks_with_segments(4, false,
                         [&](const Host& host, const Limits&, const std::vector<Published>& all,
                             unsigned char* segment) {
                           if ((conduit->atomic_operations(GEX_DT_U64) & GEX_OP_ADD) == 0) return;
                           constexpr std::uint64_t each = 200;
                           const Remote remote = all[0].at(0, 128);
                           const std::uint64_t added = host.rank + 1;
                           Completion done{0};
                           for (std::uint64_t i = 0; i < each; ++i)
                             while (conduit->atomic(&remote, GEX_DT_U64, GEX_OP_ADD, &added, &added,
                                                    nullptr, &done) == would_block)
                               poll_or_yield(both);
                           while (done.load() != each) poll_or_yield(both);
                           barrier_with_progress();
                           if (host.rank != 0) return;
                           std::uint64_t sum = 0;
                           std::memcpy(&sum, segment + 128, sizeof sum);
                           EXPECT_EQ(sum, each * (1 + 2 + 3 + 4));
                         });
}

}  // namespace
}  // namespace gex::net::test
