// gexrun in the allocation of a batch system, which is described by its variables; a script stands
// in for the command by which it starts programs on its hosts.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "modes.h"

namespace launch_test {
namespace {

/// A folder of commands, each of which writes its name and options on standard error, and runs the
/// command behind `HOST` on this host.
struct SystemCommands {
  SystemCommands() {
    char name[] = "/tmp/launch_test_XXXXXX";
    folder = mkdtemp(name);
    add("srun", "--nodelist");
    add("blaunch", "");
    add("qrsh", "-inherit");
    add("flux", "exec");
  }
  SystemCommands(const SystemCommands&) = delete;
  SystemCommands& operator=(const SystemCommands&) = delete;
  ~SystemCommands() { std::filesystem::remove_all(folder); }

  /// `before_host`: the option that comes before the host's name; empty: nothing does.
  void add(const std::string& name, const std::string& before_host) const {
    const std::string script = folder + "/" + name;
    std::ofstream file(script);
    file << "#!/bin/sh\n[ \"$1\" != getattr ] || exec echo 'nowhere[1-2]'\n";
    if (!before_host.empty())
      file << "until [ \"$1\" = " << before_host << " ]; do shift; done\nshift\n";
    file << "echo \"" << name << " reaches $1\" >&2\nshift\nexec \"$@\"\n";
    file.close();
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  }
  std::string path() const { return folder + ":" + std::getenv("PATH"); }

  std::string folder;
};

int places(const Outcome& outcome, const std::string& place) {
  return lines_with(outcome.output, "gexrun on " + place);
}

TEST(Allocation, OfSlurmIsUsedByItsOwnCommand) {
  const SystemCommands commands;
  const Outcome outcome = Command({gexrun, "-v", "-n", "4", probe, "who"})
                              .variable("PATH", commands.path())
                              .variable("SLURM_JOB_ID", "7")
                              .variable("SLURM_JOB_NODELIST", "nowhere[1-2]")
                              .variable("SLURM_NTASKS", "4")
                              .variable("SLURM_TASKS_PER_NODE", "2(x2)")
                              .run();
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(places(outcome, "host 0"), 2) << outcome.output;
  EXPECT_EQ(places(outcome, "host 1"), 2) << outcome.output;
  EXPECT_EQ(lines_with(outcome.error, "srun reaches nowhere1"), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "srun reaches nowhere2"), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error,
                       "gexrun: the hosts of Slurm job 7 (SLURM_JOB_NODELIST), reached "
                       "by srun: nowhere1:2,nowhere2:2"),
            1)
      << outcome.error;
}

TEST(Allocation, OfOtherSystemsIsUsed) {
  const SystemCommands commands;
  std::ofstream(commands.folder + "/hosts") << "nowhere1 1 queue UNDEFINED\nnowhere2 1 queue -\n";
  const auto expect_reached = [](const Outcome& outcome, const std::string& by) {
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    EXPECT_EQ(places(outcome, "host 1"), 1) << outcome.output;
    EXPECT_EQ(lines_with(outcome.error, by + " reaches nowhere2"), 1) << outcome.error;
  };
  expect_reached(Command({gexrun, "-n", "2", probe, "who"})
                     .variable("PATH", commands.path())
                     .variable("LSB_JOBID", "7")
                     .variable("LSB_MCPU_HOSTS", "nowhere1 1 nowhere2 1")
                     .run(),
                 "blaunch");
  expect_reached(Command({gexrun, "-n", "2", probe, "who"})
                     .variable("PATH", commands.path())
                     .variable("JOB_ID", "7")
                     .variable("PE_HOSTFILE", commands.folder + "/hosts")
                     .run(),
                 "qrsh");
}

TEST(Allocation, OfFluxIsTheInstanceWhoseBrokersAreReachedByNumber) {
  const SystemCommands commands;
  const Outcome outcome = Command({gexrun, "-n", "4", probe, "who"})
                              .variable("PATH", commands.path())
                              .variable("FLUX_URI", "local:///nowhere")
                              // An instance may have been started by another system.
                              .variable("LSB_JOBID", "7")
                              .variable("LSB_HOSTS", "nowhere3")
                              .run();
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(places(outcome, "host 0"), 2) << outcome.output;
  EXPECT_EQ(places(outcome, "host 1"), 2) << outcome.output;
  EXPECT_EQ(lines_with(outcome.error, "flux reaches --rank=0"), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "flux reaches --rank=1"), 1) << outcome.error;
  // A task of a job of Flux's is one of many gexruns.
  const Outcome task = Command({gexrun, "-n", "2", probe, "who"})
                           .variable("PATH", commands.path())
                           .variable("FLUX_URI", "local:///nowhere")
                           .variable("FLUX_JOB_ID", "f7")
                           .variable("FLUX_JOB_NNODES", "1")
                           .run();
  expect_success(task);
}

/// A command that starts tasks as pbsdsh does: by the number of a line of PBS_NODEFILE, without the
/// environment, standard input and output, in another folder, with words that a shell splits again.
/// It notes what it is given.
void add_pbsdsh(const SystemCommands& commands) {
  const std::string script = commands.folder + "/pbsdsh";
  std::ofstream file(script);
  file << "#!/bin/sh\n[ \"$1 $3\" = '-n --' ] || exit 2\n"
       << "sed -n \"$(($2 + 1))p\" \"$PBS_NODEFILE\" >>" << commands.folder << "/notes\n"
       << "ls -l \"${5#*=}\" >>" << commands.folder << "/files\nshift 3\ncd /\n"
       << "exec env -i PBS_JOBID=7 sh -c \"$*\" </dev/null >>" << commands.folder
       << "/output 2>&1\n";
  file.close();
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
}

std::string content_of(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// In the folder of the commands, which no other test has for its working folder.
void expect_no_start_files(const SystemCommands& commands) {
  for (const auto& entry : std::filesystem::directory_iterator(commands.folder))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".gexrun-task-")) << entry.path();
}

TEST(Allocation, OfPbsIsUsedByTasksThatHaveNoInputOrOutput) {
  const SystemCommands commands;
  add_pbsdsh(commands);
  std::ofstream(commands.folder + "/hosts") << "nowhere1\nnowhere1\nnowhere2\n";
  const auto in_allocation = [&commands](std::vector<std::string> words) {
    words.insert(words.begin(), {"env", "-C", commands.folder});
    Command command(std::move(words));
    command.variable("PATH", commands.path())
        .variable("PBS_JOBID", "7")
        .variable("PBS_NODEFILE", commands.folder + "/hosts");
    return command;
  };
  const Outcome outcome =
      in_allocation({gexrun, "-v", "-n", "3", probe, "who"}).variable("GEX_TEST_WORD", "a b").run();
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(places(outcome, "host 0"), 2) << outcome.output;
  EXPECT_EQ(places(outcome, "host 1"), 1) << outcome.output;
  EXPECT_EQ(lines_with(outcome.error, "reached by pbsdsh: nowhere1:2,nowhere2:1"), 1)
      << outcome.error;
  const std::string notes = content_of(commands.folder + "/notes");
  EXPECT_TRUE(notes == "nowhere1\nnowhere2\n" || notes == "nowhere2\nnowhere1\n") << notes;
  const std::string files = content_of(commands.folder + "/files");
  EXPECT_EQ(lines_with(files, "-rw------- "), 2) << files;
  EXPECT_EQ(content_of(commands.folder + "/output"), "");
  // Standard input, and a variable whose value has a blank.
  Command reading = in_allocation({"sh", "-c",
                                   "echo 'some input' | " + gexrun +
                                       " -n 3 sh -c 'cat; echo "
                                       "$GEX_TEST_WORD; [ $GEX_RANK != 0 ] || exit 7'"});
  const Outcome read = reading.variable("GEX_TEST_WORD", "a b").run();
  EXPECT_EQ(read.status, 7) << read.error;
  EXPECT_EQ(lines_with(read.output, "some input"), 1) << read.output;
  EXPECT_GE(lines_with(read.output, "a b"), 1) << read.output;
  expect_no_start_files(commands);
}

TEST(Allocation, OfPbsWhoseTasksAreNotStartedIsReported) {
  const SystemCommands commands;
  std::ofstream(commands.folder + "/pbsdsh")
      << "#!/bin/sh\necho 'pbsdsh: no such node' >&2\nexit 1\n";
  std::filesystem::permissions(commands.folder + "/pbsdsh", std::filesystem::perms::owner_all);
  std::ofstream(commands.folder + "/hosts") << "nowhere1\nnowhere2\n";
  const Outcome outcome = Command({"env", "-C", commands.folder, gexrun, "-n", "2", probe, "who"})
                              .variable("PATH", commands.path())
                              .variable("PBS_JOBID", "7")
                              .variable("PBS_NODEFILE", commands.folder + "/hosts")
                              .variable("GEX_RSH_TRIES", "1")
                              .run();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(lines_with(outcome.error, " is lost: "), 1) << outcome.error;
  EXPECT_GE(lines_with(outcome.error, "pbsdsh: no such node"), 1) << outcome.error;
  expect_no_start_files(commands);
}

TEST(Allocation, OfTooFewSlotsTakesMoreRanksAHost) {
  const Outcome outcome = Command({gexrun, "--rsh", rsh_here, "-n", "4", probe, "who"})
                              .variable("LSB_JOBID", "7")
                              .variable("LSB_HOSTS", "a b")
                              .run();
  expect_success(outcome);
  EXPECT_EQ(places(outcome, "host 0"), 2) << outcome.output;
  EXPECT_EQ(places(outcome, "host 1"), 2) << outcome.output;
}

TEST(Allocation, IsNotUsedWhereHostsAreNamed) {
  const Outcome outcome =
      Command({gexrun, "--rsh", rsh_here, "--hosts", "localhost:2", "-n", "2", probe, "who"})
          .variable("LSB_JOBID", "7")
          .variable("LSB_HOSTS", "nowhere nowhere")
          .run();
  expect_success(outcome);
}

TEST(Allocation, WhoseHostsAreNotListedIsReported) {
  const Outcome outcome = Command({gexrun, "-n", "2", probe, "who"})
                              .variable("FLUX_JOB_ID", "f7")
                              .variable("FLUX_JOB_NNODES", "2")
                              .run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(places(outcome, "host 0"), 2) << outcome.output;
  EXPECT_EQ(lines_with(outcome.error,
                       "all ranks run on this host; the 2 hosts of Flux job f7 are "
                       "used only if they are named"),
            1)
      << outcome.error;
}

TEST(Allocation, WhoseFileCannotBeReadIsReported) {
  const Outcome outcome = Command({gexrun, "-n", "2", probe, "who"})
                              .variable("PBS_JOBID", "7")
                              .variable("PBS_NODEFILE", "/nowhere/nodes")
                              .run();
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(places(outcome, "host 0"), 2) << outcome.output;
  EXPECT_EQ(outcome.error,
            "gexrun: all ranks run on this host; the hosts of PBS job 7 are used only if they are "
            "named (--hosts, --hostfile), or under srun, mpirun or mpiexec: "
            "PBS_NODEFILE=/nowhere/nodes cannot be read: No such file or directory\n");
}

}  // namespace
}  // namespace launch_test
