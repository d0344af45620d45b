// An assertion that does not hold ends the process, and its line names it.

#undef GEX_ASSERTIONS
#define GEX_ASSERTIONS 1
#include "base/assert.h"

#include <gtest/gtest.h>

namespace gex {
namespace {

TEST(AssertDeathTest, NamesTheConditionAndThePlace) {
  const int credits = 3;
  GEX_ASSERT(credits == 3);
  EXPECT_EXIT(GEX_ASSERT(credits < 3), testing::KilledBySignal(SIGABRT),
              "gex: internal error at base_assert_test.cc:[0-9]+: 'credits < 3' does not hold");
}

}  // namespace
}  // namespace gex
