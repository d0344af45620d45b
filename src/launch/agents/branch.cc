#include "launch/agents/branch.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/os_file.h"
#include "base/os_proc.h"
#include "launch/agents/launch_agents.h"
#include "launch/event_loop.h"
#include "launch/hosts/link.h"
#include "launch/launcher_signals.h"
#include "launch/process_tree.h"
#include "launch/report.h"

namespace gex::launch {

namespace {

/// Thread rules: one thread. All signals are blocked.
class Branch final : private HostEvents, private Timed {
 public:
  Branch(HostStart start, RootConnection root);

  int run();

 private:
  // Called by the agents.
  bool handle_frame(std::uint32_t, const job::Received&) override { return false; }
  void lose_host(std::uint32_t host, const std::string& why) override { give_up(host, why, 0); }
  void cannot_reach(std::uint32_t host, const std::string& why) override { give_up(host, why, 1); }

  Deadline next_deadline() const override { return earlier(heartbeat_at_, link_.timeout_at()); }
  void meet_deadlines() override;

  bool prepare();
  void flush();
  void receive();
  bool handle(const job::FrameHeader& header);
  void receive_signals();
  void retire(std::uint32_t host, bool finished);
  void give_up(std::uint32_t host, const std::string& why, int code);

  const RootPlace place_;
  HostTree tree_;
  std::uint32_t unfinished_;
  LaunchAgents agents_;
  const Launch& launch_;
  RootHosts hosts_;
  EventLoop loop_;
  Link link_;
  EventLoop::Watch link_watch_;
  EventLoop::Watch signals_watch_;
  EventLoop::Watch output_watch_;
  os::FileDescriptor signals_;
  Deadline heartbeat_at_ = after(job::heartbeat_interval);
  bool lost_ = false;  ///< the link has ended
};

HostTree tree_of(const HostStart& start) {
  return HostTree(start.launch.hosts.size(), std::array{start.launch.host}, start.below,
                  fanout(start.remote));
}

Branch::Branch(HostStart start, RootConnection root)
    : place_{start.root, start.secret},
      tree_(tree_of(start)),
      unfinished_(1 + static_cast<std::uint32_t>(start.below.size())),
      agents_(LaunchAgents::Place::branch, std::move(start), tree_),
      launch_(agents_.launch()),
      hosts_(launch_),
      link_(std::move(root.socket), root.keys) {
}

bool Branch::prepare() {
  os::raise_file_limit();
  const sigset_t handled = signals_to_handle(forwarded_signals);
  errno = loop_.open();
  if (errno == 0) signals_.reset(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) {
    report(launch_.program_name, "host %s: cannot wait for the hosts that it starts: %s",
           launch_.part().name.c_str(), std::strerror(errno));
    return false;
  }
  if (const auto why = agents_.start(hosts_, *this, place_, loop_)) {
    report(launch_.program_name, "host %s: %s", launch_.part().name.c_str(), why->c_str());
    return false;
  }
  output_watch_ = loop_.watch(agents_.output_event(), [this] { output_watch_.reset(); });
  signals_watch_ = loop_.watch(signals_.get(), [this] { receive_signals(); });
  link_watch_ = loop_.watch(
      link_.socket(), [this] { receive(); }, [this] { flush(); });
  loop_.add(agents_);
  loop_.add(*this);
  return true;
}

int Branch::run() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::vector<pid_t> spared = os::children();
  const bool prepared = prepare();
  while (prepared && !lost_ && (unfinished_ > 0 || !agents_.output_finished())) loop_.turn();
  agents_.finish();
  kill_descendants(spared, [](pid_t, int) {});
  return prepared && !lost_ ? 0 : reported_status;
}

void Branch::flush() {
  link_watch_.want_writable(!link_.flush());
}

void Branch::receive() {
  for (;;) {
    const job::Received frame = link_.receive();
    if (frame.outcome == job::Received::Outcome::would_block) return;
    if (frame.outcome == job::Received::Outcome::frame && handle(frame.header)) continue;
    lost_ = true;
    return;
  }
}

bool Branch::handle(const job::FrameHeader& header) {
  if (header.kind == job::FrameKind::heartbeat) return true;
  if (header.kind == job::FrameKind::job_signal) {
    link_.allow_silence();
    return true;
  }
  const std::uint32_t host = header.first;
  if (host >= hosts_.size() || tree_.parent(host) == HostTree::nowhere) return false;
  if (hosts_[host].done) return true;
  switch (header.kind) {
    case job::FrameKind::branch_connected:
      if (header.code == 1) {
        agents_.handle_branch_connected(host);
      } else if (!hosts_[host].connected) {
        hosts_.mark_connected(host);
        agents_.handle_connected(host);
      }
      return true;
    case job::FrameKind::branch_kill:
      agents_.kill(host);
      return true;
    case job::FrameKind::branch_retire:
      retire(host, header.code == 1);
      return true;
    default:
      return false;
  }
}

void Branch::retire(std::uint32_t host, bool finished) {
  hosts_.mark_done(host);
  --unfinished_;
  agents_.retire(host, finished);
}

void Branch::give_up(std::uint32_t host, const std::string& why, int code) {
  if (hosts_[host].done) return;
  job::FrameHeader header;
  header.kind = job::FrameKind::host_not_started;
  header.first = host;
  header.code = code;
  link_.queue(header, why);
  flush();
  retire(host, /*finished=*/false);
}

void Branch::receive_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (ends_job(number)) {
      job::FrameHeader header;
      header.kind = job::FrameKind::host_interrupted;
      header.code = number;
      link_.queue(header);
      flush();
    }
    if (number != SIGCHLD) continue;
    int status = 0;
    for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
      agents_.handle_exit(ended, status);
  }
}

void Branch::meet_deadlines() {
  if (met(heartbeat_at_)) {
    heartbeat_at_ = after(job::heartbeat_interval);
    link_.queue_heartbeat();
    flush();
  }
  if (link_.timed_out()) lost_ = true;
}

}  // namespace

int run_branch(HostStart start, RootConnection root) {
  take_over_signals();
  return Branch(std::move(start), std::move(root)).run();
}

}  // namespace gex::launch
