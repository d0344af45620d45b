// Payload of every size at which an implementation is likely to change its route, in requests and
// in replies of every category to requests of every category.

#include <algorithm>
#include <utility>

#include "conformance.h"
#include "message.h"

namespace conformance::am_payload_test {
namespace {

/// Requests land in the first half of the target's segment, replies in the second.
constexpr std::size_t landing_bytes = segment_bytes / 2;
constexpr std::size_t any_type_alignment = 16;

enum Category : gex_AM_Arg_t { no_reply, brief, medium, lengthy };

/// The description of a message that its arguments carry.
struct Note {
  std::size_t bytes;
  std::uint32_t seed;
  Category reply;  ///< to a request: what to answer
  std::size_t reply_bytes;
};

Count requests_seen;
Count replies_seen;
std::vector<std::uint8_t> reply_source;

extern Handlers handlers;
enum HandlerIndex { in_short, in_payload, in_payload_16 };

void fill_reply_source() {
  if (reply_source.empty()) reply_source = payload_of(landing_bytes, 7);
}

void answer(gex_Token_t token, const Note& note) {
  void* const destination = segment_of(info_of(token).gex_srcrank) + landing_bytes;
  const auto bytes = static_cast<gex_AM_Arg_t>(note.reply_bytes);
  switch (note.reply) {
    case no_reply:
      break;
    case brief:
      EXPECT_EQ(gex_AM_ReplyShort4(token, handlers[in_short], 0, 0, 7, 0, 0), 0);
      break;
    case medium:
      EXPECT_EQ(gex_AM_ReplyMedium4(token, handlers[in_payload], reply_source.data(),
                                    note.reply_bytes, GEX_EVENT_NOW, 0, bytes, 7, 0, 0),
                0);
      break;
    case lengthy:
      EXPECT_EQ(gex_AM_ReplyLong4(token, handlers[in_payload], reply_source.data(),
                                  note.reply_bytes, destination, GEX_EVENT_NOW, 0, bytes, 7, 0, 0),
                0);
      break;
  }
}

void arrived(gex_Token_t token, const Note& note) {
  if (is_request(token)) {
    answer(token, note);
    ++requests_seen;
  } else {
    ++replies_seen;
  }
}

void check_payload(gex_Token_t token, void* payload, std::size_t bytes, const Note& note) {
  const gex_Token_Info_t info = info_of(token);
  EXPECT_EQ(bytes, note.bytes);
  EXPECT_EQ(first_difference(payload, note.seed, bytes), bytes) << "of " << bytes << " bytes";
  if (info.gex_is_long) {
    EXPECT_EQ(payload, own_segment() + (info.gex_is_req ? 0 : landing_bytes));
  } else {
    EXPECT_TRUE(is_aligned(payload, any_type_alignment)) << payload << ", " << bytes << " bytes";
    // The payload is the handler's own while it runs.
    std::memset(payload, 0xff, bytes);
  }
}

void receive_short(gex_Token_t token, gex_AM_Arg_t, gex_AM_Arg_t seed, gex_AM_Arg_t reply,
                   gex_AM_Arg_t reply_bytes) {
  arrived(token, {0, static_cast<std::uint32_t>(seed), static_cast<Category>(reply),
                  static_cast<std::size_t>(reply_bytes)});
}
void receive_payload(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t announced,
                     gex_AM_Arg_t seed, gex_AM_Arg_t reply, gex_AM_Arg_t reply_bytes) {
  const Note note{static_cast<std::size_t>(announced), static_cast<std::uint32_t>(seed),
                  static_cast<Category>(reply), static_cast<std::size_t>(reply_bytes)};
  check_payload(token, payload, bytes, note);
  arrived(token, note);
}
// clang-format off
void receive_payload_16(gex_Token_t token, void* payload, std::size_t bytes, gex_AM_Arg_t announced,
                        gex_AM_Arg_t seed, gex_AM_Arg_t reply, gex_AM_Arg_t reply_bytes,
                        gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6, gex_AM_Arg_t a7,
                        gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10, gex_AM_Arg_t a11,
                        gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14, gex_AM_Arg_t a15) {
  const gex_AM_Arg_t rest[] = {a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15};
  for (unsigned i = 0; i < 12; ++i) EXPECT_EQ(rest[i], argument(16, i + 4)) << i + 4;
  receive_payload(token, payload, bytes, announced, seed, reply, reply_bytes);
}
#define FOUR_TO_FIFTEEN                                                                       \
  argument(16, 4), argument(16, 5), argument(16, 6), argument(16, 7), argument(16, 8),        \
  argument(16, 9), argument(16, 10), argument(16, 11), argument(16, 12), argument(16, 13),    \
  argument(16, 14), argument(16, 15)
// clang-format on

Handlers handlers({
    entry(receive_short, short_both, 4, "payload: short"),
    entry(receive_payload, payload_both, 4, "payload"),
    entry(receive_payload_16, payload_both, 16, "payload, 16 arguments"),
});

/// Sizes around every power of two that may be a process's limit, up to `limit` itself.
std::vector<std::size_t> sizes_to(std::size_t limit) {
  std::vector<std::size_t> sizes{0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49};
  for (std::size_t power = 64; power <= std::size_t{1} << 20; power *= 2) {
    sizes.insert(sizes.end(), {power - 1, power, power + 1});
    // Room for a header is often taken off a power of two.
    if (power == 256 || power == 4096 || power == 65536) {
      sizes.insert(sizes.end(), {power - 64, power - 16, power + 16, power + 64});
    }
  }
  sizes.insert(sizes.end(), {limit - 1, limit});
  sizes.erase(std::remove_if(sizes.begin(), sizes.end(),
                             [limit](std::size_t size) { return size > limit; }),
              sizes.end());
  return sizes;
}

/// Between any two ranks, so that all send as many messages.
std::size_t medium_limit(unsigned arguments) {
  return std::min(gex_AM_MaxRequestMedium(team(), GEX_RANK_INVALID, GEX_EVENT_NOW, 0, arguments),
                  landing_bytes);
}
std::size_t long_limit(unsigned arguments) {
  return std::min(gex_AM_MaxRequestLong(team(), GEX_RANK_INVALID, GEX_EVENT_NOW, 0, arguments),
                  landing_bytes);
}

void start_counting() {
  fill_reply_source();
  requests_seen.reset();
  replies_seen.reset();
  barrier();
}

/// Every rank sends and receives the same number.
void finish(long requests, long replies) {
  WAIT_UNTIL(requests_seen.get() == requests && replies_seen.get() == replies);
  barrier();
  EXPECT_EQ(requests_seen.get(), requests);
  EXPECT_EQ(replies_seen.get(), replies);
}

std::uint32_t seed_of(std::size_t bytes) {
  return static_cast<std::uint32_t>(bytes % 251 + 1);
}

TEST(Payload, MediumRequestsOfEverySize) {
  start_counting();
  long sent = 0;
  for (const std::size_t bytes : sizes_to(medium_limit(4))) {
    const std::uint32_t seed = seed_of(bytes);
    std::vector<std::uint8_t> source = payload_of(bytes, seed);
    EXPECT_EQ(gex_AM_RequestMedium4(team(), next(), handlers[in_payload], source.data(), bytes,
                                    GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(bytes),
                                    static_cast<gex_AM_Arg_t>(seed), no_reply, 0),
              0);
    std::fill(source.begin(), source.end(), std::uint8_t{0xee});
    ++sent;
  }
  finish(sent, 0);
}

TEST(Payload, MediumRequestsOfEverySizeWithSixteenArguments) {
  start_counting();
  long sent = 0;
  for (const std::size_t bytes : sizes_to(medium_limit(16))) {
    const std::uint32_t seed = seed_of(bytes);
    const std::vector<std::uint8_t> source = payload_of(bytes, seed);
    EXPECT_EQ(gex_AM_RequestMedium16(team(), next(), handlers[in_payload_16], source.data(), bytes,
                                     GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(bytes),
                                     static_cast<gex_AM_Arg_t>(seed), no_reply, 0, FOUR_TO_FIFTEEN),
              0);
    ++sent;
  }
  finish(sent, 0);
}

// A long message's landing place is one, so the next is sent when the one before was seen.
TEST(Payload, LongRequestsOfEverySize) {
  start_counting();
  long sent = 0;
  for (const std::size_t bytes : sizes_to(long_limit(4))) {
    const std::uint32_t seed = seed_of(bytes);
    std::vector<std::uint8_t> source = payload_of(bytes, seed);
    EXPECT_EQ(
        gex_AM_RequestLong4(team(), next(), handlers[in_payload], source.data(), bytes,
                            segment_of(next()), GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(bytes),
                            static_cast<gex_AM_Arg_t>(seed), brief, 0),
        0);
    std::fill(source.begin(), source.end(), std::uint8_t{0xee});
    ++sent;
    WAIT_UNTIL(replies_seen.get() == sent);
  }
  finish(sent, sent);
}

TEST(Payload, LongRequestsOfEverySizeWithSixteenArguments) {
  start_counting();
  long sent = 0;
  for (const std::size_t bytes : sizes_to(std::min<std::size_t>(long_limit(16), 70000))) {
    const std::uint32_t seed = seed_of(bytes);
    const std::vector<std::uint8_t> source = payload_of(bytes, seed);
    EXPECT_EQ(
        gex_AM_RequestLong16(team(), next(), handlers[in_payload_16], source.data(), bytes,
                             segment_of(next()), GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(bytes),
                             static_cast<gex_AM_Arg_t>(seed), brief, 0, FOUR_TO_FIFTEEN),
        0);
    ++sent;
    WAIT_UNTIL(replies_seen.get() == sent);
  }
  finish(sent, sent);
}

/// A request of `category` that carries `bytes` and asks for a reply.
void request(Category category, std::size_t bytes, Category reply, std::size_t reply_bytes) {
  const std::uint32_t seed = seed_of(bytes);
  const std::vector<std::uint8_t> source = payload_of(bytes, seed);
  const auto announced = static_cast<gex_AM_Arg_t>(bytes);
  const auto tag = static_cast<gex_AM_Arg_t>(seed);
  const auto back = static_cast<gex_AM_Arg_t>(reply_bytes);
  if (category == brief) {
    gex_AM_RequestShort4(team(), next(), handlers[in_short], 0, 0, tag, reply, back);
  } else if (category == medium) {
    gex_AM_RequestMedium4(team(), next(), handlers[in_payload], source.data(), bytes, GEX_EVENT_NOW,
                          0, announced, tag, reply, back);
  } else {
    gex_AM_RequestLong4(team(), next(), handlers[in_payload], source.data(), bytes,
                        segment_of(next()), GEX_EVENT_NOW, 0, announced, tag, reply, back);
  }
}

class Replies : public testing::TestWithParam<std::pair<Category, Category>> {};

// The request's size and the reply's go opposite ways, so that small meets large.
TEST_P(Replies, OfEverySize) {
  const auto [asked, answered] = GetParam();
  start_counting();
  const std::size_t limit =
      answered == lengthy
          ? std::min(gex_AM_MaxReplyLong(team(), GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 4),
                     landing_bytes)
          : std::min(gex_AM_MaxReplyMedium(team(), GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 4),
                     landing_bytes);
  const std::vector<std::size_t> request_sizes =
      asked == brief ? std::vector<std::size_t>{0}
                     : sizes_to(asked == medium ? medium_limit(4) : long_limit(4));
  const std::vector<std::size_t> reply_sizes =
      answered == brief ? std::vector<std::size_t>{0} : sizes_to(limit);
  const std::size_t rounds = std::max(request_sizes.size(), reply_sizes.size());
  for (std::size_t i = 0; i < rounds; ++i) {
    const std::size_t bytes = request_sizes[(rounds - 1 - i) % request_sizes.size()];
    request(asked, bytes, answered, reply_sizes[i % reply_sizes.size()]);
    WAIT_UNTIL(replies_seen.get() == static_cast<long>(i + 1));
  }
  finish(static_cast<long>(rounds), static_cast<long>(rounds));
}

std::string name_of(Category category) {
  return category == brief ? "Short" : category == medium ? "Medium" : "Long";
}

INSTANTIATE_TEST_SUITE_P(, Replies,
                         testing::Values(std::pair(brief, brief), std::pair(brief, medium),
                                         std::pair(brief, lengthy), std::pair(medium, brief),
                                         std::pair(medium, medium), std::pair(medium, lengthy),
                                         std::pair(lengthy, brief), std::pair(lengthy, medium),
                                         std::pair(lengthy, lengthy)),
                         [](const testing::TestParamInfo<std::pair<Category, Category>>& info) {
                           return name_of(info.param.second) + "To" + name_of(info.param.first);
                         });

}  // namespace
}  // namespace conformance::am_payload_test
