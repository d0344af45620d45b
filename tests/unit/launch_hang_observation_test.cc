// Observations of hosts on their way to the launcher: what several hosts have observed together,
// and how many frames arrive.

#include "launch/hang/observation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace gex::launch {
namespace {

TEST(Observation, TravelsAsAFrame) {
  for (const Observation& one :
       {Observation{}, Observation{true, 5, 7, false}, Observation{false, UINT32_MAX, 0, true}})
    EXPECT_EQ(observation_of(frame_of(one)), one);
  EXPECT_EQ(observation_of(frame_of({false, 1ULL << 40, 0, false})).waited_ms, UINT32_MAX);
}

TEST(MergedObservations, AreThoseOfTheOldestWaitAndTheLatestWork) {
  MergedObservations merged(4);
  const std::array hosts{0U, 1U, 3U};
  merged.add(0, {false, 9000, 8000, false});
  merged.add(1, {true, 100, 50, false});
  EXPECT_FALSE(merged.complete(hosts));
  EXPECT_EQ(merged.take(hosts), (Observation{true, 9000, 0, false})) << "3 has not reported";
  merged.add(3, {false, 0, 9000, true});
  EXPECT_FALSE(merged.complete(hosts));
  merged.add(0, {false, 9500, 8500, false});
  merged.add(1, {false, 500, 450, false});
  EXPECT_TRUE(merged.complete(hosts));
  EXPECT_EQ(merged.take(hosts), (Observation{false, 9500, 450, true}));
  EXPECT_FALSE(merged.complete(hosts));
  // A host that has ended no longer counts, but for its progress.
  merged.add(1, {true, 99'000, 0, false});
  EXPECT_EQ(merged.take(std::array{0U, 3U}), (Observation{true, 9500, 8500, true}));
}

TEST(MergedObservations, AreOneFrameOfEachAgent) {
  constexpr std::uint32_t hosts = 8192;
  constexpr std::uint32_t fan = 32;
  std::vector<Observation> level(hosts, Observation{false, 9000, 9000, false});
  level[4711] = {false, 20, 10, true};
  while (level.size() > fan) {
    std::vector<Observation> above;
    for (std::size_t first = 0; first < level.size(); first += fan) {
      std::vector<std::uint32_t> below(std::min<std::size_t>(fan, level.size() - first));
      std::iota(below.begin(), below.end(), 0U);
      MergedObservations agent(below.size());
      std::size_t frames = 0;
      for (const std::uint32_t host : below) {
        agent.add(host, level[first + host]);
        if (!agent.complete(below)) continue;
        above.push_back(agent.take(below));
        ++frames;
      }
      ASSERT_EQ(frames, 1U);
    }
    level = std::move(above);
  }
  EXPECT_LE(level.size(), fan);
  std::vector<std::uint32_t> all(level.size());
  std::iota(all.begin(), all.end(), 0U);
  MergedObservations root(level.size());
  for (const std::uint32_t host : all) root.add(host, level[host]);
  EXPECT_EQ(root.take(all), (Observation{false, 9000, 10, true}));
}

}  // namespace
}  // namespace gex::launch
