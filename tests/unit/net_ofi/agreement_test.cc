// Which provider and fabric the ranks of a job agree on, from what each could use.

#include "net/ofi/agreement.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace gex::net::ofi {
namespace {

using All = std::vector<Introduction>;

Introduction introduction(const char* provider, const char* fabric = "", bool ready = true) {
  Introduction one{};
  std::snprintf(one.provider, sizeof one.provider, "%s", provider);
  std::snprintf(one.fabric, sizeof one.fabric, "%s", fabric);
  one.ready = ready ? 1 : 0;
  one.name_size = 16;
  return one;
}

TEST(Agreement, IsOnWhatAllWouldUse) {
  EXPECT_TRUE(verdict_on(All{introduction("cxi", "a"), introduction("cxi", "a")}, false).agreed);
  EXPECT_TRUE(verdict_on(All{introduction("cxi", "a")}, true).agreed);
}

TEST(Agreement, LeavesOutWhatFailsOnOneRank) {
  const Verdict verdict =
      verdict_on(All{introduction("cxi", "a"), introduction("cxi", "a", false)}, false);
  EXPECT_FALSE(verdict.agreed);
  ASSERT_TRUE(verdict.refused);
  EXPECT_EQ(verdict.refused->provider, "cxi");
  EXPECT_EQ(verdict.refused->fabric, "a");
  EXPECT_EQ(verdict.rank, 1U);
  EXPECT_EQ(verdict.reason, "");  // only that rank has it
}

TEST(Agreement, LeavesOutWhatOneRankLacks) {
  // The others would take cxi, so the rank that would not does not have it.
  for (const bool swapped : {false, true}) {
    const Introduction with = introduction("cxi", "a"), without = introduction("tcp;ofi_rxm");
    const Verdict verdict =
        verdict_on(All{swapped ? without : with, swapped ? with : without}, false);
    EXPECT_FALSE(verdict.agreed);
    ASSERT_TRUE(verdict.refused);
    EXPECT_EQ(verdict.refused->provider, "cxi");
    EXPECT_NE(verdict.reason.find("rank 1 would use"), std::string::npos);
  }
}

TEST(Agreement, IsOnOneFabric) {
  const Verdict verdict = verdict_on(All{introduction("cxi", "b"), introduction("cxi", "a")}, true);
  ASSERT_TRUE(verdict.refused);
  EXPECT_EQ(verdict.refused->fabric, "a");
}

TEST(Agreement, PrefersWhatNetworksAreMadeFor) {
  // Omni-Path has verbs as well.
  EXPECT_LT(preference_of("psm2"), preference_of("verbs;ofi_rxm"));
  EXPECT_LT(preference_of("opx"), preference_of("verbs;ofi_rxm"));
  EXPECT_LT(preference_of("psm3"), preference_of("tcp;ofi_rxm"));
}

TEST(Agreement, CollectsWhatRanksHaveFoundBroken) {
  Introduction one = introduction("cxi"), other = one;
  one.broken = broken_delivery;
  other.broken = broken_order;
  EXPECT_EQ(broken_of(All{one, other}), broken_delivery | broken_order);
}

TEST(Agreement, IsOnOneProtocolThoughOneRankReachesDevices) {
  Introduction plain = introduction("cxi"), with_devices = plain;
  with_devices.reaches_devices = 1;
  EXPECT_FALSE(devices_divide(All{plain, with_devices}));
  with_devices.protocol = 1;
  EXPECT_TRUE(devices_divide(All{plain, with_devices}));
  EXPECT_TRUE(devices_divide(All{with_devices, with_devices, plain}));
  EXPECT_FALSE(devices_divide(All{with_devices, with_devices}));
}

TEST(Agreement, EndsWhereThereIsNoOtherWay) {
  EXPECT_FALSE(
      verdict_on(All{introduction("cxi", "a", false)}, true).refused);  // named by the user
  EXPECT_FALSE(verdict_on(All{introduction("", "", false)}, false).refused);
  Introduction longer = introduction("cxi", "a");
  longer.name_size = 32;
  const Verdict verdict = verdict_on(All{introduction("cxi", "a"), longer}, false);
  EXPECT_FALSE(verdict.agreed || verdict.refused);
  EXPECT_NE(verdict.reason.find("GEX_OFI_PROVIDER"), std::string::npos);
}

}  // namespace
}  // namespace gex::net::ofi
