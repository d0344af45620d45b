// `program N arguments...`: a program with the label udp starts its job itself.

#include <unistd.h>

#include <filesystem>

#include "lifecycle.h"

namespace lifecycle_test {
namespace {

const std::string self_starting = LIFECYCLE_TEST_SELF_START_PROBE;

/// The ranks share memory, so that nothing depends on a network.
Command start(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), self_starting);
  Command command(std::move(arguments));
  command.variable("GEX_CONDUIT", "smp");
  return command;
}

TEST(SelfStart, TheFirstArgumentIsTheNumberOfRanksAndLeavesTheOthers) {
  const Outcome outcome = start({"3", "4", "--verbose"}).run();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(lines_with(outcome.output, " of 3: 4 --verbose"), 3) << outcome.output;
  EXPECT_EQ(lines_with(outcome.output, "rank 2 of 3:"), 1) << outcome.output;
}

TEST(SelfStart, OneRankIsAJobToo) {
  const Outcome outcome = start({"1"}).run();
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.output, "rank 0 of 1:\n");
}

TEST(SelfStart, WhatIsNoNumberOfRanksIsNamed) {
  for (const char* wrong : {"0", "-1", "1048577", "two", "2x", "--help", "99999999999999999999"}) {
    const Outcome outcome = start({wrong, "2"}).run();
    expect_refusal(outcome, 1,
                   std::string("is '") + wrong + "', not a number of ranks from 1 to 1048576");
    EXPECT_EQ(outcome.output, "");
  }
}

TEST(SelfStart, WithoutArgumentsItIsAJobOfOneWithAWarning) {
  const Outcome outcome = start({}).run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output, "rank 0 of 1:\n");
  EXPECT_EQ(lines_with(outcome.error, "this is a job of one rank"), 1) << outcome.error;
}

TEST(SelfStart, AClientThatDoesNotPassItsArgumentsKeepsThem) {
  const Outcome kept = start({"3", "4"}).variable("PROBE_WITHOUT_ARGUMENTS", "1").run();
  EXPECT_EQ(kept.status, 0) << kept.error;
  EXPECT_EQ(lines_with(kept.output, " of 3: 3 4"), 3) << kept.output;
  expect_refusal(start({"file"}).variable("PROBE_WITHOUT_ARGUMENTS", "1").run(), 1,
                 "is 'file', not a number of ranks");
  const Outcome alone = start({}).variable("PROBE_WITHOUT_ARGUMENTS", "1").run();
  EXPECT_EQ(alone.output, "rank 0 of 1:\n");
}

TEST(SelfStart, ALauncherLeavesTheArgumentsAlone) {
  const Outcome started =
      Command({gexrun, "-n", "2", self_starting, "3"}).variable("GEX_CONDUIT", "smp").run();
  EXPECT_EQ(started.error, "");
  EXPECT_EQ(lines_with(started.output, " of 2: 3"), 2) << started.output;
  const Outcome forked = start({"3"}).variable("GASNET_PSHM_NODES", "2").run();
  EXPECT_EQ(lines_with(forked.output, " of 2: 3"), 2) << forked.output;
}

TEST(SelfStart, ProgramsOfOtherLabelsKeepTheirArguments) {
  const Outcome outcome = Command({probe, "2", "ring"}).variable("GEX_CONDUIT", "smp").run();
  EXPECT_NE(outcome.status, 0) << "the probe has no scenario of that name";
  EXPECT_EQ(lines_with(outcome.error, "this is a job of one rank"), 1) << outcome.error;
}

TEST(SelfStart, MachinesAreAmudprunsTask) {
  // The launcher under its name, as it is installed.
  const std::filesystem::path bin =
      std::filesystem::temp_directory_path() / ("gex_self_start_" + std::to_string(getpid()));
  std::filesystem::create_directory(bin);
  std::filesystem::create_symlink(LIFECYCLE_TEST_GASNETRUN, bin / "amudprun");
  const auto apart = [&](const char* variable, const char* value, const std::string& path) {
    return start({"2", "word"}).variable(variable, value).variable("PATH", path).run();
  };
  // Not here: one line instead of fewer machines.
  for (const auto& [variable, value] :
       {std::pair("SSH_SERVERS", "one two"), std::pair("GASNET_SSH_NODEFILE", "/nowhere"),
        std::pair("GASNET_SPAWNFN", "S")}) {
    expect_refusal(
        apart(variable, value, "/nowhere"), 1,
        "asks for ranks on other machines, which amudprun starts, but amudprun cannot be "
        "executed: No such file or directory");
  }
  // Here it is asked, and has what it needs; a server's shell is this machine's.
  const Outcome outcome = start({"2", "word"})
                              .variable("SSH_SERVERS", "one two")
                              .variable("GASNET_SSH_CMD", LIFECYCLE_TEST_RSH)
                              .variable("GASNET_SUPERNODE_MAXSIZE", "0")
                              .variable("GEX_CONDUIT", LIFECYCLE_TEST_TCP)
                              .variable("PATH", bin.string() + ":/usr/bin:/bin")
                              .run();
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(lines_with(outcome.output, " of 2: word"), 2) << outcome.output << outcome.error;
  std::filesystem::remove_all(bin);
  // And L keeps the ranks on this machine whatever is named.
  const Outcome here =
      start({"2"}).variable("SSH_SERVERS", "one two").variable("GASNET_SPAWNFN", "L").run();
  EXPECT_EQ(lines_with(here.output, " of 2:"), 2) << here.output << here.error;
}

}  // namespace
}  // namespace lifecycle_test
