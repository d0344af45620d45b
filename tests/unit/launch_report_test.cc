#include "launch/report.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace gex::launch {
namespace {

TEST(Report, SignalsHaveNames) {
  EXPECT_EQ(describe_signal(SIGKILL), "signal 9 (Killed)");
  EXPECT_EQ(describe_signal(SIGSEGV), "signal 11 (Segmentation fault)");
}

}  // namespace
}  // namespace gex::launch
