// How much memory there is, and how sizes are shown.

#include "base/os_memory_limits.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "temporary_folder.h"

namespace gex::os {
namespace {

TEST(Meminfo, TotalAndAvailableAreRead) {
  const TemporaryFolder root;
  root.write("proc/meminfo",
             "MemTotal:       24684096 kB\nMemFree:        1 kB\nMemAvailable:   100 kB\n");
  EXPECT_EQ(physical_memory(root.path()), std::uint64_t{24684096} * 1024);
  EXPECT_EQ(available_memory(root.path()), 100u * 1024);
}

TEST(Meminfo, WithoutAvailableThePhysicalMemoryStandsIn) {
  const TemporaryFolder root;
  EXPECT_EQ(physical_memory(root.path()), 0u);
  root.write("proc/meminfo", "MemTotal: 10 kB\nMemTotalOther: 99 kB\n");
  EXPECT_EQ(available_memory(root.path()), 10u * 1024);
}

TEST(Meminfo, ThisHostHasMemory) {
  EXPECT_GT(physical_memory(), std::uint64_t{64} << 20);
  EXPECT_GT(available_memory(), 0u);
  EXPECT_LE(available_memory(), physical_memory());
}

TEST(MemoryLimits, TheControlGroupsLimitCountsAsPhysicalMemoryWhereItIsSmaller) {
  const TemporaryFolder root;
  root.write("proc/meminfo", "MemTotal: 1024 kB\nMemAvailable: 512 kB\n");
  EXPECT_EQ(memory_limits(root.path()).usable_physical(), 1024u * 1024);
  root.write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/memory.max", "65536\n");
  MemoryLimits limits = memory_limits(root.path());
  EXPECT_EQ(limits.physical, 1024u * 1024);
  EXPECT_EQ(limits.available, 512u * 1024);
  EXPECT_EQ(limits.cgroup, 65536u);
  EXPECT_EQ(limits.usable_physical(), 65536u);
  root.write("sys/fs/cgroup/memory.max", "99999999999\n");
  EXPECT_EQ(memory_limits(root.path()).usable_physical(), 1024u * 1024);
}

TEST(ResourceLimits, FollowSetrlimit) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit address{std::uint64_t{1} << 44, RLIM_INFINITY}, file{12345, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &address);
    ::setrlimit(RLIMIT_FSIZE, &file);
    bool good = address_space_limit() == std::uint64_t{1} << 44 && file_size_limit() == 12345u;
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &none);
    ::setrlimit(RLIMIT_FSIZE, &none);
    good = good && !address_space_limit() && !file_size_limit();
    ::_exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(FormatBytes, UsesTheLargestUnitThatFits) {
  EXPECT_EQ(format_bytes(0), "0 bytes");
  EXPECT_EQ(format_bytes(1023), "1023 bytes");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_bytes(std::uint64_t{256} << 20), "256 MiB");
  EXPECT_EQ(format_bytes((std::uint64_t{5} << 30) / 2), "2.50 GiB");
  EXPECT_EQ(format_bytes(~std::uint64_t{0}), "16.00 EiB");
}

TEST(FormatProcesses, OneIsNoPlural) {
  EXPECT_EQ(format_processes(1), "1 process");
  EXPECT_EQ(format_processes(2), "2 processes");
}

}  // namespace
}  // namespace gex::os
