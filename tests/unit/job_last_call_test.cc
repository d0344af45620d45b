#include "job/last_call.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace gex::job {
namespace {

constexpr std::uint32_t put = 1;
constexpr std::uint32_t poll = 2;
constexpr const char* put_name = "gex_RMA_PutBlocking (gasnet_put)";
constexpr const char* poll_name = "gasnet_AMPoll";

TEST(LastCall, IsUnknownBeforeThereWasOne) {
  EXPECT_EQ(LastCall().describe(), "");
}

TEST(LastCall, IsOneThatTheRankIsInUntilItReturns) {
  LastCall last_call;
  last_call.begin(put, put_name, 1);
  EXPECT_EQ(last_call.describe(), " while in gex_RMA_PutBlocking (gasnet_put)");
  last_call.finish(put, 1, LastCall::none);
  EXPECT_EQ(last_call.describe(), " after gex_RMA_PutBlocking (gasnet_put)");
  last_call.begin(poll, poll_name, 1);
  EXPECT_EQ(last_call.describe(), " while in gasnet_AMPoll");
}

TEST(LastCall, OfNestedOnesIsTheInnermost) {
  LastCall last_call;
  last_call.begin(poll, poll_name, 1);
  last_call.begin(put, put_name, 1);
  EXPECT_EQ(last_call.describe(), " while in gex_RMA_PutBlocking (gasnet_put)");
  last_call.finish(put, 1, poll);
  EXPECT_EQ(last_call.describe(), " while in gasnet_AMPoll");
}

TEST(LastCall, OfSeveralThreadsIsTheOneBegunLast) {
  LastCall last_call;
  last_call.begin(poll, poll_name, 1);
  last_call.begin(put, put_name, 2);
  last_call.finish(poll, 1, LastCall::none);
  EXPECT_EQ(last_call.describe(), " while in gex_RMA_PutBlocking (gasnet_put)");
  // Calls of one function by two threads are different calls.
  last_call.begin(put, put_name, 3);
  last_call.finish(put, 2, LastCall::none);
  EXPECT_EQ(last_call.describe(), " while in gex_RMA_PutBlocking (gasnet_put)");
  last_call.finish(put, 3, LastCall::none);
  EXPECT_EQ(last_call.describe(), " after gex_RMA_PutBlocking (gasnet_put)");
}

TEST(LastCall, IsForgottenWhereWhatFollowsIsNotNoted) {
  LastCall last_call;
  last_call.begin(put, put_name, 1);
  last_call.begin(poll, poll_name, 2);
  last_call.forget(put, 1);
  EXPECT_EQ(last_call.describe(), " while in gasnet_AMPoll");
  last_call.forget(poll, 2);
  EXPECT_EQ(last_call.describe(), "");
}

TEST(LastCall, BeyondTheTableIsNotNoted) {
  LastCall last_call;
  last_call.begin(put, put_name, 1);
  last_call.begin(LastCall::max_calls, "gex_beyond", 1);
  EXPECT_EQ(last_call.describe(), " while in gex_RMA_PutBlocking (gasnet_put)");
  last_call.begin(LastCall::max_calls - 1, "gex_last", 1);
  EXPECT_EQ(last_call.describe(), " while in gex_last");
}

TEST(LastCall, LongNamesAreCut) {
  LastCall last_call;
  last_call.begin(put, std::string(1000, 'x').c_str(), 1);
  EXPECT_EQ(last_call.describe(), " while in " + std::string(LastCall::max_name, 'x'));
}

// The page's content is untrusted data of another process.
TEST(LastCall, IsUnknownWhereTheNameIsInvalid) {
  for (const int byte : {0x00, 0x01, 0x1b, 0x41, 0x80, 0xff}) {
    const auto last_call = std::make_unique<LastCall>();
    std::memset(static_cast<void*>(last_call.get()), byte, sizeof(LastCall));
    EXPECT_EQ(last_call->describe(), "") << byte;
    last_call->begin(put, put_name, 1);
    EXPECT_EQ(last_call->describe(), byte == 0 ? " while in gex_RMA_PutBlocking (gasnet_put)" : "")
        << byte;
  }
  LastCall last_call;
  last_call.begin(put, "gex\033[2J", 1);
  EXPECT_EQ(last_call.describe(), "");
}

// Several threads store names at the same time, and another process reads them meanwhile.
TEST(LastCall, IsWholeWhateverThreadsDo) {
  constexpr std::uint32_t calls = 50;
  const auto name = [](std::uint32_t call) {
    return "a_call_whose_name_takes_several_words_and_ends_with_" + std::to_string(call);
  };
  std::set<std::string> possible{""};
  for (std::uint32_t call = 1; call <= calls; ++call)
    for (const char* when : {" while in ", " after "}) possible.insert(when + name(call));
  for (int round = 0; round < 200; ++round) {
    LastCall last_call;
    std::barrier start(4);
    std::vector<std::thread> threads;
    for (std::uint32_t thread = 1; thread <= 3; ++thread) {
      threads.emplace_back([&, thread] {
        start.arrive_and_wait();
        for (std::uint32_t call = 1; call <= calls; ++call) {
          last_call.begin(call, name(call).c_str(), thread);
          last_call.finish(call, thread, LastCall::none);
        }
      });
    }
    start.arrive_and_wait();
    const std::string last = " after " + name(calls);
    for (std::string text; text != last; text = last_call.describe())
      ASSERT_TRUE(possible.contains(text)) << text;
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace gex::job
