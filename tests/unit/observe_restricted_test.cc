// The table of calls: what each is stands in its row.

#include "observe/restricted.h"

#include <gtest/gtest.h>

#include <string>

#include "core/thread.h"

namespace gex {

namespace {

/// The columns are written by hand: the names state most of them.
TEST(Calls, AreOfTheKindThatTheirNamesHave) {
  for (unsigned i = 0; i < static_cast<unsigned>(Call::count); ++i) {
    const auto call = static_cast<Call>(i);
    const std::string name = name_of(call);
    const auto begins = [&](const char* text) { return name.rfind(text, 0) == 0; };
    const auto contains = [&](const char* text) { return name.find(text) != name.npos; };
    CallKind kind = kind_of(call);
    if (begins("gex_RMA_") || (begins("gex_VIS_") && !contains("SetPeer")))
      kind = contains("Put") ? CallKind::put : CallKind::get;
    if (begins("gex_AM_")) kind = CallKind::message;
    if (begins("gex_AD_Op")) kind = CallKind::atomic;
    if (begins("gex_Coll_") || begins("gasnet_coll_")) kind = CallKind::collective;
    EXPECT_EQ(kind_of(call), kind) << name;
    const bool tests = contains("_Test") || contains("_try") || name == "gasnet_AMPoll";
    const bool waits = contains("_Wait") || contains("wait_sync");
    EXPECT_EQ(role_of(call) == CallRole::asks, tests) << name;
    EXPECT_EQ(role_of(call) == CallRole::waits, waits) << name;
    EXPECT_STRNE(name_of(kind_of(call)), "") << name;
  }
}

TEST(Calls, AreNumberedFromOne) {
  EXPECT_EQ(number_of(static_cast<Call>(0)), 1);
}

TEST(RestrictedContext, IsWhatARoomHasRegistered) {
  static bool applies = false;
  register_restriction([]() noexcept { return applies; }, "in a context of this test");
  gex_proc_.jobsize = 1;
  check_context(Call::put_blocking);
  applies = true;
  check_context(Call::reply_short);
  EXPECT_DEATH(check_context(Call::put_blocking),
               "gex_RMA_PutBlocking: not allowed in a context of this test");
  applies = false;
  gex_proc_.jobsize = 0;
}

}  // namespace

}  // namespace gex
