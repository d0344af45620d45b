// Created endpoints: active messages, atomics and non-contiguous transfers with them.

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "endpoints.h"
#include "message.h"
#include "transfer.h"

namespace conformance::endpoint_traffic_test {
namespace {

// The indices are alike at every endpoint, but each endpoint's functions are its own.
enum Index : gex_AM_Index_t {
  short_request = 140,
  medium_request,
  long_request,
  prepared_request,
  short_reply,
  medium_reply,
  long_reply,
  completion
};

/// Messages of each kind that have come back, by the endpoint that received the answer.
struct Counts {
  std::atomic<int> short_replies{0};
  std::atomic<int> medium_replies{0};
  std::atomic<int> long_replies{0};
  std::atomic<int> completions{0};
};
std::array<Counts, every_source.size()> counts;
Counts& counts_at(From from) {
  return counts[static_cast<std::size_t>(from)];
}

/// Where the answer to a long request goes, from the start of a segment.
constexpr std::size_t answer_offset = 160'000;
constexpr std::size_t longest = 140'000;

template <From at>
void expect_delivery(gex_Token_t token, gex_AM_Index_t index, bool is_long) {
  gex_Token_Info_t info{};
  gex_Token_Info(token, &info, GEX_TI_ALL);
  EXPECT_EQ(info.gex_ep, ends(at).endpoint) << name(at);
  EXPECT_EQ(info.gex_entry->gex_index, index);
  EXPECT_EQ(info.gex_entry->gex_cdata, &counts_at(at)) << "another endpoint's table";
  EXPECT_EQ(info.gex_is_long != 0, is_long);
}

/// The requester's endpoint, which a request names.
const Ends& requester(gex_AM_Arg_t kind) {
  return ends(static_cast<From>(kind));
}
gex_Rank_t source_of(gex_Token_t token) {
  gex_Token_Info_t info{};
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return info.gex_srcrank;
}

template <From at>
struct At {
  static void on_short(gex_Token_t token, gex_AM_Arg_t seed) {
    expect_delivery<at>(token, short_request, false);
    gex_AM_ReplyShort(token, short_reply, 0, seed + 1);
  }
  static void on_medium(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t seed) {
    expect_delivery<at>(token, medium_request, false);
    EXPECT_TRUE(holds(payload, static_cast<std::uint64_t>(seed), bytes));
    gex_AM_ReplyMedium(token, medium_reply, payload, bytes, GEX_EVENT_NOW, 0, seed);
  }
  static void on_long(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t seed,
                      gex_AM_Arg_t kind) {
    expect_delivery<at>(token, long_request, true);
    EXPECT_EQ(payload, ends(at).own());
    EXPECT_TRUE(holds(payload, static_cast<std::uint64_t>(seed), bytes));
    gex_AM_ReplyLong(token, long_reply, payload, bytes,
                     requester(kind).segments[source_of(token)] + answer_offset, GEX_EVENT_NOW, 0,
                     seed);
  }
  static void on_prepared(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t seed,
                          gex_AM_Arg_t kind) {
    expect_delivery<at>(token, prepared_request, true);
    EXPECT_TRUE(holds(payload, static_cast<std::uint64_t>(seed), bytes));
    std::byte* to = requester(kind).segments[source_of(token)] + answer_offset;
    gex_AM_SrcDesc_t answer =
        gex_AM_PrepareReplyLong(token, nullptr, bytes, bytes, to, nullptr, 0, 1);
    std::memcpy(gex_AM_SrcDescAddr(answer), payload, bytes);
    gex_AM_CommitReplyLong(answer, long_reply, bytes, to, seed);
  }
  static void on_short_reply(gex_Token_t token, gex_AM_Arg_t) {
    expect_delivery<at>(token, short_reply, false);
    ++counts_at(at).short_replies;
  }
  static void on_medium_reply(gex_Token_t token, void* payload, std::size_t bytes,
                              gex_AM_Arg_t seed) {
    expect_delivery<at>(token, medium_reply, false);
    EXPECT_TRUE(holds(payload, static_cast<std::uint64_t>(seed), bytes));
    ++counts_at(at).medium_replies;
  }
  static void on_long_reply(gex_Token_t token, void* payload, std::size_t bytes,
                            gex_AM_Arg_t seed) {
    expect_delivery<at>(token, long_reply, true);
    EXPECT_EQ(payload, ends(at).own() + answer_offset);
    EXPECT_TRUE(holds(payload, static_cast<std::uint64_t>(seed), bytes));
    ++counts_at(at).long_replies;
  }
  static void on_completion(gex_Token_t token, void*, std::size_t bytes) {
    expect_delivery<at>(token, completion, false);
    EXPECT_EQ(bytes, 5U);
    ++counts_at(at).completions;
  }

  static int add() {
    constexpr gex_Flags_t request = GEX_FLAG_AM_REQUEST;
    constexpr gex_Flags_t reply = GEX_FLAG_AM_REPLY;
    const void* data = &counts_at(at);
    gex_AM_Entry_t table[] = {
        {short_request, handler(on_short), GEX_FLAG_AM_SHORT | request, 1, data, "on_short"},
        {medium_request, handler(on_medium), GEX_FLAG_AM_MEDIUM | request, 1, data, "on_medium"},
        {long_request, handler(on_long), GEX_FLAG_AM_LONG | request, 2, data, "on_long"},
        {prepared_request, handler(on_prepared), GEX_FLAG_AM_LONG | request, 2, data,
         "on_prepared"},
        {short_reply, handler(on_short_reply), GEX_FLAG_AM_SHORT | reply, 1, data,
         "on_short_reply"},
        {medium_reply, handler(on_medium_reply), GEX_FLAG_AM_MEDIUM | reply, 1, data,
         "on_medium_reply"},
        {long_reply, handler(on_long_reply), GEX_FLAG_AM_LONG | reply, 1, data, "on_long_reply"},
        {completion, handler(on_completion), GEX_FLAG_AM_MEDIUM | reply, 0, data, "on_completion"},
    };
    EXPECT_EQ(gex_EP_RegisterHandlers(ends(at).endpoint, table, std::size(table)), GASNET_OK);
    return 1;
  }
};

/// Registers the handlers, once. Collective.
void set_up() {
  static const int done =
      At<From::attached>::add() + At<From::library>::add() + At<From::client>::add();
  EXPECT_EQ(done, 3);
  barrier();
}

/// Calls `visit(here, there, pair)` for the endpoints of every two kinds.
template <class Visit>
void for_all_pairs(Visit visit) {
  for (const From here : every_source) {
    for (const From there : every_source) {
      SCOPED_TRACE(std::string("from ") + name(here) + " to " + name(there));
      visit(here, there, gex_TM_Pair(ends(here).endpoint, ends(there).index));
      barrier();
    }
  }
}

TEST(CreatedEndpoint, HasAHandlerTableOfItsOwnAndGetsItsReplies) {
  set_up();
  for_all_pairs([](From here, From, gex_TM_t pair) {
    const int before = counts_at(here).short_replies;
    for (int i = 0; i < 10; ++i) gex_AM_RequestShort(pair, next(), short_request, 0, i);
    WAIT_UNTIL(counts_at(here).short_replies == before + 10);
  });
  for (const From from : every_source) {
    const TeamOf members(from);
    const int before = counts_at(from).short_replies;
    // More than a ring holds.
    for (int i = 0; i < 300; ++i)
      gex_AM_RequestShort(members.tm(), TeamOf::rank_of(next()), short_request, 0, i);
    WAIT_UNTIL(counts_at(from).short_replies == before + 300);
    barrier();
  }
}

TEST(CreatedEndpoint, TakesMediumMessages) {
  set_up();
  for_all_pairs([](From here, From, gex_TM_t pair) {
    const std::size_t limit = std::min(gex_AM_MaxRequestMedium(pair, next(), GEX_EVENT_NOW, 0, 1),
                                       gex_AM_MaxReplyMedium(pair, next(), GEX_EVENT_NOW, 0, 1));
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{20}, std::size_t{200}, limit}) {
      const int before = counts_at(here).medium_replies;
      const std::vector<std::byte> payload = patterned(7 + rank(), bytes);
      gex_AM_RequestMedium(pair, next(), medium_request, payload.data(), bytes, GEX_EVENT_NOW, 0,
                           static_cast<gex_AM_Arg_t>(7 + rank()));
      WAIT_UNTIL(counts_at(here).medium_replies == before + 1);
    }
  });
}

/// The largest long message both ways that the tests' segments hold.
std::size_t long_limit(gex_TM_t tm, gex_Rank_t peer, gex_Flags_t flags) {
  return std::min({longest, gex_AM_MaxRequestLong(tm, peer, GEX_EVENT_NOW, flags, 2),
                   gex_AM_MaxReplyLong(tm, peer, GEX_EVENT_NOW, flags, 1)});
}

TEST(CreatedEndpoint, TakesLongMessagesIntoItsSegment) {
  set_up();
  for_all_pairs([](From here, From there, gex_TM_t pair) {
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{4000}, long_limit(pair, next(), 0)}) {
      for (const bool immediate : {false, true}) {
        const int before = counts_at(here).long_replies;
        const auto seed = static_cast<gex_AM_Arg_t>(20 + rank());
        const std::vector<std::byte> payload = patterned(20 + rank(), bytes);
        std::byte* to = ends(there).segments[next()];
        retry([&] {
          return gex_AM_RequestLong(pair, next(), long_request, payload.data(), bytes, to,
                                    GEX_EVENT_NOW, immediate ? GEX_FLAG_IMMEDIATE : 0, seed,
                                    static_cast<gex_AM_Arg_t>(here)) == 0;
        });
        WAIT_UNTIL(counts_at(here).long_replies == before + 1);
      }
    }
  });
}

TEST(CreatedEndpoint, TakesNegotiatedLongMessages) {
  set_up();
  for_all_pairs([](From here, From there, gex_TM_t pair) {
    const std::size_t bytes = long_limit(pair, next(), GEX_FLAG_AM_PREPARE_LEAST_ALLOC);
    const int before = counts_at(here).long_replies;
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(pair, next(), nullptr, bytes, bytes, nullptr,
                                                    nullptr, GEX_FLAG_PEER_SEG_OFFSET, 2);
    fill(gex_AM_SrcDescAddr(sd), 30 + rank(), bytes);
    gex_AM_CommitRequestLong(sd, prepared_request, bytes, static_cast<void*>(nullptr),
                             static_cast<gex_AM_Arg_t>(30 + rank()),
                             static_cast<gex_AM_Arg_t>(here));
    WAIT_UNTIL(counts_at(here).long_replies == before + 1);
    EXPECT_NE(ends(there).own(), nullptr);
  });
}

TEST(CreatedEndpoint, ManyLongRepliesUnderWayAtOnce) {
  set_up();
  const std::size_t bytes =
      std::min({std::size_t{4096}, gex_AM_LUBRequestLong(), gex_AM_LUBReplyLong()});
  constexpr int count = 60;
  for (const From from : every_source) {
    const TeamOf members(from);
    const int before = counts_at(from).long_replies;
    const std::vector<std::byte> payload = patterned(9, bytes);
    for (int i = 0; i < count; ++i)
      gex_AM_RequestLong(members.tm(), TeamOf::rank_of(next()), long_request, payload.data(), bytes,
                         ends(from).segments[next()], GEX_EVENT_NOW, 0, 9,
                         static_cast<gex_AM_Arg_t>(from));
    WAIT_UNTIL(counts_at(from).long_replies == before + count);
    barrier();
  }
}

// Long messages of zero bytes, which need no segment at either end.
gex_EP_t bare_endpoint = GEX_EP_INVALID;
void* const nowhere = reinterpret_cast<void*>(std::uintptr_t{0x54320});
std::atomic<int> bare_requests{0};
std::atomic<int> bare_replies{0};

void on_bare(gex_Token_t token, void* payload, std::size_t bytes) {
  gex_Token_Info_t info{};
  gex_Token_Info(token, &info, GEX_TI_ALL);
  EXPECT_EQ(info.gex_ep, bare_endpoint);
  EXPECT_EQ(payload, nowhere);
  EXPECT_EQ(bytes, 0U);
  if (info.gex_is_req == 0) {
    ++bare_replies;
    return;
  }
  if (++bare_requests % 2 == 0) {
    gex_AM_ReplyLong(token, long_reply, nullptr, 0, nowhere, GEX_EVENT_NOW, 0);
  } else {
    gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyLong(token, nullptr, 0, 64, nowhere, nullptr, 0, 0);
    gex_AM_CommitReplyLong(sd, long_reply, 0, nowhere);
  }
}

TEST(CreatedEndpoint, WithoutASegmentTakesLongMessagesOfNothing) {
  if (bare_endpoint == GEX_EP_INVALID) {
    ASSERT_EQ(gex_EP_Create(&bare_endpoint, client(), GEX_EP_CAPABILITY_AM, 0), GASNET_OK);
    gex_AM_Entry_t table[] = {
        {long_request, handler(on_bare), GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, nullptr,
         "on_bare"},
        {long_reply, handler(on_bare), GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY, 0, nullptr, "on_bare"},
    };
    ASSERT_EQ(gex_EP_RegisterHandlers(bare_endpoint, table, std::size(table)), GASNET_OK);
  }
  bare_requests = 0;
  bare_replies = 0;
  const gex_TM_t pair = gex_TM_Pair(bare_endpoint, gex_EP_QueryIndex(bare_endpoint));
  barrier();
  gex_AM_RequestLong(pair, next(), long_request, nullptr, 0, nowhere, GEX_EVENT_NOW, 0);
  gex_AM_SrcDesc_t sd =
      gex_AM_PrepareRequestLong(pair, next(), nullptr, 0, 64, nullptr, nullptr, 0, 0);
  gex_AM_CommitRequestLong(sd, long_request, 0, nowhere);
  WAIT_UNTIL(bare_requests == 2 && bare_replies == 2);
  barrier();
}

TEST(CreatedEndpoint, AtomicsOverTheirTeams) {
  for (const From from : every_source) {
    SCOPED_TRACE(name(from));
    const TeamOf members(from);
    gex_AD_t ad = GEX_AD_INVALID;
    gex_AD_Create(&ad, members.tm(), GEX_DT_U64,
                  GEX_OP_FADD | GEX_OP_ADD | GEX_OP_GET | GEX_OP_SET | GEX_OP_FCAS, 0);
    // The first word of rank 0's segment that is aligned.
    const auto start = reinterpret_cast<std::uintptr_t>(ends(from).segments[0]);
    auto* word = reinterpret_cast<std::uint64_t*>((start + 7) / 8 * 8);
    const gex_Rank_t member = TeamOf::rank_of(0);
    if (rank() == 0)
      gex_Event_Wait(gex_AD_OpNB_U64(ad, nullptr, member, word, GEX_OP_SET, 5, 0, 0));
    barrier();
    constexpr std::uint64_t rounds = 200;
    std::uint64_t old = 0;
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < rounds; ++i) {
      gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, member, word, GEX_OP_FADD, 1, 0, 0));
      EXPECT_GT(old + 1, last) << "went back";
      last = old + 1;
      gex_AD_OpNBI_U64(ad, nullptr, 0, word, GEX_OP_ADD, 2, 0, GEX_FLAG_RANK_IS_JOBRANK);
    }
    gex_NBI_Wait(GEX_EC_ALL, 0);
    barrier();
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, member, word, GEX_OP_GET, 0, 0, 0));
    EXPECT_EQ(old, 5 + 3 * rounds * size());
    barrier();
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, 0, word, GEX_OP_FCAS, 5 + 3 * rounds * size(), 7,
                                   GEX_FLAG_RANK_IS_JOBRANK));
    EXPECT_TRUE(old == 7 || old == 5 + 3 * rounds * size());
    barrier();
    gex_AD_Destroy(ad);
  }
}

// A jobrank names a primordial endpoint, also where another of that process comes first. Each
// member of a process creates the domain in a thread of its own.
TEST_IN_PAR(CreatedEndpoint, AtomicsByJobrankGoToThePrimordialOne) {
  std::vector<gex_EP_Location_t> members;
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    members.push_back({peer, ends(From::library).index});
    members.push_back({peer, 0});
  }
  gex_TM_t own[2];
  gex_TM_Create(own, 2, team(), members.data(), members.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_AD_t ad = GEX_AD_INVALID, second = GEX_AD_INVALID;
  std::thread other(
      [&] { gex_AD_Create(&second, own[1], GEX_DT_U64, GEX_OP_FADD | GEX_OP_INC, 0); });
  gex_AD_Create(&ad, own[0], GEX_DT_U64, GEX_OP_FADD | GEX_OP_INC, 0);
  other.join();
  auto* word = reinterpret_cast<std::uint64_t*>(own_segment());
  *word = 0;
  barrier();
  auto* there = reinterpret_cast<std::uint64_t*>(segment_of(next()));
  volatile gex_Flags_t by_jobrank = GEX_FLAG_RANK_IS_JOBRANK;
  gex_Event_Wait(gex_AD_OpNB_U64(ad, nullptr, next(), there, GEX_OP_INC, 0, 0, by_jobrank));
  gex_AD_OpNBI_U64(second, nullptr, next(), there, GEX_OP_INC, 0, 0, GEX_FLAG_RANK_IS_JOBRANK);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  barrier();
  EXPECT_EQ(*word, 2U);
  barrier();
  gex_AD_Destroy(second);
  gex_AD_Destroy(ad);
  for (gex_TM_t tm : own) gex_TM_Destroy(tm, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
}

/// Sums what every member of a team contributes, and broadcasts from its last member.
class Collectives {
 public:
  explicit Collectives(gex_TM_t tm) : tm_(tm) {
    for (std::size_t i = 0; i < mine_.size(); ++i) mine_[i] = gex_TM_QueryRank(tm) + i;
  }
  void start(std::vector<gex_Event_t>& events) {
    events.push_back(gex_Coll_ReduceToAllNB(tm_, sums_.data(), mine_.data(), GEX_DT_U64, 8,
                                            mine_.size(), GEX_OP_ADD, nullptr, nullptr, 0));
    events.push_back(
        gex_Coll_BroadcastNB(tm_, last(), received_.data(), mine_.data(), 8 * mine_.size(), 0));
  }
  void expect_results() const {
    const std::uint64_t members = gex_TM_QuerySize(tm_);
    for (std::size_t i = 0; i < mine_.size(); ++i) {
      ASSERT_EQ(sums_[i], members * (members - 1) / 2 + members * i);
      ASSERT_EQ(received_[i], last() + i);
    }
  }

 private:
  gex_Rank_t last() const { return gex_TM_QuerySize(tm_) - 1; }

  gex_TM_t tm_;
  std::array<std::uint64_t, 3000> mine_{};
  std::array<std::uint64_t, 3000> sums_{};
  std::array<std::uint64_t, 3000> received_{};
};

TEST(CreatedEndpoint, CollectivesOverTheirTeams) {
  for (const From from : every_source) {
    const TeamOf members(from);
    auto collectives = std::make_unique<Collectives>(members.tm());
    std::vector<gex_Event_t> events;
    collectives->start(events);
    gex_Event_WaitAll(events.data(), events.size(), 0);
    collectives->expect_results();
  }
}

TEST(SeveralLocalMembers, TakePartInCollectivesEachForItself) {
  const AllRanks all_ranks;
  std::vector<std::unique_ptr<Collectives>> collectives;
  std::vector<gex_Event_t> events;
  for (const From from : every_source) {
    collectives.push_back(std::make_unique<Collectives>(all_ranks.tm(from)));
    collectives.back()->start(events);
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  for (const auto& each : collectives) each->expect_results();
}

TEST(CreatedEndpoint, NonContiguousTransfers) {
  // Counted from before any rank starts.
  std::array<int, every_source.size()> expected{};
  for (const From from : every_source)
    expected[static_cast<std::size_t>(from)] = counts_at(from).completions;
  set_up();
  // 37 rows of 250 bytes, 500 apart here and 600 there.
  constexpr std::size_t row = 250;
  constexpr std::size_t rows = 37;
  const ptrdiff_t here_strides[] = {500};
  const ptrdiff_t there_strides[] = {600};
  const std::size_t count[] = {rows};
  for_all_pairs([&](From, From there, gex_TM_t pair) {
    std::vector<std::byte> source = patterned(40 + rank(), rows * 500);
    std::vector<std::byte> back(rows * 500);
    std::byte* theirs = ends(there).segments[next()];
    const int goal = ++expected[static_cast<std::size_t>(there)];
    gex_VIS_SetPeerCompletionHandler(completion, "armed", 5, 0);
    gex_VIS_StridedPutBlocking(pair, next(), theirs, there_strides, source.data(), here_strides,
                               row, count, 1, 0);
    WAIT_UNTIL(counts_at(there).completions == goal);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::vector<std::byte> expected = patterned(40 + previous(), rows * 500);
      EXPECT_TRUE(same_bytes(ends(there).own() + r * 600, expected.data() + r * 500, row));
    }
    gex_Event_Wait(gex_VIS_StridedGetNB(pair, back.data(), here_strides, next(), theirs,
                                        there_strides, row, count, 1, 0));
    for (std::size_t r = 0; r < rows; ++r)
      EXPECT_TRUE(same_bytes(back.data() + r * 500, source.data() + r * 500, row));
    // And as lists.
    std::vector<void*> from;
    std::vector<void*> to;
    for (std::size_t r = 0; r < rows; ++r) {
      from.push_back(theirs + r * 600);
      to.push_back(back.data() + (rows - 1 - r) * row);
    }
    gex_VIS_IndexedGetBlocking(pair, rows, to.data(), row, next(), rows, from.data(), row, 0);
    for (std::size_t r = 0; r < rows; ++r)
      EXPECT_TRUE(same_bytes(back.data() + (rows - 1 - r) * row, source.data() + r * 500, row));
  });
}

}  // namespace
}  // namespace conformance::endpoint_traffic_test
