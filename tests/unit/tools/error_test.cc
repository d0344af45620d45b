#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

namespace {

std::atomic<int> walks{0};

}  // namespace

// The library's calls of the system's function come here.
extern "C" int backtrace(void** frames, int max) noexcept {
  ++walks;
  return reinterpret_cast<int (*)(void**, int)>(dlsym(RTLD_NEXT, "backtrace"))(frames, max);
}

namespace {

/// Returns the text that `body` writes to the descriptor it is given.
template <class Body>
std::string written(Body body) {
  char name[] = "/tmp/tools_error_testXXXXXX";
  const int descriptor = mkstemp(name);
  unlink(name);
  body(descriptor);
  std::string text(static_cast<std::size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(descriptor, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  close(descriptor);
  return text;
}

void fail_here() {
  gasnett_fatalerror("value %d of %s", 7, "something");
}

/// As a shell has it of a program that calls abort().
constexpr int aborted = 134;

TEST(ToolsFatalError, NamesThePlaceAndEndsTheProcessAsAbortDoes) {
  EXPECT_EXIT(fail_here(), testing::ExitedWithCode(aborted),
              "^gex: in fail_here at .*error_test.cc:[0-9]+: value 7 of something\n$");
  EXPECT_EXIT(gasnett_fatalerror("plain"), testing::ExitedWithCode(aborted), ": plain\n$");
  EXPECT_EXIT(gasnett_fatalerror_nopos("%s", "nowhere"), testing::ExitedWithCode(aborted),
              "^gex: nowhere\n$");
}

TEST(ToolsFatalError, KeepsTheLinesOfTheMessage) {
  EXPECT_EXIT(gasnett_fatalerror_nopos("two\n\tlines\n"), testing::ExitedWithCode(aborted),
              "^gex: two\ngex: \tlines\n$");
}

TEST(ToolsFatalError, CutsWhatIsLongerThanAMessageCanBe) {
  const std::string large(5000, 'x');
  EXPECT_EXIT(gasnett_fatalerror("%s", large.c_str()), testing::ExitedWithCode(aborted),
              "^gex: in .*error_test.cc:[0-9]+: x+[.][.][.]\n$");
}

TEST(ToolsFatalError, PrintsABacktraceIfAsked) {
  EXPECT_EXIT(
      {
        setenv("GASNET_BACKTRACE", "1", 1);
        fail_here();
      },
      testing::ExitedWithCode(aborted), "value 7 of something.*\n.*error_test.*\n.*error_test");
}

TEST(ToolsFatalError, UnreachableIsForTheOptimiserOnly) {
#ifdef GASNET_DEBUG
#error "this test is about a release client"
#endif
  const int one = 1;
  gasnett_assume(one == 1);
  EXPECT_EQ(one, 1);
}

TEST(ToolsLocation, NamesFileLineAndFunction) {
  char* here = gasnett_current_loc;
  EXPECT_NE(std::string(here).find("TestBody at "), std::string::npos) << here;
  EXPECT_NE(std::string(here).find("error_test.cc:" + std::to_string(__LINE__ - 2)),
            std::string::npos)
      << here;
  std::free(here);
}

TEST(ToolsBacktrace, PreparationWalksAStackOnce) {
  // The system loads what it needs at its first walk up a stack, which a signal handler may not do.
  const int before = walks;
  gasnett_backtrace_init(nullptr);
  EXPECT_GT(walks, before);
}

TEST(ToolsBacktrace, PrintsTheStack) {
  int result = 1;
  const std::string text = written([&](int fd) { result = gasnett_print_backtrace(fd); });
  EXPECT_EQ(result, 0);
  EXPECT_NE(text.find("error_test"), std::string::npos) << text;
}

TEST(ToolsBacktrace, TypeChoosesTheMechanism) {
  setenv("GASNET_BACKTRACE_TYPE", "NONESUCH,EXECINFO", 1);
  int result = 1;
  testing::internal::CaptureStderr();
  std::string text = written([&](int fd) { result = gasnett_print_backtrace(fd); });
  EXPECT_EQ(result, 0);
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gex: GASNET_BACKTRACE_TYPE: there is no backtrace mechanism 'NONESUCH' here\n");
  setenv("GASNET_BACKTRACE_TYPE", "NONESUCH", 1);
  testing::internal::CaptureStderr();
  text = written([&](int fd) { result = gasnett_print_backtrace(fd); });
  testing::internal::GetCapturedStderr();
  EXPECT_NE(result, 0);
  EXPECT_TRUE(text.empty());
  unsetenv("GASNET_BACKTRACE_TYPE");
}

TEST(ToolsBacktrace, IfEnabledFollowsTheVariable) {
  unsetenv("GASNET_BACKTRACE");
  EXPECT_TRUE(written([](int fd) { gasnett_print_backtrace_ifenabled(fd); }).empty());
  setenv("GASNET_BACKTRACE", "yes", 1);
  EXPECT_FALSE(written([](int fd) { gasnett_print_backtrace_ifenabled(fd); }).empty());
  unsetenv("GASNET_BACKTRACE");
}

TEST(ToolsFreeze, LastsUntilTheFlagIsCleared) {
  static volatile int flag = 1;
  EXPECT_EXIT(
      {
        gasnett_reghandler(SIGALRM, [](int) { flag = 0; });
        alarm(1);
        gasnett_freezeForDebuggerNow(&flag, "my_flag");
        _exit(flag == 0 ? 0 : 3);
      },
      testing::ExitedWithCode(0), "waits for a debugger.*my_flag");
}

TEST(ToolsFreeze, OnErrorOnlyIfAsked) {
  unsetenv("GASNET_FREEZE_ON_ERROR");
  gasnett_freezeForDebuggerErr();
  EXPECT_EXIT(
      {
        setenv("GASNET_FREEZE_ON_ERROR", "1", 1);
        gasnett_reghandler(SIGALRM, [](int) { _exit(5); });
        alarm(1);
        gasnett_freezeForDebuggerErr();
      },
      testing::ExitedWithCode(5), "waits for a debugger");
}

volatile sig_atomic_t caught = 0;

TEST(ToolsSignals, HandlersAreInstalledAndGivenBack) {
  const gasnett_sighandlerfn_t handler = [](int number) { caught = number; };
  EXPECT_EQ(gasnett_reghandler(SIGUSR1, handler), SIG_DFL);
  raise(SIGUSR1);
  EXPECT_EQ(caught, SIGUSR1);
  raise(SIGUSR1);  // still installed
  EXPECT_EQ(gasnett_reghandler(SIGUSR1, SIG_IGN), handler);
  EXPECT_EQ(gasnett_reghandler(SIGUSR1, SIG_DFL), SIG_IGN);
  EXPECT_EXIT(gasnett_reghandler(SIGKILL, handler), testing::ExitedWithCode(1),
              "gasnett_reghandler: signal 9: Invalid argument");
}

TEST(ToolsKill, EndsAtOnceWithTheCode) {
  EXPECT_EXIT(
      {
        std::atexit([] { _exit(3); });
        gasnett_killmyprocess(42);
      },
      testing::ExitedWithCode(42), "");
}

}  // namespace
