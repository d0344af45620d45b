// Standard input, output and error of jobs under gexrun.

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "modes.h"

namespace launch_test {
namespace {

TEST(Output, LinesOfManyRanksStayWhole) {
  constexpr int ranks = 8;
  constexpr int lines = 3000;
  const Outcome outcome = job(Mode::gexrun, ranks, {"print-lines", std::to_string(lines)}).run();
  expect_success(outcome);
  std::map<int, int> next;
  std::istringstream stream(outcome.output);
  int count = 0;
  for (std::string line; std::getline(stream, line); ++count) {
    int rank = -1;
    int index = -1;
    ASSERT_EQ(std::sscanf(line.c_str(), "<%d %d ", &rank, &index), 2) << line;
    ASSERT_EQ(index, next[rank]) << line;
    ++next[rank];
    const std::string head = "<" + std::to_string(rank) + " " + std::to_string(index) + " ";
    const std::string letters(static_cast<std::size_t>(1 + (index * 37 + rank * 11) % 300),
                              static_cast<char>('a' + rank));
    ASSERT_EQ(line, head + letters + ">");
  }
  EXPECT_EQ(count, ranks * lines);
}

TEST(Output, TaggedLinesNameTheirRank) {
  const Outcome outcome = Command({gexrun, "-n", "3", "--tag-output", "sh", "-c",
                                   "printf 'one\\ntwo'; echo problem >&2"})
                              .run();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 0);
  for (int rank = 0; rank < 3; ++rank) {
    const std::string tag = "[" + std::to_string(rank) + "] ";
    EXPECT_EQ(lines_with(outcome.output, tag + "one"), 1) << outcome.output;
    EXPECT_EQ(lines_with(outcome.output, tag + "two"), 1) << outcome.output;
    EXPECT_EQ(lines_with(outcome.error, tag + "problem"), 1) << outcome.error;
  }
}

/// On one host and on two: a line on the terminal shows how many ranks have joined, and is erased.
TEST(Output, ATerminalShowsWhoIsStillMissing) {
  const std::string program =
      "sh -c 'case $GEX_JOB in *:2:3:*) sleep 3;; esac; exec " + probe + " who'";
  for (const std::string& hosts : {std::string(), " --rsh " + rsh_here + " --hosts a:2,b:1"}) {
    std::string command = gexrun;
    command.append(" -n 3").append(hosts).append(" ").append(program);
    const Outcome outcome = Command({"script", "-qefc", command, "/dev/null"}).run();
    expect_clean(outcome);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    const std::size_t shown = outcome.output.find("\rgexrun: 2 of 3 ranks have joined");
    ASSERT_NE(shown, outcome.output.npos) << outcome.output;
    const std::size_t wiped = outcome.output.find("\r\033[K", shown);
    EXPECT_NE(wiped, outcome.output.npos) << outcome.output;
    EXPECT_EQ(outcome.output.find("have joined", wiped), outcome.output.npos) << outcome.output;
  }
}

/// A command whose output goes to a terminal of its own.
Command on_terminal(const std::string& command) {
  return Command({"script", "-qefc", command, "/dev/null"});
}

std::string several_hosts() {
  return " --rsh " + rsh_here + " --hosts a,b";
}

TEST(Output, ATerminalShowsALineThatIsNotComplete) {
  for (const std::string& hosts : {std::string(), several_hosts()}) {
    // Neither rank goes on before both texts are shown.
    std::string command = gexrun;
    command.append(" -n 2").append(hosts);
    command.append(" sh -c 'printf \"rank $GEX_RANK asks: \"; exec sleep 100'");
    const auto job = on_terminal(command).start();
    EXPECT_TRUE(job->wait_for("rank 0 asks: ", 1)) << job->output();
    EXPECT_TRUE(job->wait_for("rank 1 asks: ", 1)) << job->output();
    EXPECT_EQ(lines_with(job->output(), "asks"), 2) << job->output();
    kill(job->process(), SIGKILL);
    EXPECT_TRUE(job->wait_until_all_gone());
  }
}

TEST(Output, ALineOfGexrunsOwnBeginsBehindOneThatIsNotComplete) {
  // The rank is killed once its text is shown.
  const std::string go = testing::TempDir() + "gex-own-line." + std::to_string(getpid());
  const auto job = on_terminal(gexrun + " -n 1 sh -c 'printf \"name: \"; until [ -e " + go +
                               " ]; do sleep 0.02; done; kill -9 $$'")
                       .start();
  EXPECT_TRUE(job->wait_for("name: ", 1)) << job->output();
  std::ofstream(go).close();
  EXPECT_TRUE(job->wait_until_all_gone());
  std::remove(go.c_str());
  EXPECT_NE(job->output().find("name: \r\ngexrun: rank 0"), std::string::npos) << job->output();
}

TEST(Output, RanksHaveATerminalWhereGexrunHas) {
  const std::string program =
      " sh -c 'for i in 0 1 2; do test -t $i && printf $i; done; stty size <&1'";
  const Outcome shown = on_terminal("stty rows 33 cols 77; " + gexrun + " -n 1" + program).run();
  expect_success(shown);
  EXPECT_EQ(shown.output, "01233 77\r\n");
  const Outcome remote =
      on_terminal("stty rows 33 cols 77; " + gexrun + " -n 2" + several_hosts() + program).run();
  expect_success(remote);
  EXPECT_EQ(remote.output, "1233 77\r\n1233 77\r\n");
  const Outcome piped =
      Command({gexrun, "-n", "1", "sh", "-c", "test -t 1 || test -t 2 || echo none"}).run();
  expect_success(piped);
  EXPECT_EQ(piped.output, "none\n");
}

TEST(Output, OfBothStreamsIsInOrderOnATerminal) {
  const Outcome outcome =
      on_terminal(gexrun + " -n 1 sh -c 'for i in 1 2 3 4 5; do echo $i; echo $i >&2; done'").run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "1\r\n1\r\n2\r\n2\r\n3\r\n3\r\n4\r\n4\r\n5\r\n5\r\n");
}

TEST(Output, OfARankThatDiesIsSeen) {
  for (const Mode mode : {Mode::gexrun, Mode::fork, Mode::hosts}) {
    const Outcome outcome = job(mode, 2, {"print-and-die", "9", "1"}).run();
    expect_clean(outcome);
    for (const char* const line : {"first", "second"})
      EXPECT_EQ(lines_with(outcome.output, line), 2) << outcome.output;
  }
}

TEST(Output, OfProgramsInPythonIsSeenAtOnce) {
  const Outcome outcome =
      Command({gexrun, "-n", "1", "python3", "-c",
               "import os, signal; print('one'); os.kill(os.getpid(), signal.SIGKILL)"})
          .run();
  expect_clean(outcome);
  EXPECT_EQ(outcome.output, "one\n");
}

TEST(Output, OfRanksIsWrittenWhenTheLauncherIsKilled) {
  const auto running =
      Command({"bash", "-c",
               gexrun + " -n 2 sh -c 'printf \"ready $GEX_RANK\"; exec sleep 100' & "
                        "echo launcher $!; wait"})
          .start();
  ASSERT_TRUE(running->wait_for("launcher ", 1));
  const pid_t launcher = std::stoi(running->output().substr(9));
  // Lines without an end: gexrun has read them at some time, and has not written them. A rank that
  // has become another program has printed its own.
  const auto asleep = [&running] {
    int count = 0;
    for (const pid_t process : processes_marked(running->mark())) {
      std::string name;
      std::getline(std::ifstream("/proc/" + std::to_string(process) + "/comm"), name);
      if (name == "sleep") ++count;
    }
    return count;
  };
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (asleep() < 2) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit) << running->output();
    usleep(1000);
  }
  kill(launcher, SIGKILL);
  EXPECT_TRUE(running->wait_until_all_gone());
  EXPECT_EQ(lines_with(running->finish().output, "ready "), 2) << running->output();
}

TEST(Output, ALineWithoutAnEndStaysSo) {
  const Outcome outcome = Command({gexrun, "-n", "1", "printf", "abc"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "abc");
}

TEST(Output, LinesWithoutAnEndDoNotRunTogether) {
  const Outcome outcome = Command({gexrun, "-n", "3", "printf", "abc"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "abc\nabc\nabc");
}

TEST(Output, AHugeLineComesWhole) {
  const Outcome outcome = job(Mode::gexrun, 2, {"print-huge-line"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, std::string(1 << 20, 'x') + "\n");
}

TEST(Output, BytesOfAllValuesPass) {
  const Outcome outcome =
      Command({gexrun, "-n", "1", "sh", "-c", "printf '\\000\\377\\r\\n\\000'"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, std::string("\0\377\r\n\0", 5));
}

TEST(Output, AFullDiskIsAFailureAndReportedOnce) {
  const Outcome outcome =
      job(Mode::gexrun, 3, {"print-lines", "20000"}).output_to("/dev/full").run();
  expect_failure(outcome, 1, "gexrun: cannot write standard output: No space left on device");
}

TEST(Output, AClosedOutputIsAFailure) {
  const Outcome outcome = job(Mode::gexrun, 3, {"print-lines", "100"}).output_to("").run();
  expect_failure(outcome, 1, "gexrun: cannot write standard output: Bad file descriptor");
}

TEST(Output, AClosedOutputDoesNotMatterToWhoDoesNotPrint) {
  const Outcome outcome = Command({gexrun, "-n", "3", "true"}).output_to("").run();
  expect_success(outcome);
}

TEST(Output, EndsWhenTheReaderGoesAway) {
  const Outcome outcome =
      Command({"bash", "-c", gexrun + " -n 3 yes | head -n 2; echo status ${PIPESTATUS[0]}"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "y\ny\nstatus 141\n");
}

TEST(Output, AReaderThatDoesNotReadHoldsNoRankAfterAnInterrupt) {
  // The pipe stays full: bash waits for gexrun and does not read.
  const auto interrupted = [](const std::string& redirections) {
    return Command({"bash", "-c",
                    "mkfifo_dir=$(mktemp -d); mkfifo $mkfifo_dir/pipe; exec 3<>$mkfifo_dir/pipe; "
                    "rm -r $mkfifo_dir; " +
                        gexrun + " -n 2 yes " + redirections +
                        " & sleep 0.3; kill -TERM $!; wait $!; echo status $?"})
        .run();
  };
  const Outcome outcome = interrupted(">&3");
  expect_clean(outcome);
  EXPECT_EQ(outcome.output, "status 143\n");
  EXPECT_EQ(lines_with(outcome.error, "ended by signal 15 (Terminated)"), 1) << outcome.error;
  // A reader that does not read gexrun's own messages does not block it either.
  const Outcome silent = interrupted(">&3 2>&3");
  expect_clean(silent);
  EXPECT_EQ(silent.output, "status 143\n");
}

/// An interactive shell on a terminal of its own.
class Shell {
 public:
  Shell() {
    process_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (process_ == 0) {
      setenv("PS1", "$ ", 1);
      setenv("TERM", "dumb", 1);
      execlp("bash", "bash", "--norc", "--noprofile", "-i", nullptr);
      _exit(127);
    }
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() {
    kill(process_, SIGHUP);
    shown("no such text", std::chrono::seconds(1));  // the end of the shell ends its output
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    close(terminal_);
  }

  /// Types the text; what was shown before does not count any more.
  void type(const std::string& text) {
    shown_.clear();
    EXPECT_EQ(write(terminal_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  /// Returns true if the text has been shown since the last `type`, or is in a time that is long
  /// enough.
  bool shown(const std::string& text, std::chrono::seconds limit = std::chrono::seconds(30)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (shown_.find(text) == shown_.npos) {
      if (std::chrono::steady_clock::now() > end) return false;
      pollfd readable{terminal_, POLLIN, 0};
      if (poll(&readable, 1, 100) <= 0) continue;
      char piece[4096];
      const ssize_t got = read(terminal_, piece, sizeof piece);
      if (got <= 0) return false;
      shown_.append(piece, static_cast<std::size_t>(got));
    }
    return true;
  }
  /// Waits until a job has the terminal, whose command `fg` shows before: until then the shell gets
  /// the signals of keys.
  bool has_job_in_foreground() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (tcgetpgrp(terminal_) == process_) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  const std::string& text() const { return shown_; }

 private:
  pid_t process_ = -1;
  int terminal_ = -1;
  std::string shown_;
};

/// The ranks of a job that reads the terminal: rank 0 prints what it has read.
std::string reading_job(int ranks) {
  return gexrun + " -n " + std::to_string(ranks) + " sh -c 'read line; echo \"[$line]\"'";
}

TEST(Input, OfATerminalGoesToTheShellWhileTheJobIsInTheBackground) {
  Shell shell;
  ASSERT_TRUE(shell.shown("$ "));
  shell.type(reading_job(2) + " &\n");
  ASSERT_TRUE(shell.shown("$ ")) << shell.text();
  do {
    shell.type("jobs\n");
    ASSERT_TRUE(shell.shown("gexrun")) << shell.text();
  } while (!shell.shown("Stopped", std::chrono::seconds(1)));
  shell.type("echo $((40+2))\n");
  EXPECT_TRUE(shell.shown("\n42\r\n")) << shell.text();
  shell.type("fg\n");
  ASSERT_TRUE(shell.shown("gexrun")) << shell.text();
  shell.type("for the job\n");
  EXPECT_TRUE(shell.shown("[for the job]\r\n")) << shell.text();
  shell.type("echo status $?\n");
  EXPECT_TRUE(shell.shown("status 0\r\n")) << shell.text();
}

TEST(Input, KeysOfATerminalStopAndEndTheJob) {
  Shell shell;
  ASSERT_TRUE(shell.shown("$ "));
  // Each rank handles the interrupt once.
  shell.type(gexrun +
             " -n 2 sh -c 'trap \"echo rank $GEX_RANK ends; exit 3\" INT; echo up; "
             "while :; do sleep 0.1; done'\n");
  ASSERT_TRUE(shell.shown("up\r\nup\r\n")) << shell.text();
  shell.type("\x1a");
  ASSERT_TRUE(shell.shown("Stopped")) << shell.text();
  shell.type("fg\n");
  ASSERT_TRUE(shell.shown("gexrun")) << shell.text();
  ASSERT_TRUE(shell.has_job_in_foreground());
  shell.type("\x03");
  ASSERT_TRUE(shell.shown("$ ")) << shell.text();
  EXPECT_EQ(lines_with(shell.text(), "ended by signal 2"), 1) << shell.text();
  EXPECT_EQ(lines_with(shell.text(), "rank 0 ends"), 1) << shell.text();
  EXPECT_EQ(lines_with(shell.text(), "rank 1 ends"), 1) << shell.text();
  shell.type("echo status $?\n");
  EXPECT_TRUE(shell.shown("status 130\r\n")) << shell.text();
}

TEST(Input, AnInterruptThatKillsRankZeroIsNotItsFault) {
  Shell shell;
  ASSERT_TRUE(shell.shown("$ "));
  for (int i = 0; i < 3; ++i) {
    shell.type(gexrun + " -n 2 sh -c 'echo up; exec sleep 100'\n");
    ASSERT_TRUE(shell.shown("up\r\nup\r\n")) << shell.text();
    shell.type("\x03");
    ASSERT_TRUE(shell.shown("$ ")) << shell.text();
    EXPECT_EQ(lines_with(shell.text(), "gexrun: "), 1) << shell.text();
  }
}

TEST(Input, WhatAJobHasNotReadIsTheShells) {
  Shell shell;
  ASSERT_TRUE(shell.shown("$ "));
  shell.type(gexrun + " -n 2 sh -c 'echo up; sleep 0.5'\n");
  ASSERT_TRUE(shell.shown("up\r\nup\r\n")) << shell.text();
  shell.type("echo $((40+2))\n");
  EXPECT_TRUE(shell.shown("\n42\r\n")) << shell.text();
}

TEST(Input, WithoutAShellATypedStopIsIgnored) {
  int terminal = -1;
  const pid_t leader = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (leader == 0) {
    execl(gexrun.c_str(), "gexrun", "-n", "2", "sh", "-c", "echo up; read line; echo \"[$line]\"",
          nullptr);
    _exit(127);
  }
  std::string text;
  char piece[4096];
  bool typed = false;
  for (ssize_t got = 0; (got = read(terminal, piece, sizeof piece)) > 0;) {
    text.append(piece, static_cast<std::size_t>(got));
    if (!typed && lines_with(text, "up") == 2) {
      const std::string keys = "\x1ago on\n";
      EXPECT_EQ(write(terminal, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
      typed = true;
    }
  }
  int status = 0;
  waitpid(leader, &status, 0);
  close(terminal);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(lines_with(text, "[go on]"), 1) << text;
}

TEST(Input, GoesToRankZero) {
  const Outcome outcome =
      job(Mode::gexrun, 3, {"read-input"}).input("hello\n" + std::string(200'000, '.')).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "0 read 200006: hello"), 1) << outcome.output;
  EXPECT_EQ(lines_with(outcome.output, "1 read 0: "), 1) << outcome.output;
  EXPECT_EQ(lines_with(outcome.output, "2 read 0: "), 1) << outcome.output;
}

}  // namespace
}  // namespace launch_test
