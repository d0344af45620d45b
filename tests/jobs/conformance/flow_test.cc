// Flow control: floods, thousands of outstanding requests, ranks that do not poll.

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "conformance.h"
#include "message.h"
#include "shared_file.h"
#include "transfer.h"

namespace conformance::flow_test {
namespace {

Count seen;
Count replies_seen;
Count from_sleeper;
Count done_ranks;
/// Handlers running on the one thread of these tests.
int requests_running = 0;
int replies_running = 0;

extern Handlers handlers;
enum HandlerIndex {
  ping_in,
  pong_in,
  data_in,
  data_back_in,
  fetch_in,
  fetched_in,
  done_in,
  echo_in
};

/// No request handler runs above any handler, no reply handler above a reply handler.
class Running {
 public:
  explicit Running(bool request) : count_(request ? requests_running : replies_running) {
    EXPECT_EQ(replies_running, 0);
    if (request) {
      EXPECT_EQ(requests_running, 0);
    }
    ++count_;
  }
  ~Running() { --count_; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  int& count_;
};

void ping(gex_Token_t token, gex_AM_Arg_t value) {
  const Running running(true);
  gex_AM_ReplyShort1(token, handlers[pong_in], 0, value + 1);
  ++seen;
}
/// The number of the last numbered ping that was answered; pings that only flood have -1.
gex_AM_Arg_t last_pong;
void pong(gex_Token_t, gex_AM_Arg_t value) {
  const Running running(false);
  if (value > 0) last_pong = value;
  ++replies_seen;
}

void data(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t seed) {
  const Running running(true);
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(seed), bytes), bytes);
  gex_AM_ReplyMedium1(token, handlers[data_back_in], payload, bytes, GEX_EVENT_NOW, 0, seed);
  ++seen;
}
Count data_seen;
void data_back(gex_Token_t, void* payload, std::size_t bytes, gex_AM_Arg_t seed) {
  const Running running(false);
  ++data_seen;
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(seed), bytes), bytes);
  ++replies_seen;
}

std::vector<std::uint8_t> large;
void fetch(gex_Token_t token, gex_AM_Arg_t announced) {
  const Running running(true);
  gex_AM_ReplyMedium1(token, handlers[fetched_in], large.data(),
                      static_cast<std::size_t>(announced), GEX_EVENT_NOW, 0, announced);
  ++from_sleeper;
}
void fetched(gex_Token_t, void* payload, std::size_t bytes, gex_AM_Arg_t announced) {
  const Running running(false);
  EXPECT_EQ(bytes, static_cast<std::size_t>(announced));
  EXPECT_EQ(first_difference(payload, 6, bytes), bytes);
  ++replies_seen;
}
void done(gex_Token_t) {
  ++done_ranks;
}

/// Long requests and their long replies, whose landing place no rank reads.
void echo(gex_Token_t token, void* payload, std::size_t bytes) {
  if (is_request(token)) {
    const Running running(true);
    gex_AM_ReplyLong0(token, handlers[echo_in], payload, bytes,
                      segment_of(info_of(token).gex_srcrank) + segment_bytes / 2, GEX_EVENT_NOW, 0);
    ++seen;
  } else {
    const Running running(false);
    ++replies_seen;
  }
}

Handlers handlers({
    entry(ping, short_request, 1, "flow: ping"),
    entry(pong, short_reply, 1, "flow: pong"),
    entry(data, medium_request, 1, "flow: data"),
    entry(data_back, medium_reply, 1, "flow: data back"),
    entry(fetch, short_request, 1, "flow: fetch"),
    entry(fetched, medium_reply, 1, "flow: fetched"),
    entry(done, short_request, 0, "flow: done"),
    entry(echo, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQREP, 0, "flow: echo"),
});

class Flow : public testing::Test {
 protected:
  void SetUp() override {
    seen.reset();
    replies_seen.reset();
    from_sleeper.reset();
    done_ranks.reset();
    large = payload_of(65536, 6);
    barrier();
  }
  /// Every rank sent and received as many.
  void finish(long requests) {
    WAIT_UNTIL(seen.get() == requests && replies_seen.get() == requests);
    barrier();
    EXPECT_EQ(seen.get(), requests);
    EXPECT_EQ(replies_seen.get(), requests);
  }
};

TEST_F(Flow, ThousandsOfOutstandingRequests) {
  constexpr long messages = 4000;
  for (long i = 0; i < messages; ++i) {
    gex_AM_RequestShort1(team(), next(), handlers[ping_in], 0, static_cast<gex_AM_Arg_t>(i));
  }
  finish(messages);
}

TEST_F(Flow, AllRanksFloodAllRanks) {
  const long each = 2000 / static_cast<long>(size());
  for (long i = 0; i < each; ++i) {
    for (gex_Rank_t peer = 0; peer < size(); ++peer) {
      gex_AM_RequestShort1(team(), peer, handlers[ping_in], 0, 0);
    }
  }
  finish(each * static_cast<long>(size()));
}

TEST_F(Flow, AllRanksFloodOne) {
  constexpr long messages = 500;
  for (long i = 0; i < messages; ++i) gex_AM_RequestShort1(team(), 0, handlers[ping_in], 0, 0);
  WAIT_UNTIL(replies_seen.get() == messages);
  barrier();
  EXPECT_EQ(seen.get(), rank() == 0 ? messages * static_cast<long>(size()) : 0);
}

TEST_F(Flow, RanksFloodEachOtherWithAnsweredPayload) {
  long sent = 0;
  for (const std::size_t wanted : {8, 100, 300, 5000, 65536}) {
    const std::size_t bytes = std::min(fitting_medium(wanted, 1),
                                       gex_AM_MaxReplyMedium(team(), next(), GEX_EVENT_NOW, 0, 1));
    const std::vector<std::uint8_t> source = payload_of(bytes, 4);
    for (int i = 0; i < (wanted > 10000 ? 100 : 500); ++i) {
      gex_AM_RequestMedium1(team(), next(), handlers[data_in], source.data(), bytes, GEX_EVENT_NOW,
                            0, 4);
      ++sent;
    }
  }
  finish(sent);
}

TEST_F(Flow, RanksFloodEachOtherWithAnsweredLongs) {
  constexpr long messages = 500;
  const std::vector<std::uint8_t> source(fitting_long(3000, 0));
  for (long i = 0; i < messages; ++i) {
    gex_AM_RequestLong0(team(), next(), handlers[echo_in], source.data(), source.size(),
                        segment_of(next()), GEX_EVENT_NOW, 0);
  }
  finish(messages);
}

TEST_F(Flow, SelfFlood) {
  constexpr long messages = 3000;
  const std::vector<std::uint8_t> source = payload_of(2000, 4);
  for (long i = 0; i < messages; i += 3) {
    gex_AM_RequestShort1(team(), rank(), handlers[ping_in], 0, 0);
    gex_AM_RequestMedium1(team(), rank(), handlers[data_in], source.data(), source.size(),
                          GEX_EVENT_NOW, 0, 4);
    gex_AM_RequestLong0(team(), rank(), handlers[echo_in], source.data(), source.size(),
                        own_segment(), GEX_EVENT_NOW, 0);
  }
  finish(messages);
}

/// Does not poll until the marker is there: a file, since any message would have to be polled for.
class Marker {
 public:
  Marker() : path_(shared_path(std::to_string(generation_++))) {}
  void set() const {
    const int file = open(path_.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ASSERT_GE(file, 0) << path_;
    close(file);
  }
  /// False when the marker never came.
  bool sleep_until_set() const {
    const Patience patience;
    while (access(path_.c_str(), F_OK) != 0) {
      if (patience.over()) return false;
      usleep(2000);
    }
    unlink(path_.c_str());
    return true;
  }

 private:
  static inline int generation_ = 0;
  std::string path_;
};

// Where no poll is made but by what is sent: a sender that always finds room would otherwise leave
// what has arrived where it is, and its peers would run out of room.
TEST_F(Flow, SenderWithRoomHandlesWhatHasArrived) {
  const Marker out_of_barrier;
  const Marker sent;
  barrier();
  // Less than the window of a pair of ranks, in which the sender finds room without a poll.
  constexpr long unanswered = 64;
  constexpr long arrived = 8;
  const bool apply = size() > 1 && in_neighborhood(rank() == 0 ? 1 : 0);
  const long expected = !apply ? 0 : rank() == 0 ? arrived : rank() == 1 ? unanswered : 0;
  if (apply && rank() == 1) {
    ASSERT_TRUE(out_of_barrier.sleep_until_set());
    for (long i = 0; i < arrived; ++i) gex_AM_RequestShort0(team(), 0, handlers[done_in], 0);
    sent.set();
  } else if (apply && rank() == 0) {
    out_of_barrier.set();
    ASSERT_TRUE(sent.sleep_until_set());
    EXPECT_EQ(done_ranks.get(), 0);
    for (long i = 0; i < unanswered; ++i) gex_AM_RequestShort0(team(), 1, handlers[done_in], 0);
    EXPECT_EQ(done_ranks.get(), arrived);
  }
  WAIT_UNTIL(done_ranks.get() == expected);
  barrier();
}

/// The last rank sleeps; with one rank there is no other rank, and it only wakes up again.
class Inattentive : public Flow {
 protected:
  static gex_Rank_t sleeper() { return size() - 1; }
  static bool asleep() { return rank() == sleeper(); }
  /// Ring of the ranks that are awake.
  static gex_Rank_t next_awake() { return (rank() + 1) % (size() - 1); }

  /// The ranks that are awake work with each other, and then wake the sleeper.
  void work_awake(const Marker& marker) {
    constexpr int round_trips = 200;
    const std::vector<std::uint8_t> source = payload_of(fitting_medium(3000, 1), 4);
    for (int i = 0; i < round_trips; ++i) {
      last_pong = 0;
      data_seen.reset();
      gex_AM_RequestShort1(team(), next_awake(), handlers[ping_in], 0, i);
      WAIT_UNTIL(last_pong == i + 1);
      gex_AM_RequestMedium1(team(), next_awake(), handlers[data_in], source.data(), source.size(),
                            GEX_EVENT_NOW, 0, 4);
      WAIT_UNTIL(data_seen.get() == 1);
    }
    gex_AM_RequestShort0(team(), 0, handlers[done_in], 0);
    if (rank() == 0) {
      WAIT_UNTIL(done_ranks.get() == static_cast<long>(size()) - 1);
      marker.set();
    }
  }
};

// The others send the sleeper answered requests until they are refused, and carry on.
TEST_F(Inattentive, TargetStallsNoOtherRank) {
  const Marker marker;
  barrier();
  long accepted = 0;
  if (asleep()) {
    if (size() == 1) marker.set();
    EXPECT_TRUE(marker.sleep_until_set()) << "ranks waited for one that does not poll";
  } else {
    while (accepted < 1000000 && gex_AM_RequestShort1(team(), sleeper(), handlers[ping_in],
                                                      GEX_FLAG_IMMEDIATE, -1) == 0) {
      ++accepted;
    }
    EXPECT_LT(accepted, 1000000);
    work_awake(marker);
  }
  const std::vector<long> all = gather(accepted);
  const long trips = asleep() ? 0 : 400;
  WAIT_UNTIL(replies_seen.get() == trips + accepted);
  barrier();
  EXPECT_EQ(replies_seen.get(), trips + accepted);
  if (asleep()) {
    long expected = 0;
    for (const long one : all) expected += one;
    EXPECT_EQ(seen.get(), expected);
  }
}

// The sleeper asked for large replies before it fell asleep: its servers must not wait for it.
TEST_F(Inattentive, RequesterOfLargeRepliesStallsNoRank) {
  const Marker marker;
  barrier();
  long accepted = 0;
  const gex_Rank_t servers = size() - 1;
  if (asleep()) {
    for (gex_Rank_t server = 0; server < servers; ++server) {
      const auto bytes = static_cast<gex_AM_Arg_t>(std::min<std::size_t>(
          large.size(), gex_AM_MaxReplyMedium(team(), server, GEX_EVENT_NOW, 0, 1)));
      // At least one to each; then as many as there is room for.
      gex_AM_RequestShort1(team(), server, handlers[fetch_in], 0, bytes);
      ++accepted;
      for (int i = 0; i < 200; ++i) {
        if (gex_AM_RequestShort1(team(), server, handlers[fetch_in], GEX_FLAG_IMMEDIATE, bytes) !=
            0) {
          break;
        }
        ++accepted;
      }
    }
    if (size() == 1) marker.set();
    EXPECT_TRUE(marker.sleep_until_set()) << "a server waited for its requester";
  } else {
    WAIT_UNTIL(from_sleeper.get() >= 1);
    work_awake(marker);
  }
  const long trips = asleep() ? 0 : 400;
  WAIT_UNTIL(replies_seen.get() == trips + accepted);
  barrier();
  EXPECT_EQ(replies_seen.get(), trips + accepted);
}

// One rank is blocked on the sleeper; it still serves the others while it waits.
TEST_F(Inattentive, BlockedSenderServesOthers) {
  const Marker marker;
  barrier();
  constexpr long flood = 20000;
  const bool blocked = size() > 2 && rank() == 1;
  if (asleep()) {
    if (size() == 1) marker.set();
    // Rank 1 stays out of the ring of those who report; the others reach it all the same.
    EXPECT_TRUE(marker.sleep_until_set()) << "a rank blocked on the sleeper served no rank";
  } else if (blocked) {
    for (long i = 0; i < flood; ++i) {
      gex_AM_RequestShort1(team(), sleeper(), handlers[ping_in], 0, -1);
    }
  } else {
    const gex_Rank_t server = size() > 2 ? 1 : 0;
    for (int i = 0; i < 200; ++i) {
      last_pong = 0;
      gex_AM_RequestShort1(team(), server, handlers[ping_in], 0, i);
      WAIT_UNTIL(last_pong == i + 1);
    }
    gex_AM_RequestShort0(team(), 0, handlers[done_in], 0);
    if (rank() == 0) {
      WAIT_UNTIL(done_ranks.get() == static_cast<long>(size()) - (size() > 2 ? 2 : 1));
      marker.set();
    }
  }
  const long sent = asleep() ? 0 : blocked ? flood : 200;
  WAIT_UNTIL(replies_seen.get() == sent);
  barrier();
  EXPECT_EQ(replies_seen.get(), sent);
}

}  // namespace
}  // namespace conformance::flow_test
