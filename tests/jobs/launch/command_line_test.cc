// gexrun's options, and its messages about invalid ones.

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "job/limits.h"
#include "job/protocol.h"
#include "modes.h"

namespace launch_test {
namespace {

Command run_gexrun(std::vector<std::string> words) {
  words.insert(words.begin(), gexrun);
  return Command(std::move(words));
}

bool installed(const std::string& tool) {
  return Command({"sh", "-c", "command -v " + tool}).run().status == 0;
}

TEST(CommandLine, MistakesAreOneLineAndStatusTwo) {
  struct Mistake {
    std::vector<std::string> words;
    const char* message;
  };
  const Mistake mistakes[] = {
      {{}, "the number of ranks is missing: -n N"},
      {{probe, "who"}, "the number of ranks is missing: -n N"},
      {{"-n"}, "option -n needs a value"},
      {{"-n", "0", probe}, "-n '0' is not a number of ranks from 1 to 1048576"},
      {{"-n", "1048577", probe}, "-n '1048577' is not a number of ranks from 1 to 1048576"},
      {{"-n", "-3", probe}, "-n '-3' is not a number of ranks from 1 to 1048576"},
      {{"-n", "abc", probe}, "-n 'abc' is not a number of ranks from 1 to 1048576"},
      {{"-n", "2x", probe}, "-n '2x' is not a number of ranks from 1 to 1048576"},
      {{"-n", "", probe}, "-n '' is not a number of ranks from 1 to 1048576"},
      {{"-n", "2"}, "the program to run is missing"},
      {{"-n", "2", "--bind", "socket", probe}, "--bind 'socket' is neither share, core nor none"},
      {{"-n", "2", "--timeout", "0", probe}, "--timeout '0' is not a number of seconds above 0"},
      {{"-n", "2", "--timeout", "x", probe}, "--timeout 'x' is not a number of seconds above 0"},
      {{"-n", "2", "--timeout"}, "option --timeout needs a value"},
      {{"-n", "2", "--debugger", "lldb", probe}, "--debugger 'lldb' is neither gdb nor valgrind"},
      {{"-n", "2", "-E", "", probe}, "-E '' is neither NAME,... nor NAME=VALUE"},
      {{"-n", "2", "-E", "=5", probe}, "-E '=5' is neither NAME,... nor NAME=VALUE"},
      {{"-n", "2", "-E", "A,=5", probe}, "-E 'A,=5' is neither NAME,... nor NAME=VALUE"},
      {{"-n", "2", "-E", "A,,B", probe}, "-E 'A,,B' is neither NAME,... nor NAME=VALUE"},
      {{"-n", "2", "--conduit", "", probe}, "--conduit needs a name"},
      {{"-n", "2", "--hang-report", "/no/such/folder/file", probe},
       "--hang-report '/no/such/folder/file' cannot be written: No such file or directory"},
      {{"-n", "2", "--hang-report", "/tmp", probe},
       "--hang-report '/tmp' cannot be written: Is a directory"},
      {{"-n", "2", "--nodes", probe}, "unknown option --nodes"},
      {{"-n", "2", "-x", probe}, "unknown option -x"},
      {{"-n", "2", "--a\n\x1b[1m", probe}, "unknown option --a??[1m"},
  };
  for (const Mistake& mistake : mistakes) {
    const Outcome outcome = run_gexrun(mistake.words).run();
    expect_failure(outcome, 2, std::string("gexrun: ") + mistake.message);
    EXPECT_EQ(outcome.output, "");
  }
}

TEST(CommandLine, AnActionOnHangsThatAreNotWatchedForIsReported) {
  const Outcome outcome = run_gexrun({"-n", "1", "--hang-action", "end", "true"}).run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.error,
            "gexrun: --hang-action does nothing without --hang-after or GEX_HANG_AFTER\n");
  expect_success(run_gexrun({"-n", "1", "--hang-action", "end", "true"})
                     .variable("GEX_HANG_AFTER", "5")
                     .run());
}

TEST(CommandLine, ProgramsThatCannotBeExecuted) {
  expect_failure(run_gexrun({"-n", "2", "no-such-program"}).run(), 127,
                 "gexrun: cannot execute 'no-such-program': No such file or directory");
  expect_failure(run_gexrun({"-n", "2", "/no/such/program"}).run(), 127,
                 "gexrun: cannot execute '/no/such/program': No such file or directory");
  expect_failure(run_gexrun({"-n", "2", "/etc/passwd"}).run(), 126,
                 "gexrun: cannot execute '/etc/passwd': Permission denied");
  expect_failure(run_gexrun({"-n", "2", "/"}).run(), 126,
                 "gexrun: cannot execute '/': Permission denied");
}

/// An executable file with this content, which goes away with the object.
class Executable {
 public:
  explicit Executable(const std::string& content) {
    char path[] = "/tmp/launch_test_XXXXXX";
    const int file = mkstemp(path);
    EXPECT_EQ(write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
    fchmod(file, 0700);
    close(file);
    path_ = path;
  }
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  ~Executable() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(CommandLine, AProgramForAnotherProcessorIsNoScript) {
  std::ifstream file("/bin/true", std::ios::binary);
  std::string program((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_GT(program.size(), 20U);
  program[18] = static_cast<char>(program[18] ^ 0x55);  // e_machine
  const Executable other(program);
  const Outcome outcome = run_gexrun({"-n", "2", other.path()}).run();
  expect_failure(outcome, 126, "gexrun: cannot execute '" + other.path() + "' on ");
  EXPECT_EQ(lines_with(outcome.error, ": Exec format error"), 1) << outcome.error;
}

TEST(CommandLine, AScriptWithoutAnInterpreterIsForTheShell) {
  const Executable script("echo \"$1\"\n");
  const Outcome outcome = run_gexrun({"-n", "1", script.path(), "a b"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "a b\n");
}

TEST(CommandLine, AnInterpreterWithACarriageReturnIsNamed) {
  const Executable script("#!/bin/sh\r\necho\r\n");
  expect_failure(run_gexrun({"-n", "1", script.path()}).run(), 127,
                 "its interpreter '/bin/sh' with a carriage return behind it");
}

TEST(CommandLine, TimeLimitEndsAJobWhoseGuardianIsStopped) {
  const Outcome outcome =
      run_gexrun({"-n", "2", "--timeout", "0.5", "sh", "-c", "kill -STOP $PPID; exec sleep 100"})
          .run();
  expect_failure(outcome, 124, "gexrun: timed out after 0.5 s; the guardian (pid ");
}

TEST(CommandLine, ALimitOfTheAddressSpaceIsNamedAsThat) {
#ifdef LAUNCH_TEST_FREED
  const Outcome outcome =
      Command({"bash", "-c", "ulimit -v 12000; exec " + gexrun + " -n 2 true"}).run();
  expect_failure(outcome, 1, "(address space: at most 11 MiB of a process, ulimit -v)");
  EXPECT_EQ(lines_with(outcome.error, "ulimit -u"), 0) << outcome.error;
#else
  GTEST_SKIP() << "a sanitizer needs more address space";
#endif
}

TEST(CommandLine, AProgramWhoseInterpreterIsMissing) {
  char path[] = "/tmp/launch_test_XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  const std::string text = "#!/no/such/interpreter\n";
  ASSERT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  fchmod(file, 0700);
  close(file);
  const Outcome outcome = run_gexrun({"-n", "4", path}).run();
  unlink(path);
  expect_failure(outcome, 127, std::string("gexrun: cannot execute '") + path + "'");
  EXPECT_EQ(lines_with(outcome.error, ": its interpreter '/no/such/interpreter'"), 1);
}

TEST(CommandLine, TheNumberOfRanksAsOtherLaunchersWriteIt) {
  for (const std::vector<std::string>& number :
       {std::vector<std::string>{"-np", "3"}, {"-n3"}, {"--ranks=3"}, {"--ranks", "3"}}) {
    std::vector<std::string> words = number;
    words.insert(words.end(), {probe, "who"});
    const Outcome outcome = run_gexrun(words).run();
    expect_success(outcome);
    EXPECT_EQ(lines_with(outcome.output, " of 3 gexrun"), 3) << outcome.output;
  }
  expect_failure(run_gexrun({"-np"}).run(), 2, "gexrun: option -np needs a value");
  expect_failure(run_gexrun({"-np", "0", "true"}).run(), 2, "gexrun: -n '0' is not a number of");
  expect_failure(run_gexrun({"-n", "p", "true"}).run(), 2, "gexrun: -n 'p' is not a number of");
}

TEST(CommandLine, OptionsOfTheProgramAreItsOwn) {
  const Outcome outcome = run_gexrun({"-n", "1", "echo", "-n", "--tag-output", "-v"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "--tag-output -v");
}

TEST(CommandLine, HelpAndVersion) {
  const Outcome help = run_gexrun({"--help"}).run();
  expect_success(help);
  for (const char* const option : {"-n", "--conduit", "-E", "--tag-output", "--bind", "--timeout",
                                   "--debugger", "--verbose", "--version"}) {
    EXPECT_GE(lines_with(help.output, option), 1) << option;
  }
  const std::string ranks = "number of ranks, 1 to " + std::to_string(gex::job::max_ranks) + "\n";
  EXPECT_NE(help.output.find(ranks), std::string::npos) << help.output;
  const std::size_t statuses = help.output.find("\nExit status: ");
  ASSERT_NE(statuses, std::string::npos);
  for (const char* const status : {" 1 ", " 2 ", " 124 ", " 126 ", " 127 ", "128+S"}) {
    EXPECT_NE(help.output.find(status, statuses), std::string::npos) << status;
  }
  const Outcome version = run_gexrun({"--version"}).run();
  expect_success(version);
  EXPECT_EQ(version.output.find("gexrun (libgex) "), 0u) << version.output;
}

TEST(CommandLine, HelpAndVersionThatCannotBeWrittenAreOneLine) {
  for (const char* const option : {"--help", "--version"}) {
    const Outcome outcome = run_gexrun({option}).output_to("/dev/full").run();
    expect_failure(outcome, 1, "gexrun: cannot write standard output: No space left on device");
  }
}

TEST(CommandLine, VariablesReachTheRanks) {
  const Outcome outcome =
      run_gexrun({"-n", "2", "-E", "HOME,INHERITED,ONE=first", "-E", "TWO=a=b", "--conduit", "emu",
                  "sh", "-c", "echo $INHERITED $ONE $TWO $GEX_CONDUIT"})
          .variable("INHERITED", "here")
          .run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "here first a=b emu\nhere first a=b emu\n");
}

TEST(CommandLine, TheValueOfAVariableIsTheRestOfItsArgument) {
  const Outcome outcome =
      run_gexrun({"-n", "1", "-E", "GEX_EMU=aries,latency=3us", "-E", "A=,,b,", "-E",
                  "EMPTY=", "sh", "-c", "echo \"$GEX_EMU ${latency-unset} $A ${EMPTY-unset}.\""})
          .run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "aries,latency=3us unset ,,b, .\n");
}

TEST(CommandLine, TheLastValueOfAVariableCounts) {
  const Outcome outcome =
      run_gexrun({"-n", "1", "-E", "A=1", "-E", "A=2", "sh", "-c", "echo $A"}).run();
  expect_success(outcome);
  EXPECT_EQ(outcome.output, "2\n");
}

TEST(CommandLine, TimeLimitNamesWhoHadNotFinished) {
  const Outcome outcome = run_gexrun({"-n", "3", "--timeout", "0.5", probe, "return-alone", "1"})
                              .variable("GEX_EXIT_TIMEOUT", "0")
                              .run();
  expect_failure(outcome, 124, "gexrun: timed out after 0.5 s; ranks 0,2 had not finished");
}

TEST(CommandLine, TimeLimitKillsWhoIgnoresIt) {
  const Outcome outcome = run_gexrun({"-n", "2", "--timeout", "0.5", probe, "hold"}).run();
  expect_failure(outcome, 124, "gexrun: timed out after 0.5 s; ranks 0,1 had not finished");
}

TEST(CommandLine, TimeLimitThatIsNotReached) {
  expect_success(run_gexrun({"-n", "2", "--timeout", "1e30", probe, "exchange"}).run());
}

TEST(CommandLine, BindPutsEachRankOnOneCore) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const int usable = CPU_COUNT(&allowed);
  const Outcome bound = run_gexrun({"-n", "3", "--bind", "core", probe, "processors"}).run();
  expect_success(bound);
  std::set<int> used;
  std::istringstream lines(bound.output);
  for (std::string line; std::getline(lines, line);) {
    int rank = -1;
    int core = -1;
    int more = -1;
    ASSERT_EQ(std::sscanf(line.c_str(), "%d on %d %d", &rank, &core, &more), 2) << line;
    EXPECT_TRUE(CPU_ISSET(core, &allowed)) << line;
    used.insert(core);
  }
  EXPECT_EQ(used.size(), static_cast<std::size_t>(std::min(usable, 3)));
  const Outcome free = run_gexrun({"-n", "1", "--bind", "none", probe, "processors"}).run();
  const Outcome alone = Command({probe, "processors"}).run();
  EXPECT_EQ(free.output, alone.output);
}

TEST(CommandLine, DebuggerShowsWhereARankCrashed) {
  if (!installed("gdb")) {
    const Outcome outcome = run_gexrun({"-n", "2", "--debugger", "gdb", probe, "crash"}).run();
    expect_failure(outcome, 1, "gexrun: --debugger gdb: gdb is not installed");
    GTEST_SKIP() << "gdb is not installed: only the message was checked";
  }
  const Outcome outcome = run_gexrun({"-n", "2", "--debugger", "gdb", probe, "crash"}).run();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 139) << outcome.error;
  EXPECT_GE(lines_with(outcome.output, "received signal SIGSEGV"), 1) << outcome.output;
  EXPECT_GE(lines_with(outcome.output, " in main "), 1) << outcome.output;
}

TEST(CommandLine, DebuggerPassesTheStatusOn) {
  if (!installed("gdb")) GTEST_SKIP() << "gdb is not installed";
  const auto status_of = [](const char* ranks, std::vector<std::string> scenario) {
    scenario.insert(scenario.begin(), {"-n", ranks, "--debugger", "gdb", probe});
    // LeakSanitizer does not work under a debugger.
    const Outcome outcome =
        run_gexrun(std::move(scenario)).variable("ASAN_OPTIONS", "detect_leaks=0").run();
    expect_clean(outcome);
    return outcome.status;
  };
  EXPECT_EQ(status_of("1", {"who"}), 0);
  EXPECT_EQ(status_of("2", {"exit-with", "3", "1"}), 3);
  EXPECT_EQ(status_of("1", {"end-from-main", "4", "0"}), 4);
}

TEST(CommandLine, ValgrindFindsErrorsAndPassesTheStatusOn) {
  if (!installed("valgrind")) {
    const Outcome outcome = run_gexrun({"-n", "2", "--debugger", "valgrind", probe, "who"}).run();
    expect_failure(outcome, 1, "gexrun: --debugger valgrind: valgrind is not installed");
    GTEST_SKIP() << "valgrind is not installed: only the message was checked";
  }
  // Programs without instrumentation, since valgrind cannot run instrumented ones.
  const Outcome good = run_gexrun({"-n", "1", "--debugger", "valgrind", "true"}).run();
  expect_clean(good);
  EXPECT_EQ(good.status, 0) << good.error;
  const Outcome bad = run_gexrun({"-n", "1", "--debugger", "valgrind", "false"}).run();
  expect_clean(bad);
  EXPECT_EQ(bad.status, 1) << bad.error;
#ifdef LAUNCH_TEST_FREED
  const Outcome found = run_gexrun({"-n", "2", "--debugger", "valgrind", LAUNCH_TEST_FREED}).run();
  expect_clean(found);
  EXPECT_EQ(found.status, 99) << "the status of an error that valgrind finds\n" << found.error;
  EXPECT_GE(lines_with(found.error, "Invalid read of size 4"), 1) << found.error;
#endif
}

TEST(CommandLine, AMissingDebuggerIsOneLine) {
  for (const char* const tool : {"gdb", "valgrind"}) {
    const Outcome outcome = run_gexrun({"-n", "2", "--debugger", tool, probe, "who"})
                                .variable("PATH", "/no/such/folder")
                                .run();
    expect_failure(outcome, 1,
                   std::string("gexrun: --debugger ") + tool + ": " + tool + " is not installed");
  }
}

TEST(CommandLine, VerbosePrintsWhichRankIsWhere) {
  const Outcome outcome = run_gexrun({"-n", "2", "-v", probe, "who"}).run();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines_with(outcome.error, "gexrun: rank 0 is pid "), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, ") has joined"), 2) << outcome.error;
}

TEST(OpenFiles, TooFewForTheRanksIsOneLine) {
  const Outcome outcome = run_gexrun({"-n", "1024", probe, "who"}).open_files(256).run();
  expect_failure(outcome, 1,
                 "gexrun: 1024 ranks need about 3136 open files; the limit is 256 (ulimit -Hn)");
}

TEST(OpenFiles, FewAreEnoughForFewRanks) {
  const Outcome outcome = run_gexrun({"-n", "60", probe, "exchange"}).open_files(256).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "exchanged "), 60);
}

/// A value of GEX_JOB, of this or another version of the protocol.
std::string place(const std::string& rest, std::uint32_t version = gex::job::protocol_version) {
  return std::to_string(version) + rest;
}

TEST(Place, AnEnvironmentMadeByHandIsRefused) {
  for (const std::string& value :
       {std::string("x"), place(""), place(":"), place(":100:0:2"), place(":100:2:2:5"),
        place(":100:0:0:5"), place(":100:0:2000000:5"), place(":-5:0:2:5"), place(":0:0:2:5x")}) {
    const Outcome outcome = Command({probe, "who"}).variable("GEX_JOB", value).run();
    expect_failure(outcome, 1,
                   std::string("gex: GEX_JOB='") + value + "': it is set by gexrun, not by hand");
  }
}

TEST(Place, ADescriptorThatIsNotTheConnectionIsRefused) {
  expect_failure(Command({probe, "who"}).variable("GEX_JOB", place(":100:0:2:5")).run(), 1,
                 "descriptor 100, the connection to gexrun, is not open here");
  expect_failure(Command({probe, "who"}).variable("GEX_JOB", place(":0:0:2:5")).run(), 1,
                 "descriptor 0 is not the connection to gexrun here");
}

TEST(Place, AnotherVersionOfTheProtocolIsRefused) {
  constexpr std::uint32_t own = gex::job::protocol_version;
  expect_failure(Command({probe, "who"}).variable("GEX_JOB", place(":100:0:2:5", own - 1)).run(), 1,
                 "it comes from a gexrun that speaks version " + std::to_string(own - 1) +
                     " of the control protocol, this program's libgex speaks version " +
                     std::to_string(own));
}

TEST(Place, WrappersThatKeepItWork) {
  for (const std::string& script :
       {probe + " who", "exec " + probe + " who", probe + " who; exit $?",
        "exec 3>/dev/null; (" + probe + " who)"}) {
    const Outcome outcome = run_gexrun({"-n", "2", "sh", "-c", script}).run();
    expect_success(outcome);
    EXPECT_EQ(lines_with(outcome.output, " of 2 gexrun"), 2) << outcome.output;
  }
}

TEST(Place, AWrapperThatCleansTheEnvironmentIsRefused) {
  const Outcome outcome = run_gexrun({"-n", "2", "env", "-i", probe, "who"}).run();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(lines_with(outcome.error, "GEX_JOB is missing from its environment"), 1);
  EXPECT_EQ(lines_with(outcome.error, ""), 1) << outcome.error;
}

TEST(Place, AWrapperThatJoinsTwiceIsRefused) {
  // The first one returns from main, or calls gasnet_exit.
  for (const std::string end : {" who; ", " end-from-main 0 0; "}) {
    const std::string once = probe + end;
    const Outcome outcome = run_gexrun({"-n", "1", "sh", "-c", once + once + "exit 0"}).run();
    expect_failure(outcome, 1, "was joined by a second process");
  }
}

TEST(Place, ARankThatSendsNonsenseEndsTheJob) {
  for (int seed = 0; seed < 40; ++seed) {
    const Outcome outcome = job(Mode::gexrun, 3, {"babble", std::to_string(seed)}).run();
    expect_clean(outcome);
    // A random frame may be an `end` with any code, but none makes the barrier complete.
    EXPECT_EQ(lines_with(outcome.error, "launch_probe: "), 0) << outcome.error;
    EXPECT_LE(lines_with(outcome.error, ""), 1) << outcome.error;
  }
}

TEST(Place, GexrunInsideGexrunIsAJobOfItsOwn) {
  const Outcome outcome = run_gexrun({"-n", "2", gexrun, "-n", "3", probe, "who"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, " of 3 gexrun"), 6) << outcome.output;
}

TEST(Place, GexrunGoesBeforeForking) {
  const Outcome outcome = job(Mode::gexrun, 2, {"who"}).variable("GASNET_PSHM_NODES", "4").run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, " of 2 gexrun"), 2) << outcome.output;
}

}  // namespace
}  // namespace launch_test
