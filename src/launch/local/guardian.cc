#include "launch/local/guardian.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/os_file.h"
#include "base/os_proc.h"
#include "base/os_task_limits.h"
#include "launch/local/adopted_processes.h"
#include "launch/report.h"
#include "launch/terminal.h"

namespace gex::launch {

Guardian::Guardian(const Launch& launch, os::FileDescriptor launcher, const SignalState& signals)
    : job_(launch),
      relay_(launch.program_name, launch.tag_output, launch.terminals),
      processes_(
          job_, loop_, relay_, [this](std::uint32_t rank) { control_.receive_from(rank); },
          [this] { await_launcher(); }),
      observer_(job_),
      control_(job_, loop_, processes_, observer_),
      teardown_(job_, processes_, control_, relay_),
      adoption_(job_, loop_, processes_, control_, teardown_),
      signals_before_(signals),
      launcher_(std::move(launcher)) {
}

std::optional<job::Membership> Guardian::start() {
  const Launch& launch = job_.launch;
  // Rank 0, a child of this process, may keep the terminal.
  if (launch.terminal_group == 0)
    leave_terminal();
  else
    setpgid(0, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Inheritance inherited;
  inherited.guardian = getpid();
  inherited.signals = signals_before_;
  inherited.process_name = os::process_name(getpid());
  prctl(PR_SET_NAME, job::guardian_name);

  getrlimit(RLIMIT_NOFILE, &inherited.descriptors);
  const std::uint64_t max_files = os::raise_file_limit();
  // A control socket for each rank, two pipes if its output is forwarded, and the guardian's own.
  const std::uint32_t ranks = job_.part.ranks.size();
  const rlim_t each = job_.adopting() ? 2 : launch.command.empty() ? 1 : 3;
  const rlim_t needed = each * ranks + 64;
  if (max_files < needed) {
    job_.fail_start(std::to_string(ranks) + " ranks need about " + std::to_string(needed) +
                    " open files; the limit is " + std::to_string(max_files) + " (ulimit -Hn)");
  }

  os::FileDescriptor page;
  if (std::string why; job_.page.create(page, ranks, &why) != 0) {
    job_.fail_start("cannot make the job's page of memory: " + why);
  }
  control_.set_page_file(std::move(page));
  if (launch.root < 0) {
    job_.page.decide_error_report(job::JobPage::ErrorReport::allowed);
  } else {
    Guardians& self = *this;
    uplink_.emplace(os::FileDescriptor(launch.root), launch.root_keys, launch.hosts, launch.host,
                    self, job_.page);
  }
  if (job_.adopting()) return std::nullopt;
  rank_start_.emplace(job_, processes_, control_, relay_, std::move(inherited), max_files - needed);
  for (const std::uint32_t rank : job_.part.ranks) {
    if (const auto membership = rank_start_->start(rank)) return membership;
    // Starting many ranks takes long on busy processors; the root expects heartbeats.
    if (uplink_) uplink_->send_heartbeat();
  }
  if (launch.terminal_group != 0) leave_terminal();
  return std::nullopt;
}

void Guardian::prepare_to_serve() {
  int error = loop_.open();
  if (error == 0) error = processes_.serve();
  if (error != 0) {
    job_.fail_start(std::string("the guardian cannot wait for its ranks: ") + std::strerror(error));
  }
  if (!job_.launch.command.empty()) {
    error = relay_.start();
    if (error != 0) {
      job_.fail_start("cannot start the thread that passes on output: " +
                      os::describe_task_error(error));
    }
    relay_watch_ = loop_.watch(relay_.finished_event(), [this] { relay_watch_.reset(); });
  }
  loop_.add(control_);
  loop_.add(processes_);
  if (uplink_) {
    job_.coordinator = &*uplink_;
    uplink_->serve(loop_, [this](const std::string& why) { teardown_.abandon(why); });
    loop_.add(*uplink_);
  } else {
    Guardians& self = *this;
    coordinator_.emplace(job_.launch, self);
    job_.coordinator = &*coordinator_;
    loop_.add(*coordinator_);
    serve_reports();
    coordinator_->watch();
  }
  loop_.add(observer_);
  loop_.add(adoption_);
  loop_.add(teardown_);
  if (job_.adopting()) {
    adoption_.serve();
  } else {
    launcher_watch_ = loop_.watch(launcher_.get(), [this] { receive_from_launcher(); });
    control_.serve();
  }
}

void Guardian::serve_reports() {
  const Launch& launch = job_.launch;
  const pid_t launcher = job_.adopting() ? launch.launcher : getppid();
  report_server_.emplace(ReportServer::Job{
      launcher != 0 ? launcher : getpid(), launch.describe(),
      [this](pid_t process) {
        return process == getpid() ||
               std::any_of(job_.ranks.begin(), job_.ranks.end(), [process](const LocalRank& rank) {
                 return rank.process == process || rank.joined_process == process;
               });
      },
      [this](HangWatch::Deliver deliver) { coordinator_->hangs().request(std::move(deliver)); }});
  report_server_->serve(loop_);
}

bool Guardian::output_done() const {
  return job_.launch.command.empty() || relay_.finished() || teardown_.output_abandoned();
}

int Guardian::serve() {
  prepare_to_serve();
  bool swept = false;
  for (;;) {
    if (job_.all_gone() && !swept) {
      teardown_.sweep();
      swept = true;
    }
    if (swept && output_done()) break;
    loop_.turn();
  }
  relay_.detach();
  job_.coordinator->finished(relay_.lost_output());
  // With several hosts the root decides the status.
  return coordinator_ ? coordinator_->status() : 0;
}

int Guardian::serve_watched() {
  AdoptedProcesses adopted(job_.ranks.size());
  processes_.record_adopted_in(adopted);
  const pid_t serving = adopted.mapped() ? fork() : -1;
  if (serving < 0)
    job_.fail_start(std::string("cannot start the guardian: ") + std::strerror(errno));
  if (serving == 0) _exit(serve());
  prctl(PR_SET_NAME, "gex-watcher");
  int status = 0;
  while (waitpid(serving, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  // Ranks read the page whenever they poll.
  job_.page.claim({.code = 1});
  report(job_.launch.program_name, "the guardian of %s was killed by %s; its ranks are ended",
         job_.part.name.c_str(), describe_signal(WTERMSIG(status)).c_str());
  adopted.kill_later();
  return 1;
}

/// The terminal sends a signal to rank 0 and to the launcher at once: lets the launcher be first.
void Guardian::await_launcher() {
  constexpr int limit_ms = 200;
  pollfd readable{launcher_.get(), POLLIN, 0};
  if (poll(&readable, 1, limit_ms) > 0) receive_from_launcher();
}

void Guardian::receive_from_launcher() {
  std::array<unsigned char, 64> signals;
  const ssize_t got = read(launcher_.get(), signals.data(), signals.size());
  // `await_launcher` may have read what the event loop reports.
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) teardown_.abandon({});
  for (ssize_t i = 0; i < got; ++i) {
    const int byte = signals[static_cast<std::size_t>(i)];
    const int number = byte & ~terminal_bit;
    const LocalProcesses::SentByTerminal sent(processes_, (byte & terminal_bit) != 0);
    if (ends_job(number)) {
      job_.coordinator->interrupted(number);
    } else {
      signal(number);
    }
  }
}

void Guardian::gathered(std::uint32_t sequence, SharedBytes bytes) {
  control_.gathered(sequence, bytes);
}

void Guardian::absent(std::uint32_t rank, std::uint32_t sequence) {
  control_.absent(rank, sequence);
}

void Guardian::release(bool finalize) {
  control_.release(finalize);
}

void Guardian::end(const job::Ending& ending, Teardown teardown) {
  if (!job_.ending) adoption_.shorten();
  teardown_.begin(ending, teardown);
}

void Guardian::signal(int number) {
  if (ends_job(number)) {
    teardown_.interrupt(number);
  } else {
    // SIGSTOP for SIGTSTP, which some ranks may ignore while the others stop.
    processes_.signal_ranks(number == SIGTSTP ? SIGSTOP : number);
  }
}

void Guardian::observe(std::uint32_t interval_ms) {
  observer_.observe(interval_ms);
}

void Guardian::collect(std::uint32_t number, Collection what) {
  observer_.collect(number, what);
}

}  // namespace gex::launch
