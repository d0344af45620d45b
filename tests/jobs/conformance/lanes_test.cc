// Threads of a process that each have a lane of their own: rings to other processes of the host, of
// which there may be fewer than threads.

#include <array>
#include <thread>

#include "conformance.h"
#include "message.h"

namespace conformance::lanes_test {
namespace {

constexpr std::size_t max_threads = 20;  ///< more than there are lanes

std::array<Count, max_threads> requests_of;
std::array<Count, max_threads> replies_of;

extern Handlers handlers;
enum HandlerIndex { request_in, reply_in, silent_in };

void receive_request(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t thread) {
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(thread), bytes), bytes);
  gex_AM_ReplyMedium1(token, handlers[reply_in], payload, bytes, GEX_EVENT_NOW, 0, thread);
  ++requests_of[static_cast<std::size_t>(thread)];
}
void receive_reply(gex_Token_t, void* payload, std::size_t bytes, gex_AM_Arg_t thread) {
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(thread), bytes), bytes);
  ++replies_of[static_cast<std::size_t>(thread)];
}
void receive_silently(gex_Token_t, gex_AM_Arg_t thread) {
  ++requests_of[static_cast<std::size_t>(thread)];
}

Handlers handlers({
    entry(receive_request, medium_request, 1, "lanes: request"),
    entry(receive_reply, medium_reply, 1, "lanes: reply"),
    entry(receive_silently, short_request, 1, "lanes: without a reply"),
});

void reset_counts() {
  for (Count& count : requests_of) count.reset();
  for (Count& count : replies_of) count.reset();
  barrier();
}

/// In the cell, in its slot, in a slab of either class.
constexpr std::array<std::size_t, 4> sizes{16, 200, 3000, 20000};

// A thread that sends and then only waits shares its lane with no thread that polls it.
TEST_IN_PAR(Lanes, AnotherThreadPollsForOneThatDoesNot) {
  reset_counts();
  constexpr long each = 50;
  std::vector<std::thread> senders;
  senders.reserve(3);
  for (gex_AM_Arg_t t = 0; t < 3; ++t) {
    senders.emplace_back([t] {
      for (long i = 0; i < each; ++i) {
        const std::size_t bytes =
            fitting_medium(sizes[static_cast<std::size_t>(i) % sizes.size()], 1);
        const auto source = payload_of(bytes, static_cast<std::uint32_t>(t));
        gex_AM_RequestMedium1(team(), next(), handlers[request_in], source.data(), bytes,
                              GEX_EVENT_NOW, 0, t);
      }
      while (replies_of[static_cast<std::size_t>(t)].get() < each) std::this_thread::yield();
    });
  }
  WAIT_UNTIL(replies_of[0].get() == each && replies_of[1].get() == each &&
             replies_of[2].get() == each);
  for (std::thread& sender : senders) sender.join();
  barrier();
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(requests_of[t].get(), each);
}

// More threads than lanes: they share some.
TEST_IN_PAR(Lanes, MoreThreadsThanLanes) {
  reset_counts();
  constexpr long each = 40;
  std::vector<std::thread> workers;
  for (std::size_t t = 0; t < max_threads; ++t) {
    workers.emplace_back([t] {
      for (long i = 0; i < each; ++i) {
        const std::size_t bytes =
            fitting_medium(sizes[static_cast<std::size_t>(i) % sizes.size()], 1);
        const auto source = payload_of(bytes, static_cast<std::uint32_t>(t));
        gex_AM_RequestMedium1(team(), next(), handlers[request_in], source.data(), bytes,
                              GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(t));
      }
      WAIT_UNTIL(replies_of[t].get() == each);
    });
  }
  for (std::thread& worker : workers) worker.join();
  barrier();
  for (Count& count : requests_of) EXPECT_EQ(count.get(), each);
}

// A rank with one thread takes what comes in all lanes, and sends in its own meanwhile.
TEST_IN_PAR(Lanes, OneThreadReceivesFromMany) {
  reset_counts();
  constexpr long each = 400;  // more than fit in a ring
  const auto flood = [](gex_AM_Arg_t thread) {
    for (long i = 0; i < each; ++i) gex_AM_RequestShort1(team(), 0, handlers[silent_in], 0, thread);
  };
  if (rank() != 0) {
    std::vector<std::thread> workers;
    for (gex_AM_Arg_t t = 1; t < 6; ++t) workers.emplace_back(flood, t);
    for (std::thread& worker : workers) worker.join();
  } else {
    for (std::size_t t = 1; t < 6; ++t)
      WAIT_UNTIL(requests_of[t].get() == each * (static_cast<long>(size()) - 1));
  }
  barrier();
}

// Neither a refused request nor one that opens a lane waits.
TEST_IN_PAR(Lanes, FirstRequestOfAThreadMayBeImmediate) {
  reset_counts();
  std::vector<std::thread> workers;
  workers.reserve(8);
  for (gex_AM_Arg_t t = 0; t < 8; ++t) {
    workers.emplace_back([t] {
      bool sent = false;
      WAIT_UNTIL(sent || (sent = gex_AM_RequestShort1(team(), next(), handlers[silent_in],
                                                      GEX_FLAG_IMMEDIATE, t) == 0));
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (std::size_t t = 0; t < 8; ++t) WAIT_UNTIL(requests_of[t].get() == 1);
  barrier();
}

// What is prepared by a thread goes in its lane, or is cancelled there.
TEST_IN_PAR(Lanes, PrepareAndCancelInManyThreads) {
  reset_counts();
  std::vector<std::thread> workers;
  constexpr long each = 60;
  for (std::size_t t = 0; t < 5; ++t) {
    workers.emplace_back([t] {
      const std::size_t bytes = fitting_medium(3000, 1);
      for (long i = 0; i < each; ++i) {
        gex_AM_SrcDesc_t sd =
            gex_AM_PrepareRequestMedium(team(), next(), nullptr, bytes, bytes, nullptr, 0, 1);
        fill(gex_AM_SrcDescAddr(sd), static_cast<std::uint32_t>(t), bytes);
        if (i % 3 == 0)
          gex_AM_CancelRequestMedium(sd, 0);
        else
          gex_AM_CommitRequestMedium1(sd, handlers[request_in], bytes,
                                      static_cast<gex_AM_Arg_t>(t));
      }
      WAIT_UNTIL(replies_of[t].get() == each / 3 * 2);
    });
  }
  for (std::thread& worker : workers) worker.join();
  barrier();
}

}  // namespace
}  // namespace conformance::lanes_test
