// When idle polls become calls: a thread that others kept from its core, and one that slept.

#include "core/called_polls.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/patience.h"
#include "core/progress.h"

namespace gex {
namespace {

constexpr std::uint64_t ms = 1'000'000;

detail::UsageLook look_at(std::uint64_t passed_ns, std::uint64_t ran_ns, std::uint64_t sleeps,
                          std::uint64_t preemptions) {
  return {1 + ns_to_ticks(passed_ns), {ran_ns, sleeps, preemptions}};
}

TEST(CalledPolls, AThreadThatOthersKeptFromItsCoreHasLostIt) {
  const detail::UsageLook before = look_at(0, 0, 3, 7);
  EXPECT_TRUE(detail::has_lost_core(before, look_at(10 * ms, 7 * ms, 3, 8)));
  // It was there for almost all of the time; it slept; nothing took its core; there was no look.
  EXPECT_FALSE(detail::has_lost_core(before, look_at(10 * ms, 9 * ms, 3, 8)));
  EXPECT_FALSE(detail::has_lost_core(before, look_at(10 * ms, 7 * ms, 4, 8)));
  EXPECT_FALSE(detail::has_lost_core(before, look_at(10 * ms, 7 * ms, 3, 7)));
  EXPECT_FALSE(detail::has_lost_core({}, look_at(10 * ms, 7 * ms, 3, 8)));
}

TEST(CalledPolls, PollsAreCallsWhileOthersWantTheCore) {
  const auto wanted = [] {
    return __atomic_load_n(&detail::watched.deliveries_wanted, __ATOMIC_RELAXED);
  };
  const std::uint32_t before = wanted();
  WaitHistory& history = PatienceActions::history();
  while (wanted() == before) {
    history.lost_core(PatienceActions::now());
    count_busy_poll();
  }
  EXPECT_EQ(wanted(), before + 1);
  // It was lost long ago.
  while (wanted() != before) {
    history.lost_core(PatienceActions::now() - ns_to_ticks(1000 * ms));
    count_busy_poll();
  }
}

}  // namespace
}  // namespace gex
