// The launchers that software written for GASNet calls, by their names and in the surroundings that
// its scripts make: where they start ranks, what they refuse. The other hosts are this one
// (rsh_here.sh). tests/install has the same names in an installed tree.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "modes.h"

namespace launch_test {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

class Launchers : public testing::Test {
 protected:
  Launchers() { std::filesystem::create_directories(folder_); }
  ~Launchers() override { std::filesystem::remove_all(folder_); }

  /// A launcher by that name, which is a link, as in an installed tree.
  std::string launcher(const std::string& name) const {
    const std::filesystem::path link = folder_ / name;
    if (!std::filesystem::is_symlink(link)) {
      std::filesystem::create_symlink(LAUNCH_TEST_GASNETRUN, link);
    }
    return link;
  }

  std::string file(const std::string& text) const {
    const std::filesystem::path path = folder_ / "machines";
    std::ofstream(path) << text;
    return path;
  }

  Outcome run(const std::string& name, std::vector<std::string> options,
              const Variables& variables = {}) const {
    options.insert(options.begin(), launcher(name));
    options.insert(options.end(), {probe, "who"});
    Command command(std::move(options));
    command.variable("GASNET_SSH_CMD", rsh_here);
    for (const auto& [variable, value] : variables) command.variable(variable, value);
    return command.run();
  }

  /// Runs a job and expects its ranks on the hosts with these numbers.
  void expect_places(const std::string& name, std::vector<std::string> options,
                     const Variables& variables, const std::vector<int>& hosts) const {
    const std::string ranks = std::to_string(hosts.size());
    options.insert(options.begin(), {"-np", ranks});
    const Outcome outcome = run(name, std::move(options), variables);
    expect_success(outcome);
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      const std::string line = "rank " + std::to_string(rank) + " of " + ranks +
                               " gexrun on host " + std::to_string(hosts[rank]);
      EXPECT_EQ(lines_with(outcome.output, line), 1) << outcome.output << "wanted: " << line;
    }
  }

  void expect_refusal(const std::string& name, const std::vector<std::string>& options,
                      const Variables& variables, const std::string& reason) const {
    expect_failure(run(name, options, variables), 2, name + ": " + reason);
  }

 private:
  const std::filesystem::path folder_ =
      testing::TempDir() + "launchers." + std::to_string(getpid());
};

TEST_F(Launchers, GiveTheFirstNodesBlocksThatAreAsEvenAsCanBe) {
  const Variables three = {{"GASNET_SSH_SERVERS", "one two nowhere"}};
  expect_places("gasnetrun_ofi", {"-N", "2"}, three, {0, 0, 1, 1});
  expect_places("gasnetrun_ofi", {"-N", "2", "-spawner=ssh"}, three, {0, 0, 0, 1, 1});
  expect_places("gasnetrun_ofi", {"-N", "1", "-c", "0"}, three, {0, 0});
  // Without a number of nodes, all nodes that can get a rank.
  expect_places("gasnetrun_ofi", {}, three, {0, 1});
  expect_places("gasnetrun_ofi", {}, {{"GASNET_SSH_SERVERS", "one two"}}, {0, 0, 1});
  expect_places("gasnetrun", {"-N", "2"}, three, {0, 1});
}

TEST_F(Launchers, ReadTheHostsWhereGasnetsSpawnersDo) {
  const std::string machines = file("# two\none 16 cpus\n\n  one\ntwo # the other\n");
  Variables variables = {{"GASNET_NODEFILE", machines}};
  expect_places("gasnetrun_ofi", {"-N", "2"}, variables, {0, 0, 1, 1});
  variables.emplace_back("SSH_SERVERS", " one,\ttwo , three");
  expect_places("gasnetrun_ofi", {"-N", "3"}, variables, {0, 1, 2});
  variables.emplace_back("GASNET_SSH_SERVERS", "one");
  expect_refusal("gasnetrun_ofi", {"-n", "2", "-N", "2"}, variables,
                 "-N 2: GASNET_SSH_SERVERS names 1 machine");
  variables.emplace_back("GASNET_SSH_NODEFILE", machines);
  expect_places("gasnetrun_ofi", {"-N", "2"}, variables, {0, 1});
}

TEST_F(Launchers, OfTheUdpNetworkTakeTheServersInTurn) {
  const Variables three = {{"SSH_SERVERS", "one two nowhere"}};
  expect_places("amudprun", {"-spawn", "S"}, three, {0, 1});
  expect_places("amudprun", {}, three, {0, 1});
  expect_places("amudprun", {}, {{"GASNET_SPAWNFN", "s"}, {"GASNET_SSH_SERVERS", "one one two"}},
                {0, 0, 1});
  expect_refusal("amudprun", {"-np", "4"}, three,
                 "4 ranks need as many server names, and SSH_SERVERS names 3");
}

TEST_F(Launchers, StayOnThisMachineWhereTheyHaveTo) {
  const Variables named = {{"GASNET_SSH_SERVERS", "nowhere other"}};
  expect_places("gasnetrun_ofi", {"-spawner=fork"}, named, {0, 0});
  expect_places("amudprun", {"-spawn", "L"}, named, {0, 0});
  expect_places("gasnetrun_smp", {}, named, {0, 0});
  expect_places("gasnetrun_emu", {"-N", "1"}, named, {0, 0});
  Variables variables = named;
  variables.emplace_back("GASNET_SPAWNER", "fork");
  expect_places("gasnetrun_ofi", {}, variables, {0, 0});
  expect_places("gasnetrun_ofi", {"-N", "1"}, {}, {0, 0});
  // Chapel's launchers ask for a machine a rank.
  expect_places("gasnetrun_ofi", {"-N", "2", "-c", "0"}, variables, {0, 0});
  expect_places("gasnetrun_ofi", {"-N", "2", "-spawner=fork"}, {}, {0, 0});
  expect_places("gasnetrun_emu", {"-N", "2", "-spawner=fork"}, {}, {0, 0});
  // The environment's network overrides the launcher's.
  variables = named;
  variables.emplace_back("GEX_CONDUIT", "smp");
  expect_places("gasnetrun_ofi", {}, variables, {0, 0});
}

TEST_F(Launchers, TakeTheSpawnerOfTheOptionThenOfTheNetwork) {
  Variables variables = {{"GASNET_SSH_SERVERS", "one two"}, {"GASNET_SPAWNER", "mpi"}};
  expect_refusal("gasnetrun_ofi", {"-n", "2"}, variables, "spawner 'mpi' is not supported");
  variables.emplace_back("GASNET_OFI_SPAWNER", "ssh");
  expect_places("gasnetrun_ofi", {}, variables, {0, 1});
  expect_places("gasnetrun_ofi", {"-spawner=fork"}, variables, {0, 0});
}

TEST_F(Launchers, PassOnTheRemoteShellAndItsOptions) {
  const Variables variables = {{"GASNET_SSH_SERVERS", "one two"},
                               {"GASNET_SSH_OPTIONS", "-o 'StrictHostKeyChecking no'"},
                               {"GASNET_SSH_CMD", "ssh"}};
  const Outcome printed = run("gasnetrun_ofi", {"-t", "-n", "3", "-N", "2"}, variables);
  expect_success(printed);
  EXPECT_EQ(lines_with(printed.output,
                       "gexrun -n 3 --conduit ofi --hosts one:2,two:1 --rsh "
                       "'ssh -x -o BatchMode=yes -o ControlMaster=no -o ServerAliveInterval=5 -o "
                       "'\\''StrictHostKeyChecking no'\\''' -- "),
            1)
      << printed.output;
  // The script is one word, because of its quotes.
  expect_places("gasnetrun_ofi", {},
                {{"GASNET_SSH_SERVERS", "one two"},
                 {"GASNET_SSH_CMD", "sh"},
                 {"GASNET_SSH_OPTIONS", "-c 'exec \"$0\" \"$@\"' " + rsh_here}},
                {0, 1});
  expect_failure(run("gasnetrun_ofi", {"-n", "2"},
                     {{"GASNET_SSH_SERVERS", "one"}, {"GASNET_SSH_OPTIONS", "-o 'x"}}),
                 2, "-o 'x' has an open quote");
}

TEST_F(Launchers, OutputThatCannotBeWrittenIsOneLine) {
  for (const std::string name : {"gasnetrun_ofi", "amudprun"}) {
    for (const std::vector<std::string>& options :
         {std::vector<std::string>{"--help"}, {"--version"}, {"-t", "-n", "2", probe}}) {
      std::vector<std::string> words = {launcher(name)};
      // amudprun cannot be asked for the command alone.
      if (name == "amudprun" && options.size() > 1) continue;
      words.insert(words.end(), options.begin(), options.end());
      expect_failure(Command(std::move(words)).output_to("/dev/full").run(), 1,
                     name + ": cannot write standard output: No space left on device");
    }
  }
}

TEST_F(Launchers, RefuseInOneLineWhatCannotBe) {
  const Variables two = {{"GASNET_SSH_SERVERS", "one two"}};
  expect_refusal("gasnetrun_ofi", {"-n", "2", "-N", "2"}, {},
                 "-N 2: no machines are named, in GASNET_SSH_SERVERS or GASNET_SSH_NODEFILE "
                 "(GASNET_SPAWNER=fork: all ranks on this machine)");
  expect_refusal("gasnetrun_ofi", {"-n", "2", "-spawner=ssh"}, {{"SSH_SERVERS", " "}},
                 "spawner 'ssh': no machines are named");
  expect_refusal("amudprun", {"-n", "2"}, {{"GASNET_SPAWNFN", "S"}},
                 "spawn function 'S': no machines are named, in GASNET_SSH_SERVERS or "
                 "GASNET_SSH_NODEFILE (GASNET_SPAWNFN=L: all ranks on this machine)");
  expect_refusal("gasnetrun_ofi", {"-n", "3", "-N", "3"}, two,
                 "-N 3: GASNET_SSH_SERVERS names 2 machines");
  expect_refusal("gasnetrun_ofi", {"-n", "1", "-N", "2"}, two, "-N 2: too many for 1 rank");
  expect_refusal("gasnetrun_ofi", {"-n", "2", "-N", "0"}, two,
                 "-N '0' is not a number of machines");
  expect_refusal("gasnetrun_smp", {"-n", "2", "-N", "2"}, two,
                 "-N 2: the network smp works on one machine only");
  expect_refusal("gasnetrun_emu", {"-n", "2"}, {{"GASNET_EMU_SPAWNER", "ssh"}},
                 "spawner 'ssh': the network emu works on one machine only");
  for (const std::string spawner : {"mpi", "pmi"}) {
    expect_refusal(
        "gasnetrun_ofi", {"-n", "2", "-spawner", spawner}, two,
        "spawner '" + spawner +
            "' is not supported; available: fork, on this machine, and ssh; mpirun and srun "
            "start the program itself");
  }
  expect_refusal("amudprun", {"-n", "2", "-spawn", "C"}, two,
                 "spawn function 'C' is not supported");
  expect_refusal("gasnetrun_ofi", {"-n", "2"}, {{"GASNET_SSH_SERVERS", "one two:3"}},
                 "GASNET_SSH_SERVERS: 'two:3' is not the name of a host");
  expect_refusal("gasnetrun_ofi", {"-n", "2"}, {{"GASNET_NODEFILE", "/nonexistent"}},
                 "GASNET_NODEFILE: cannot read '/nonexistent': No such file or directory");
  expect_refusal("gasnetrun_ofi", {"-n", "2"}, {{"GASNET_NODEFILE", "/"}},
                 "GASNET_NODEFILE: cannot read '/'");
  const std::string empty = file("# empty\n");
  expect_refusal("gasnetrun_ofi", {"-n", "2"}, {{"GASNET_SSH_NODEFILE", empty}},
                 "GASNET_SSH_NODEFILE: '" + empty + "' names no host");
}

}  // namespace
}  // namespace launch_test
