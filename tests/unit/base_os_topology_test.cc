// Equal shares of processors, on machines of every shape.

#include "base/os_topology.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "temporary_folder.h"

namespace gex::os {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Shares = std::vector<Numbers>;

Numbers first(std::uint32_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

/// Writes for each of these processors that the file of that name lists them all.
void write_group(const TemporaryFolder& root, const std::string& file, const Numbers& members) {
  std::string list;
  for (const std::uint32_t member : members)
    list += (list.empty() ? "" : ",") + std::to_string(member);
  for (const std::uint32_t member : members)
    root.write("sys/devices/system/cpu/cpu" + std::to_string(member) + "/" + file, list + '\n');
}

TEST(ParseNumberList, TakesWhatTheKernelWrites) {
  EXPECT_EQ(parse_number_list("0"), Numbers{0});
  EXPECT_EQ(parse_number_list("0-3,8,10-11\n"), (Numbers{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_number_list(""), Numbers{});
  EXPECT_EQ(parse_number_list("\n"), Numbers{});
  EXPECT_EQ(parse_number_list("2,x,4"), Numbers{2});
  EXPECT_EQ(parse_number_list("1,2-"), Numbers{1});
  EXPECT_EQ(parse_number_list("0-4294967295"), Numbers{});
}

TEST(EqualShares, WithoutATopologyAreInOrderOfTheirNumbers) {
  const TemporaryFolder root;
  EXPECT_EQ(equal_shares({0, 1}, 2, root.path()), (Shares{{0}, {1}}));
  EXPECT_EQ(equal_shares({0, 1, 2, 3}, 2, root.path()), (Shares{{0, 1}, {2, 3}}));
  EXPECT_EQ(equal_shares({2, 3, 6, 7}, 2, root.path()), (Shares{{2, 3}, {6, 7}}));
  EXPECT_EQ(equal_shares({4, 5, 6}, 1, root.path()), (Shares{{4, 5, 6}}));
}

TEST(EqualShares, LeaveARemainderBetweenThem) {
  const TemporaryFolder root;
  EXPECT_EQ(equal_shares(first(5), 2, root.path()), (Shares{{0, 1}, {2, 3}}));
  EXPECT_EQ(equal_shares(first(8), 3, root.path()), (Shares{{0, 1}, {2, 3}, {5, 6}}));
  EXPECT_EQ(equal_shares(first(8), 5, root.path()), (Shares{{0}, {1}, {3}, {4}, {6}}));
}

TEST(EqualShares, AreNotToBeHadForMoreThanThereAreProcessors) {
  const TemporaryFolder root;
  EXPECT_EQ(equal_shares({0, 1}, 3, root.path()), Shares{});
  EXPECT_EQ(equal_shares({0, 1}, 0, root.path()), Shares{});
  EXPECT_EQ(equal_shares({}, 1, root.path()), Shares{});
}

TEST(EqualShares, HaveWholePhysicalCoresWhileThereAreEnough) {
  // Four cores of two threads, numbered as Linux does: 0-3 the first ones.
  const TemporaryFolder root;
  for (std::uint32_t core = 0; core < 4; ++core)
    write_group(root, "topology/thread_siblings_list", {core, core + 4});
  EXPECT_EQ(equal_shares(first(8), 2, root.path()), (Shares{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  EXPECT_EQ(equal_shares(first(8), 3, root.path()), (Shares{{0, 4}, {1, 5}, {2, 6}}));
  EXPECT_EQ(equal_shares(first(8), 4, root.path()), (Shares{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  // One core has two of them, and each other thread is one rank's alone.
  EXPECT_EQ(equal_shares(first(8), 5, root.path()), (Shares{{0}, {4}, {5}, {2}, {3}}));
  EXPECT_EQ(equal_shares(first(8), 8, root.path()),
            (Shares{{0}, {4}, {1}, {5}, {2}, {6}, {3}, {7}}));
  EXPECT_EQ(equal_shares({0, 4}, 2, root.path()), (Shares{{0}, {4}})) << "one core for two ranks";
  EXPECT_EQ(equal_shares({1, 4, 5}, 2, root.path()), (Shares{{4}, {1, 5}})) << "half a core too";
}

TEST(EqualShares, LieInOnePackage) {
  // Two packages with even and odd processors.
  const TemporaryFolder root;
  write_group(root, "topology/core_siblings_list", {0, 2, 4, 6, 8, 10, 12});
  write_group(root, "topology/core_siblings_list", {1, 3, 5, 7, 9, 11, 13});
  EXPECT_EQ(equal_shares(first(14), 2, root.path()),
            (Shares{{0, 2, 4, 6, 8, 10, 12}, {1, 3, 5, 7, 9, 11, 13}}));
  // What is left over in each package is between shares, and none has some of both.
  EXPECT_EQ(equal_shares(first(14), 4, root.path()),
            (Shares{{0, 2, 4}, {6, 8, 10}, {1, 3, 5}, {7, 9, 11}}));
}

TEST(EqualShares, LieInOneNumaNodeAndCache) {
  const TemporaryFolder root;
  write_group(root, "topology/core_siblings_list", first(8));
  root.write("sys/devices/system/node/has_cpu", "0-1\n");
  root.write("sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
  root.write("sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
  EXPECT_EQ(equal_shares(first(8), 2, root.path()), (Shares{{0, 1, 4, 5}, {2, 3, 6, 7}}));
  write_group(root, "cache/index3/shared_cpu_list", {0, 4});
  write_group(root, "cache/index3/shared_cpu_list", {1, 5});
  write_group(root, "cache/index3/shared_cpu_list", {2, 6});
  write_group(root, "cache/index3/shared_cpu_list", {3, 7});
  EXPECT_EQ(equal_shares(first(8), 4, root.path()), (Shares{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(EqualShares, AreEqualAndDisjointForAnyNumbers) {
  const TemporaryFolder root;
  for (std::uint32_t processors = 1; processors <= 17; ++processors) {
    for (std::uint32_t count = 1; count <= processors; ++count) {
      const Shares shares = equal_shares(first(processors), count, root.path());
      ASSERT_EQ(shares.size(), count);
      std::set<std::uint32_t> used;
      for (const Numbers& share : shares) {
        EXPECT_EQ(share.size(), processors / count) << processors << " for " << count;
        used.insert(share.begin(), share.end());
      }
      EXPECT_EQ(used.size(), std::size_t{count} * (processors / count));
    }
  }
}

}  // namespace
}  // namespace gex::os
