// gex_Token_Info in handlers of every category and direction.

#include "conformance.h"
#include "message.h"

namespace conformance::token_test {
namespace {

Count requests_seen;
Count replies_seen;
int cdata[2];

extern Handlers handlers;

struct Expected {
  std::size_t entry;
  gex_Rank_t source;
  bool request;
  bool is_long;
};

void check(gex_Token_t token, const Expected& expected) {
  gex_Token_Info_t info{};
  const gex_TI_t valid = gex_Token_Info(token, &info, GEX_TI_ALL);
  EXPECT_EQ(valid & GEX_TI_ALL, GEX_TI_ALL);
  EXPECT_EQ(info.gex_srcrank, expected.source);
  EXPECT_EQ(info.gex_ep, endpoint());
  EXPECT_EQ(info.gex_is_req != 0, expected.request);
  EXPECT_EQ(info.gex_is_long != 0, expected.is_long);
  const gex_AM_Entry_t& registered = handlers.entry(expected.entry);
  ASSERT_NE(info.gex_entry, nullptr);
  EXPECT_NE(info.gex_entry, &registered) << "the library keeps its own copy";
  EXPECT_EQ(info.gex_entry->gex_index, registered.gex_index);
  EXPECT_EQ(info.gex_entry->gex_fnptr, registered.gex_fnptr);
  EXPECT_EQ(info.gex_entry->gex_flags, registered.gex_flags);
  EXPECT_EQ(info.gex_entry->gex_nargs, registered.gex_nargs);
  EXPECT_EQ(info.gex_entry->gex_cdata, registered.gex_cdata);
  EXPECT_STREQ(info.gex_entry->gex_name, registered.gex_name);

  // Each query by itself.
  for (const gex_TI_t one :
       {GEX_TI_SRCRANK, GEX_TI_EP, GEX_TI_ENTRY, GEX_TI_IS_REQ, GEX_TI_IS_LONG}) {
    gex_Token_Info_t part{};
    EXPECT_EQ(gex_Token_Info(token, &part, one) & one, one);
    if (one == GEX_TI_SRCRANK) {
      EXPECT_EQ(part.gex_srcrank, expected.source);
    }
    if (one == GEX_TI_EP) {
      EXPECT_EQ(part.gex_ep, endpoint());
    }
    if (one == GEX_TI_ENTRY) {
      EXPECT_EQ(part.gex_entry, info.gex_entry);
    }
    if (one == GEX_TI_IS_REQ) {
      EXPECT_EQ(part.gex_is_req != 0, expected.request);
    }
    if (one == GEX_TI_IS_LONG) {
      EXPECT_EQ(part.gex_is_long != 0, expected.is_long);
    }
  }
}

enum : gex_AM_Arg_t { answer_short, answer_medium, answer_long };

/// Where replies land: requests of the other neighbor land at the segment's start meanwhile.
std::byte* reply_destination(gex_Rank_t rank) {
  return segment_of(rank) + 64;
}

void answer(gex_Token_t token, gex_AM_Arg_t how) {
  char payload[8] = {};
  gex_Token_Info_t info{};
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  if (how == answer_short) gex_AM_ReplyShort0(token, handlers[3], 0);
  if (how == answer_medium) {
    gex_AM_ReplyMedium0(token, handlers[4], payload, sizeof payload, GEX_EVENT_NOW, 0);
  }
  if (how == answer_long) {
    gex_AM_ReplyLong0(token, handlers[5], payload, sizeof payload,
                      reply_destination(info.gex_srcrank), GEX_EVENT_NOW, 0);
  }
  ++requests_seen;
}

void request_short(gex_Token_t token, gex_AM_Arg_t how) {
  check(token, {0, previous(), true, false});
  answer(token, how);
}
void request_medium(gex_Token_t token, void*, std::size_t, gex_AM_Arg_t how) {
  check(token, {1, previous(), true, false});
  answer(token, how);
}
void request_long(gex_Token_t token, void*, std::size_t, gex_AM_Arg_t how) {
  check(token, {2, previous(), true, true});
  answer(token, how);
}
void reply_short(gex_Token_t token) {
  check(token, {3, next(), false, false});
  ++replies_seen;
}
void reply_medium(gex_Token_t token, void*, std::size_t) {
  check(token, {4, next(), false, false});
  ++replies_seen;
}
void reply_long(gex_Token_t token, void*, std::size_t) {
  check(token, {5, next(), false, true});
  ++replies_seen;
}

Handlers handlers({
    entry(request_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, "token: short", &cdata[0]),
    entry(request_medium, medium_request, 1, "token: medium", &cdata[1]),
    entry(request_long, long_request, 1, "token: long", nullptr),
    entry(reply_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, "token: short reply", &cdata[0]),
    entry(reply_medium, medium_reply, 0, "token: medium reply", &cdata[1]),
    entry(reply_long, long_reply, 0, "token: long reply", &handlers),
});

// The nine combinations of a request's category and its reply's.
TEST(Token, InfoIsRightInEveryHandler) {
  requests_seen.reset();
  replies_seen.reset();
  barrier();
  char payload[8] = {};
  for (const gex_AM_Arg_t how : {answer_short, answer_medium, answer_long}) {
    gex_AM_RequestShort1(team(), next(), handlers[0], 0, how);
    gex_AM_RequestMedium1(team(), next(), handlers[1], payload, sizeof payload, GEX_EVENT_NOW, 0,
                          how);
    gex_AM_RequestLong1(team(), next(), handlers[2], payload, sizeof payload, segment_of(next()),
                        GEX_EVENT_NOW, 0, how);
  }
  WAIT_UNTIL(requests_seen.get() == 9 && replies_seen.get() == 9);
  barrier();
  EXPECT_EQ(requests_seen.get(), 9);
  EXPECT_EQ(replies_seen.get(), 9);
}

}  // namespace
}  // namespace conformance::token_test
