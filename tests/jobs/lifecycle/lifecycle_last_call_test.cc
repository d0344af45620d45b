// The report of the last call of a rank that dies.

#include "lifecycle.h"

namespace lifecycle_test {
namespace {

const std::string rsh_here = LIFECYCLE_TEST_RSH;
const std::string tcp_conduit = LIFECYCLE_TEST_TCP;

/// Which launcher starts the ranks, notices the death, and reports it.
enum class Start { gexrun, fork, another_host, two_hosts };
std::string name_of_start(const testing::TestParamInfo<Start>& info) {
  const char* const names[] = {"gexrun", "fork", "another_host", "two_hosts"};
  return names[static_cast<int>(info.param)];
}

Command job_of_two(Start start, std::vector<std::string> scenario) {
  if (start == Start::gexrun) return job(2, std::move(scenario));
  if (start == Start::fork) return forked_job(2, std::move(scenario));
  const std::string hosts = start == Start::two_hosts ? "a:1,b:1" : "a:2";
  scenario.insert(scenario.begin(),
                  {gexrun, "--rsh", rsh_here, "--hosts", hosts, "-n", "2", probe});
  Command command(std::move(scenario));
  if (start == Start::two_hosts) command.variable("GEX_CONDUIT", tcp_conduit);
  return command;
}

/// The one line that was printed is of rank 1, and ends so.
void expect_death(const Outcome& outcome, int status, const std::string& end) {
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, status) << outcome.output << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, ""), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "rank 1 (host "), 1) << outcome.error;
  const std::string line_end = end + "\n";
  EXPECT_TRUE(
      outcome.error.size() > line_end.size() &&
      outcome.error.compare(outcome.error.size() - line_end.size(), line_end.size(), line_end) == 0)
      << outcome.error << "wanted: " << end;
}

class LastCall : public testing::TestWithParam<Start> {
 protected:
  /// In a library that checks.
  Outcome run(std::vector<std::string> scenario) const {
    return job_of_two(GetParam(), std::move(scenario)).variable("GEX_CHECK", "1").run();
  }
};
INSTANTIATE_TEST_SUITE_P(Job, LastCall,
                         testing::Values(Start::gexrun, Start::fork, Start::another_host,
                                         Start::two_hosts),
                         name_of_start);

TEST_P(LastCall, IsTheOneInWhichTheRankDies) {
  expect_death(run({"die_by_call", "in_put"}), 137,
               ") was killed by signal 9 (Killed) while in gex_RMA_PutBlocking");
}

TEST_P(LastCall, IsTheOneAfterWhichTheRankDies) {
  expect_death(run({"die_by_call", "after_put"}), 137,
               ") was killed by signal 9 (Killed) after gex_RMA_PutBlocking");
}

TEST_P(LastCall, IsReportedOfARankThatEndsAtOnce) {
  expect_death(run({"die_by_call", "exit_after_put"}), 3,
               ") ended with status 3 after gex_RMA_PutBlocking without leaving the job");
}

TEST_P(LastCall, OfAHandlerThatDiesIsTheOneThatRunsIt) {
  expect_death(run({"die_by_call", "in_poll"}), 137,
               ") was killed by signal 9 (Killed) while in gasnet_AMPoll");
}

TEST_P(LastCall, OfAHandlerThatASleepingPollRunsIsThePoll) {
  for (const char* const way : {"in_sleeping_poll", "in_sleeping_wait"})
    expect_death(run({"die_by_call", way}), 137,
                 ") was killed by signal 9 (Killed) while in gasnet_AMPoll");
}

TEST_P(LastCall, OfSeveralThreadsIsTheLatest) {
  expect_death(run({"die_by_call", "beside_wait"}), 137,
               ") was killed by signal 9 (Killed) after gex_RMA_PutBlocking");
}

/// Where nothing checks, set-up calls are known alone, and only from inside.
class LastCallUnchecked : public LastCall {
 protected:
  Outcome run(std::vector<std::string> scenario) const {
    return job_of_two(GetParam(), std::move(scenario)).run();
  }
};
INSTANTIATE_TEST_SUITE_P(Job, LastCallUnchecked,
                         testing::Values(Start::gexrun, Start::fork, Start::another_host,
                                         Start::two_hosts),
                         name_of_start);

TEST_P(LastCallUnchecked, IsKnownInSetUpCalls) {
  expect_death(run({"die_in_attach"}), 137,
               ") was killed by signal 9 (Killed) while in gex_Segment_Attach");
}

TEST_P(LastCallUnchecked, IsUnknownOutsideOfThem) {
  for (const char* const way : {"in_put", "after_put", "in_poll"})
    expect_death(run({"die_by_call", way}), 137, ") was killed by signal 9 (Killed)");
  expect_death(run({"die_by_call", "exit_after_put"}), 3,
               ") ended with status 3 without leaving the job");
}

TEST(LastCallOfTheStart, IsTheStart) {
  // Rank 0 never comes.
  const Outcome outcome =
      Command({gexrun, "-n", "2", "sh", "-c",
               "case $GEX_JOB in *:0:2:*) exec sleep 60;; esac; exec \"$0\" die_in_start", probe})
          .run();
  expect_death(outcome, 142, ") was killed by signal 14 (Alarm clock) while in gex_Client_Init");
}

TEST(LastCallOfTheStart, IsAbsentBeforeIt) {
  const Outcome outcome = job(2, {"die_before_start"}).run();
  expect_refusal(outcome, 137, ") was killed by signal 9 (Killed) before it had joined the job");
}

}  // namespace
}  // namespace lifecycle_test
