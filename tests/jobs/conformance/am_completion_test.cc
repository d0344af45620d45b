// Local completion of payload in every form, the source overwritten at the earliest moment at which
// that is legal.

#include <algorithm>
#include <array>

#include "conformance.h"
#include "message.h"

namespace conformance::am_completion_test {
namespace {

constexpr std::size_t sources = 24;
constexpr std::size_t slot_bytes = 70000;
static_assert(sources * slot_bytes * 2 <= segment_bytes);

Count seen;
Count replies_seen;

extern Handlers handlers;
enum HandlerIndex { request_in, ask_in, reply_in };

/// The operation that a reply handler leaves for the main program to complete.
struct PendingReply {
  std::vector<std::uint8_t> source;
  gex_Event_t completion = GEX_EVENT_INVALID;
};
std::array<PendingReply, sources> pending;

void receive(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t seed,
             gex_AM_Arg_t announced) {
  EXPECT_EQ(bytes, static_cast<std::size_t>(announced));
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(seed), bytes), bytes)
      << "of " << bytes << ": the source was read after its completion";
  if (is_request(token)) {
    ++seen;
  } else {
    ++replies_seen;
  }
}

// Answers with a medium or long message whose local completion is an event.
void ask(gex_Token_t token, gex_AM_Arg_t slot, gex_AM_Arg_t announced, gex_AM_Arg_t is_long) {
  PendingReply& reply = pending[static_cast<std::size_t>(slot)];
  const auto bytes = static_cast<std::size_t>(announced);
  reply.source = payload_of(bytes, static_cast<std::uint32_t>(slot));
  reply.completion = GEX_EVENT_NO_OP;
  if (is_long != 0) {
    gex_AM_ReplyLong2(
        token, handlers[reply_in], reply.source.data(), bytes,
        segment_of(info_of(token).gex_srcrank) + static_cast<std::size_t>(slot) * slot_bytes,
        &reply.completion, 0, slot, announced);
  } else {
    gex_AM_ReplyMedium2(token, handlers[reply_in], reply.source.data(), bytes, &reply.completion, 0,
                        slot, announced);
  }
  EXPECT_NE(reply.completion, GEX_EVENT_NO_OP);
  ++seen;
}

Handlers handlers({
    entry(receive, payload_both, 2, "completion: receive"),
    entry(ask, short_request, 3, "completion: ask"),
    entry(receive, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 2, "completion: reply"),
});

std::size_t size_of(std::size_t slot) {
  constexpr std::array<std::size_t, 8> sizes{1, 40, 64, 257, 2000, 5000, 20000, 65536};
  return sizes[slot % sizes.size()];
}

class Completion : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    seen.reset();
    replies_seen.reset();
    barrier();
  }

  static bool is_long() { return GetParam(); }
  static std::size_t fitting(std::size_t bytes) {
    return is_long() ? fitting_long(bytes, 2) : fitting_medium(bytes, 2);
  }

  void send(const std::vector<std::uint8_t>& source, std::size_t slot, gex_Event_t* completion) {
    const auto seed = static_cast<gex_AM_Arg_t>(slot);
    const auto announced = static_cast<gex_AM_Arg_t>(source.size());
    int status = 0;
    if (is_long()) {
      status = gex_AM_RequestLong2(team(), next(), handlers[request_in], source.data(),
                                   source.size(), segment_of(next()) + slot * slot_bytes,
                                   completion, 0, seed, announced);
    } else {
      status = gex_AM_RequestMedium2(team(), next(), handlers[request_in], source.data(),
                                     source.size(), completion, 0, seed, announced);
    }
    EXPECT_EQ(status, 0);
  }

  static std::vector<std::uint8_t> source_of(std::size_t slot) {
    return payload_of(fitting(size_of(slot)), static_cast<std::uint32_t>(slot));
  }

  static void spoil(std::vector<std::uint8_t>& source) {
    std::fill(source.begin(), source.end(), std::uint8_t{0xcc});
  }

  void expect(long requests) {
    WAIT_UNTIL(seen.get() == requests);
    barrier();
    EXPECT_EQ(seen.get(), requests);
  }
};

TEST_P(Completion, Now) {
  for (std::size_t slot = 0; slot < sources; ++slot) {
    std::vector<std::uint8_t> source = source_of(slot);
    send(source, slot, GEX_EVENT_NOW);
    spoil(source);
  }
  expect(sources);
}

TEST_P(Completion, EventTested) {
  std::array<std::vector<std::uint8_t>, sources> source;
  std::array<gex_Event_t, sources> completion{};
  for (std::size_t slot = 0; slot < sources; ++slot) {
    source[slot] = source_of(slot);
    send(source[slot], slot, &completion[slot]);
  }
  for (std::size_t slot = 0; slot < sources; ++slot) {
    WAIT_UNTIL(gex_Event_Test(completion[slot]) == GASNET_OK);
    completion[slot] = GEX_EVENT_INVALID;
    spoil(source[slot]);
  }
  expect(sources);
}

TEST_P(Completion, EventWaitedForAtOnce) {
  for (std::size_t slot = 0; slot < sources; ++slot) {
    std::vector<std::uint8_t> source = source_of(slot);
    gex_Event_t completion = GEX_EVENT_NO_OP;
    send(source, slot, &completion);
    gex_Event_Wait(completion);
    spoil(source);
  }
  expect(sources);
}

TEST_P(Completion, EventsWaitedForInAnyOrder) {
  std::array<std::vector<std::uint8_t>, sources> source;
  std::array<gex_Event_t, sources> completion{};
  for (std::size_t slot = 0; slot < sources; ++slot) {
    source[slot] = source_of(slot);
    send(source[slot], slot, &completion[slot]);
  }
  for (;;) {
    gex_Event_WaitSome(completion.data(), sources, 0);
    bool left = false;
    for (std::size_t slot = 0; slot < sources; ++slot) {
      if (completion[slot] == GEX_EVENT_INVALID) {
        spoil(source[slot]);
      } else {
        left = true;
      }
    }
    if (!left) break;
  }
  expect(sources);
}

TEST_P(Completion, Group) {
  std::array<std::vector<std::uint8_t>, sources> source;
  for (std::size_t slot = 0; slot < sources; ++slot) {
    source[slot] = source_of(slot);
    send(source[slot], slot, GEX_EVENT_GROUP);
  }
  gex_NBI_Wait(GEX_EC_AM, 0);
  for (std::vector<std::uint8_t>& one : source) spoil(one);
  expect(sources);
}

TEST_P(Completion, GroupTested) {
  std::array<std::vector<std::uint8_t>, sources> source;
  for (std::size_t slot = 0; slot < sources; ++slot) {
    source[slot] = source_of(slot);
    send(source[slot], slot, GEX_EVENT_GROUP);
  }
  WAIT_UNTIL(gex_NBI_Test(GEX_EC_AM | GEX_EC_PUT, 0) == GASNET_OK);
  for (std::vector<std::uint8_t>& one : source) spoil(one);
  expect(sources);
}

TEST_P(Completion, GroupInAnAccessRegion) {
  std::array<std::vector<std::uint8_t>, sources> source;
  gex_NBI_BeginAccessRegion(0);
  for (std::size_t slot = 0; slot < sources; ++slot) {
    source[slot] = source_of(slot);
    send(source[slot], slot, GEX_EVENT_GROUP);
  }
  const gex_Event_t root = gex_NBI_EndAccessRegion(0);
  const gex_Event_t leaf = gex_Event_QueryLeaf(root, GEX_EC_AM);
  gex_Event_Wait(leaf);
  for (std::vector<std::uint8_t>& one : source) spoil(one);
  gex_Event_Wait(root);
  expect(sources);
}

TEST_P(Completion, EventsOfReplies) {
  // The landing places of replies are the asker's, so both directions use them one after the other.
  for (std::size_t slot = 0; slot < sources; ++slot) {
    const auto bytes = static_cast<gex_AM_Arg_t>(
        is_long() ? std::min(size_of(slot), gex_AM_MaxReplyLong(team(), next(), nullptr, 0, 2))
                  : std::min(size_of(slot), gex_AM_MaxReplyMedium(team(), next(), nullptr, 0, 2)));
    gex_AM_RequestShort3(team(), next(), handlers[ask_in], 0, static_cast<gex_AM_Arg_t>(slot),
                         bytes, is_long());
  }
  // A request handler has returned only when the call that ran it has.
  WAIT_UNTIL(seen.get() == static_cast<long>(sources));
  for (PendingReply& reply : pending) {
    gex_Event_Wait(reply.completion);
    spoil(reply.source);
  }
  WAIT_UNTIL(replies_seen.get() == static_cast<long>(sources));
  barrier();
  EXPECT_EQ(seen.get(), static_cast<long>(sources));
  EXPECT_EQ(replies_seen.get(), static_cast<long>(sources));
}

INSTANTIATE_TEST_SUITE_P(, Completion, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "Long" : "Medium";
                         });

}  // namespace
}  // namespace conformance::am_completion_test
