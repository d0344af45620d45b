// Control-group limits, read from trees of files as the kernel shows them.

#include "base/os_cgroup.h"

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace gex::os {
namespace {

constexpr const char* unified_mount =
    "25 24 0:22 / /proc rw shared:1 - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate\n";

constexpr const char* separate_mounts =
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

TEST(CgroupLimits, NothingToReadMeansNoLimit) {
  const TemporaryFolder root;
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, std::nullopt);
  EXPECT_EQ(limits.cpus, std::nullopt);
}

TEST(CgroupLimits, Version2OwnGroup) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", unified_mount);
  root.write("proc/self/cgroup", "0::/job/step\n");
  root.write("sys/fs/cgroup/job/step/memory.max", "1073741824\n");
  root.write("sys/fs/cgroup/job/step/cpu.max", "150000 100000\n");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, 1073741824u);
  EXPECT_EQ(limits.cpus, 1.5);
}

TEST(CgroupLimits, TasksAndTheSettingOfMemory) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", unified_mount);
  root.write("proc/self/cgroup", "0::/job\n");
  root.write("sys/fs/cgroup/job/pids.max", "100\n");
  root.write("sys/fs/cgroup/job/memory.max", "4096\n");
  EXPECT_EQ(cgroup_limits(root.path()).tasks, 100u);
  EXPECT_STREQ(cgroup_limits(root.path()).memory_setting, "memory.max");
  const TemporaryFolder older;
  older.write("proc/self/mountinfo",
              std::string(separate_mounts) +
                  "36 31 0:33 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n");
  older.write("proc/self/cgroup", "4:memory:/job\n8:pids:/job\n");
  older.write("sys/fs/cgroup/pids/job/pids.max", "50\n");
  older.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "8192\n");
  EXPECT_EQ(cgroup_limits(older.path()).tasks, 50u);
  EXPECT_STREQ(cgroup_limits(older.path()).memory_setting, "memory.limit_in_bytes");
}

TEST(CgroupMemoryKills, AreCountedInTheOwnGroup) {
  const TemporaryFolder root;
  EXPECT_EQ(cgroup_memory_kills(root.path()), std::nullopt);
  root.write("proc/self/mountinfo", unified_mount);
  root.write("proc/self/cgroup", "0::/job\n");
  EXPECT_EQ(cgroup_memory_kills(root.path()), std::nullopt);
  root.write("sys/fs/cgroup/job/memory.events", "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\n");
  EXPECT_EQ(cgroup_memory_kills(root.path()), 2u);
}

TEST(CgroupMemoryKills, OfVersion1) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", separate_mounts);
  root.write("proc/self/cgroup", "4:memory:/job\n0::/\n");
  root.write("sys/fs/cgroup/memory/job/memory.oom_control",
             "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
  EXPECT_EQ(cgroup_memory_kills(root.path()), 5u);
}

TEST(CgroupLimits, Version2MaxMeansNoLimit) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", unified_mount);
  root.write("proc/self/cgroup", "0::/job\n");
  root.write("sys/fs/cgroup/job/memory.max", "max\n");
  root.write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, std::nullopt);
  EXPECT_EQ(limits.cpus, std::nullopt);
}

TEST(CgroupLimits, AGroupThatIsSlowedDownIsLimited) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", unified_mount);
  root.write("proc/self/cgroup", "0::/a/b\n");
  root.write("sys/fs/cgroup/a/memory.max", "3000\n");
  root.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  root.write("sys/fs/cgroup/a/b/memory.high", "2000\n");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, 2000u);
  EXPECT_STREQ(limits.memory_setting, "memory.high");
  // Nothing is killed there.
  EXPECT_EQ(limits.hard_memory, 3000u);
  EXPECT_STREQ(limits.hard_memory_setting, "memory.max");
  root.write("sys/fs/cgroup/a/b/memory.high", "max\n");
  EXPECT_EQ(cgroup_limits(root.path()).memory, 3000u);
}

TEST(CgroupLimits, TheSmallestLimitOnTheWayUpHolds) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", unified_mount);
  root.write("proc/self/cgroup", "0::/a/b/c\n");
  root.write("sys/fs/cgroup/a/memory.max", "3000\n");
  root.write("sys/fs/cgroup/a/b/memory.max", "1000\n");
  root.write("sys/fs/cgroup/a/b/c/memory.max", "2000\n");
  root.write("sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  root.write("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
  root.write("sys/fs/cgroup/a/b/other/memory.max", "1\n");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, 1000u);
  EXPECT_EQ(limits.cpus, 0.5);
}

TEST(CgroupLimits, InsideACgroupNamespaceTheMountItselfIsTheGroup) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", unified_mount);
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/memory.max", "67108864\n");
  root.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, 67108864u);
  EXPECT_EQ(limits.cpus, 2.0);
}

TEST(CgroupLimits, Version1ControllersAreSeparateHierarchies) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", separate_mounts);
  root.write("proc/self/cgroup", "4:memory:/m/x\n3:cpuset:/\n1:cpu,cpuacct:/c\n0::/\n");
  root.write("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "4096\n");
  root.write("sys/fs/cgroup/memory/m/x/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "250000\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, 4096u);
  EXPECT_EQ(limits.cpus, 2.5);
}

TEST(CgroupLimits, Version1UnlimitedIsNoLimit) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", separate_mounts);
  root.write("proc/self/cgroup", "4:memory:/\n1:cpu,cpuacct:/\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, std::nullopt);
  EXPECT_EQ(limits.cpus, std::nullopt);
}

TEST(CgroupLimits, AMountOfAPartOfTheTreeKeepsThePathBelowIt) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo",
             "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  root.write("proc/self/cgroup", "4:memory:/docker/abc/inner\n");
  root.write("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "8192\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "16384\n");
  EXPECT_EQ(cgroup_limits(root.path()).memory, 8192u);
}

TEST(CgroupLimits, AGroupOutsideTheMountIsSeenAsTheMount) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo",
             "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "16384\n");
  for (const char* group : {"/docker/abcdef", "/elsewhere", "/../sibling"}) {
    root.write("proc/self/cgroup", std::string("4:memory:") + group + "\n");
    EXPECT_EQ(cgroup_limits(root.path()).memory, 16384u) << group;
  }
}

TEST(CgroupLimits, BothVersionsTogetherGiveTheSmaller) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", std::string(separate_mounts) +
                                        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 c rw\n");
  root.write("proc/self/cgroup", "4:memory:/\n0::/g\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n");
  root.write("sys/fs/cgroup/unified/g/memory.max", "7000\n");
  EXPECT_EQ(cgroup_limits(root.path()).memory, 7000u);
}

TEST(CgroupLimits, EscapedMountPointsAndPathsWithColonsAreRead) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", "30 23 0:26 / /mnt/c\\040group rw - cgroup2 cgroup2 rw\n");
  root.write("proc/self/cgroup", "0::/a:b\n");
  root.write("mnt/c group/a:b/memory.max", "5000\n");
  EXPECT_EQ(cgroup_limits(root.path()).memory, 5000u);
}

TEST(CgroupLimits, MalformedFilesLimitNothing) {
  const TemporaryFolder root;
  root.write("proc/self/mountinfo", std::string("nonsense\n\n30 23\n") + unified_mount);
  root.write("proc/self/cgroup", "nonsense\n1\n:\n0::/job\n");
  root.write("sys/fs/cgroup/job/memory.max", "lots\n");
  root.write("sys/fs/cgroup/job/cpu.max", "100000 0\n");
  root.write("sys/fs/cgroup/memory.max", "");
  const CgroupLimits limits = cgroup_limits(root.path());
  EXPECT_EQ(limits.memory, std::nullopt);
  EXPECT_EQ(limits.cpus, std::nullopt);
}

}  // namespace
}  // namespace gex::os
