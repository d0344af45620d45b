// A program that brings a backtrace mechanism of its own, by defining the library's variable.
#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <string>

static int print_mine(int fd) {
  static const char text[] = "my own backtrace\n";
  return write(fd, text, sizeof text - 1) == sizeof text - 1 ? 0 : 1;
}

gasnett_backtrace_type_t gasnett_backtrace_user = {"MINE", &print_mine, 1};

namespace {

std::string printed() {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  EXPECT_EQ(gasnett_print_backtrace(ends[1]), 0);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  return text;
}

TEST(ToolsBacktraceUser, IsPreferred) {
  unsetenv("GASNET_BACKTRACE_TYPE");
  EXPECT_EQ(printed(), "my own backtrace\n");
}

TEST(ToolsBacktraceUser, CanBeChosenByName) {
  setenv("GASNET_BACKTRACE_TYPE", "EXECINFO", 1);
  EXPECT_EQ(printed().find("my own backtrace"), std::string::npos);
  setenv("GASNET_BACKTRACE_TYPE", "MINE", 1);
  EXPECT_EQ(printed(), "my own backtrace\n");
}

TEST(ToolsBacktraceUser, IsWhatFatalErrorsPrint) {
  EXPECT_EXIT(
      {
        unsetenv("GASNET_BACKTRACE_TYPE");
        setenv("GASNET_BACKTRACE", "1", 1);
        gasnett_fatalerror_nopos("the end");
      },
      testing::ExitedWithCode(134), "^gex: the end\nmy own backtrace\n$");
}

TEST(ToolsBacktraceUser, ThePointerCanBeReplaced) {
  EXPECT_EXIT(
      {
        gasnett_print_backtrace_ifenabled = [](int fd) {
          return write(fd, "mine\n", 5) == 5 ? 0 : 1;
        };
        gasnett_fatalerror_nopos("the end");
      },
      testing::ExitedWithCode(134), "^gex: the end\nmine\n$");
}

}  // namespace
