// Direct operations of a team's members, as far as one process shows them.

#include "coll/direct_team.h"

#include <gtest/gtest.h>

namespace gex::coll {
namespace {

TEST(DirectOperation, ThatDoesNotReachMemoryEndsTheJobInWordsForAllOperations) {
  EXPECT_EXIT(refuse_memory_of(3), testing::ExitedWithCode(1),
              "^gex: a collective operation does not reach the memory of rank 3 of the team any "
              "more: its segment was replaced meanwhile, or the kernel refuses to copy\n$");
}

}  // namespace
}  // namespace gex::coll
