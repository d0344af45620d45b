#include "launch/local/rank_teardown.h"

#include <unistd.h>

#include <chrono>

#include "launch/report.h"

namespace gex::launch {

namespace {

using namespace std::chrono_literals;

constexpr auto quit_grace = 100ms;
constexpr auto terminate_grace = 1s;
// Longer than a rank's own watchdog over the flushing of its streams, and short enough that a job
// ends within five seconds.
constexpr auto kill_grace = 4s;
// Time for a client's handler of SIGINT or SIGTERM to save its work.
constexpr auto interrupt_grace = 10s;
// All ranks end within a second after the loss of a host was detected.
constexpr auto lost_host_grace = 800ms;
// Seconds for the last output when the end is urgent.
constexpr double output_grace = 1;

}  // namespace

RankTeardown::RankTeardown(LocalJob& job, LocalProcesses& processes, ControlServer& control,
                           LineRelay& relay)
    : job_(job), processes_(processes), control_(control), relay_(relay) {
}

void RankTeardown::begin(const job::Ending& asked, Teardown teardown) {
  const job::Ending counts = job_.page.claim(asked);
  if (job_.ending) return;
  job_.ending = true;
  processes_.stop_watching_for_losses();
  control_.announce_end(counts.code);
  const auto now = Clock::now();
  quit_at_ = now + quit_grace;
  terminate_at_ = teardown == Teardown::graceful ? now + terminate_grace : now;
  if (!kill_at_) kill_at_ = now + kill_grace;
  if (teardown == Teardown::immediate) kill_at_ = now + lost_host_grace;
  if (teardown != Teardown::graceful) urgent_ = true;
  if (urgent_ && job_.all_gone()) abandon_output_at_ = now;
}

void RankTeardown::interrupt(int number) {
  urgent_ = true;
  if (job_.interrupted_by != 0) {
    kill_everything();
    abandon_output_at_ = Clock::now();
    return;
  }
  job_.interrupted_by = number;
  kill_at_ = Clock::now() + interrupt_grace;
  processes_.signal_ranks(number);
}

void RankTeardown::sweep() {
  kill_everything();
  if (urgent_ && !abandon_output_at_) abandon_output_at_ = after(output_grace);
}

bool RankTeardown::output_abandoned() const {
  return abandon_output_at_ && Clock::now() >= *abandon_output_at_;
}

void RankTeardown::abandon(const std::string& why) {
  // While the job ends the connection may close for that reason.
  const bool reports = !why.empty() && !job_.ending;
  job_.ending = true;
  kill_everything();
  if (reports) {
    report(job_.launch.program_name, "%s ends its ranks: %s", job_.part.name.c_str(), why.c_str());
  }
  relay_.wait_finished(output_grace);
  relay_.detach();
  _exit(1);
}

void RankTeardown::kill_everything() {
  // Deaths from here on are expected; they are not reported.
  if (!job_.all_gone()) job_.request_end({.code = 1}, {});
  processes_.kill_ranks();
  quit_at_.reset();
  terminate_at_.reset();
  kill_at_.reset();
}

Deadline RankTeardown::next_deadline() const {
  return earlier(earlier(quit_at_, terminate_at_), earlier(kill_at_, abandon_output_at_));
}

void RankTeardown::meet_deadlines() {
  if (met(quit_at_)) processes_.quit_ranks();
  if (met(terminate_at_)) processes_.terminate_ranks();
  if (met(kill_at_)) kill_everything();
}

}  // namespace gex::launch
