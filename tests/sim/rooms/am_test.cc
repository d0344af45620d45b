// Messages below the interface: the library's own, what is sent later, and the lanes of threads.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "am/deferred_send.h"
#include "am/internal.h"
#include "am/limits.h"
#include "am/links.h"
#include "conformance.h"
#include "counted_table.h"
#include "message.h"

namespace gex::am {
namespace {

using conformance::barrier;
using conformance::next;
using conformance::previous;
using conformance::size;

/// Is advanced three times.
struct Counted final : DeferredSend {
  Counted(int& times, bool& is_over) : advanced(times), over(is_over) {}
  ~Counted() override { over = true; }
  bool advance() noexcept override { return ++advanced == 3; }

  int& advanced;
  bool& over;
};

TEST(DeferredSends, AreAdvancedByPollsUntilTheyAreOver) {
  int advanced[2] = {};
  bool over[2] = {};
  for (int i = 0; i < 2; ++i) defer(std::make_unique<Counted>(advanced[i], over[i]));
  EXPECT_EQ(advanced[0] + advanced[1], 0) << "before any poll";
  WAIT_UNTIL(over[0] && over[1]);
  for (int i = 0; i < 10; ++i) gasnet_AMPoll();
  EXPECT_EQ(advanced[0], 3);
  EXPECT_EQ(advanced[1], 3);
}

struct Arguments {
  Wide address;
  Wide target;
};
struct Answer {
  Wide target;
};
void on_request(gex_Token_t, const Arguments&, void*, std::size_t) noexcept {
}
void on_reply(gex_Token_t, const Answer&, void*, std::size_t) noexcept {
}

TEST(InternalMessages, FitOnlyAsTheyWereRegistered) {
  const auto header = [](std::uint8_t handler, bool reply, unsigned args, Category category) {
    return MessageHeader{MessageWhat::make(handler, category, reply, args, Endpoints{}), 0, 0};
  };
  static Internal request("a request of this test");
  static Internal reply("its reply");
  register_request<on_request>(request);
  register_reply<on_reply>(reply);
  EXPECT_TRUE(fits_internal(header(request.handler(), false, 4, Category::medium)));
  EXPECT_FALSE(fits_internal(header(request.handler(), true, 4, Category::medium)));
  EXPECT_FALSE(fits_internal(header(request.handler(), false, 3, Category::medium)));
  EXPECT_FALSE(fits_internal(header(request.handler(), false, 5, Category::medium)));
  EXPECT_FALSE(fits_internal(header(request.handler(), false, 4, Category::long_message)));
  EXPECT_TRUE(fits_internal(header(reply.handler(), true, 2, Category::short_message)));
  EXPECT_FALSE(fits_internal(header(reply.handler(), false, 2, Category::short_message)));
  const auto unregistered = static_cast<std::uint8_t>(reply.handler() + 1);
  EXPECT_FALSE(fits_internal(header(unregistered, false, 0, Category::short_message)));
}

TEST(Limits, AreTheSameBothWaysAndTheJobsTheLeast) {
  std::array<std::size_t, 4> mine{};
  ASSERT_LE(size(), mine.size());
  for (gex_Rank_t peer = 0; peer < size(); ++peer) mine[peer] = max_medium(peer);
  std::size_t least = mine[0];
  const auto of_all = conformance::gather(mine);
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    EXPECT_EQ(of_all[peer][conformance::rank()], mine[peer]) << "to and from rank " << peer;
    for (gex_Rank_t other = 0; other < size(); ++other)
      least = std::min(least, of_all[peer][other]);
  }
  EXPECT_EQ(least_max_medium(), least);
}

std::atomic<std::uint32_t> requests_in{0};
std::atomic<std::uint32_t> replies_in{0};
extern conformance::Handlers handlers;
void receive_request(gex_Token_t token) {
  ++requests_in;
  gex_AM_ReplyShort0(token, handlers[1], 0);
}
void receive_payload(gex_Token_t, void*, std::size_t) {
  ++requests_in;
}
void receive_reply(gex_Token_t) {
  ++replies_in;
}
conformance::Handlers handlers({
    conformance::entry(receive_request, conformance::short_request, 0, "rooms: request"),
    conformance::entry(receive_reply, conformance::short_reply, 0, "rooms: reply"),
    conformance::entry(receive_payload, conformance::medium_request, 0, "rooms: payload"),
});

/// A request whose payload is built in the library's memory.
void send_prepared(std::size_t bytes) {
  gex_AM_SrcDesc_t const sd = gex_AM_PrepareRequestMedium(conformance::team(), next(), nullptr,
                                                          bytes, bytes, nullptr, 0, 0);
  std::memset(gex_AM_SrcDescAddr(sd), 0, bytes);
  gex_AM_CommitRequestMedium0(sd, handlers[2], bytes);
}

// A message looks up once where it goes: the express way hands on what it has found, and Prepare
// keeps it for Commit.
TEST(Requests, ReadTheTableOfLinksOnce) {
#if defined(__x86_64__)
  requests_in = replies_in = 0;
  links().own_lane();
  barrier();
  int reads[4] = {};
  if (conformance::rank() == 0) {
    ThreadRecord& thread = this_thread();
    Link* const* const table = LinksSlot::of(thread);
    CountedTable<Link*> counted(table, size());
    LinksSlot::set(thread, counted.data());
    gex_AM_RequestShort0(conformance::team(), next(), handlers[0], 0);
    reads[0] = counted.reads();
    gex_AM_RequestMedium0(conformance::team(), next(), handlers[2], &reads, sizeof reads,
                          GEX_EVENT_NOW, 0);
    reads[1] = counted.reads() - reads[0];
    send_prepared(8);
    reads[2] = counted.reads() - reads[0] - reads[1];
    send_prepared(2000);
    reads[3] = counted.reads() - reads[0] - reads[1] - reads[2];
    LinksSlot::set(thread, table);
    EXPECT_EQ(reads[0], 1) << "of a short request";
    EXPECT_EQ(reads[1], 1) << "of a medium request";
    EXPECT_EQ(reads[2], 1) << "of a small prepared request";
    EXPECT_EQ(reads[3], 1) << "of a large prepared request";
    WAIT_UNTIL(replies_in == 1);
  }
  if (conformance::rank() == 1) WAIT_UNTIL(requests_in == 4);
  barrier();
#else
  GTEST_SKIP() << "only on x86-64 a program can run one instruction and stop";
#endif
}

// Ranks of one neighborhood (CMakeLists.txt).
TEST(ThreadLanes, AreOpenedTowardsThePeerByTheFirstRequest) {
  requests_in = replies_in = 0;
  barrier();
  const std::uint32_t own = links().own_lane().number;
  std::uint32_t others = own;
  std::thread([&] {
    others = links().own_lane().number;
    gex_AM_RequestShort0(conformance::team(), next(), handlers[0], 0);
    WAIT_UNTIL(replies_in == 1);
  }).join();
  EXPECT_NE(others, own) << "threads share a lane while others are free";
  // The request has come in a lane that is polled from then on.
  WAIT_UNTIL(requests_in == 1);
  const std::uint32_t of_previous = conformance::gather(others)[previous()];
  EXPECT_NE(links().polled_lanes() & 1U << of_previous, 0U);
  EXPECT_NE(links().polled_lanes() & 1U << others, 0U) << "where its reply came";
}

}  // namespace
}  // namespace gex::am
