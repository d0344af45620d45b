// Negotiated payload: Prepare, Commit and Cancel in all their forms, as requests and as replies,
// medium and long. Each form is one function, given where it sends to.

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <tuple>

#include "conformance.h"
#include "message.h"

namespace conformance::prepare_test {
namespace {

constexpr std::size_t any_type_alignment = 16;
constexpr std::size_t landing_bytes = segment_bytes / 4;

Count seen;   ///< requests with negotiated payload
Count asked;  ///< requests for a reply with it
Count replies_seen;

extern Handlers handlers;
enum HandlerIndex { payload_in, ask_in, plain_reply_in, flood_in, flood_reply_in };

/// Where a message goes: to next() as a request, or to a token as a reply.
struct Target {
  gex_Token_t token;
  bool is_long;

  bool is_reply() const { return token != nullptr; }
  gex_Rank_t peer() const { return is_reply() ? info_of(token).gex_srcrank : next(); }
  std::byte* landing() const { return segment_of(peer()) + (is_reply() ? landing_bytes : 0); }

  std::size_t limit(gex_Flags_t flags, const gex_Event_t* completion) const {
    if (is_reply()) {
      return is_long ? gex_Token_MaxReplyLong(token, completion, flags, 2)
                     : gex_Token_MaxReplyMedium(token, completion, flags, 2);
    }
    return is_long ? gex_AM_MaxRequestLong(team(), next(), completion, flags, 2)
                   : gex_AM_MaxRequestMedium(team(), next(), completion, flags, 2);
  }

  gex_AM_SrcDesc_t prepare(const void* buffer, std::size_t least_payload, std::size_t most_payload,
                           gex_Event_t* completion, gex_Flags_t flags, void* destination) const {
    if (is_reply()) {
      return is_long ? gex_AM_PrepareReplyLong(token, buffer, least_payload, most_payload,
                                               destination, completion, flags, 2)
                     : gex_AM_PrepareReplyMedium(token, buffer, least_payload, most_payload,
                                                 completion, flags, 2);
    }
    return is_long ? gex_AM_PrepareRequestLong(team(), next(), buffer, least_payload, most_payload,
                                               destination, completion, flags, 2)
                   : gex_AM_PrepareRequestMedium(team(), next(), buffer, least_payload,
                                                 most_payload, completion, flags, 2);
  }

  /// The two arguments are the payload's seed and size.
  void commit(gex_AM_SrcDesc_t sd, std::size_t bytes, gex_AM_Arg_t seed, void* destination) const {
    const gex_AM_Index_t index = handlers[payload_in];
    const auto announced = static_cast<gex_AM_Arg_t>(bytes);
    if (is_reply()) {
      if (is_long) {
        gex_AM_CommitReplyLong2(sd, index, bytes, destination, seed, announced);
      } else {
        gex_AM_CommitReplyMedium2(sd, index, bytes, seed, announced);
      }
    } else if (is_long) {
      gex_AM_CommitRequestLong2(sd, index, bytes, destination, seed, announced);
    } else {
      gex_AM_CommitRequestMedium2(sd, index, bytes, seed, announced);
    }
  }

  int commit_v2(gex_AM_SrcDesc_t sd, std::size_t bytes, gex_AM_Arg_t seed, void* destination,
                gex_Flags_t flags) const {
    const gex_AM_Index_t index = handlers[payload_in];
    const auto announced = static_cast<gex_AM_Arg_t>(bytes);
    if (is_reply()) {
      return is_long
                 ? gex_AM_CommitReplyLong2_v2(sd, index, bytes, destination, flags, seed, announced)
                 : gex_AM_CommitReplyMedium2_v2(sd, index, bytes, flags, seed, announced);
    }
    return is_long
               ? gex_AM_CommitRequestLong2_v2(sd, index, bytes, destination, flags, seed, announced)
               : gex_AM_CommitRequestMedium2_v2(sd, index, bytes, flags, seed, announced);
  }

  int cancel(gex_AM_SrcDesc_t sd) const {
    if (is_reply())
      return is_long ? gex_AM_CancelReplyLong(sd, 0) : gex_AM_CancelReplyMedium(sd, 0);
    return is_long ? gex_AM_CancelRequestLong(sd, 0) : gex_AM_CancelRequestMedium(sd, 0);
  }
};

/// The answers that every descriptor must give.
void check(gex_AM_SrcDesc_t sd, const void* buffer, std::size_t least_payload,
           std::size_t most_payload) {
  ASSERT_NE(sd, GEX_AM_SRCDESC_NO_OP);
  EXPECT_GE(gex_AM_SrcDescSize(sd), least_payload);
  EXPECT_LE(gex_AM_SrcDescSize(sd), most_payload);
  if (buffer != nullptr) {
    EXPECT_EQ(gex_AM_SrcDescAddr(sd), buffer);
  } else if (most_payload > 0) {
    EXPECT_NE(gex_AM_SrcDescAddr(sd), nullptr);
    EXPECT_TRUE(is_aligned(gex_AM_SrcDescAddr(sd), any_type_alignment));
  }
}

void client_buffer_with(const Target& target, std::size_t least_payload, std::size_t most_payload) {
  std::vector<std::uint8_t> buffer = payload_of(most_payload, 11);
  gex_AM_SrcDesc_t sd = target.prepare(buffer.data(), least_payload, most_payload, GEX_EVENT_NOW, 0,
                                       target.landing());
  check(sd, buffer.data(), least_payload, most_payload);
  target.commit(sd, gex_AM_SrcDescSize(sd), 11, target.landing());
  std::fill(buffer.begin(), buffer.end(), std::uint8_t{0xcc});
}

void library_buffer_with(const Target& target, std::size_t least_payload,
                         std::size_t most_payload) {
  gex_AM_SrcDesc_t sd =
      target.prepare(nullptr, least_payload, most_payload, nullptr, 0, target.landing());
  check(sd, nullptr, least_payload, most_payload);
  fill(gex_AM_SrcDescAddr(sd), 12, gex_AM_SrcDescSize(sd));
  target.commit(sd, gex_AM_SrcDescSize(sd), 12, target.landing());
}

// A form sends exactly one message.
using Form = void (*)(const Target&);

void client_buffer_exact(const Target& target) {
  client_buffer_with(target, 1000, 1000);
}
void client_buffer_between(const Target& target) {
  client_buffer_with(target, 100, 1000);
}
void client_buffer_from_zero(const Target& target) {
  client_buffer_with(target, 0, 500);
}
void client_buffer_largest(const Target& target) {
  const std::size_t limit =
      std::min(target.limit(GEX_FLAG_AM_PREPARE_LEAST_CLIENT, GEX_EVENT_NOW), landing_bytes);
  client_buffer_with(target, limit, limit);
}
void client_buffer_beyond_max(const Target& target) {
  const std::size_t limit = target.limit(GEX_FLAG_AM_PREPARE_LEAST_CLIENT, GEX_EVENT_NOW);
  client_buffer_with(target, 512, std::min(limit + limit / 2, landing_bytes));
}
void library_buffer_exact(const Target& target) {
  library_buffer_with(target, 1000, 1000);
}
void library_buffer_small(const Target& target) {
  library_buffer_with(target, 16, 16);
}
void library_buffer_between(const Target& target) {
  library_buffer_with(target, 100, 3000);
}
void library_buffer_from_zero(const Target& target) {
  library_buffer_with(target, 0, 600);
}
void library_buffer_of_zero(const Target& target) {
  library_buffer_with(target, 0, 0);
}
void library_buffer_largest(const Target& target) {
  const std::size_t limit =
      std::min(target.limit(GEX_FLAG_AM_PREPARE_LEAST_ALLOC, nullptr), landing_bytes);
  library_buffer_with(target, limit, limit);
}
void library_buffer_beyond_max(const Target& target) {
  const std::size_t limit = target.limit(GEX_FLAG_AM_PREPARE_LEAST_ALLOC, nullptr);
  library_buffer_with(target, 512, std::min(limit * 2, landing_bytes));
}

void commits_less(const Target& target) {
  gex_AM_SrcDesc_t sd = target.prepare(nullptr, 900, 900, nullptr, 0, target.landing());
  fill(gex_AM_SrcDescAddr(sd), 13, 900);
  target.commit(sd, 333, 13, target.landing());
}
void commits_less_of_client_buffer(const Target& target) {
  const std::vector<std::uint8_t> buffer = payload_of(900, 14);
  gex_AM_SrcDesc_t sd = target.prepare(buffer.data(), 900, 900, GEX_EVENT_NOW, 0, target.landing());
  target.commit(sd, 20, 14, target.landing());
}
void commits_nothing(const Target& target) {
  gex_AM_SrcDesc_t sd = target.prepare(nullptr, 900, 900, nullptr, 0, target.landing());
  target.commit(sd, 0, 15, target.landing());
}
void commits_nothing_of_client_buffer(const Target& target) {
  const std::vector<std::uint8_t> buffer(900);
  gex_AM_SrcDesc_t sd = target.prepare(buffer.data(), 900, 900, GEX_EVENT_NOW, 0, target.landing());
  target.commit(sd, 0, 15, target.landing());
}

// The destination named at Commit only.
void destination_at_commit(const Target& target) {
  gex_AM_SrcDesc_t sd = target.prepare(nullptr, 700, 700, nullptr, 0, nullptr);
  fill(gex_AM_SrcDescAddr(sd), 16, 700);
  target.commit(sd, 700, 16, target.landing());
}
// Prepare's peer offset holds for Commit's address as well.
void destination_as_offset(const Target& target) {
  const gex_Flags_t flags = target.is_long ? GEX_FLAG_PEER_SEG_OFFSET : 0;
  // Replies land behind requests; offset 0 would be "not yet known" at Prepare.
  void* const offset = reinterpret_cast<void*>(
      static_cast<std::uintptr_t>(target.landing() - segment_of(target.peer())));
  gex_AM_SrcDesc_t sd = target.prepare(nullptr, 700, 700, nullptr, flags, offset);
  fill(gex_AM_SrcDescAddr(sd), 17, 700);
  target.commit(sd, 700, 17, offset);
}
void disposition_of_client_buffer(const Target& target) {
  std::byte* const buffer = own_segment() + 3 * landing_bytes + (target.is_reply() ? 4096 : 0);
  fill(buffer, 18, 700);
  gex_AM_SrcDesc_t sd =
      target.prepare(buffer, 700, 700, GEX_EVENT_NOW, GEX_FLAG_SELF_SEG_BOUND, target.landing());
  check(sd, buffer, 700, 700);
  target.commit(sd, 700, 18, target.landing());
}

void commit_v2(const Target& target) {
  gex_AM_SrcDesc_t sd = target.prepare(nullptr, 800, 800, nullptr, 0, target.landing());
  fill(gex_AM_SrcDescAddr(sd), 19, 800);
  EXPECT_EQ(target.commit_v2(sd, 800, 19, target.landing(), 0), 0);
}
// A refused commit leaves the descriptor as it was; the plain one then sends it.
void commit_v2_immediate(const Target& target) {
  gex_AM_SrcDesc_t sd = target.prepare(nullptr, 800, 800, nullptr, 0, target.landing());
  fill(gex_AM_SrcDescAddr(sd), 20, 800);
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (target.commit_v2(sd, 800, 20, target.landing(), GEX_FLAG_IMMEDIATE) == 0) return;
    check(sd, gex_AM_SrcDescAddr(sd), 800, 800);
  }
  target.commit(sd, 800, 20, target.landing());
}
void prepared_immediate(const Target& target) {
  gex_AM_SrcDesc_t sd =
      target.prepare(nullptr, 800, 800, nullptr, GEX_FLAG_IMMEDIATE, target.landing());
  if (sd == GEX_AM_SRCDESC_NO_OP) {
    sd = target.prepare(nullptr, 800, 800, nullptr, 0, target.landing());
  }
  check(sd, nullptr, 800, 800);
  fill(gex_AM_SrcDescAddr(sd), 21, 800);
  target.commit(sd, 800, 21, target.landing());
}

void cancelled_library_buffer(const Target& target) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{16}, std::size_t{800}, std::size_t{3000}}) {
    for (int again = 0; again < 50; ++again) {
      gex_AM_SrcDesc_t sd = target.prepare(nullptr, bytes, bytes, nullptr, 0, target.landing());
      fill(gex_AM_SrcDescAddr(sd), 22, bytes);
      EXPECT_EQ(target.cancel(sd), GASNET_OK);
    }
  }
  library_buffer_exact(target);
}
void cancelled_client_buffer(const Target& target) {
  const std::vector<std::uint8_t> buffer(800);
  for (int again = 0; again < 50; ++again) {
    gex_AM_SrcDesc_t sd =
        target.prepare(buffer.data(), 800, 800, GEX_EVENT_NOW, 0, target.landing());
    EXPECT_EQ(target.cancel(sd), GASNET_OK);
  }
  client_buffer_exact(target);
}

struct NamedForm {
  const char* name;
  Form send;
};
constexpr std::array<NamedForm, 24> forms{{
    {"ClientBufferExact", client_buffer_exact},
    {"ClientBufferBetween", client_buffer_between},
    {"ClientBufferFromZero", client_buffer_from_zero},
    {"ClientBufferLargest", client_buffer_largest},
    {"ClientBufferBeyondMax", client_buffer_beyond_max},
    {"LibraryBufferExact", library_buffer_exact},
    {"LibraryBufferSmall", library_buffer_small},
    {"LibraryBufferBetween", library_buffer_between},
    {"LibraryBufferFromZero", library_buffer_from_zero},
    {"LibraryBufferOfZero", library_buffer_of_zero},
    {"LibraryBufferLargest", library_buffer_largest},
    {"LibraryBufferBeyondMax", library_buffer_beyond_max},
    {"CommitsLess", commits_less},
    {"CommitsLessOfClientBuffer", commits_less_of_client_buffer},
    {"CommitsNothing", commits_nothing},
    {"CommitsNothingOfClientBuffer", commits_nothing_of_client_buffer},
    {"DestinationAtCommit", destination_at_commit},
    {"DestinationAsOffset", destination_as_offset},
    {"DispositionOfClientBuffer", disposition_of_client_buffer},
    {"CommitV2", commit_v2},
    {"CommitV2Immediate", commit_v2_immediate},
    {"PreparedImmediate", prepared_immediate},
    {"CancelledLibraryBuffer", cancelled_library_buffer},
    {"CancelledClientBuffer", cancelled_client_buffer},
}};

void receive(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t seed,
             gex_AM_Arg_t announced) {
  const gex_Token_Info_t info = info_of(token);
  EXPECT_EQ(bytes, static_cast<std::size_t>(announced));
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(seed), bytes), bytes);
  if (info.gex_is_long) {
    EXPECT_EQ(payload, own_segment() + (info.gex_is_req ? 0 : landing_bytes));
  } else {
    EXPECT_TRUE(is_aligned(payload, any_type_alignment));
  }
  if (info.gex_is_req) {
    ++seen;
  } else {
    ++replies_seen;
  }
}

void ask(gex_Token_t token, gex_AM_Arg_t form, gex_AM_Arg_t is_long) {
  forms[static_cast<std::size_t>(form)].send({token, is_long != 0});
  ++asked;
}

int depth = 0;  ///< handlers running; tests that look at it use one thread

void flood(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t seed) {
  EXPECT_EQ(++depth, 1) << "a request handler ran above another handler";
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(seed), bytes), bytes);
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, nullptr, bytes, bytes, nullptr, 0, 1);
  std::memcpy(gex_AM_SrcDescAddr(sd), payload, bytes);
  gex_AM_CommitReplyMedium1(sd, handlers[flood_reply_in], bytes, seed);
  --depth;
  ++seen;
}
void flood_reply(gex_Token_t, void* payload, std::size_t bytes, gex_AM_Arg_t seed) {
  EXPECT_EQ(first_difference(payload, static_cast<std::uint32_t>(seed), bytes), bytes);
  ++replies_seen;
}

Handlers handlers({
    entry(receive, payload_both, 2, "prepare: payload"),
    entry(ask, short_request, 2, "prepare: ask"),
    entry(receive, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 2, "prepare: reply"),
    entry(flood, medium_request, 1, "prepare: flood"),
    entry(flood_reply, medium_reply, 1, "prepare: flood reply"),
});

void start() {
  seen.reset();
  asked.reset();
  replies_seen.reset();
  barrier();
}

/// form, long
class Prepare : public testing::TestWithParam<std::tuple<std::size_t, bool>> {};

TEST_P(Prepare, Request) {
  const auto [form, is_long] = GetParam();
  constexpr long rounds = 3;
  for (long i = 0; i < rounds; ++i) {
    // A long message's landing place is one, so nothing is sent before the last was seen.
    start();
    forms[form].send({nullptr, is_long});
    WAIT_UNTIL(seen.get() == 1);
    barrier();
    EXPECT_EQ(seen.get(), 1);
  }
}

TEST_P(Prepare, Reply) {
  const auto [form, is_long] = GetParam();
  constexpr long rounds = 3;
  for (long i = 0; i < rounds; ++i) {
    start();
    gex_AM_RequestShort2(team(), next(), handlers[ask_in], 0, static_cast<gex_AM_Arg_t>(form),
                         is_long);
    WAIT_UNTIL(asked.get() == 1 && replies_seen.get() == 1);
    barrier();
    EXPECT_EQ(asked.get(), 1);
    EXPECT_EQ(replies_seen.get(), 1);
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<std::size_t, bool>>& info) {
  const auto [form, is_long] = info.param;
  return std::string(forms[form].name) + (is_long ? "Long" : "Medium");
}
INSTANTIATE_TEST_SUITE_P(, Prepare,
                         testing::Combine(testing::Range(std::size_t{0}, forms.size()),
                                          testing::Bool()),
                         name_of);

// A buffer's local completion is an event, given by Commit.
TEST(PrepareCompletion, ClientBufferWithEvent) {
  start();
  for (int i = 0; i < 20; ++i) {
    std::vector<std::uint8_t> buffer = payload_of(fitting_medium(4000, 2), 23);
    gex_Event_t completion = GEX_EVENT_NO_OP;
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team(), next(), buffer.data(), buffer.size(),
                                                      buffer.size(), &completion, 0, 2);
    gex_AM_CommitRequestMedium2(sd, handlers[payload_in], buffer.size(), 23,
                                static_cast<gex_AM_Arg_t>(buffer.size()));
    gex_Event_Wait(completion);
    std::fill(buffer.begin(), buffer.end(), std::uint8_t{0xcc});
  }
  WAIT_UNTIL(seen.get() == 20);
}

TEST(PrepareCompletion, ClientBuffersInAGroup) {
  start();
  std::array<std::vector<std::uint8_t>, 20> buffers;
  for (std::vector<std::uint8_t>& buffer : buffers) {
    buffer = payload_of(fitting_medium(4000, 2), 24);
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team(), next(), buffer.data(), buffer.size(),
                                                      buffer.size(), GEX_EVENT_GROUP, 0, 2);
    gex_AM_CommitRequestMedium2(sd, handlers[payload_in], buffer.size(), 24,
                                static_cast<gex_AM_Arg_t>(buffer.size()));
  }
  gex_NBI_Wait(GEX_EC_AM, 0);
  for (std::vector<std::uint8_t>& buffer : buffers) {
    std::fill(buffer.begin(), buffer.end(), std::uint8_t{0xcc});
  }
  WAIT_UNTIL(seen.get() == 20);
}

// What is prepared takes room of the network's, and what is not sent gives it back: afterwards
// there is as much as before.
TEST(PrepareFlood, WhatIsCancelledOrCommittedEmptyTakesNoRoom) {
  start();
  constexpr long rounds = 400;
  const std::size_t bytes = fitting_medium(4000, 2);
  const auto prepared = [bytes] {
    return gex_AM_PrepareRequestMedium(team(), next(), nullptr, 0, bytes, nullptr, 0, 2);
  };
  for (long i = 0; i < rounds; ++i) {
    EXPECT_EQ(gex_AM_CancelRequestMedium(prepared(), 0), GASNET_OK);
    gex_AM_CommitRequestMedium2(prepared(), handlers[payload_in], 0, 31, 0);
    gex_AM_SrcDesc_t sd = prepared();
    // Where a peer has room for one message alone, Prepare has got that.
    while (gex_AM_CommitRequestMedium2_v2(sd, handlers[payload_in], 0, GEX_FLAG_IMMEDIATE, 31, 0) !=
           0) {
      EXPECT_EQ(gex_AM_CancelRequestMedium(sd, 0), GASNET_OK);
      gasnet_AMPoll();
      sd = prepared();
    }
    sd = prepared();
    fill(gex_AM_SrcDescAddr(sd), 31, bytes);
    gex_AM_CommitRequestMedium2(sd, handlers[payload_in], bytes, 31,
                                static_cast<gex_AM_Arg_t>(bytes));
  }
  WAIT_UNTIL(seen.get() == 3 * rounds);
}

/// Returns true if other processes can see what lies there.
bool is_shared(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
    char access[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &first, &end, access) != 3)
      continue;
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    if (wanted >= first && wanted < end) return access[3] == 's';
  }
  return false;
}

// The networks whose places lie where messages do.
TEST(PrepareInPlace, PayloadIsBuiltWhereTheMessageLies) {
  start();
  const char* const conduit = std::getenv("GEX_CONDUIT");
  const std::string name = conduit != nullptr ? conduit : "";
  // This test cannot see where another network builds a payload.
  const bool is_known = size() > 1 && (name == "emu" || name == "smp");
  const std::size_t bytes = fitting_medium(4000, 2);
  const auto is_in_place = [&] {
    gex_AM_SrcDesc_t sd =
        gex_AM_PrepareRequestMedium(team(), next(), nullptr, bytes, bytes, nullptr, 0, 2);
    const bool found = !is_known || is_shared(gex_AM_SrcDescAddr(sd));
    gex_AM_CancelRequestMedium(sd, 0);
    return found;
  };
  // There may be no place for the first, while others' messages are under way.
  WAIT_UNTIL(is_in_place());
  barrier();
}

// Prepare of a request may poll, and the handlers that it then runs prepare their replies: both
// descriptors of a thread are in use at once.
TEST(PrepareFlood, RequestsAndRepliesBothNegotiated) {
  for (const std::size_t wanted : {32, 1000, 30000}) {
    start();
    constexpr long messages = 400;
    const std::size_t bytes =
        std::min(fitting_medium(wanted, 1), gex_AM_MaxReplyMedium(team(), next(), nullptr, 0, 1));
    for (long i = 0; i < messages; ++i) {
      gex_AM_SrcDesc_t sd =
          gex_AM_PrepareRequestMedium(team(), next(), nullptr, bytes, bytes, nullptr, 0, 1);
      const auto seed = static_cast<gex_AM_Arg_t>(i);
      fill(gex_AM_SrcDescAddr(sd), static_cast<std::uint32_t>(seed), bytes);
      gex_AM_CommitRequestMedium1(sd, handlers[flood_in], bytes, seed);
    }
    WAIT_UNTIL(seen.get() == messages && replies_seen.get() == messages);
    barrier();
    EXPECT_EQ(seen.get(), messages);
    EXPECT_EQ(replies_seen.get(), messages);
  }
}

}  // namespace
}  // namespace conformance::prepare_test
