// Decisions about binding, and the claims on processors between jobs.

#include "launch/local/binding.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "launch/local/core_claims.h"
#include "temporary_folder.h"

namespace gex::launch {
namespace {

using Shares = std::vector<std::vector<std::uint32_t>>;

/// A machine of eight processors, and a job of two ranks.
BindingFacts facts() {
  BindingFacts facts;
  facts.wanted = Bind::share;
  facts.ranks = 2;
  facts.affinity = facts.bindable = {0, 1, 2, 3, 4, 5, 6, 7};
  facts.program = "/usr/bin/program";
  return facts;
}

/// The reason for which no rank is bound; "" if ranks are bound.
template <class Change>
std::string why_not(const Change& change) {
  const TemporaryFolder root;
  BindingFacts changed = facts();
  change(changed);
  const BindingPlan plan = plan_binding(changed, root.path());
  EXPECT_NE(plan.cores.empty(), plan.why_not.empty());
  return plan.why_not;
}

TEST(PlanBinding, GivesEqualShares) {
  const TemporaryFolder root;
  const BindingPlan plan = plan_binding(facts(), root.path());
  EXPECT_EQ(plan.cores, (Shares{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(plan.why_not, "");
}

TEST(PlanBinding, LeavesAloneWhatHasNoShareOrIsBoundAlready) {
  EXPECT_EQ(why_not([](BindingFacts& f) { f.wanted = Bind::none; }),
            "--bind none or GEX_BIND=none");
  EXPECT_EQ(why_not([](BindingFacts& f) { f.bindable = {}; }), "this system cannot bind processes");
  EXPECT_EQ(why_not([](BindingFacts& f) {
              f.affinity = {0, 1, 2, 3, 6};
            }),
            "the launcher is bound to 0-3,6 of the processors 0-7 already");
  EXPECT_EQ(why_not([](BindingFacts& f) { f.ranks = 1; }), "one rank may use all of 8 processors");
  EXPECT_EQ(why_not([](BindingFacts& f) { f.ranks = 9; }), "9 ranks on 8 processors");
  EXPECT_EQ(why_not([](BindingFacts& f) { f.ranks = 8; }), "");
  EXPECT_EQ(why_not([](BindingFacts& f) { f.at_a_time = 1; }),
            "2 ranks, and the control group has the time of 1 processor");
  EXPECT_EQ(why_not([](BindingFacts& f) { f.at_a_time = 2; }), "");
  EXPECT_EQ(why_not([](BindingFacts& f) { f.program = "/usr/bin/numactl"; }),
            "/usr/bin/numactl binds them");
  EXPECT_EQ(why_not([](BindingFacts& f) { f.program = "taskset"; }), "taskset binds them");
  EXPECT_EQ(why_not([](BindingFacts& f) { f.variable = "OMP_PLACES"; }),
            "OMP_PLACES names processors for their threads");
}

TEST(PlanBinding, ToCoresIsDoneWhateverTheAffinity) {
  const TemporaryFolder root;
  BindingFacts wanted = facts();
  wanted.wanted = Bind::core;
  wanted.ranks = 3;
  wanted.affinity = {2, 5};
  EXPECT_EQ(plan_binding(wanted, root.path()).cores, (Shares{{2}, {5}, {2}}));
}

TEST(VariableThatNamesProcessors, IsNotOneThatNamesKindsOfPlaces) {
  const auto with = [](const char* name, const char* value) {
    setenv(name, value, 1);
    std::string found = variable_that_names_processors();
    unsetenv(name);
    return found;
  };
  EXPECT_EQ(variable_that_names_processors(), "");
  EXPECT_EQ(with("OMP_PLACES", "cores"), "");
  EXPECT_EQ(with("OMP_PLACES", "{0:4},{4:4}"), "OMP_PLACES");
  EXPECT_EQ(with("OMP_PROC_BIND", "close"), "");
  EXPECT_EQ(with("GOMP_CPU_AFFINITY", "0-3"), "GOMP_CPU_AFFINITY");
  EXPECT_EQ(with("KMP_AFFINITY", "granularity=fine,compact"), "");
  EXPECT_EQ(with("KMP_AFFINITY", "explicit,proclist=[0,1]"), "KMP_AFFINITY");
}

TEST(ParseBind, TakesThreeWords) {
  EXPECT_EQ(parse_bind("share"), Bind::share);
  EXPECT_EQ(parse_bind("core"), Bind::core);
  EXPECT_EQ(parse_bind("none"), Bind::none);
  EXPECT_EQ(parse_bind("auto"), std::nullopt);
  EXPECT_EQ(parse_bind(""), std::nullopt);
}

// Processor numbers that no machine has, different in each process, so that other jobs do not
// interfere.
std::uint32_t unused_number() {
  static const auto base = (1U << 24) + static_cast<std::uint32_t>(getpid()) * 8;
  return base;
}

TEST(CoreClaims, KeepOthersAwayAsLongAsTheyExist) {
  const std::uint32_t a = unused_number();
  CoreClaims second;
  {
    CoreClaims first;
    const std::uint32_t wanted[] = {a, a + 1};
    EXPECT_EQ(first.claim_all(wanted).error, 0);
    const std::uint32_t overlapping[] = {a + 1, a + 2};
    const CoreClaims::Refusal refusal = second.claim_all(overlapping);
    EXPECT_EQ(refusal.error, EADDRINUSE);
    EXPECT_EQ(refusal.core, a + 1);
    const std::uint32_t apart[] = {a + 2, a + 3};
    EXPECT_EQ(second.claim_all(apart).error, 0);
  }
  CoreClaims third;
  const std::uint32_t freed[] = {a, a + 1};
  EXPECT_EQ(third.claim_all(freed).error, 0);
}

TEST(CoreClaims, ThatAreRefusedLeaveTheOthersFree) {
  const std::uint32_t a = unused_number();
  CoreClaims first, second, third;
  const std::uint32_t last[] = {a + 2};
  const std::uint32_t all[] = {a, a + 1, a + 2};
  const std::uint32_t rest[] = {a, a + 1};
  EXPECT_EQ(first.claim_all(last).error, 0);
  EXPECT_EQ(second.claim_all(all).error, EADDRINUSE);
  EXPECT_EQ(third.claim_all(rest).error, 0);
}

TEST(CoreClaims, OfWhatIsFreeLeaveTheRestToItsHolder) {
  const std::uint32_t a = unused_number();
  CoreClaims first, second, third;
  const std::uint32_t middle[] = {a + 1};
  const std::uint32_t all[] = {a, a + 1, a + 2};
  EXPECT_EQ(first.claim_all(middle).error, 0);
  second.claim_free(all);
  for (const std::uint32_t core : all)
    EXPECT_EQ(third.claim_all({&core, 1}).error, EADDRINUSE) << core;
}

TEST(CoreClaims, EndWithTheirProcess) {
  const std::uint32_t core = unused_number();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    CoreClaims held;
    const char failed = held.claim_all({&core, 1}).error == 0 ? 0 : 1;
    if (write(ready[1], &failed, 1) == 1) pause();
    _exit(1);
  }
  char failed = 1;
  ASSERT_EQ(read(ready[0], &failed, 1), 1);
  EXPECT_EQ(failed, 0);
  CoreClaims next;
  EXPECT_EQ(next.claim_all({&core, 1}).error, EADDRINUSE);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(next.claim_all({&core, 1}).error, 0);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace gex::launch
