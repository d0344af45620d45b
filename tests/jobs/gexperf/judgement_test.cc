// The judgement of gexperf: which runs are quiet, what counts, and whether a budget is met.

#include <gtest/gtest.h>

#include <set>

#include "catalogue.h"
#include "explanations.h"
#include "measure.h"
#include "quiet.h"
#include "report.h"

namespace gexperf {
namespace {

constexpr Disturbance quiet{0.01, 0.001};
constexpr Disturbance disturbed{0.5, 0.001};

Row row_of(Budget held, double budget) {
  return {.name = "row",
          .group = Group::am,
          .size = "8",
          .measurement = "row",
          .held = held,
          .budget = budget,
          .floor = 0.9};
}

Run run_of(double subject, double limit, Disturbance disturbance) {
  return {{{subject, limit}, {subject, limit}, {subject, limit}}, disturbance};
}

TEST(ProcessorTimes, AreReadFromTheLineOfAllProcessors) {
  ProcessorTimes times;
  ASSERT_TRUE(parse_processor_times("cpu  10 20 30 400 5 6 7 8 100 200", times));
  EXPECT_EQ(times.busy, 73U) << "user, nice, system, interrupts; not idle, waiting or stolen";
  EXPECT_EQ(times.stolen, 8U);
  EXPECT_EQ(times.total, 486U) << "time of virtual machines is part of user and nice";
}

TEST(ProcessorTimes, OfAnotherFormAreRefused) {
  ProcessorTimes times;
  EXPECT_FALSE(parse_processor_times("cpu0 1 2 3 4 5 6 7 8", times));
  EXPECT_FALSE(parse_processor_times("cpu  1 2 3 4 5 6 7", times));
  EXPECT_FALSE(parse_processor_times("cpu  1 2 x 4 5 6 7 8", times));
  EXPECT_FALSE(parse_processor_times("", times));
}

TEST(QuietRule, DoesNotCountWhatTheRunItselfUsed) {
  // 200 ticks of 10 ms passed, 150 were busy, of which the run used 1.45 s.
  const Disturbance seen = disturbance({100, 0, 1000}, {250, 1, 1200}, 1.45e9, 1e7);
  EXPECT_NEAR(seen.others, 0.025, 1e-9);
  EXPECT_NEAR(seen.stolen, 0.005, 1e-9);
  EXPECT_TRUE(seen.quiet());
}

TEST(QuietRule, RefusesThreePercentOfOthersAndOnePercentStolen) {
  EXPECT_TRUE((Disturbance{0.0299, 0.0099}.quiet()));
  EXPECT_FALSE((Disturbance{0.03, 0}.quiet()));
  EXPECT_FALSE((Disturbance{0, 0.01}.quiet()));
}

TEST(QuietRule, IsNotMetByARunOfNoTicks) {
  EXPECT_FALSE(disturbance({100, 0, 1000}, {100, 0, 1000}, 1e6, 1e7).quiet());
}

TEST(QuietRule, IsNotMetByCountersThatRunBackwards) {
  EXPECT_FALSE(disturbance({100, 0, 1000}, {90, 0, 900}, 1e6, 1e7).quiet());
}

TEST(Summary, IsOfTheQuietRunsOnly) {
  const Row row = row_of(Budget::ratio, 1.2);
  const Result result =
      summarise(row, {run_of(900, 100, disturbed), run_of(110, 100, quiet), run_of(112, 100, quiet),
                      run_of(118, 100, quiet), run_of(1, 100, disturbed)});
  EXPECT_EQ(result.accepted, 3U);
  EXPECT_EQ(result.tried, 5U);
  EXPECT_DOUBLE_EQ(result.value, 112);
  EXPECT_DOUBLE_EQ(result.limit, 100);
  EXPECT_DOUBLE_EQ(result.ratio, 1.12);
  EXPECT_TRUE(result.met());
}

TEST(Summary, OfDisturbedRunsShowsNoBudgetToBeMet) {
  const Row row = row_of(Budget::ratio, 1.2);
  const Result result = summarise(row, {run_of(110, 100, disturbed)});
  EXPECT_EQ(result.accepted, 0U);
  EXPECT_DOUBLE_EQ(result.ratio, 1.1);
  EXPECT_FALSE(result.met());
  EXPECT_NE(table_line(result).find("disturbed"), std::string::npos);
  EXPECT_NE(table_remarks({result}).find("50% of the processors"), std::string::npos);
}

TEST(Summary, TakesTheMedianOfThePairsRatios) {
  const Row row = row_of(Budget::ratio, 1.2);
  // The machine became slower by the pair: the ratio of the medians would be the same by chance
  // only.
  const Result result = summarise(row, {{{{11, 10}, {20, 16}, {66, 60}}, quiet}});
  EXPECT_DOUBLE_EQ(result.ratio, 1.1);
  EXPECT_DOUBLE_EQ(result.value, 20);
  EXPECT_DOUBLE_EQ(result.limit, 16);
}

TEST(Budgets, AreComparedWithTheirMeasure) {
  const Row ratio = row_of(Budget::ratio, 1.15);
  EXPECT_TRUE(summarise(ratio, {run_of(114, 100, quiet)}).met());
  EXPECT_FALSE(summarise(ratio, {run_of(116, 100, quiet)}).met());
  Row allowed = row_of(Budget::ratio, 1.1);
  allowed.allowance_ns = 20;
  EXPECT_TRUE(summarise(allowed, {run_of(129, 100, quiet)}).met());
  EXPECT_FALSE(summarise(allowed, {run_of(131, 100, quiet)}).met());
  const Row value = row_of(Budget::value, 15);
  EXPECT_TRUE(summarise(value, {run_of(14.9, 0, quiet)}).met());
  EXPECT_FALSE(summarise(value, {run_of(15.1, 0, quiet)}).met());
  const Row excess = row_of(Budget::excess, 10);
  EXPECT_TRUE(summarise(excess, {run_of(109, 100, quiet)}).met());
  EXPECT_FALSE(summarise(excess, {run_of(111, 100, quiet)}).met());
}

TEST(Floor, BelowItAFigureIsAMistake) {
  const Row row = row_of(Budget::ratio, 1.15);
  const Result result = summarise(row, {run_of(80, 100, quiet)});
  EXPECT_TRUE(result.below_floor());
  EXPECT_FALSE(result.met());
  EXPECT_NE(table_line(result).find("mistake"), std::string::npos);
  EXPECT_NE(table_remarks({result}).find("wrong with the measurement: row"), std::string::npos);
  const Row value = row_of(Budget::value, 15);
  EXPECT_TRUE(summarise(value, {run_of(0.1, 0, quiet)}).below_floor());
  EXPECT_FALSE(summarise(value, {run_of(1, 0, quiet)}).below_floor());
}

TEST(Catalogue, HasEachNameOnce) {
  std::set<std::string_view> names;
  for (const Row& row : rows()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(Catalogue, HoldsNoRatioAgainstARowWithoutALimit) {
  for (const Row& row : rows()) {
    if (row.is_limit()) {
      EXPECT_EQ(row.held, Budget::none) << row.name;
    }
  }
}

TEST(Explanations, AreOneForEachRowAndNoMore) {
  std::set<const Explanation*> used;
  for (const Row& row : rows()) {
    const Explanation* of = nullptr;
    ASSERT_NO_THROW(of = &explanation_of(row)) << row.name;
    used.insert(of);
    const bool has_limit = row.held == Budget::ratio || row.held == Budget::excess;
    EXPECT_TRUE(!has_limit || !of->limit.empty()) << row.name;
  }
  for (const Explanation& each : explanations()) EXPECT_TRUE(used.contains(&each)) << each.rows;
}

TEST(Explanations, NameTheThreadingModeOfARowThatHasOne) {
  Row row = row_of(Budget::ratio, 1);
  row.name = "am.short.rtt";
  EXPECT_EQ(explained(row),
            "a short request without arguments, and its short reply; limit: limit.line");
  row.name = "am.short.rtt.par";
  EXPECT_EQ(
      explained(row),
      "a short request without arguments, and its short reply, in GASNET_PAR; limit: limit.line");
}

}  // namespace
}  // namespace gexperf
