// Classes of memory kinds: each is found by its number, and messages and the end of mappings ask
// all.

#include "core/memory_class.h"

#include <gtest/gtest.h>

#include <string>

#include "../inert_kind.h"

namespace gex {
namespace {

int asked_first = 0;
int unpinned = 0;

void count_unpin(const void*) {
  ++unpinned;
}

std::string describe_nothing(const void*) {
  ++asked_first;
  return {};
}
std::string describe_second(const void*) {
  return "memory of the second";
}
constexpr MemoryClassInfo first_class{.memory_class = net::cuda_memory,
                                      .name = "FIRST",
                                      .entry = "first",
                                      .sharing = &no_sharing,
                                      .describe_unknown = describe_nothing,
                                      .unpin = count_unpin};
constexpr MemoryClassInfo second_class{.memory_class = net::hip_memory,
                                       .name = "SECOND",
                                       .entry = "second",
                                       .sharing = &no_sharing,
                                       .describe_unknown = describe_second,
                                       .unpin = count_unpin};

void register_both() {
  static const bool once = [] {
    register_memory_class(first_class);
    register_memory_class(second_class);
    return true;
  }();
  static_cast<void>(once);
}

TEST(MemoryClasses, AreFoundAndAskedInTurn) {
  const int place = 0;
  register_both();
  ASSERT_EQ(memory_classes().size(), 2U);
  EXPECT_STREQ(class_info(net::cuda_memory).name, "FIRST");
  EXPECT_STREQ(class_info(net::hip_memory).name, "SECOND");
  EXPECT_EQ(describe_unknown_memory(&place), "memory of the second");
  EXPECT_EQ(asked_first, 1);
  unpin_memory(&place);
  EXPECT_EQ(unpinned, 2);
}

struct SecondKind final : InertKind {
  constexpr SecondKind() : InertKind(net::hip_memory) {}
};

using MemoryClassesDeathTest = testing::Test;

TEST_F(MemoryClassesDeathTest, AreNamedWhereOnlyTheHostsMemoryWillDo) {
  register_both();
  const SecondKind kind;
  const int there[2] = {};
  add_memory(&there[0], sizeof(int), kind);
  require_host_memory(&there[1], "src", "gex_Call");
  EXPECT_DEATH(
      require_host_memory(&there[0], "src", "gex_Call"),
      "gex_Call: src is memory of the kind SECOND, and this operation works on host memory "
      "only");
  remove_memory(&there[0]);
}

TEST_F(MemoryClassesDeathTest, AreNotInvented) {
  EXPECT_DEATH(class_info(net::level_zero_memory), "memory of the unknown class 3");
}

}  // namespace
}  // namespace gex
