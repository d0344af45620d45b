#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

TEST(ToolsSystem, ConstantsAreTheMachines) {
  EXPECT_EQ(GASNETT_PAGESIZE % sysconf(_SC_PAGESIZE), 0);
  EXPECT_EQ(1 << GASNETT_PAGESHIFT, GASNETT_PAGESIZE);
  EXPECT_EQ(gasnett_cpu_count(), sysconf(_SC_NPROCESSORS_ONLN));
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  EXPECT_EQ(gasnett_getPhysMemSz(1), pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  const std::uint32_t one = 1;
  unsigned char first;
  std::memcpy(&first, &one, 1);
  EXPECT_EQ(gasnett_isLittleEndian(), first);
}

TEST(ToolsSystem, NamesAreTheMachines) {
  char name[HOST_NAME_MAX + 1] = {};
  ASSERT_EQ(gethostname(name, HOST_NAME_MAX), 0);
  EXPECT_STREQ(gasnett_gethostname(), name);
  char path[PATH_MAX] = {};
  ASSERT_GT(readlink("/proc/self/exe", path, sizeof path - 1), 0);
  EXPECT_STREQ(gasnett_exe_name(), path);
  EXPECT_NE(std::string(GASNETT_SYSTEM_TUPLE).find("-linux-gnu"), std::string::npos);
}

TEST(ToolsSystem, VersionsAgree) {
  const std::string text = std::to_string(GASNETT_RELEASE_VERSION_MAJOR) + "." +
                           std::to_string(GASNETT_RELEASE_VERSION_MINOR) + "." +
                           std::to_string(GASNETT_RELEASE_VERSION_PATCH);
  EXPECT_EQ(gasnett_release_version_str(), text);
  EXPECT_EQ(gasnett_release_version(), GASNETT_RELEASE_VERSION_MAJOR * 1000000u +
                                           GASNETT_RELEASE_VERSION_MINOR * 10000u +
                                           GASNETT_RELEASE_VERSION_PATCH);
  // What clients of this release compare with: four digits, two, four.
  EXPECT_EQ(gasnett_release_version(), 2025080000u);
  const std::string config = GASNETT_CONFIG_STRING;
  EXPECT_EQ(config.find("RELEASE=" + text + ",SPEC=1."), 0u) << config;
  EXPECT_NE(config.find(",PTR=64bit,CACHE_LINE_BYTES=64,nodebug,par,"), std::string::npos)
      << config;
}

TEST(ToolsSystem, WarningsArePrintedInWholeLines) {
  const char* const text = gasnett_performance_warning_str();
  ASSERT_NE(text, nullptr);
  const std::string lines = text;
  EXPECT_TRUE(lines.empty() || lines.back() == '\n') << lines;
}

TEST(ToolsSystem, AffinityBindsTheCallingThread) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int processor = 0;
  while (!CPU_ISSET(processor, &allowed)) ++processor;
  std::thread([&] {
    ASSERT_EQ(gasnett_set_affinity(processor + gasnett_cpu_count()), 0);
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    EXPECT_EQ(CPU_COUNT(&now), 1);
    EXPECT_TRUE(CPU_ISSET(processor % gasnett_cpu_count(), &now));
  }).join();
}

TEST(ToolsSystem, LimitsAreRaisedUnlessTheVariableForbids) {
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_CPU, &limit), 0);
  const rlim_t lowered = 1000000;  // seconds
  ASSERT_GT(limit.rlim_max, lowered);
  limit.rlim_cur = lowered;
  ASSERT_EQ(setrlimit(RLIMIT_CPU, &limit), 0);
  setenv("GASNET_MAXIMIZE_RLIMIT_CPU", "0", 1);
  EXPECT_NE(gasnett_maximize_rlimit(RLIMIT_CPU, "RLIMIT_CPU"), 0);
  rlimit now;
  getrlimit(RLIMIT_CPU, &now);
  EXPECT_EQ(now.rlim_cur, lowered);
  unsetenv("GASNET_MAXIMIZE_RLIMIT_CPU");
  EXPECT_NE(gasnett_maximize_rlimit(RLIMIT_CPU, "RLIMIT_CPU"), 0);
  getrlimit(RLIMIT_CPU, &now);
  EXPECT_EQ(now.rlim_cur, limit.rlim_max);
  EXPECT_EQ(gasnett_maximize_rlimit(99999, "RLIMIT_NONESUCH"), 0);
  EXPECT_NE(gasnett_maximize_rlimits(), 0);
}

TEST(ToolsSystem, StreamsAreFlushedAndReleased) {
  EXPECT_EXIT(
      {
        // A full buffer on stderr's descriptor is what the parent reads.
        dup2(STDERR_FILENO, STDOUT_FILENO);
        static char buffer[4096];
        setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
        std::fputs("kept,", stdout);
        gasnett_flush_streams();
        std::fputs("kept too", stdout);
        gasnett_close_streams();
        std::fputs("lost", stdout);
        std::fputs("lost", stderr);
        std::fflush(stdout);
        gasnett_close_streams();
        _exit(std::getchar() == EOF ? 0 : 3);
      },
      testing::ExitedWithCode(0), "^kept,kept too$");
}

TEST(ToolsSystem, MmapGivesZeroedPagesOrFails) {
  auto* memory = static_cast<unsigned char*>(gasnett_mmap(3 * GASNETT_PAGESIZE));
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 4096, 0u);
  EXPECT_EQ(gasnett_count0s(memory, 3 * GASNETT_PAGESIZE), 3u * GASNETT_PAGESIZE);
  memory[3 * GASNETT_PAGESIZE - 1] = 1;
  munmap(memory, 3 * GASNETT_PAGESIZE);
  errno = 0;
  EXPECT_EQ(gasnett_mmap(std::uintptr_t{1} << 60), MAP_FAILED);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(ToolsSystem, MasksAreKeptAndStayReadable) {
  EXPECT_STREQ(GASNETT_TRACE_GETMASK(), "");
  GASNETT_TRACE_SETMASK("HU");
  const char* before = GASNETT_TRACE_GETMASK();
  GASNETT_TRACE_SETMASK("G");
  GASNETT_STATS_SETMASK("P");
  EXPECT_STREQ(before, "HU");
  EXPECT_STREQ(GASNETT_TRACE_GETMASK(), "G");
  EXPECT_STREQ(GASNETT_STATS_GETMASK(), "P");
}

TEST(ToolsSystem, TracingEvaluatesItsArguments) {
  int count = 0;
  GASNETT_TRACE_PRINTF("%d", ++count);
  GASNETT_STATS_DUMP(++count);
  GASNETT_TRACE_SETSOURCELINE("file", static_cast<unsigned>(++count));
  EXPECT_EQ(count, 3);
}

}  // namespace
