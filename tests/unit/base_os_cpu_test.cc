// Which processors a job may use, and binding to some.

#include "base/os_cpu.h"

#include <gtest/gtest.h>

#include <sched.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "temporary_folder.h"

namespace gex::os {
namespace {

/// Runs the body in a thread of its own, whose binding ends with it.
template <class Body>
void in_thread(Body body) {
  std::thread(body).join();
}

/// The number of cores that one process alone may use.
std::uint32_t usable_alone(const std::string& root = "") {
  const CoreShare share = core_share(root);
  return usable_cores({&share, 1});
}

void write_quota(const TemporaryFolder& root, const char* cpu_max) {
  root.write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/cpu.max", cpu_max);
}

TEST(AllowedCores, AreThoseOfTheAffinityMask) {
  const auto cores = allowed_cores();
  ASSERT_FALSE(cores.empty());
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(cores.size(), static_cast<std::size_t>(CPU_COUNT(&set)));
  for (const std::uint32_t core : cores) EXPECT_TRUE(CPU_ISSET(core, &set)) << core;
  EXPECT_LE(cores.size(), cpu_count());
}

TEST(BindingOrder, PhysicalCoresComeBeforeTheirSecondThreads) {
  const TemporaryFolder root;
  const auto siblings = [&](int core, const char* list) {
    root.write(
        "sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/thread_siblings_list",
        list);
  };
  // Neighbouring numbers are threads of one core, in both notations.
  siblings(0, "0-1\n");
  siblings(1, "0-1\n");
  siblings(2, "2,3\n");
  siblings(3, "2,3\n");
  using Cores = std::vector<std::uint32_t>;
  EXPECT_EQ(binding_order({0, 1, 2, 3}, root.path()), (Cores{0, 2, 1, 3}));
  EXPECT_EQ(binding_order({1, 2, 3}, root.path()), (Cores{1, 2, 3}));
  EXPECT_EQ(binding_order({2, 3, 7}, root.path()), (Cores{2, 7, 3})) << "7 has no topology";
  EXPECT_EQ(binding_order({}, root.path()), Cores{});
  EXPECT_EQ(physical_core_count({0, 1, 2, 3}, root.path()), 2u);
  EXPECT_EQ(physical_core_count({1, 2, 7}, root.path()), 3u);
  EXPECT_EQ(physical_core_count({}, root.path()), 0u);
}

TEST(PinToCore, LeavesOneAllowedCoreAndOneUsable) {
  for (const std::uint32_t core : allowed_cores()) {
    in_thread([core] {
      ASSERT_EQ(pin_to_core(core), 0);
      EXPECT_EQ(allowed_cores(), std::vector<std::uint32_t>{core});
      EXPECT_EQ(usable_alone(), 1u);
      EXPECT_EQ(::sched_getcpu(), static_cast<int>(core));
    });
  }
}

TEST(BindableCores, AreThoseThatABindingHasTakenTooAndItStays) {
  const std::vector<std::uint32_t> before = affinity();
  in_thread([&before] {
    const std::uint32_t last[] = {before.back()};
    ASSERT_EQ(bind_to_cores(last), 0);
    const std::vector<std::uint32_t> bindable = bindable_cores();
    for (const std::uint32_t core : before)
      EXPECT_EQ(std::count(bindable.begin(), bindable.end(), core), 1) << core;
    EXPECT_EQ(affinity(), std::vector<std::uint32_t>{before.back()});
  });
}

TEST(PinToCore, AnswersWhyForACoreThatIsNotThere) {
  in_thread([] { EXPECT_EQ(pin_to_core(1u << 16), EINVAL); });
}

TEST(UsableCores, AreTheAllowedOnesWithoutAQuota) {
  const TemporaryFolder root;
  EXPECT_EQ(usable_alone(root.path()), allowed_cores().size());
}

TEST(UsableCores, AQuotaIsRoundedUpAndNeverBelowOne) {
  const TemporaryFolder root;
  const auto allowed = static_cast<std::uint32_t>(allowed_cores().size());
  write_quota(root, "10000 100000\n");
  EXPECT_EQ(usable_alone(root.path()), 1u);
  write_quota(root, "100000 100000\n");
  EXPECT_EQ(usable_alone(root.path()), 1u);
  write_quota(root, "110000 100000\n");
  EXPECT_EQ(usable_alone(root.path()), std::min(2u, allowed));
  write_quota(root, "6400000000 100000\n");
  EXPECT_EQ(usable_alone(root.path()), allowed);
  write_quota(root, "0 100000\n");
  EXPECT_EQ(usable_alone(root.path()), 1u);
}

TEST(UsableCores, OfRanksThatAreBoundAreThoseOfAllTogether) {
  constexpr std::uint32_t all = UINT32_MAX;
  struct Case {
    std::vector<CoreShare> shares;
    std::uint32_t cores;
  };
  for (const Case& c :
       std::vector<Case>{{{}, 1},
                         {{{0, 3, 4, all}, {0, 3, 4, all}, {0, 3, 4, all}}, 4},  // not bound
                         {{{0, 0, 1, all}, {1, 1, 1, all}, {2, 2, 1, all}}, 3},
                         {{{0, 0, 1, all}, {1, 1, 1, all}, {0, 0, 1, all}}, 2},
                         {{{0, 1, 2, all}, {2, 3, 2, all}}, 4},  // each to two
                         {{{0, 8, 2, all}, {1, 9, 2, all}}, 4},  // and they the threads of one core
                         {{{0, 7, 4, all}, {0, 7, 8, all}}, 12},  // the first are counted twice
                         {{{0, 1, 2, 1}, {2, 3, 2, 1}}, 1},       // by time of the control group
                         {{{0, 3, 4, 3}, {0, 3, 4, 3}}, 3}})
    EXPECT_EQ(usable_cores(c.shares), c.cores) << c.cores;
}

}  // namespace
}  // namespace gex::os
