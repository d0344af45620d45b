// The rule by which a job gets a network that no rank has named: tables of candidates.

#include "net/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "net/registry.h"

namespace gex::net {
namespace {

std::string order_of(const Ranking& ranking) {
  std::string names;
  for (const Candidate& one : ranking.order)
    names.append(names.empty() ? "" : " ").append(one.name);
  return names;
}

std::string reason_of(const Ranking& ranking, const std::string& name) {
  for (const PassedOver& one : ranking.left_out)
    if (one.name == name) return one.reason;
  return "it is not left out";
}

struct Case {
  const char* what;
  std::vector<Candidate> candidates;
  bool several_hosts;
  const char* order;
};

TEST(Choice, TheBestGoesFirst) {
  const Candidate fallback{"udp", 5, false, by_processor, ""};
  const Candidate over_tcp{"ofi", 50, false, by_processor, ""};
  const Candidate over_verbs{"ofi", 50, false, by_hardware, ""};
  const Candidate other_tcp{"ucx", 60, false, by_processor, ""};
  const Candidate other_verbs{"ucx", 60, false, by_hardware, ""};
  const Candidate fallback_in_hardware{"udp", 5, false, by_hardware, ""};
  const Candidate emulated{"emu", 0, true, by_hardware, ""};
  const Candidate of_one_machine{"vm", 90, true, by_hardware, ""};
  const Candidate absent{"ofi", 50, false, unusable, "no library"};
  const std::vector<Case> cases = {
      {"nothing there", {}, true, ""},
      {"only one that its name alone chooses", {emulated}, false, ""},
      {"the last resort where nothing else is there", {emulated, fallback}, true, "udp"},
      {"the last resort where the other cannot be used", {absent, fallback}, true, "udp"},
      {"another before the last resort", {fallback, over_tcp}, true, "ofi udp"},
      {"by preference among equals", {over_tcp, fallback, other_tcp}, true, "ucx ofi udp"},
      {"hardware before preference", {other_tcp, over_verbs}, true, "ofi ucx"},
      {"by preference among hardware", {over_verbs, other_verbs}, true, "ucx ofi"},
      {"hardware even in the last resort", {over_tcp, fallback_in_hardware}, true, "udp ofi"},
      {"one of one machine on one host", {over_verbs, of_one_machine}, false, "vm ofi"},
      {"one of one machine on several hosts", {over_verbs, of_one_machine}, true, "ofi"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    std::vector<Candidate> candidates = one.candidates;
    EXPECT_EQ(order_of(rank_networks(candidates, one.several_hosts)), one.order);
    // The order in which they are given does not matter.
    std::reverse(candidates.begin(), candidates.end());
    EXPECT_EQ(order_of(rank_networks(candidates, one.several_hosts)), one.order);
  }
}

TEST(Choice, EqualsGoByName) {
  EXPECT_EQ(order_of(rank_networks(
                {{"b", 50, false, by_processor, ""}, {"a", 50, false, by_processor, ""}}, true)),
            "a b");
}

TEST(Choice, WhatIsLeftOutHasItsReason) {
  const Ranking ranking = rank_networks({{"emu", 0, true, by_processor, ""},
                                         {"vm", 50, true, by_processor, ""},
                                         {"ofi", 50, false, unusable, "libfabric.so.1 is missing"},
                                         {"ucx", 50, false, unusable, ""}},
                                        true);
  EXPECT_EQ(order_of(ranking), "");
  EXPECT_EQ(reason_of(ranking, "emu"), "chosen by its name only");
  EXPECT_EQ(reason_of(ranking, "vm"),
            "it joins the processes of one machine, and the ranks are on several hosts");
  EXPECT_EQ(reason_of(ranking, "ofi"), "libfabric.so.1 is missing");
  EXPECT_EQ(reason_of(ranking, "ucx"), "it cannot be used here");
  for (const PassedOver& one : ranking.left_out) EXPECT_EQ(one.by_name_only, one.name == "emu");
}

TEST(Choice, EmuIsNeverChosenByItself) {
  bool is_declared = false;
  for (const Declared& one : declared()) {
    if (std::string(one.name) != "emu") continue;
    is_declared = true;
    EXPECT_EQ(one.preference, 0u);
  }
  EXPECT_TRUE(is_declared);
}

TEST(Choice, APlugInThatIsNotThereIsSurveyedWithTheReason) {
  // Beside a test program there are no plug-ins.
  Host host{};
  host.env_integer = [](const char*) -> std::int64_t { return 0; };
  host.env_text = [](const char*) -> const char* { return nullptr; };
  for (const Candidate& one : survey_candidates(host, true)) {
    const auto declared_ones = declared();
    const auto place = std::find_if(declared_ones.begin(), declared_ones.end(),
                                    [&](const Declared& other) { return one.name == other.name; });
    ASSERT_NE(place, declared_ones.end());
    if (place->built_in || place->preference == 0) continue;
    EXPECT_EQ(one.standing, unusable);
    EXPECT_EQ(one.note,
              "this libgex was built without it, or libgex-" + one.name + ".so is not installed");
  }
}

}  // namespace
}  // namespace gex::net
