#include "launch/map/allocation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <map>
#include <string>

#include "base/os_host.h"
#include "launch/map/host_list.h"

namespace gex::launch {
namespace {

using Names = std::vector<std::string>;
using Counts = std::vector<std::uint32_t>;

TEST(HostList, ExpandsRangesWithTheirLeadingZeros) {
  EXPECT_EQ(expand_host_list("n1"), Names({"n1"}));
  EXPECT_EQ(expand_host_list("n[1-3]"), Names({"n1", "n2", "n3"}));
  EXPECT_EQ(expand_host_list("n[001-003,07],g5"), Names({"n001", "n002", "n003", "n07", "g5"}));
  EXPECT_EQ(expand_host_list("n[9-11]"), Names({"n9", "n10", "n11"}));
  EXPECT_EQ(expand_host_list("r[1-2]n[1,3]-ib"),
            Names({"r1n1-ib", "r1n3-ib", "r2n1-ib", "r2n3-ib"}));
  EXPECT_EQ(expand_host_list("a[1-2],b[7-8]c,d"), Names({"a1", "a2", "b7c", "b8c", "d"}));
}

TEST(HostList, RefusesAnythingElse) {
  for (const char* const text : {"", "n[1", "n[2-1]", "n[a-b]", "n[]", "n]", ",", "n[1-99999999]",
                                 "n[1-2000]m[1-2000]", "n[1-]", "n[-1]"})
    EXPECT_EQ(expand_host_list(text), std::nullopt) << text;
}

TEST(Counts, AreRepeated) {
  EXPECT_EQ(expand_counts("4"), Counts({4}));
  EXPECT_EQ(expand_counts("4(x2),3"), Counts({4, 4, 3}));
  for (const char* const text : {"", "4(x", "4(2)", "x", "4(x2)3", "1(x99999999)"})
    EXPECT_EQ(expand_counts(text), std::nullopt) << text;
}

/// Only these variables of batch systems are set.
class AllocationTest : public testing::Test {
 protected:
  AllocationTest() : file_("/tmp/gex_allocation." + std::to_string(::getpid())) { clear(); }
  ~AllocationTest() override {
    clear();
    std::filesystem::remove(file_);
  }

  void set(std::initializer_list<std::pair<const char*, std::string>> variables) {
    clear();
    for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 1);
  }
  std::string file(const std::string& text) {
    std::ofstream(file_) << text;
    return file_;
  }

 private:
  static void clear() {
    for (const char* const name : {"SLURM_JOB_ID",
                                   "SLURM_JOB_NODELIST",
                                   "SLURM_NODELIST",
                                   "SLURM_JOB_NUM_NODES",
                                   "SLURM_NNODES",
                                   "SLURM_NTASKS",
                                   "SLURM_TASKS_PER_NODE",
                                   "SLURM_JOB_CPUS_PER_NODE",
                                   "PBS_JOBID",
                                   "PBS_NODEFILE",
                                   "PBS_NUM_PPN",
                                   "LSB_JOBID",
                                   "LSB_DJOB_HOSTFILE",
                                   "LSB_MCPU_HOSTS",
                                   "LSB_HOSTS",
                                   "CSM_ALLOCATION_ID",
                                   "JOB_ID",
                                   "PE_HOSTFILE",
                                   "COBALT_JOBID",
                                   "COBALT_NODEFILE",
                                   "COBALT_JOBSIZE",
                                   "OAR_JOB_ID",
                                   "OAR_NODEFILE",
                                   "FLUX_JOB_ID",
                                   "FLUX_JOB_NNODES",
                                   "FLUX_URI"})
      ::unsetenv(name);
  }
  std::string file_;
};

/// "n1:4 n2:4"
std::string hosts_of(const std::optional<Allocation>& found) {
  std::string text;
  if (!found) return "none";
  for (const HostSlots& host : found->hosts)
    text += (text.empty() ? "" : " ") + host.name + ":" + std::to_string(host.slots);
  return text;
}

TEST_F(AllocationTest, OfSlurmHasATaskASlotOrElseAProcessor) {
  set({{"SLURM_JOB_ID", "7"},
       {"SLURM_JOB_NODELIST", "n[1-2],g5"},
       {"SLURM_JOB_NUM_NODES", "3"},
       {"SLURM_TASKS_PER_NODE", "2(x2),1"},
       {"SLURM_JOB_CPUS_PER_NODE", "16(x2),8"}});
  EXPECT_EQ(hosts_of(allocation()), "n1:16 n2:16 g5:8");
  ::setenv("SLURM_NTASKS", "5", 1);
  EXPECT_EQ(hosts_of(allocation()), "n1:2 n2:2 g5:1");
  EXPECT_EQ(allocation()->system, "Slurm job 7");
  EXPECT_EQ(allocation()->remote_start.front(), "srun");
  EXPECT_EQ(allocation()->remote_start.back(), "--nodelist");
  ::setenv("SLURM_JOB_NODELIST", "n[1-", 1);
  EXPECT_EQ(hosts_of(allocation()), "");
  EXPECT_EQ(allocation()->host_count, 3U);
}

TEST_F(AllocationTest, OfEachSystemIsRead) {
  set({{"PBS_JOBID", "7"}, {"PBS_NODEFILE", file("n1\nn1\nn2\n")}});
  EXPECT_EQ(hosts_of(allocation()), "n1:2 n2:1");
  EXPECT_EQ(allocation()->remote_start, Names({"pbsdsh", "-n"}));
  EXPECT_FALSE(allocation()->passes_streams);
  EXPECT_EQ(allocation()->start_words["n1"], "0");
  EXPECT_EQ(allocation()->start_words["n2"], "2");
  set({{"LSB_JOBID", "7"}, {"LSB_DJOB_HOSTFILE", file("n1\nn2\nn2\n")}});
  EXPECT_EQ(hosts_of(allocation()), "n1:1 n2:2");
  EXPECT_EQ(allocation()->remote_start, Names({"blaunch"}));
  set({{"LSB_JOBID", "7"}, {"LSB_MCPU_HOSTS", "n1 4 n2 8"}});
  EXPECT_EQ(hosts_of(allocation()), "n1:4 n2:8");
  set({{"LSB_JOBID", "7"}, {"LSB_HOSTS", "n1 n2 n1"}});
  EXPECT_EQ(hosts_of(allocation()), "n1:2 n2:1");
  set({{"JOB_ID", "7"}, {"PE_HOSTFILE", file("n1 4 all.q@n1 UNDEFINED\nn2 2 all.q@n2 0,1:0,2\n")}});
  EXPECT_EQ(hosts_of(allocation()), "n1:4 n2:2");
  EXPECT_EQ(allocation()->remote_start, Names({"qrsh", "-inherit"}));
  set({{"COBALT_JOBID", "7"}, {"COBALT_NODEFILE", file("n1\nn2\n")}});
  EXPECT_EQ(hosts_of(allocation()), "n1:1 n2:1");
  set({{"OAR_JOB_ID", "7"}, {"OAR_NODEFILE", file("n1\nn1\nn2\nn2\n")}});
  EXPECT_EQ(hosts_of(allocation()), "n1:2 n2:2");
}

TEST_F(AllocationTest, WhoseHostsAreNotListedHasTheirNumber) {
  set({{"FLUX_JOB_ID", "f7"}, {"FLUX_JOB_NNODES", "4"}});
  EXPECT_EQ(hosts_of(allocation()), "");
  EXPECT_EQ(allocation()->host_count, 4U);
  set({{"COBALT_JOBID", "7"}, {"COBALT_JOBSIZE", "4"}});
  EXPECT_EQ(hosts_of(allocation()), "");
  EXPECT_EQ(allocation()->host_count, 4U);
  set({{"JOB_ID", "7"}});
  EXPECT_EQ(hosts_of(allocation()), "none");
}

// As on a machine where CSM manages the hosts of LSF's jobs: the script's host comes first.
TEST_F(AllocationTest, OfLsfUnderCsmIsWithoutTheHostOfTheScript) {
  set({{"LSB_JOBID", "7"},
       {"CSM_ALLOCATION_ID", "9"},
       {"LSB_DJOB_HOSTFILE", file("batch1\nn1\nn1\nn2\nn2\n")},
       {"LSB_MCPU_HOSTS", "batch1 1 n1 2 n2 2"},
       {"LSB_HOSTS", "batch1 n1 n1 n2 n2"}});
  for (const char* const list : {"LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS", "LSB_HOSTS"}) {
    EXPECT_EQ(hosts_of(allocation()), "n1:2 n2:2") << list;
    EXPECT_EQ(allocation()->host_count, 2U);
    EXPECT_EQ(allocation()->hosts_from, list);
    EXPECT_TRUE(allocation()->remote_start.empty()) << "blaunch needs LSF's daemons";
    ::unsetenv(list);
  }
  // The script may run on the first of the hosts.
  ::setenv("LSB_MCPU_HOSTS", "n1 2 n2 2", 1);
  EXPECT_EQ(hosts_of(allocation()), "n1:2 n2:2");
  ::setenv("LSB_MCPU_HOSTS", "n1 1", 1);
  EXPECT_EQ(hosts_of(allocation()), "n1:1");
}

TEST_F(AllocationTest, OfTorqueMayHaveItsSlotsInAVariable) {
  set({{"PBS_JOBID", "7"}, {"PBS_NUM_PPN", "4"}, {"PBS_NODEFILE", file("n1\nn2\n")}});
  EXPECT_EQ(hosts_of(allocation()), "n1:4 n2:4");
  set({{"PBS_JOBID", "7"}, {"PBS_NUM_PPN", "2"}, {"PBS_NODEFILE", file("n1\nn1\nn2\nn2\n")}});
  EXPECT_EQ(hosts_of(allocation()), "n1:2 n2:2");
}

TEST_F(AllocationTest, MayHaveAFileOfLinesWithCarriageReturns) {
  set({{"PBS_JOBID", "7"}, {"PBS_NODEFILE", file("n1\r\nn1\r\n\r\nn2\r\n")}});
  EXPECT_EQ(hosts_of(allocation()), "n1:2 n2:1");
  set({{"JOB_ID", "7"}, {"PE_HOSTFILE", file("n1 4 all.q UNDEFINED\r\nn2 2\r\n")}});
  EXPECT_EQ(hosts_of(allocation()), "n1:4 n2:2");
}

TEST_F(AllocationTest, WhoseListCannotBeReadHasTheReason) {
  const auto reason = [this](const char* job, const char* variable, const std::string& value) {
    set({{job, "7"}, {variable, value}});
    const auto found = allocation();
    EXPECT_TRUE(found && found->hosts.empty()) << value;
    return found ? found->why_no_hosts : "none";
  };
  EXPECT_EQ(reason("PBS_JOBID", "PBS_NODEFILE", "/nowhere/nodes"),
            "PBS_NODEFILE=/nowhere/nodes cannot be read: No such file or directory");
  EXPECT_EQ(reason("PBS_JOBID", "PBS_NODEFILE", "/tmp"),
            "PBS_NODEFILE=/tmp cannot be read: Is a directory");
  EXPECT_EQ(reason("PBS_JOBID", "PBS_NODEFILE", file("\n")),
            "PBS_NODEFILE=" + file("\n") + " lists no host");
  EXPECT_EQ(reason("PBS_JOBID", "PBS_NODEFILE", file("n1\n\x7f\x45LF\x01\n")),
            "PBS_NODEFILE=" + file("n1\n\x7f\x45LF\x01\n") + ": no host is '?ELF?'");
  EXPECT_EQ(reason("JOB_ID", "PE_HOSTFILE", file("n1 four\n")),
            "PE_HOSTFILE=" + file("n1 four\n") + ": 'n1 four' is not a host and its slots");
  EXPECT_EQ(reason("LSB_JOBID", "LSB_MCPU_HOSTS", "n1 4 n2"),
            "LSB_MCPU_HOSTS: 'n2 ' is not a host and its slots");
  // A name that a remote shell would read as an option.
  EXPECT_EQ(reason("LSB_JOBID", "LSB_HOSTS", "n1 -oProxyCommand=x"),
            "LSB_HOSTS: no host is '-oProxyCommand=x'");
  EXPECT_EQ(reason("SLURM_JOB_ID", "SLURM_JOB_NODELIST", "n[1-"),
            "SLURM_JOB_NODELIST='n[1-' is not a list of hosts");
  EXPECT_EQ(reason("SLURM_JOB_ID", "SLURM_JOB_NODELIST", "-n[1-2]"),
            "SLURM_JOB_NODELIST: no host is '-n1'");
  // Another variable's list takes its place.
  set({{"LSB_JOBID", "7"}, {"LSB_DJOB_HOSTFILE", "/nowhere"}, {"LSB_HOSTS", "n1"}});
  EXPECT_EQ(hosts_of(allocation()), "n1:1");
}

TEST_F(AllocationTest, DetectsThatThisHostIsAlone) {
  set({{"LSB_JOBID", "7"}, {"LSB_HOSTS", os::hostname()}});
  EXPECT_TRUE(is_this_host_alone(*allocation()));
  set({{"LSB_JOBID", "7"}, {"LSB_HOSTS", "another"}});
  EXPECT_FALSE(is_this_host_alone(*allocation()));
}

TEST(Slots, GrowInProportionWhereThereAreMoreRanks) {
  const std::vector<HostSlots> hosts = {{"a", 1}, {"b", 3}};
  EXPECT_EQ(slots_of(with_slots_for(4, hosts)), 4U);
  const std::vector<HostSlots> more = with_slots_for(8, hosts);
  EXPECT_EQ(more[0].slots, 2U);
  EXPECT_EQ(more[1].slots, 6U);
}

}  // namespace
}  // namespace gex::launch
