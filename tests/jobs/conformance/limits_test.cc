// Payload limits: every promise that the specification makes of the Max and LUB queries.

#include <algorithm>
#include <array>

#include "conformance.h"
#include "message.h"

namespace conformance::limits_test {
namespace {

constexpr std::size_t least_promise = 512;

using Query = std::size_t (*)(gex_TM_t, gex_Rank_t, const gex_Event_t*, gex_Flags_t, unsigned);
constexpr std::array<Query, 4> queries{gex_AM_MaxRequestMedium, gex_AM_MaxReplyMedium,
                                       gex_AM_MaxRequestLong, gex_AM_MaxReplyLong};
using LeastQuery = std::size_t (*)();
constexpr std::array<LeastQuery, 4> least_queries{gex_AM_LUBRequestMedium, gex_AM_LUBReplyMedium,
                                                  gex_AM_LUBRequestLong, gex_AM_LUBReplyLong};

gex_Event_t some_event;
/// GROUP is not for replies.
std::vector<const gex_Event_t*> completions_for(std::size_t query) {
  std::vector<const gex_Event_t*> all{GEX_EVENT_NOW, &some_event, nullptr};
  if (query % 2 == 0) all.push_back(GEX_EVENT_GROUP);
  return all;
}
constexpr std::array<gex_Flags_t, 8> flag_sets{0,
                                               GEX_FLAG_IMMEDIATE,
                                               GEX_FLAG_LC_COPY_YES,
                                               GEX_FLAG_LC_COPY_NO,
                                               GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_PEER_SEG_BOUND,
                                               GEX_FLAG_PEER_SEG_OFFSET,
                                               GEX_FLAG_AM_PREPARE_LEAST_CLIENT,
                                               GEX_FLAG_AM_PREPARE_LEAST_ALLOC};
constexpr gex_Flags_t prepare_flags =
    GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC;

/// Calls `visit(query, completion, flags, arguments)` for every combination.
template <typename F>
void for_all_inputs(F visit) {
  for (std::size_t query = 0; query < queries.size(); ++query) {
    for (const gex_Event_t* completion : completions_for(query)) {
      for (const gex_Flags_t flags : flag_sets) {
        for (const unsigned arguments : {0U, 1U, 2U, 5U, 8U, 12U, 13U, 16U}) {
          visit(query, completion, flags, arguments);
        }
      }
    }
  }
}

/// Every answer for one peer, in the order of for_all_inputs.
std::vector<std::uint64_t> answers(gex_TM_t tm, gex_Rank_t peer) {
  std::vector<std::uint64_t> all;
  for_all_inputs(
      [&](std::size_t query, const gex_Event_t* completion, gex_Flags_t flags, unsigned arguments) {
        all.push_back(queries[query](tm, peer, completion, flags, arguments));
      });
  return all;
}

TEST(Limits, AreAtLeastWhatIsPromised) {
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    for (const std::uint64_t answer : answers(team(), peer)) EXPECT_GE(answer, least_promise);
  }
  for (const LeastQuery query : least_queries) EXPECT_GE(query(), least_promise);
}

TEST(Limits, LeastUpperBoundIsBelowEveryMaximum) {
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    for_all_inputs([&](std::size_t query, const gex_Event_t* completion, gex_Flags_t flags,
                       unsigned arguments) {
      if ((flags & prepare_flags) != 0) return;
      EXPECT_LE(least_queries[query](), queries[query](team(), peer, completion, flags, arguments))
          << "query " << query << ", flags " << flags << ", " << arguments << " arguments";
    });
  }
}

TEST(Limits, LeastUpperBoundsAreTheSameOnAllRanks) {
  for (const LeastQuery query : least_queries) {
    for (const std::uint64_t answer : gather(std::uint64_t{query()})) EXPECT_EQ(answer, query());
  }
}

TEST(Limits, NeverIncreaseWithTheNumberOfArguments) {
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    for (std::size_t query = 0; query < queries.size(); ++query) {
      for (const gex_Event_t* completion : completions_for(query)) {
        for (const gex_Flags_t flags : flag_sets) {
          std::size_t before = queries[query](team(), peer, completion, flags, 0);
          for (unsigned arguments = 1; arguments <= gex_AM_MaxArgs(); ++arguments) {
            const std::size_t answer = queries[query](team(), peer, completion, flags, arguments);
            EXPECT_LE(answer, before) << "query " << query << ", " << arguments << " arguments";
            before = answer;
          }
        }
      }
    }
  }
}

// Each rank leaves its answers about a peer with that peer, which has asked the same about it.
TEST(Limits, AreSymmetric) {
  const std::size_t count = answers(team(), 0).size();
  const std::size_t bytes = count * sizeof(std::uint64_t);
  ASSERT_LE(size() * bytes, segment_bytes);
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    const std::vector<std::uint64_t> mine = answers(team(), peer);
    gex_RMA_PutBlocking(team(), peer, segment_of(peer) + rank() * bytes, mine.data(), bytes, 0);
  }
  barrier();
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    const std::vector<std::uint64_t> mine = answers(team(), peer);
    std::vector<std::uint64_t> theirs(count);
    std::memcpy(theirs.data(), own_segment() + peer * bytes, bytes);
    EXPECT_EQ(mine, theirs) << "between " << rank() << " and " << peer;
  }
}

TEST(Limits, DoNotDependOnHowTheEndpointsAreNamed) {
  const gex_TM_t pair = gex_TM_Pair(endpoint(), 0);
  gex_TM_t reversed = GEX_TM_INVALID;
  gex_TM_Split(&reversed, team(), 0, -static_cast<int>(rank()), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    const std::vector<std::uint64_t> expected = answers(team(), peer);
    EXPECT_EQ(answers(pair, peer), expected) << "peer " << peer;
    EXPECT_EQ(answers(reversed, size() - 1 - peer), expected) << "peer " << peer;
  }
  EXPECT_EQ(answers(reversed, GEX_RANK_INVALID), answers(team(), GEX_RANK_INVALID));
  EXPECT_EQ(answers(pair, GEX_RANK_INVALID), answers(team(), GEX_RANK_INVALID));
  barrier();
  gex_TM_Destroy(reversed, nullptr, 0);
}

TEST(Limits, WithoutARankAreTheLeastOverTheTeam) {
  std::vector<std::uint64_t> least = answers(team(), 0);
  for (gex_Rank_t peer = 1; peer < size(); ++peer) {
    const std::vector<std::uint64_t> one = answers(team(), peer);
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], one[i]);
  }
  EXPECT_EQ(answers(team(), GEX_RANK_INVALID), least);

  // A team whose members share less of the network may have larger limits.
  gex_TM_t half = GEX_TM_INVALID;
  gex_TM_Split(&half, team(), static_cast<int>(rank() % 2), 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  least = answers(half, 0);
  for (gex_Rank_t peer = 1; peer < gex_TM_QuerySize(half); ++peer) {
    const std::vector<std::uint64_t> one = answers(half, peer);
    for (std::size_t i = 0; i < least.size(); ++i) least[i] = std::min(least[i], one[i]);
  }
  EXPECT_EQ(answers(half, GEX_RANK_INVALID), least);
  barrier();
  gex_TM_Destroy(half, nullptr, 0);
}

// By rule 5 all callers get the same answer for one set of endpoints; with more than two
// neighbourhoods of different sizes that holds only if the answer is of the set, not of the caller.
TEST(Limits, WithoutARankAreEqualForAllCallers) {
  std::uint64_t digest = 14695981039346656037U;
  for (const std::uint64_t answer : answers(team(), GEX_RANK_INVALID)) {
    digest = (digest ^ answer) * 1099511628211U;
  }
  for (const std::uint64_t other : gather(digest)) EXPECT_EQ(other, digest);
}

std::vector<std::uint64_t> answers_before_load;
Count requests_seen;
Count replies_seen;
std::uint64_t token_medium[17];
std::uint64_t token_long[17];

extern Handlers handlers;

void ask(gex_Token_t token) {
  for (unsigned arguments = 0; arguments <= 16; ++arguments) {
    token_medium[arguments] = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, arguments);
    token_long[arguments] = gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, arguments);
    EXPECT_EQ(gex_Token_MaxReplyMedium(token, nullptr, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, arguments),
              gex_AM_MaxReplyMedium(team(), previous(), nullptr, GEX_FLAG_AM_PREPARE_LEAST_ALLOC,
                                    arguments));
    EXPECT_EQ(gex_Token_MaxReplyLong(token, nullptr, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, arguments),
              gex_AM_MaxReplyLong(team(), previous(), nullptr, GEX_FLAG_AM_PREPARE_LEAST_ALLOC,
                                  arguments));
  }
  gex_AM_ReplyShort0(token, handlers[1], 0);
  ++requests_seen;
}
void asked(gex_Token_t) {
  ++replies_seen;
}
void load(gex_Token_t, void*, std::size_t) {
  ++requests_seen;
}

Handlers handlers({
    entry(ask, short_request, 0, "limits: ask"),
    entry(asked, short_reply, 0, "limits: asked"),
    entry(load, medium_request, 0, "limits: load"),
});

TEST(Limits, OfATokenAreThoseOfItsReplies) {
  requests_seen.reset();
  replies_seen.reset();
  barrier();
  gex_AM_RequestShort0(team(), next(), handlers[0], 0);
  WAIT_UNTIL(requests_seen.get() == 1 && replies_seen.get() == 1);
  for (unsigned arguments = 0; arguments <= 16; ++arguments) {
    EXPECT_EQ(token_medium[arguments],
              gex_AM_MaxReplyMedium(team(), previous(), GEX_EVENT_NOW, 0, arguments));
    EXPECT_EQ(token_long[arguments],
              gex_AM_MaxReplyLong(team(), previous(), GEX_EVENT_NOW, 0, arguments));
  }
}

TEST(Limits, StayTheSameUnderLoad) {
  requests_seen.reset();
  const std::vector<std::uint64_t> before = answers(team(), next());
  barrier();
  const std::vector<std::uint8_t> source(
      gex_AM_MaxRequestMedium(team(), next(), GEX_EVENT_NOW, 0, 0));
  constexpr long messages = 20;
  for (long i = 0; i < messages; ++i) {
    gex_AM_RequestMedium0(team(), next(), handlers[2], source.data(), source.size(), GEX_EVENT_NOW,
                          0);
    EXPECT_EQ(answers(team(), next()), before);
  }
  WAIT_UNTIL(requests_seen.get() == messages);
  EXPECT_EQ(answers(team(), next()), before);
}

}  // namespace
}  // namespace conformance::limits_test
