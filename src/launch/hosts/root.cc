#include "launch/hosts/root.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/os_proc.h"
#include "job/packed_table.h"
#include "launch/hosts/launch_ports.h"
#include "launch/launcher_signals.h"
#include "launch/process_tree.h"
#include "launch/report.h"

namespace gex::launch {

namespace {

/// Seconds within which all hosts of a job that another launcher has started must have connected.
constexpr double connect_limit_seconds = 60;

/// Seconds for late guardians to connect to a job that has ended, and to learn that it has.
constexpr double late_connect_seconds = 5;

/// Seconds for the last output when the end is urgent.
constexpr double output_grace = 1;

std::string text_of(const job::Received& frame) {
  return {reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()};
}

}  // namespace

int run_root_of_started(const Launch& launch, const Secret& secret, os::FileDescriptor listener) {
  return Root(launch, secret, std::move(listener)).run();
}

Root::Root(const Launch& launch, HostAgents* agents, const Secret& secret,
           os::FileDescriptor listener)
    : launch_(launch),
      agents_(agents),
      star_(launch.hosts.size()),
      tree_(agents != nullptr ? agents->tree() : star_),
      listener_(std::move(listener)),
      hosts_(launch),
      job_(launch, *this),
      gather_(tree_.ranks_by_first_hop(launch.hosts)),
      authentication_(
          launch.program_name, hosts_.size(), loop_,
          [this](std::uint32_t number, os::FileDescriptor socket, const LinkKeys& keys) {
            handle_connection(number, std::move(socket), keys);
          }),
      connections_(hosts_, tree_, loop_, *this),
      reports_(hosts_.size()) {
  place_.secret = secret;
}

Root::Root(const Launch& launch, const Secret& secret, os::FileDescriptor listener)
    : Root(launch, nullptr, secret, std::move(listener)) {
}

Root::Root(const Launch& launch, HostAgents& agents)
    : Root(launch, &agents, Secret(Secret::Bytes{}), os::FileDescriptor()) {
}

bool Root::prepare() {
  // A connection, two pipes and a handshake or two for each host.
  os::raise_file_limit();
  const auto fail = [this](const char* what) {
    report(launch_.program_name, "%s: %s", what, std::strerror(errno));
    return false;
  };
  if (agents_ != nullptr) {
    const auto secret = Secret::generate();
    if (!secret) return fail("cannot draw the job's secret");
    place_.secret = *secret;
    listener_ = listen_for_guardians(place_.address, agents_->reach(), launch_ports());
    if (!listener_) return fail(cannot_listen().c_str());
  }
  const sigset_t handled = signals_to_handle(forwarded_signals);
  errno = loop_.open();
  if (errno == 0) signals_.reset(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return fail("cannot wait for the hosts");
  if (agents_ != nullptr) {
    if (const auto why = agents_->start(hosts_, *this, place_)) {
      report(launch_.program_name, "%s", why->c_str());
      return false;
    }
    output_watch_ = loop_.watch(agents_->output_event(), [this] { output_watch_.reset(); });
  }
  signals_watch_ = loop_.watch(signals_.get(), [this] { receive_signals(); });
  authentication_.serve(place_.secret, std::move(listener_));
  if (agents_ == nullptr) connect_limit_ = after(connect_limit_seconds);
  loop_.add(job_);
  loop_.add(connections_);
  if (agents_ != nullptr) loop_.add(*agents_);
  loop_.add(*this);
  loop_.add(authentication_);
  serve_reports();
  job_.watch();
  return true;
}

bool Root::output_done() {
  return agents_ == nullptr || agents_->output_finished() ||
         (abandon_output_at_ && met(abandon_output_at_));
}

int Root::run() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  spared_ = os::children();
  if (!prepare()) {
    if (agents_ != nullptr) agents_->finish();
    kill_descendants(spared_, [](pid_t, int) {});
    return 1;
  }
  while (!hosts_.all_done() || !output_done()) loop_.turn();
  if (agents_ != nullptr) {
    job_.finished(agents_->lost_output());
    agents_->finish();
  }
  kill_descendants(spared_, [](pid_t, int) {});
  if (launch_.verbose) report(launch_.program_name, "%s", connections_.describe_counts().c_str());
  return job_.status();
}

void Root::handle_connection(std::uint32_t number, os::FileDescriptor socket,
                             const LinkKeys& keys) {
  const auto peer = connections_.connect(number, std::move(socket), keys);
  if (!peer) return;
  if (peer->is_agent)
    agents_->handle_branch_connected(peer->host);
  else
    handle_connected(peer->host);
}

/// The guardian of a host is connected to this process, or to the agent that has started it.
void Root::handle_connected(std::uint32_t host) {
  if (hosts_[host].connected) return;
  hosts_.mark_connected(host);
  if (agents_ != nullptr) agents_->handle_connected(host);
  if (launch_.verbose)
    report(launch_.program_name, "%s is connected", hosts_.name_of(host).c_str());
  // Frames that the other hosts got before this one was connected.
  if (absence_) connections_.send(host, *absence_);
  if (observe_) connections_.send(host, *observe_);
  if (job_.ending()) connections_.send(host, end_);
  if (hosts_.all_connected()) {
    authentication_.stop();
    connect_limit_.reset();
  }
}

bool Root::handle_frame(std::uint32_t host, const job::Received& frame) {
  const job::FrameHeader& header = frame.header;
  // A link that other hosts share still has frames of one that is lost.
  const bool of_several = header.kind == job::FrameKind::host_gather ||
                          header.kind == job::FrameKind::host_observed ||
                          header.kind == job::FrameKind::host_collected;
  if (hosts_[host].done && !of_several) return true;
  switch (header.kind) {
    case job::FrameKind::host_connected:
      handle_connected(host);
      return true;
    case job::FrameKind::host_lost:
      handle_lost(host, frame);
      return true;
    case job::FrameKind::host_fault:
      if (header.first >= launch_.hosts.ranks()) return false;
      job_.end({1, header.first}, job_.name_of(header.first) + ' ' + text_of(frame));
      return true;
    case job::FrameKind::host_joined:
    case job::FrameKind::host_left:
    case job::FrameKind::host_gone:
      return handle_events(host, frame);
    case job::FrameKind::host_gather:
      return handle_gather(host, frame);
    case job::FrameKind::host_wait_on_exited_rank:
      if (header.first >= launch_.hosts.ranks()) return false;
      job_.report_exited_peer(header.first);
      return true;
    case job::FrameKind::host_end:
      job_.end({header.code, header.first, header.death != 0}, text_of(frame));
      return true;
    case job::FrameKind::host_error_report:
      grant_error_report(host);
      return true;
    case job::FrameKind::host_interrupted:
      if (!ends_job(header.code)) return false;
      job_.interrupted(header.code);
      return true;
    case job::FrameKind::host_observed:
      handle_observed(host, header);
      return true;
    case job::FrameKind::host_collected:
      return handle_collected(host, frame);
    case job::FrameKind::host_finished:
      job_.finished(header.code != 0);
      retire_host(host, /*finished=*/true);
      return true;
    default:
      return false;
  }
}

/// Ranks of the host have joined, left or ended.
bool Root::handle_events(std::uint32_t host, const job::Received& frame) {
  const std::uint32_t count = frame.header.count;
  if (count == 0 || count > job::max_events) return false;
  const auto events = job::unpack_rows<job::RankEvent>(frame.payload, count);
  if (!events) return false;
  for (const auto& [rank, code, departure, sequence] : *events) {
    if (!launch_.hosts[host].ranks.contains(rank)) return false;
    job::FrameHeader header;
    header.code = code;
    header.count = departure;
    if (frame.header.kind == job::FrameKind::host_joined) job_.joined(rank, code);
    if (frame.header.kind == job::FrameKind::host_gone) job_.gone(rank, code);
    if (frame.header.kind == job::FrameKind::host_left)
      job_.left(rank, sequence, job::departure_of(header));
  }
  return true;
}

/// The first host that asks may report its error.
void Root::grant_error_report(std::uint32_t host) {
  job::FrameHeader answer;
  answer.kind = job::FrameKind::job_error_report;
  answer.code = std::exchange(error_report_granted_, true) ? 0 : 1;
  connections_.send(host, answer);
}

void Root::handle_lost(std::uint32_t host, const job::Received& frame) {
  if (frame.header.code == 1)
    take_over(host, text_of(frame));
  else
    lose_host(host, text_of(frame));
}

/// Starts a host itself that its agent does not reach, and thereby those below it.
void Root::take_over(std::uint32_t host, const std::string& why) {
  if (tree_.parent(host) == HostTree::here) return;
  job::FrameHeader header;
  header.kind = job::FrameKind::branch_retire;
  header.code = static_cast<std::int32_t>(job::Retirement::moved);
  const std::vector<std::uint32_t> moved = hosts_.unfinished_through(tree_, host);
  for (const std::uint32_t one : moved) connections_.send_to_agents(one, header);
  agents_->take_over(host, moved, why);
  gather_.reassign(hosts_.ranks_of(moved), host);
}

bool Root::handle_gather(std::uint32_t host, const job::Received& frame) {
  if (tree_.parent(host) != HostTree::here) return false;
  if (const Fault wrong = gather_.add(host, frame.header, frame.payload)) {
    const std::uint32_t rank = launch_.hosts[host].ranks.front();
    job_.end({1, rank}, job_.name_of(rank) + ' ' + *wrong);
    return true;
  }
  if (!gather_.complete()) return true;
  const Gather::Result result = gather_.take();
  job::FrameHeader header;
  header.kind = job::FrameKind::job_gathered;
  header.count = static_cast<std::uint32_t>(result.kind);
  header.sequence = result.sequence;
  connections_.send_all(header, result.bytes);
  return true;
}

/// An agent reports for all hosts that are reached through it.
void Root::handle_observed(std::uint32_t host, const job::FrameHeader& header) {
  job_.hangs().observed(tree_.through(host), observation_of(header));
}

bool Root::handle_collected(std::uint32_t host, const job::Received& frame) {
  const job::FrameHeader& header = frame.header;
  std::optional<std::vector<std::byte>> whole;
  if (tree_.parent(host) != HostTree::here || !reports_.add(host, frame, whole)) return false;
  if (!whole) return true;
  // Its agent answers for all hosts that are reached through it.
  for (const std::uint32_t one : tree_.through(host))
    if (one != host) job_.hangs().no_answer(one, header.sequence);
  job_.hangs().collected(host, header.sequence, ReportForm{header.count}, *whole);
  return true;
}

void Root::serve_reports() {
  report_server_.emplace(ReportServer::Job{
      agents_ != nullptr ? getpid() : launch_.launcher, launch_.describe(),
      [this](pid_t process) { return process == getpid() || is_rank_here(process); },
      [this](HangWatch::Deliver deliver) { job_.hangs().request(std::move(deliver)); }});
  report_server_->serve(loop_);
}

bool Root::is_rank_here(pid_t process) const {
  for (std::uint32_t rank = 0; rank < launch_.hosts.ranks(); ++rank) {
    if (job_.process_of(rank) == process && connections_.is_here(launch_.hosts.host_of(rank)))
      return true;
  }
  return false;
}

void Root::observe(std::uint32_t interval_ms) {
  observe_.emplace();
  observe_->kind = job::FrameKind::job_observe;
  observe_->count = interval_ms;
  connections_.send_all(*observe_);
}

void Root::collect(std::uint32_t number, Collection what) {
  job::FrameHeader header;
  header.kind = job::FrameKind::job_collect;
  header.sequence = number;
  header.count = static_cast<std::uint32_t>(what);
  connections_.send_all(header);
  for (std::uint32_t host = 0; host < hosts_.size(); ++host)
    if (hosts_[host].done && hosts_.unfinished_through(tree_, host).empty())
      job_.hangs().no_answer(host, number);
}

void Root::absent(std::uint32_t rank, std::uint32_t sequence) {
  absence_.emplace();
  absence_->kind = job::FrameKind::job_absent;
  absence_->first = rank;
  absence_->sequence = sequence;
  connections_.send_all(*absence_);
}

void Root::release(bool finalize) {
  job::FrameHeader header;
  header.kind = job::FrameKind::job_release;
  header.code = finalize ? 1 : 0;
  connections_.send_all(header);
}

void Root::end(const job::Ending& ending, Teardown teardown) {
  end_.kind = job::FrameKind::job_end;
  end_.code = ending.code;
  end_.first = ending.rank;
  end_.death = ending.death ? 1 : 0;
  end_.count = static_cast<std::uint32_t>(teardown);
  connections_.send_all(end_);
  if (agents_ == nullptr) {
    // Hosts that connect from now on are sent the end of the job too; they should do so soon.
    if (connect_limit_) connect_limit_ = after(late_connect_seconds);
    return;
  }
  // Hosts that are not connected yet must not start ranks, nor report that they cannot connect.
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].connected || hosts_[host].done) continue;
    job::FrameHeader header;
    header.kind = job::FrameKind::branch_kill;
    connections_.send_to_agents(host, header);
    agents_->kill(host);
    retire_host(host, /*finished=*/false);
  }
  authentication_.stop();
  connect_limit_.reset();
}

void Root::signal(int number) {
  job::FrameHeader header;
  header.kind = job::FrameKind::job_signal;
  header.code = number;
  connections_.send_all(header);
  if (!ends_job(number)) return;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host].connected) retire_host(host, /*finished=*/false);
  }
  // A second interrupt does not wait for unreachable hosts.
  if (++interrupts_ == 2) abandon_output_at_ = after(output_grace);
}

void Root::receive_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const ReceivedSignal received{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
    if (received.number == SIGCHLD) {
      reap();
    } else if (ends_job(received.number)) {
      job_.interrupted(received.number);
    } else if (stops_job(received.number)) {
      signal(SIGTSTP);
      if (!stop_for(received)) signal(SIGCONT);
      Clock::end_turn();
    } else {
      signal(received.number);
    }
  }
}

void Root::reap() {
  for (;;) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WNOHANG);
    if (process < 0 && errno == EINTR) continue;
    if (process <= 0) return;
    if (agents_ != nullptr) agents_->handle_exit(process, status);
  }
}

void Root::lose_host(std::uint32_t host, const std::string& why) {
  if (hosts_[host].done) return;
  retire_host(host, /*finished=*/false);
  job_.end_for_lost_host(why.empty() ? why : hosts_.name_of(host) + " is lost: " + why);
}

/// Closes the connection to a host that has finished or is lost.
void Root::retire_host(std::uint32_t host, bool finished) {
  if (hosts_[host].done) return;
  hosts_.mark_done(host);
  job::FrameHeader header;
  header.kind = job::FrameKind::branch_retire;
  header.code =
      static_cast<std::int32_t>(finished ? job::Retirement::finished : job::Retirement::lost);
  connections_.send_to_agents(host, header);
  connections_.close(host);
  // The agent may have output left; but an agent that hangs would keep the job's output open.
  if (agents_ != nullptr) agents_->retire(host, finished);
  if (hosts_.all_done() && job_.urgent() && !abandon_output_at_)
    abandon_output_at_ = after(output_grace);
}

Deadline Root::next_deadline() const {
  return earlier(connect_limit_, abandon_output_at_);
}

void Root::meet_deadlines() {
  if (!met(connect_limit_)) return;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host].connected) lose_host(host, "it has not connected within 60 s");
  }
}

}  // namespace gex::launch
