// The properties that providers have by name, and by the library's version.

#include "net/ofi/habits.h"

#include <gtest/gtest.h>

#include "net/ofi/fabric.h"

namespace gex::net::ofi {
namespace {

TEST(Habits, AreThoseOfTheFirstRowThatFits) {
  EXPECT_TRUE(habits_of("verbs;ofi_rxm").ignores_delivery);
  EXPECT_TRUE(habits_of("verbs;ofi_rxm").connects);
  EXPECT_FALSE(habits_of("tcp;ofi_rxm").ignores_delivery);
  EXPECT_TRUE(habits_of("tcp;ofi_rxm").connects);
  EXPECT_TRUE(habits_of("udp;ofi_rxd").fails_at_atomics);
  EXPECT_TRUE(habits_of("psm2").shakes_hands);
  EXPECT_TRUE(habits_of("psm3").connects_at_insertion);
  EXPECT_FALSE(habits_of("efa").connects_at_insertion);
  EXPECT_FALSE(habits_of("an unknown one").connects);
}

TEST(Habits, HaveTheHostsThatAreReached) {
  EXPECT_EQ(reach_of("cxi"), Reach::network);
  EXPECT_EQ(reach_of("verbs;ofi_rxm"), Reach::network);
  EXPECT_EQ(reach_of("an unknown one"), Reach::network);
  EXPECT_EQ(reach_of("tcp;ofi_rxm"), Reach::sockets);
  EXPECT_EQ(reach_of("net"), Reach::sockets);
  EXPECT_EQ(reach_of("shm"), Reach::memory);
}

TEST(Habits, OfShmDependOnItsVersion) {
  EXPECT_TRUE(takes_option_late("shm", FI_VERSION(1, 17)));
  EXPECT_FALSE(takes_option_late("shm", FI_VERSION(2, 0)));
  EXPECT_FALSE(takes_option_late("tcp", FI_VERSION(1, 17)));
  EXPECT_TRUE(opens_files_early("shm", FI_VERSION(1, 22)));
  EXPECT_FALSE(opens_files_early("shm", FI_VERSION(2, 0)));
  EXPECT_FALSE(opens_files_early("tcp", FI_VERSION(1, 17)));
}

TEST(Version, IsTheLibrarysUpToTheNewestThatIsKnown) {
  EXPECT_EQ(asked_version(FI_VERSION(1, 17)), static_cast<std::uint32_t>(FI_VERSION(1, 17)));
  EXPECT_EQ(asked_version(FI_VERSION(1, 20)), static_cast<std::uint32_t>(FI_VERSION(1, 20)));
  EXPECT_LT(asked_version(FI_VERSION(2, 3)), static_cast<std::uint32_t>(FI_VERSION(2, 0)));
}

}  // namespace
}  // namespace gex::net::ofi
