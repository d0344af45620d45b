// The time slice of a thread, as the kernel shows it.

#include "base/os_time_slice.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace gex::os {
namespace {

/// As in linux/sched/types.h, which old systems lack.
struct Shown {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t slice_ns, deadline_ns, period_ns;
};

Shown shown() {
  Shown attributes{};
  EXPECT_EQ(syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0), 0);
  return attributes;
}

TEST(TimeSlice, IsShortUntilItIsRestored) {
  const Shown before = shown();
  shorten_time_slice();
  shorten_time_slice();
  if (before.slice_ns != 0) {
    EXPECT_EQ(shown().slice_ns, 100'000U);
  }
  restore_time_slice();
  restore_time_slice();
  EXPECT_EQ(shown().slice_ns, before.slice_ns);
}

TEST(TimeSlice, LeavesTheNiceValueThatOthersSetMeanwhile) {
  shorten_time_slice();
  const int nice = shown().nice + 1;
  ASSERT_EQ(setpriority(PRIO_PROCESS, 0, nice), 0);
  restore_time_slice();
  EXPECT_EQ(shown().nice, nice);
}

TEST(TimeSlice, OfAnotherSchedulingClassStaysAsItIs) {
  const sched_param none{};
  ASSERT_EQ(sched_setscheduler(0, SCHED_BATCH, &none), 0);
  const Shown before = shown();
  shorten_time_slice();
  EXPECT_EQ(shown().slice_ns, before.slice_ns);
  restore_time_slice();
  EXPECT_EQ(shown().policy, static_cast<std::uint32_t>(SCHED_BATCH));
  ASSERT_EQ(sched_setscheduler(0, SCHED_OTHER, &none), 0);
}

}  // namespace
}  // namespace gex::os
