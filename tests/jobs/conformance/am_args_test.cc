// Every family of calls with every number of arguments, in its numbered form and in the one that
// counts them: each argument arrives with its value and in its place.

#include <array>
#include <utility>

#include "conformance.h"
#include "message.h"

namespace conformance::am_args_test {
namespace {

constexpr unsigned max_arguments = 16;
constexpr std::size_t payload_bytes = 24;

/// How the messages of one round travel; every rank is in the same round.
enum class Reply {
  none,
  plain,
  counted,
  committed,
  committed_v2,
  counted_commit,
  counted_commit_v2
};
enum class Category { brief, medium, lengthy };
Category category;
Reply reply;

Count requests_seen;
Count replies_seen;

std::size_t landing(unsigned count, bool request) {
  return (count * 2 + (request ? 0 : 1)) * payload_bytes;
}

template <unsigned M>
struct Calls;

using Values = const gex_AM_Arg_t*;

#define LIST_0
#define LIST_1 , v[0]
#define LIST_2 LIST_1, v[1]
#define LIST_3 LIST_2, v[2]
#define LIST_4 LIST_3, v[3]
#define LIST_5 LIST_4, v[4]
#define LIST_6 LIST_5, v[5]
#define LIST_7 LIST_6, v[6]
#define LIST_8 LIST_7, v[7]
#define LIST_9 LIST_8, v[8]
#define LIST_10 LIST_9, v[9]
#define LIST_11 LIST_10, v[10]
#define LIST_12 LIST_11, v[11]
#define LIST_13 LIST_12, v[12]
#define LIST_14 LIST_13, v[13]
#define LIST_15 LIST_14, v[14]
#define LIST_16 LIST_15, v[15]

#define CALLS(M)                                                                                   \
  template <>                                                                                      \
  struct Calls<M> {                                                                                \
    static int request_short(gex_AM_Index_t h, bool counted, Values v) {                           \
      (void)v;                                                                                     \
      return counted ? gex_AM_RequestShort(team(), next(), h, 0 LIST_##M)                          \
                     : gex_AM_RequestShort##M(team(), next(), h, 0 LIST_##M);                      \
    }                                                                                              \
    static int request_medium(gex_AM_Index_t h, const void* s, bool counted, Values v) {           \
      (void)v;                                                                                     \
      const std::size_t n = payload_bytes;                                                         \
      return counted                                                                               \
                 ? gex_AM_RequestMedium(team(), next(), h, s, n, GEX_EVENT_NOW, 0 LIST_##M)        \
                 : gex_AM_RequestMedium##M(team(), next(), h, s, n, GEX_EVENT_NOW, 0 LIST_##M);    \
    }                                                                                              \
    static int request_long(gex_AM_Index_t h, const void* s, void* d, bool counted, Values v) {    \
      (void)v;                                                                                     \
      const std::size_t n = payload_bytes;                                                         \
      return counted                                                                               \
                 ? gex_AM_RequestLong(team(), next(), h, s, n, d, GEX_EVENT_NOW, 0 LIST_##M)       \
                 : gex_AM_RequestLong##M(team(), next(), h, s, n, d, GEX_EVENT_NOW, 0 LIST_##M);   \
    }                                                                                              \
    static int reply_short(gex_Token_t t, gex_AM_Index_t h, bool counted, Values v) {              \
      (void)v;                                                                                     \
      return counted ? gex_AM_ReplyShort(t, h, 0 LIST_##M)                                         \
                     : gex_AM_ReplyShort##M(t, h, 0 LIST_##M);                                     \
    }                                                                                              \
    static int reply_medium(gex_Token_t t, gex_AM_Index_t h, const void* s, bool counted,          \
                            Values v) {                                                            \
      (void)v;                                                                                     \
      const std::size_t n = payload_bytes;                                                         \
      return counted ? gex_AM_ReplyMedium(t, h, s, n, GEX_EVENT_NOW, 0 LIST_##M)                   \
                     : gex_AM_ReplyMedium##M(t, h, s, n, GEX_EVENT_NOW, 0 LIST_##M);               \
    }                                                                                              \
    static int reply_long(gex_Token_t t, gex_AM_Index_t h, const void* s, void* d, bool counted,   \
                          Values v) {                                                              \
      (void)v;                                                                                     \
      const std::size_t n = payload_bytes;                                                         \
      return counted ? gex_AM_ReplyLong(t, h, s, n, d, GEX_EVENT_NOW, 0 LIST_##M)                  \
                     : gex_AM_ReplyLong##M(t, h, s, n, d, GEX_EVENT_NOW, 0 LIST_##M);              \
    }                                                                                              \
    static int commit_request_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t h, Reply how, Values v) { \
      (void)v;                                                                                     \
      const std::size_t n = payload_bytes;                                                         \
      if (how == Reply::committed_v2)                                                              \
        return gex_AM_CommitRequestMedium##M##_v2(sd, h, n, 0 LIST_##M);                           \
      if (how == Reply::counted_commit_v2)                                                         \
        return gex_AM_CommitRequestMedium_v2(sd, h, n, 0 LIST_##M);                                \
      if (how == Reply::counted_commit)                                                            \
        gex_AM_CommitRequestMedium(sd, h, n LIST_##M);                                             \
      else                                                                                         \
        gex_AM_CommitRequestMedium##M(sd, h, n LIST_##M);                                          \
      return 0;                                                                                    \
    }                                                                                              \
    static int commit_request_long(gex_AM_SrcDesc_t sd, gex_AM_Index_t h, void* d, Reply how,      \
                                   Values v) {                                                     \
      (void)v;                                                                                     \
      const std::size_t n = payload_bytes;                                                         \
      if (how == Reply::committed_v2)                                                              \
        return gex_AM_CommitRequestLong##M##_v2(sd, h, n, d, 0 LIST_##M);                          \
      if (how == Reply::counted_commit_v2)                                                         \
        return gex_AM_CommitRequestLong_v2(sd, h, n, d, 0 LIST_##M);                               \
      if (how == Reply::counted_commit)                                                            \
        gex_AM_CommitRequestLong(sd, h, n, d LIST_##M);                                            \
      else                                                                                         \
        gex_AM_CommitRequestLong##M(sd, h, n, d LIST_##M);                                         \
      return 0;                                                                                    \
    }                                                                                              \
    static int commit_reply_medium(gex_AM_SrcDesc_t sd, gex_AM_Index_t h, Reply how, Values v) {   \
      (void)v;                                                                                     \
      const std::size_t n = payload_bytes;                                                         \
      if (how == Reply::committed_v2)                                                              \
        return gex_AM_CommitReplyMedium##M##_v2(sd, h, n, 0 LIST_##M);                             \
      if (how == Reply::counted_commit_v2)                                                         \
        return gex_AM_CommitReplyMedium_v2(sd, h, n, 0 LIST_##M);                                  \
      if (how == Reply::counted_commit)                                                            \
        gex_AM_CommitReplyMedium(sd, h, n LIST_##M);                                               \
      else                                                                                         \
        gex_AM_CommitReplyMedium##M(sd, h, n LIST_##M);                                            \
      return 0;                                                                                    \
    }                                                                                              \
    static int commit_reply_long(gex_AM_SrcDesc_t sd, gex_AM_Index_t h, void* d, Reply how,        \
                                 Values v) {                                                       \
      (void)v;                                                                                     \
      const std::size_t n = payload_bytes;                                                         \
      if (how == Reply::committed_v2)                                                              \
        return gex_AM_CommitReplyLong##M##_v2(sd, h, n, d, 0 LIST_##M);                            \
      if (how == Reply::counted_commit_v2)                                                         \
        return gex_AM_CommitReplyLong_v2(sd, h, n, d, 0 LIST_##M);                                 \
      if (how == Reply::counted_commit)                                                            \
        gex_AM_CommitReplyLong(sd, h, n, d LIST_##M);                                              \
      else                                                                                         \
        gex_AM_CommitReplyLong##M(sd, h, n, d LIST_##M);                                           \
      return 0;                                                                                    \
    }                                                                                              \
  };
CALLS(0)
CALLS(1)
CALLS(2)
CALLS(3)
CALLS(4)
CALLS(5)
CALLS(6)
CALLS(7)
CALLS(8)
CALLS(9)
CALLS(10)
CALLS(11)
CALLS(12)
CALLS(13)
CALLS(14)
CALLS(15)
CALLS(16)

bool is_committed(Reply how) {
  return how >= Reply::committed;
}
bool is_counted(Reply how) {
  return how == Reply::counted;
}

/// Handlers by number of arguments.
gex_AM_Index_t short_index(unsigned count);
gex_AM_Index_t payload_index(unsigned count);

template <unsigned M>
std::array<gex_AM_Arg_t, M + 1> values() {
  std::array<gex_AM_Arg_t, M + 1> all{};
  for (unsigned i = 0; i < M; ++i) all[i] = argument(M, i);
  return all;
}

/// The reply of M arguments to a request of M arguments, in the round's category and form.
template <unsigned M>
void answer(gex_Token_t token) {
  const auto v = values<M>();
  const std::vector<std::uint8_t> source = payload_of(payload_bytes, M + 100);
  void* const destination = segment_of(info_of(token).gex_srcrank) + landing(M, false);
  int status = 0;
  switch (category) {
    case Category::brief:
      status = Calls<M>::reply_short(token, short_index(M), is_counted(reply), v.data());
      break;
    case Category::medium:
      if (is_committed(reply)) {
        gex_AM_SrcDesc_t sd =
            gex_AM_PrepareReplyMedium(token, nullptr, payload_bytes, payload_bytes, nullptr, 0, M);
        std::memcpy(gex_AM_SrcDescAddr(sd), source.data(), payload_bytes);
        status = Calls<M>::commit_reply_medium(sd, payload_index(M), reply, v.data());
      } else {
        status = Calls<M>::reply_medium(token, payload_index(M), source.data(), is_counted(reply),
                                        v.data());
      }
      break;
    case Category::lengthy:
      if (is_committed(reply)) {
        gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyLong(
            token, source.data(), payload_bytes, payload_bytes, destination, GEX_EVENT_NOW, 0, M);
        status = Calls<M>::commit_reply_long(sd, payload_index(M), destination, reply, v.data());
      } else {
        status = Calls<M>::reply_long(token, payload_index(M), source.data(), destination,
                                      is_counted(reply), v.data());
      }
      break;
  }
  EXPECT_EQ(status, 0);
}

template <unsigned M, typename... Args>
void check_arguments(Args... args) {
  const std::array<gex_AM_Arg_t, M + 1> received{args..., 0};
  for (unsigned i = 0; i < M; ++i) EXPECT_EQ(received[i], argument(M, i)) << i << " of " << M;
}

template <unsigned M>
void arrived(gex_Token_t token) {
  if (is_request(token)) {
    if (reply != Reply::none) answer<M>(token);
    ++requests_seen;
  } else {
    ++replies_seen;
  }
}

template <unsigned M, std::size_t... I>
struct Receivers;

template <std::size_t>
using Argument = gex_AM_Arg_t;

template <unsigned M, std::size_t... I>
struct Receivers {
  static void brief(gex_Token_t token, Argument<I>... args) {
    check_arguments<M>(args...);
    arrived<M>(token);
  }
  static void payload(gex_Token_t token, void* payload, std::size_t bytes, Argument<I>... args) {
    const bool request = is_request(token);
    check_arguments<M>(args...);
    EXPECT_EQ(bytes, payload_bytes);
    EXPECT_EQ(first_difference(payload, request ? M : M + 100, bytes), bytes);
    if (category == Category::lengthy) {
      EXPECT_EQ(payload, own_segment() + landing(M, request));
    }
    arrived<M>(token);
  }
};

template <unsigned M, std::size_t... I>
void add_receivers(std::vector<gex_AM_Entry_t>& table, std::index_sequence<I...>) {
  using R = Receivers<M, I...>;
  table.push_back(entry(R::brief, short_both, M, "arguments, short"));
  table.push_back(entry(R::payload, payload_both, M, "arguments, payload"));
}

template <std::size_t... M>
std::vector<gex_AM_Entry_t> all_receivers(std::index_sequence<M...>) {
  std::vector<gex_AM_Entry_t> table;
  (add_receivers<M>(table, std::make_index_sequence<M>()), ...);
  return table;
}

Handlers handlers(all_receivers(std::make_index_sequence<max_arguments + 1>()));

gex_AM_Index_t short_index(unsigned count) {
  return handlers[count * 2];
}
gex_AM_Index_t payload_index(unsigned count) {
  return handlers[count * 2 + 1];
}

/// Sends the request of M arguments in the given form.
template <unsigned M>
void send(Reply form) {
  const auto v = values<M>();
  const std::vector<std::uint8_t> source = payload_of(payload_bytes, M);
  void* const destination = segment_of(next()) + landing(M, true);
  int status = 0;
  switch (category) {
    case Category::brief:
      status = Calls<M>::request_short(short_index(M), is_counted(form), v.data());
      break;
    case Category::medium:
      if (is_committed(form)) {
        gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(
            team(), next(), source.data(), payload_bytes, payload_bytes, GEX_EVENT_NOW, 0, M);
        status = Calls<M>::commit_request_medium(sd, payload_index(M), form, v.data());
      } else {
        status =
            Calls<M>::request_medium(payload_index(M), source.data(), is_counted(form), v.data());
      }
      break;
    case Category::lengthy:
      if (is_committed(form)) {
        gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(team(), next(), nullptr, payload_bytes,
                                                        payload_bytes, nullptr, nullptr, 0, M);
        std::memcpy(gex_AM_SrcDescAddr(sd), source.data(), payload_bytes);
        status = Calls<M>::commit_request_long(sd, payload_index(M), destination, form, v.data());
      } else {
        status = Calls<M>::request_long(payload_index(M), source.data(), destination,
                                        is_counted(form), v.data());
      }
      break;
  }
  EXPECT_EQ(status, 0);
}

template <std::size_t... M>
void send_all(Reply form, std::index_sequence<M...>) {
  (send<M>(form), ...);
}

/// One round: a request with each number of arguments, answered in the form `reply_form`.
void round(Category which, Reply request_form, Reply reply_form) {
  requests_seen.reset();
  replies_seen.reset();
  category = which;
  reply = reply_form;
  barrier();
  send_all(request_form, std::make_index_sequence<max_arguments + 1>());
  const long expected = max_arguments + 1;
  const long expected_replies = reply_form == Reply::none ? 0 : expected;
  WAIT_UNTIL(requests_seen.get() == expected && replies_seen.get() == expected_replies);
  barrier();
  EXPECT_EQ(requests_seen.get(), expected);
  EXPECT_EQ(replies_seen.get(), expected_replies);
}

TEST(Arguments, MaxArgsIsSixteen) {
  EXPECT_EQ(gex_AM_MaxArgs(), max_arguments);
}

TEST(Arguments, ShortWithoutReply) {
  round(Category::brief, Reply::plain, Reply::none);
  round(Category::brief, Reply::counted, Reply::none);
}
TEST(Arguments, ShortWithReply) {
  round(Category::brief, Reply::plain, Reply::plain);
  round(Category::brief, Reply::counted, Reply::counted);
}

class ArgumentsWithPayload : public testing::TestWithParam<Category> {};

TEST_P(ArgumentsWithPayload, FixedPayload) {
  round(GetParam(), Reply::plain, Reply::none);
  round(GetParam(), Reply::plain, Reply::plain);
  round(GetParam(), Reply::counted, Reply::counted);
}
TEST_P(ArgumentsWithPayload, NegotiatedPayload) {
  round(GetParam(), Reply::committed, Reply::committed);
  round(GetParam(), Reply::counted_commit, Reply::counted_commit);
}
TEST_P(ArgumentsWithPayload, NegotiatedPayloadWithCommitFlags) {
  round(GetParam(), Reply::committed_v2, Reply::committed_v2);
  round(GetParam(), Reply::counted_commit_v2, Reply::counted_commit_v2);
}
INSTANTIATE_TEST_SUITE_P(, ArgumentsWithPayload,
                         testing::Values(Category::medium, Category::lengthy),
                         [](const testing::TestParamInfo<Category>& info) {
                           return info.param == Category::medium ? "Medium" : "Long";
                         });

}  // namespace
}  // namespace conformance::am_args_test
