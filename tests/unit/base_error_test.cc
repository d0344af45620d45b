// Messages: their form, that each is one write, and how `fatal` ends the process.

#include "base/error.h"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/env.h"
#include "base/error_environment.h"

namespace gex {
namespace {

using testing::ExitedWithCode;

/// The output of a child process on standard error, one entry for each write(2), and how it ended.
/// A packet socket keeps the writes apart.
struct Outcome {
  std::vector<std::string> writes;
  int status = 0;
};

Outcome run(const std::function<void()>& body) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0) throw std::runtime_error("socketpair");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    body();
    ::_exit(0);
  }
  ::close(ends[1]);
  Outcome outcome;
  char packet[8192];
  for (ssize_t size; (size = ::recv(ends[0], packet, sizeof packet, 0)) > 0;) {
    outcome.writes.emplace_back(packet, static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  ::waitpid(child, &outcome.status, 0);
  return outcome;
}

TEST(Message, IsOneLineInOneWrite) {
  const Outcome outcome = run([] {
    warn("the %s has %d legs", "spider", 8);
    note("%zu", std::size_t{7});
  });
  ASSERT_EQ(outcome.writes.size(), 2u);
  EXPECT_EQ(outcome.writes[0], "gex: warning: the spider has 8 legs\n");
  EXPECT_EQ(outcome.writes[1], "gex: 7\n");
}

TEST(Message, NamesTheRankOnceItIsKnown) {
  const Outcome outcome = run([] {
    EXPECT_TRUE(speaks_for_job());
    set_message_rank(0);
    if (!speaks_for_job()) note("rank 0 must speak for the job");
    set_message_rank(1023);
    if (speaks_for_job()) note("rank 1023 must not speak for the job");
    note("here");
  });
  ASSERT_EQ(outcome.writes.size(), 1u);
  EXPECT_EQ(outcome.writes[0], "gex: rank 1023: here\n");
}

TEST(Message, ControlCharactersCannotStartANewLine) {
  const Outcome outcome = run([] { note("a\nb\rc\x1b[1md\x7f caf\xc3\xa9\n"); });
  ASSERT_EQ(outcome.writes.size(), 1u);
  EXPECT_EQ(outcome.writes[0], "gex: a?b?c?[1md? caf\xc3\xa9\n");
}

TEST(Message, ALongLineIsCutAndMarked) {
  const std::string text(5000, 'x');
  const Outcome outcome = run([&] { note("%s", text.c_str()); });
  ASSERT_EQ(outcome.writes.size(), 1u);
  const std::string& line = outcome.writes[0];
  EXPECT_EQ(line.size(), 2048u);
  EXPECT_EQ(line.substr(0, 8), "gex: xxx");
  EXPECT_EQ(line.substr(line.size() - 5), "x...\n");
}

TEST(Message, TheLongestLineThatFitsIsWhole) {
  const std::string text(2048 - 1 - 5, 'x');
  const Outcome outcome = run([&] { note("%s", text.c_str()); });
  ASSERT_EQ(outcome.writes.size(), 1u);
  EXPECT_EQ(outcome.writes[0], "gex: " + text + "\n");
}

TEST(Message, LinesOfManyThreadsStayWhole) {
  const Outcome outcome = run([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t] {
        for (int i = 0; i < 50; ++i) note("thread %d line %d", t, i);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  ASSERT_EQ(outcome.writes.size(), 200u);
  for (const std::string& line : outcome.writes) {
    int thread = -1, number = -1, end = 0;
    EXPECT_EQ(std::sscanf(line.c_str(), "gex: thread %d line %d\n%n", &thread, &number, &end), 2);
    EXPECT_EQ(static_cast<std::size_t>(end), line.size());
  }
}

TEST(MessagePolicy, WithoutOneWarningsAreWrittenAndInformIsSilent) {
  const Outcome outcome = run([] {
    ::setenv("GASNET_QUIET", "1", 1);
    ::setenv("GEX_VERBOSE", "1", 1);
    ::setenv("GASNET_BACKTRACE", "1", 1);
    warn("this");
    inform("not this");
    fatal("end");
  });
  ASSERT_EQ(outcome.writes.size(), 2u);
  EXPECT_EQ(outcome.writes[0], "gex: warning: this\n");
  EXPECT_EQ(outcome.writes[1], "gex: end\n");
}

TEST(MessagePolicy, IsAskedForEachMessage) {
  static bool quiet = true;
  const Outcome outcome = run([] {
    static constexpr MessagePolicy policy{.is_quiet = []() noexcept { return quiet; },
                                          .is_verbose = []() noexcept { return !quiet; },
                                          .on_fatal = []() noexcept { note("help"); }};
    set_message_policy(policy);
    warn("not this");
    inform("nor this");
    quiet = false;
    warn("this");
    inform("and this");
    fatal("end");
  });
  EXPECT_EQ(outcome.writes, (std::vector<std::string>{"gex: warning: this\n", "gex: and this\n",
                                                      "gex: end\n", "gex: help\n"}));
}

TEST(Warn, IsSilencedByGasnetQuietButNotesAreNot) {
  const Outcome outcome = run([] {
    follow_error_environment();
    ::setenv("GASNET_QUIET", "1", 1);
    warn("not this");
    note("but this");
  });
  ASSERT_EQ(outcome.writes.size(), 1u);
  EXPECT_EQ(outcome.writes[0], "gex: but this\n");
}

TEST(Inform, SpeaksWhenAskedToOnly) {
  const Outcome silent = run([] {
    follow_error_environment();
    inform("not this");
  });
  EXPECT_EQ(silent.writes.size(), 0u);
  const Outcome outcome = run([] {
    follow_error_environment();
    ::setenv("GEX_VERBOSE", "1", 1);
    inform("%s is chosen", "this");
  });
  ASSERT_EQ(outcome.writes.size(), 1u);
  EXPECT_EQ(outcome.writes[0], "gex: this is chosen\n");
}

TEST(FatalDeath, WithoutAHookExitsWithOneAndFlushesNothing) {
  EXPECT_EXIT(fatal("no %s", "bananas"), ExitedWithCode(1), "^gex: no bananas\n$");
  const Outcome outcome = run([] {
    std::fputs("buffered", stderr);
    std::setvbuf(stderr, nullptr, _IOFBF, 4096);
    std::fputs("buffered", stderr);
    std::atexit([] { note("exit handler"); });
    fatal("end");
  });
  EXPECT_EQ(outcome.writes.back(), "gex: end\n");
  EXPECT_TRUE(WIFEXITED(outcome.status) && WEXITSTATUS(outcome.status) == 1);
}

TEST(FatalDeath, CallsTheHookAfterItsLine) {
  EXPECT_EXIT(
      {
        set_abort_hook([](int code) noexcept {
          note("hook %d", code);
          ::_exit(40 + code);
        });
        set_message_rank(5);
        fatal("cause");
      },
      ExitedWithCode(41), "^gex: rank 5: cause\ngex: rank 5: hook 1\n$");
}

TEST(FatalDeath, AHookThatFailsOrReturnsEndsTheProcess) {
  EXPECT_EXIT(
      {
        set_abort_hook([](int) noexcept { fatal("in the hook"); });
        fatal("cause");
      },
      ExitedWithCode(1), "^gex: cause\ngex: in the hook\n$");
  EXPECT_EXIT(
      {
        set_abort_hook([](int) noexcept {});
        fatal("cause");
      },
      ExitedWithCode(1), "^gex: cause\n$");
}

TEST(FatalDeath, IsSilentWhenAnotherProcessHasReportedAnError) {
  EXPECT_EXIT(
      {
        set_first_error_hook([]() noexcept { return true; });
        fatal("cause");
      },
      ExitedWithCode(1), "^gex: cause\n$");
  EXPECT_EXIT(
      {
        follow_error_environment();
        ::setenv("GASNET_BACKTRACE", "1", 1);
        set_first_error_hook([]() noexcept { return false; });
        set_abort_hook([](int code) noexcept { ::_exit(40 + code); });
        fatal("cause");
      },
      ExitedWithCode(41), "^$");
}

[[noreturn, gnu::format(printf, 2, 3)]] void fail_as_client(const char* place, const char* format,
                                                            ...) {
  va_list arguments;
  va_start(arguments, format);
  client_fatal(place, format, arguments);
}

TEST(ClientFatalDeath, IsReportedWhateverElseHasFailed) {
  EXPECT_EXIT(
      {
        set_first_error_hook([]() noexcept { return false; });
        set_abort_hook([](int code) noexcept { ::_exit(code - 100); });
        fail_as_client("there: ", "cause %d", 7);
      },
      ExitedWithCode(34), "^gex: there: cause 7\n$");
}

TEST(ClientFatalDeath, KeepsLinesEachBehindTheRank) {
  EXPECT_EXIT(
      {
        set_message_rank(3);
        fail_as_client("", "one\n\ttwo\n\nthree\n\n");
      },
      ExitedWithCode(134),
      "^gex: rank 3: one\ngex: rank 3: \ttwo\ngex: rank 3: \ngex: rank 3: three\n$");
}

TEST(ClientFatalDeath, IsCutWhereAMessageIsFull) {
  EXPECT_EXIT(
      fail_as_client("", "%s\n%s", std::string(1500, 'x').c_str(), std::string(1500, 'y').c_str()),
      ExitedWithCode(134), "^gex: x{1500}\n.*y+[.][.][.]\n$");
}

TEST(FatalDeath, IsNotStoppedByGasnetQuiet) {
  EXPECT_EXIT(
      {
        follow_error_environment();
        ::setenv("GASNET_QUIET", "1", 1);
        fatal("cause");
      },
      ExitedWithCode(1), "^gex: cause\n$");
}

TEST(FatalDeath, WorksInASignalHandler) {
  EXPECT_EXIT(
      {
        std::signal(SIGUSR1, [](int signal) { fatal("signal %d of %s", signal, "mine"); });
        std::raise(SIGUSR1);
      },
      ExitedWithCode(1), "^gex: signal 10 of mine\n$");
}

TEST(FatalSystemDeath, NamesTheCallAndTheCause) {
  EXPECT_EXIT(fatal_system("mapping the segments", ENOMEM), ExitedWithCode(1),
              "^gex: mapping the segments: Cannot allocate memory\n$");
  EXPECT_EXIT(fatal_system("open", EMFILE), ExitedWithCode(1),
              "^gex: open: Too many open files \\(ulimit -n\\)\n$");
  EXPECT_EXIT(fatal_system("open", 99999), ExitedWithCode(1), "^gex: open: error 99999\n$");
}

TEST(FatalDeath, PrintsABacktraceWhenAsked) {
  EXPECT_EXIT(
      {
        follow_error_environment();
        ::setenv("GASNET_BACKTRACE", "1", 1);
        fatal("cause");
      },
      ExitedWithCode(1), "^gex: cause\n.*base_error_test.*\\[0x");
}

/// Ends the process by a signal that nothing handles, after the reports of fatal signals are on.
void end_by(int signal, const char* variable) {
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE}) std::signal(number, SIG_DFL);
  ::setenv(variable, "1", 1);
  follow_error_environment_in_signals();
  std::raise(signal);
}

TEST(FatalSignalDeath, PrintsABacktraceWhenAsked) {
  const testing::KilledBySignal by_abort(SIGABRT);
  EXPECT_EXIT(end_by(SIGABRT, "GASNET_BACKTRACE"), by_abort,
              "^gex: signal 6 [(]Aborted[)]\n.*base_error_test.*\\[0x");
  EXPECT_EXIT(end_by(SIGFPE, "GASNET_BACKTRACE"), testing::KilledBySignal(SIGFPE), "\\[0x");
  EXPECT_EXIT(end_by(SIGABRT, "GASNET_QUIET"), by_abort, "^$");
}

TEST(FatalSignalDeath, PrintsABacktraceOfAnAccessThatFails) {
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, SIG_DFL);
        ::setenv("GASNET_BACKTRACE", "1", 1);
        follow_error_environment_in_signals();
        int* volatile nowhere = nullptr;
        *nowhere = 1;
      },
      testing::KilledBySignal(SIGSEGV), "^gex: signal 11 .*\n.*base_error_test.*\\[0x");
}

[[gnu::noinline]] void write_to_nowhere() {
  volatile int* volatile nowhere = nullptr;
  *nowhere = 1;
}

TEST(FatalSignal, BacktraceBeginsWhereTheSignalInterruptedTheThread) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    std::signal(SIGSEGV, SIG_DFL);
    ::setenv("GASNET_BACKTRACE", "1", 1);
    follow_error_environment_in_signals();
    write_to_nowhere();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got; (got = ::read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  const std::size_t first_frame = text.find('\n');
  ASSERT_NE(first_frame, std::string::npos) << text;
  const std::size_t bracket = text.find("[0x", first_frame);
  ASSERT_NE(bracket, std::string::npos) << text;
  const std::uintptr_t at = std::stoull(text.substr(bracket + 1), nullptr, 16);
  const auto function = reinterpret_cast<std::uintptr_t>(&write_to_nowhere);
  EXPECT_GE(at, function) << text;
  EXPECT_LT(at, function + 256) << text;
}

TEST(FatalSignalDeath, LeavesAClientsHandlerAlone) {
  EXPECT_EXIT(
      {
        std::signal(SIGSEGV, [](int) { ::_exit(7); });
        ::setenv("GASNET_BACKTRACE", "1", 1);
        follow_error_environment_in_signals();
        std::raise(SIGSEGV);
      },
      ExitedWithCode(7), "^$");
}

TEST(Fatal, FreezesForADebuggerWhenAsked) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    follow_error_environment();
    ::setenv("GASNET_FREEZE_ON_ERROR", "yes", 1);
    fatal("cause");
  }
  ::close(ends[1]);
  std::string text;
  char byte;
  while (std::count(text.begin(), text.end(), '\n') < 2 && ::read(ends[0], &byte, 1) == 1) {
    text += byte;
  }
  ::close(ends[0]);
  const std::string pid = std::to_string(child);
  EXPECT_EQ(text, "gex: cause\ngex: process " + pid + " waits for a debugger: gdb -p " + pid +
                      ", then: set var *(int *)&gex_frozen = 0\n");
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it must still be there";
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

}  // namespace
}  // namespace gex
