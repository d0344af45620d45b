#include "launch/agents/branch.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os_file.h"
#include "base/os_proc.h"
#include "launch/agents/launch_agents.h"
#include "launch/event_loop.h"
#include "launch/hang/collected_reports.h"
#include "launch/hang/observation.h"
#include "launch/hosts/authentication.h"
#include "launch/hosts/host_connections.h"
#include "launch/hosts/launch_ports.h"
#include "launch/hosts/link.h"
#include "launch/hosts/report_pieces.h"
#include "launch/launcher_signals.h"
#include "launch/process_tree.h"
#include "launch/rendezvous.h"
#include "launch/report.h"

namespace gex::launch {

namespace {

/// Seconds until a branch answers without hosts that have not: nearly as long as the root waits,
/// and longer for each level of branches below it.
constexpr double answer_limit = 2.9;
constexpr double answer_margin = 0.4;

SharedBytes bytes_of(const job::Received& frame) {
  return std::make_shared<const std::vector<std::byte>>(frame.payload.begin(), frame.payload.end());
}

/// Thread rules: one thread. All signals are blocked.
class Branch final : private HostEvents, private Timed {
 public:
  Branch(const HostStart& start, RootConnection parent);

  int run();

 private:
  // Called by the links to hosts, the last two by the agents too.
  bool handle_frame(std::uint32_t host, const job::Received& frame) override;
  void lose_host(std::uint32_t host, const std::string& why) override { give_up(host, why, 0); }
  void cannot_reach(std::uint32_t host, const std::string& why) override { give_up(host, why, 1); }

  Deadline next_deadline() const override {
    return earlier(earlier(heartbeat_at_, link_.timeout_at()), earlier(answer_at_, report_at_));
  }
  void meet_deadlines() override;

  bool prepare();
  bool fail(const std::string& what) const;
  void flush();
  void send(job::FrameKind kind, std::uint32_t host, int code, std::string_view text = {});
  void receive();
  bool handle(const job::Received& frame);
  bool handle_about_host(const job::FrameHeader& header);
  void receive_signals();
  void handle_connection(std::uint32_t number, os::FileDescriptor socket, const LinkKeys& keys);
  void handle_connected(std::uint32_t host);
  bool handle_gather(std::uint32_t host, const job::Received& frame);
  void contribute();
  std::vector<std::uint32_t> reporting() const;
  bool handle_observed(std::uint32_t host, const job::FrameHeader& header);
  void report_observation(const std::vector<std::uint32_t>& hosts);
  void begin_collection(std::uint32_t number);
  bool handle_collected(std::uint32_t host, const job::Received& frame);
  void answer_collection();
  void retire(std::uint32_t host, job::Retirement how);
  void stop_listening();
  void give_up(std::uint32_t host, const std::string& why, int code);

  RootPlace place_;  ///< where the hosts that it starts connect
  std::uint32_t unfinished_;
  LaunchAgents agents_;
  const HostTree& tree_;
  const Launch& launch_;
  RootHosts hosts_;
  std::vector<bool> retired_;  ///< hosts that the root has retired
  EventLoop loop_;
  Link link_;  ///< to the process that has started this one
  Authentication authentication_;
  HostConnections connections_;
  Gather gather_;
  MergedObservations observations_;
  double observe_interval_s_ = 0;
  Deadline report_at_;  ///< when what hosts have observed is reported, at the latest
  ReportPieces reports_;
  CollectedReports collected_;
  std::uint32_t collection_ = 0;  ///< number of the last one
  std::vector<bool> awaited_;     ///< hosts that are to answer
  Deadline answer_at_;            ///< at the latest; empty: nothing is being collected
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

Branch::Branch(const HostStart& start, RootConnection parent)
    : place_{{}, start.secret},
      unfinished_(1 + static_cast<std::uint32_t>(start.below.size())),
      agents_(LaunchAgents::Place::branch, start, tree_of(start)),
      tree_(agents_.tree()),
      launch_(agents_.launch()),
      hosts_(launch_),
      retired_(hosts_.size()),
      link_(std::move(parent.socket), parent.keys),
      authentication_(
          launch_.program_name, unfinished_, loop_,
          [this](std::uint32_t number, os::FileDescriptor socket, const LinkKeys& keys) {
            handle_connection(number, std::move(socket), keys);
          }),
      connections_(hosts_, tree_, loop_, *this),
      gather_(tree_.ranks_by_first_hop(launch_.hosts)),
      observations_(hosts_.size()),
      reports_(hosts_.size()),
      collected_(launch_.hosts.ranks()),
      awaited_(hosts_.size()) {
}

bool Branch::fail(const std::string& what) const {
  report(launch_.program_name, "host %s: %s: %s", launch_.part().name.c_str(), what.c_str(),
         std::strerror(errno));
  return false;
}

bool Branch::prepare() {
  os::raise_file_limit();
  const sigset_t handled = signals_to_handle(forwarded_signals);
  errno = loop_.open();
  if (errno == 0) signals_.reset(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return fail("cannot wait for the hosts that it starts");
  os::FileDescriptor listener =
      listen_for_guardians(place_.address, agents_.reach(), launch_ports());
  if (!listener) return fail(cannot_listen());
  if (const auto why = agents_.start(hosts_, *this, place_)) {
    report(launch_.program_name, "host %s: %s", launch_.part().name.c_str(), why->c_str());
    return false;
  }
  output_watch_ = loop_.watch(agents_.output_event(), [this] { output_watch_.reset(); });
  signals_watch_ = loop_.watch(signals_.get(), [this] { receive_signals(); });
  link_watch_ = loop_.watch(
      link_.socket(), [this] { receive(); }, [this] { flush(); });
  authentication_.serve(place_.secret, std::move(listener));
  loop_.add(connections_);
  loop_.add(agents_);
  loop_.add(*this);
  loop_.add(authentication_);
  return true;
}

int Branch::run() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::vector<pid_t> spared = os::children();
  const bool prepared = prepare();
  while (prepared && !lost_ && (unfinished_ > 0 || !agents_.output_finished())) loop_.turn();
  agents_.finish();
  kill_descendants(spared, [](pid_t, int) {});
  if (launch_.verbose) {
    report(launch_.program_name, "host %s: %s", launch_.part().name.c_str(),
           connections_.describe_counts().c_str());
  }
  return prepared && !lost_ ? 0 : reported_status;
}

void Branch::flush() {
  link_watch_.want_writable(!link_.flush());
}

void Branch::send(job::FrameKind kind, std::uint32_t host, int code, std::string_view text) {
  job::FrameHeader header;
  header.kind = kind;
  header.owner = host;
  header.code = code;
  link_.queue(header, text);
  flush();
}

void Branch::receive() {
  for (;;) {
    const job::Received frame = link_.receive();
    if (frame.outcome == job::Received::Outcome::would_block) return;
    if (frame.outcome == job::Received::Outcome::frame && handle(frame)) continue;
    lost_ = true;
    return;
  }
}

bool Branch::handle(const job::Received& frame) {
  const job::FrameHeader& header = frame.header;
  if (header.kind == job::FrameKind::heartbeat) return true;
  if (header.kind == job::FrameKind::job_observe) observe_interval_s_ = header.count * 1e-3;
  if (header.owner != job::every_host) return handle_about_host(header);
  // A root that is suspended sends no heartbeats until it is continued.
  if (header.kind == job::FrameKind::job_signal && header.code == SIGTSTP) link_.allow_silence();
  if (header.kind == job::FrameKind::job_collect) begin_collection(header.sequence);
  connections_.forward_all(header, bytes_of(frame));
  return true;
}

bool Branch::handle_about_host(const job::FrameHeader& header) {
  const std::uint32_t host = header.owner;
  if (host >= hosts_.size() || tree_.parent(host) == HostTree::nowhere) return false;
  switch (header.kind) {
    case job::FrameKind::branch_kill:
      connections_.send_to_agents(host, header);
      agents_.kill(host);
      return true;
    case job::FrameKind::branch_retire:
      connections_.send_to_agents(host, header);
      retire(host, static_cast<job::Retirement>(header.code));
      return true;
    default:
      connections_.send(host, header);
      return true;
  }
}

bool Branch::handle_frame(std::uint32_t host, const job::Received& frame) {
  job::FrameHeader header = frame.header;
  switch (header.kind) {
    case job::FrameKind::host_gather:
      return handle_gather(host, frame);
    case job::FrameKind::host_observed:
      return handle_observed(host, header);
    case job::FrameKind::host_collected:
      return handle_collected(host, frame);
    case job::FrameKind::host_connected:
      handle_connected(host);
      return true;
    default:
      header.owner = host;
      link_.forward(header, bytes_of(frame));
      flush();
      return true;
  }
}

void Branch::handle_connection(std::uint32_t number, os::FileDescriptor socket,
                               const LinkKeys& keys) {
  const auto peer = connections_.connect(number, std::move(socket), keys);
  if (!peer) return;
  if (peer->is_agent)
    agents_.handle_branch_connected(peer->host);
  else
    handle_connected(peer->host);
}

/// The guardian of a host is connected to this process or to one below it.
void Branch::handle_connected(std::uint32_t host) {
  if (hosts_[host].connected || hosts_[host].done) return;
  hosts_.mark_connected(host);
  agents_.handle_connected(host);
  send(job::FrameKind::host_connected, host, 0);
  stop_listening();
}

/// Stops to listen once no further host is to connect.
void Branch::stop_listening() {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    const bool is_below = tree_.parent(host) != HostTree::nowhere;
    if (is_below && !hosts_[host].connected && !hosts_[host].done) return;
  }
  authentication_.stop();
}

bool Branch::handle_gather(std::uint32_t host, const job::Received& frame) {
  if (tree_.parent(host) != HostTree::here) return false;
  if (const Fault wrong = gather_.add(host, frame.header, frame.payload)) {
    job::FrameHeader header;
    header.kind = job::FrameKind::host_fault;
    header.owner = launch_.host;
    header.first = launch_.hosts[host].ranks.front();
    link_.queue(header, *wrong);
    flush();
    return true;
  }
  contribute();
  return true;
}

/// Sends what all hosts of the branch have given to an exchange.
void Branch::contribute() {
  if (!gather_.complete()) return;
  Gather::Result result = gather_.take();
  job::FrameHeader header;
  header.kind = job::FrameKind::host_gather;
  header.owner = launch_.host;
  header.count = static_cast<std::uint32_t>(result.kind);
  header.sequence = result.sequence;
  link_.queue(header, std::move(result.bytes));
  flush();
}

/// The hosts that report to this process, each for those below it.
std::vector<std::uint32_t> Branch::reporting() const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host)
    if (tree_.parent(host) == HostTree::here && !hosts_.unfinished_through(tree_, host).empty())
      found.push_back(host);
  return found;
}

/// Reports once for all hosts in an interval.
bool Branch::handle_observed(std::uint32_t host, const job::FrameHeader& header) {
  if (tree_.parent(host) != HostTree::here) return false;
  observations_.add(host, observation_of(header));
  const std::vector<std::uint32_t> hosts = reporting();
  if (observations_.complete(hosts))
    report_observation(hosts);
  else if (!report_at_)
    report_at_ = after(observe_interval_s_);
  return true;
}

void Branch::report_observation(const std::vector<std::uint32_t>& hosts) {
  report_at_.reset();
  if (hosts.empty()) return;
  job::FrameHeader header = frame_of(observations_.take(hosts));
  header.owner = launch_.host;
  link_.queue(header);
  flush();
}

/// Awaits what the hosts of the branch show.
void Branch::begin_collection(std::uint32_t number) {
  collected_.take();
  collection_ = number;
  awaited_.assign(awaited_.size(), false);
  for (const std::uint32_t host : reporting()) awaited_[host] = true;
  answer_at_ = after(answer_limit - answer_margin / tree_.height());
}

bool Branch::handle_collected(std::uint32_t host, const job::Received& frame) {
  const job::FrameHeader& header = frame.header;
  std::optional<std::vector<std::byte>> whole;
  if (tree_.parent(host) != HostTree::here || !reports_.add(host, frame, whole)) return false;
  if (!whole || header.sequence != collection_ || !awaited_[host]) return true;
  awaited_[host] = false;
  collected_.add(ReportForm{header.count}, *whole);
  if (std::ranges::find(awaited_, true) == awaited_.end()) answer_collection();
  return true;
}

void Branch::answer_collection() {
  answer_at_.reset();
  awaited_.assign(awaited_.size(), false);
  job::FrameHeader header;
  header.kind = job::FrameKind::host_collected;
  header.owner = launch_.host;
  header.sequence = collection_;
  header.count = static_cast<std::uint32_t>(collected_.form());
  link_.queue(header, std::make_shared<const std::vector<std::byte>>(collected_.encoded()));
  collected_.take();
  flush();
}

/// The root has done with a host.
void Branch::retire(std::uint32_t host, job::Retirement how) {
  if (retired_[host]) return;
  retired_[host] = true;
  --unfinished_;
  connections_.close(host);
  if (!hosts_[host].done) {
    hosts_.mark_done(host);
    agents_.retire(host, how != job::Retirement::lost);
  }
  stop_listening();
  if (how != job::Retirement::moved) return;
  gather_.reassign(launch_.hosts[host].ranks);
  contribute();
}

/// Reports a host as lost. The root retires it, or starts it itself.
void Branch::give_up(std::uint32_t host, const std::string& why, int code) {
  if (hosts_[host].done) return;
  send(job::FrameKind::host_lost, host, code, why);
  hosts_.mark_done(host);
  agents_.retire(host, /*finished=*/false);
}

void Branch::receive_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (ends_job(number)) send(job::FrameKind::host_interrupted, launch_.host, number);
    if (number != SIGCHLD) continue;
    int status = 0;
    for (pid_t ended = 0; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
      agents_.handle_exit(ended, status);
  }
}

void Branch::meet_deadlines() {
  if (link_.timed_out()) lost_ = true;
  if (met(heartbeat_at_)) {
    heartbeat_at_ = after(job::heartbeat_interval);
    link_.queue_heartbeat();
    flush();
  }
  if (met(answer_at_)) answer_collection();
  if (met(report_at_)) report_observation(reporting());
}

}  // namespace

int run_branch(const HostStart& start, RootConnection parent) {
  take_over_signals();
  return Branch(start, std::move(parent)).run();
}

}  // namespace gex::launch
