// Threads at one endpoint: all at once in PAR, one at a time in PARSYNC, the only one in SEQ. Every
// message is counted, by its sender's number, once.

#include <pthread.h>

#include <array>
#include <mutex>
#include <thread>

#include "conformance.h"
#include "message.h"

namespace conformance::am_threads_test {
namespace {

constexpr int threads = 4;      ///< where the mode has threads
constexpr long messages = 600;  ///< of each thread and kind

std::array<Count, threads> requests_of;
std::array<Count, threads> replies_of;
std::array<std::array<Count, messages>, threads> times_seen;

extern Handlers handlers;
enum HandlerIndex { short_in, medium_in, long_in, reply_in, medium_reply_in };

void receive_short(gex_Token_t token, gex_AM_Arg_t thread, gex_AM_Arg_t number) {
  ++times_seen[static_cast<std::size_t>(thread)][static_cast<std::size_t>(number)];
  gex_AM_ReplyShort2(token, handlers[reply_in], 0, thread, number);
  ++requests_of[static_cast<std::size_t>(thread)];
}
void receive_medium(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t thread,
                    gex_AM_Arg_t number) {
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(thread * 1000 + number), bytes),
            bytes);
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, nullptr, bytes, bytes, nullptr, 0, 2);
  std::memcpy(gex_AM_SrcDescAddr(sd), payload, bytes);
  gex_AM_CommitReplyMedium2(sd, handlers[medium_reply_in], bytes, thread, number);
  ++requests_of[static_cast<std::size_t>(thread)];
}
void receive_long(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t thread,
                  gex_AM_Arg_t number) {
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(thread * 1000 + number), bytes),
            bytes);
  gex_AM_ReplyShort2(token, handlers[reply_in], 0, thread, number);
  ++requests_of[static_cast<std::size_t>(thread)];
}
void receive_reply(gex_Token_t, gex_AM_Arg_t thread, gex_AM_Arg_t) {
  ++replies_of[static_cast<std::size_t>(thread)];
}
void receive_medium_reply(gex_Token_t, void* payload, std::size_t bytes, gex_AM_Arg_t thread,
                          gex_AM_Arg_t number) {
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(thread * 1000 + number), bytes),
            bytes);
  ++replies_of[static_cast<std::size_t>(thread)];
}

Handlers handlers({
    entry(receive_short, short_request, 2, "threads: short"),
    entry(receive_medium, medium_request, 2, "threads: medium"),
    entry(receive_long, long_request, 2, "threads: long"),
    entry(receive_reply, short_reply, 2, "threads: reply"),
    entry(receive_medium_reply, medium_reply, 2, "threads: medium reply"),
});

/// PARSYNC: one thread in the library at a time; handlers run inside, so under the lock too.
std::mutex library;
std::unique_lock<std::mutex> lock_library() {
  std::unique_lock<std::mutex> lock(library, std::defer_lock);
  if (mode == Mode::parsync) lock.lock();
  return lock;
}

/// Sends this thread's share, polling in between; then polls until all of it is answered.
void work(int self, gex_AM_Arg_t kinds) {
  const auto me = static_cast<gex_AM_Arg_t>(self);
  const auto thread = static_cast<std::size_t>(self);
  long expected = 0;
  for (gex_AM_Arg_t number = 0; number < messages; ++number) {
    const auto in_turn = lock_library();
    if ((kinds & 1) != 0) {
      gex_AM_RequestShort2(team(), next(), handlers[short_in], 0, me, number);
      ++expected;
    }
    if ((kinds & 2) != 0) {
      const auto seed = static_cast<std::uint32_t>(me * 1000 + number);
      const std::size_t bytes = 1 + static_cast<std::size_t>(number) * 7 % 600;
      if (number % 2 == 0) {
        gex_AM_SrcDesc_t sd =
            gex_AM_PrepareRequestMedium(team(), next(), nullptr, bytes, bytes, nullptr, 0, 2);
        fill(gex_AM_SrcDescAddr(sd), seed, bytes);
        gex_AM_CommitRequestMedium2(sd, handlers[medium_in], bytes, me, number);
      } else {
        const std::vector<std::uint8_t> source = payload_of(bytes, seed);
        gex_AM_RequestMedium2(team(), next(), handlers[medium_in], source.data(), bytes,
                              GEX_EVENT_NOW, 0, me, number);
      }
      ++expected;
    }
    if ((kinds & 4) != 0) {
      // Each at a place of its own: any number of them may be on the way.
      constexpr std::size_t bytes = 900;
      static_assert(threads * messages * bytes <= segment_bytes);
      const std::vector<std::uint8_t> source =
          payload_of(bytes, static_cast<std::uint32_t>(me * 1000 + number));
      const std::size_t place = thread * messages + static_cast<std::size_t>(number);
      gex_AM_RequestLong2(team(), next(), handlers[long_in], source.data(), bytes,
                          segment_of(next()) + place * bytes, GEX_EVENT_NOW, 0, me, number);
      ++expected;
    }
    if (number % 8 == 0) gasnet_AMPoll();
  }
  const Patience patience;
  while (replies_of[thread].get() < expected) {
    if (patience.over()) give_up("all replies to a thread", __FILE__, __LINE__);
    const auto in_turn = lock_library();
    gasnet_AMPoll();
  }
  EXPECT_EQ(replies_of[thread].get(), expected);
}

void run_threads(gex_AM_Arg_t kinds) {
  for (int t = 0; t < threads; ++t) {
    const auto thread = static_cast<std::size_t>(t);
    requests_of[thread].reset();
    replies_of[thread].reset();
    for (Count& count : times_seen[thread]) count.reset();
  }
  barrier();
  const int working = mode == Mode::seq ? 1 : threads;
  if (mode == Mode::seq) {
    work(0, kinds);
  } else {
    std::vector<std::thread> workers;
    for (int t = 0; t < working; ++t) workers.emplace_back(work, t, kinds);
    for (std::thread& worker : workers) worker.join();
  }
  barrier();
  const long expected = messages * ((kinds & 1) + (kinds >> 1 & 1) + (kinds >> 2 & 1));
  for (std::size_t thread = 0; thread < static_cast<std::size_t>(working); ++thread) {
    EXPECT_EQ(requests_of[thread].get(), expected);
    EXPECT_EQ(replies_of[thread].get(), expected);
    if ((kinds & 1) == 0) continue;
    for (const Count& count : times_seen[thread]) EXPECT_EQ(count.get(), 1);
  }
}

TEST(Threads, HammerOneEndpointWithShorts) {
  run_threads(1);
}
TEST(Threads, HammerOneEndpointWithMediums) {
  run_threads(2);
}
TEST(Threads, HammerOneEndpointWithLongs) {
  run_threads(4);
}
TEST(Threads, HammerOneEndpointWithEverything) {
  run_threads(7);
}

// Descriptors belong to threads: each holds its own, all at once.
TEST_WITH_THREADS(Threads, EachHoldsADescriptor) {
  for (Count& count : requests_of) count.reset();
  for (Count& count : replies_of) count.reset();
  barrier();
  std::array<gex_AM_SrcDesc_t, threads> descriptors{};
  std::array<Count, 2> phase;
  std::vector<std::thread> workers;
  for (int t = 0; t < threads; ++t) {
    workers.emplace_back([t, &descriptors, &phase] {
      const auto thread = static_cast<std::size_t>(t);
      const std::size_t bytes = 300 + thread;
      gex_AM_SrcDesc_t sd = GEX_AM_SRCDESC_NO_OP;
      {
        const auto in_turn = lock_library();
        sd = gex_AM_PrepareRequestMedium(team(), next(), nullptr, bytes, bytes, nullptr, 0, 2);
      }
      descriptors[thread] = sd;
      ++phase[0];
      while (phase[0].get() < threads) std::this_thread::yield();
      fill(gex_AM_SrcDescAddr(sd), static_cast<std::uint32_t>(t * 1000), bytes);
      ++phase[1];
      while (phase[1].get() < threads) std::this_thread::yield();
      EXPECT_EQ(
          first_difference(gex_AM_SrcDescAddr(sd), static_cast<std::uint32_t>(t * 1000), bytes),
          bytes)
          << "two threads were given one buffer";
      const auto in_turn = lock_library();
      gex_AM_CommitRequestMedium2(sd, handlers[medium_in], bytes, t, 0);
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (std::size_t a = 0; a < threads; ++a) {
    for (std::size_t b = a + 1; b < threads; ++b) EXPECT_NE(descriptors[a], descriptors[b]);
  }
  for (std::size_t thread = 0; thread < threads; ++thread) {
    WAIT_UNTIL(requests_of[thread].get() == 1 && replies_of[thread].get() == 1);
  }
}

// Threads come and go; what they sent arrives.
TEST_WITH_THREADS(Threads, ShortLivedThreads) {
  for (Count& count : requests_of) count.reset();
  for (Count& count : replies_of) count.reset();
  for (Count& count : times_seen[0]) count.reset();
  barrier();
  constexpr gex_AM_Arg_t lives = 300;
  for (gex_AM_Arg_t number = 0; number < lives; ++number) {
    std::thread([number] {
      gex_AM_RequestShort2(team(), next(), handlers[short_in], 0, 0, number);
    }).join();
  }
  WAIT_UNTIL(requests_of[0].get() == lives && replies_of[0].get() == lives);
  barrier();
  for (std::size_t number = 0; number < lives; ++number) {
    EXPECT_EQ(times_seen[0][number].get(), 1);
  }
}

// A thread that ends may call from the destructor of a key that was made after the library's, while
// another thread begins.
TEST_WITH_THREADS(Threads, MayCallWhileTheyEnd) {
  struct Ending {
    Count other_began;
    Count ended;
    std::uint64_t value = 0;
    void call() {
      std::thread other([this] {
        gex_NBI_BeginAccessRegion(0);
        ++other_began;
        while (ended.get() == 0) std::this_thread::yield();
        gex_Event_Wait(gex_NBI_EndAccessRegion(0));
      });
      while (other_began.get() == 0) std::this_thread::yield();
      value = rank() + 1;
      gex_NBI_BeginAccessRegion(0);
      gex_RMA_PutNBI(team(), rank(), own_segment(), &value, sizeof value, GEX_EVENT_DEFER, 0);
      gex_Event_Wait(gex_NBI_EndAccessRegion(0));
      ++ended;
      other.join();
    }
  };
  pthread_key_t key;
  ASSERT_EQ(pthread_key_create(&key, [](void* ending) { static_cast<Ending*>(ending)->call(); }),
            0);
  barrier();
  for (int life = 0; life < 20; ++life) {
    Ending ending;
    std::thread([key, &ending] {
      gasnet_AMPoll();
      pthread_setspecific(key, &ending);
    }).join();
    EXPECT_EQ(ending.ended.get(), 1);
    std::uint64_t found = 0;
    std::memcpy(&found, own_segment(), sizeof found);
    EXPECT_EQ(found, rank() + 1U);
    std::memset(own_segment(), 0, sizeof found);
  }
  pthread_key_delete(key);
  barrier();
}

}  // namespace
}  // namespace conformance::am_threads_test
