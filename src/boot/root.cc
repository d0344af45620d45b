#include "boot/root.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "boot/host_part_run.h"
#include "boot/host_start.h"
#include "boot/launcher_signals.h"
#include "boot/process_tree.h"
#include "boot/rank_set.h"

namespace gex::boot {

namespace {

/// Time within which all hosts must have connected.
constexpr double connect_limit_seconds = 60;

/// Time for late guardians to connect to a job that has ended, and to learn that it has.
constexpr double late_connect_seconds = 5;

/// Time from a guardian's authentication to its first frame.
constexpr double first_frame_timeout = 20;

/// Time from the loss of a host to the end of its launch agent.
constexpr double kill_agent_after = 0.5;

/// How many unauthenticated connections are kept at a time: a base number, and more for each host,
/// whose guardian tries all addresses of this one at once.
constexpr std::size_t max_unauthenticated = 64;
constexpr std::size_t max_unauthenticated_per_host = 8;

/// How long accepting is paused when no connection can be accepted.
constexpr double listen_pause = 0.1;

/// Time for the last output of a host whose launch agent has failed.
constexpr double output_drain_limit = 1;

enum Tag : std::uint64_t { from_listener = 1, from_signals, from_relay, from_pending, from_host };
constexpr std::uint64_t make_tag(Tag tag, std::uint32_t index = 0) {
  return (std::uint64_t{tag} << 32) | index;
}

std::string address_of(const sockaddr_storage& from) {
  char text[INET6_ADDRSTRLEN] = "?";
  const void* const bytes =
      from.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&from)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(&from)->sin_addr;
  inet_ntop(from.ss_family, bytes, text, sizeof text);
  return text;
}

}  // namespace

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "gexrun";
}

int run_root(const Launch& launch, const RemoteStart& remote) {
  take_over_signals();
  return Root(launch, remote).run();
}

int run_root_of_started(const Launch& launch, const Secret& secret, os::FileDescriptor listener) {
  return Root(launch, secret, std::move(listener)).run();
}

Root::Root(const Launch& launch, const Secret& secret, os::FileDescriptor listener)
    : launch_(launch),
      remote_(nullptr),
      secret_(secret),
      listener_(std::move(listener)),
      hosts_(launch.hosts.size()),
      job_(launch, *this),
      gather_(launch.hosts),
      relay_(launch.program_name, /*tag=*/false) {
}

Root::Root(const Launch& launch, const RemoteStart& remote)
    : launch_(launch),
      remote_(&remote),
      secret_(Secret::Bytes{}),
      hosts_(launch.hosts.size()),
      job_(launch, *this),
      gather_(launch.hosts),
      // The hosts' guardians tag the lines.
      relay_(launch.program_name, /*tag=*/false) {
}

std::string Root::name_of(std::uint32_t host) const {
  const HostPart& part = launch_.hosts[host];
  return "host " + part.name + " (" + describe_ranks(part.ranks) + ")";
}

bool Root::prepare() {
  // A connection, two pipes and a handshake or two for each host.
  getrlimit(RLIMIT_NOFILE, &descriptors_before_);
  rlimit raised = descriptors_before_;
  raised.rlim_cur = raised.rlim_max;
  setrlimit(RLIMIT_NOFILE, &raised);
  const auto fail = [this](const char* what) {
    report(launch_.program_name, "%s: %s", what, std::strerror(errno));
    return false;
  };
  if (remote_ != nullptr) {
    const auto secret = Secret::generate();
    if (!secret) return fail("cannot draw the job's secret");
    secret_ = *secret;
    listener_ = listen_for_guardians(address_, reach());
    if (!listener_) return fail("cannot listen for the other hosts");
  }
  const sigset_t handled = signals_to_handle(forwarded_signals);
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  signals_.reset(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!epoll_ || !signals_) return fail("cannot wait for the hosts");
  for (std::uint32_t host = 0; remote_ != nullptr && host < hosts_.size(); ++host) {
    if (!start(host)) {
      return fail(("cannot start the job's part on host " + launch_.hosts[host].name).c_str());
    }
  }
  if (const int error = relay_.start(); error != 0) {
    errno = error;
    return fail("cannot start the thread that passes on output");
  }
  watch(listener_.get(), make_tag(from_listener));
  watch(signals_.get(), make_tag(from_signals));
  watch(relay_.finished_event(), make_tag(from_relay));
  heartbeat_at_ = after(heartbeat_interval);
  connect_limit_ = after(connect_limit_seconds);
  return true;
}

void Root::watch(int descriptor, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

int Root::run() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  spared_ = children();
  if (!prepare()) {
    kill_descendants(spared_, [](pid_t, int) {});
    return 1;
  }
  while (!all_done() || !(relay_.finished() || (abandon_output_at_ && met(abandon_output_at_)))) {
    std::array<epoll_event, 64> events;
    const int count = wait_for_events(epoll_.get(), events, next_deadline());
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      dispatch(event.data.u64, event.events);
    }
    meet_deadlines();
  }
  job_.finished(relay_.lost_output());
  relay_.detach();
  kill_descendants(spared_, [](pid_t, int) {});
  return job_.status();
}

void Root::dispatch(std::uint64_t tag, std::uint32_t events) {
  const auto index = static_cast<std::uint32_t>(tag);
  switch (static_cast<Tag>(tag >> 32)) {
    case from_listener:
      accept_connections();
      break;
    case from_signals:
      handle_signals();
      break;
    case from_relay:
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, relay_.finished_event(), nullptr);
      break;
    case from_pending:
      continue_handshake(static_cast<int>(index));
      break;
    case from_host:
      if ((events & EPOLLOUT) != 0) flush(index);
      if ((events & ~EPOLLOUT) != 0) receive_from(index);
      break;
  }
}

/// Whether another connection can be accepted. Evicts the oldest one if it has had its minimum
/// time.
bool Root::make_room_for_connection() {
  if (pending_connections_.size() <
      max_unauthenticated + max_unauthenticated_per_host * hosts_.size())
    return true;
  if (Clock::now() < pending_connections_.front()->evictable_at()) return false;
  pending_connections_.erase(pending_connections_.begin());
  return true;
}

/// Pending connections stay in the listen backlog meanwhile.
void Root::stop_listening() {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);
  listen_at_ = after(listen_pause);
}

void Root::accept_connections() {
  while (listener_) {
    if (!make_room_for_connection()) {
      stop_listening();
      return;
    }
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    os::FileDescriptor socket(accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &length,
                                      SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        stop_listening();
      return;
    }
    watch(socket.get(), make_tag(from_pending, static_cast<std::uint32_t>(socket.get())));
    pending_connections_.push_back(
        std::make_unique<AuthHandshake>(std::move(socket), address_of(from)));
  }
}

void Root::continue_handshake(int socket) {
  const auto at =
      std::find_if(pending_connections_.begin(), pending_connections_.end(),
                   [socket](const auto& connection) { return connection->socket() == socket; });
  if (at == pending_connections_.end()) return;
  AuthHandshake& connection = **at;
  const AuthHandshake::State state = connection.receive(secret_);
  if (state == AuthHandshake::State::incomplete) return;
  if (state == AuthHandshake::State::refused) {
    report_refused(connection);
  } else if (state == AuthHandshake::State::authenticated && connection.host() < hosts_.size() &&
             !hosts_[connection.host()].connected && !hosts_[connection.host()].done) {
    connected(connection.host(), connection.release_socket());
  }
  pending_connections_.erase(at);
}

void Root::report_refused(const AuthHandshake& connection) {
  if (refusal_reported_) return;
  refusal_reported_ = true;
  report(launch_.program_name,
         "refused a connection from %s that did not authenticate (reported once)",
         connection.address().c_str());
}

void Root::connected(std::uint32_t host, os::FileDescriptor socket) {
  Host& self = hosts_[host];
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.get(), nullptr);
  self.link = Link(std::move(socket));
  self.link.allow_silence(first_frame_timeout);
  self.connected = true;
  watch(self.link.socket(), make_tag(from_host, host));
  if (launch_.verbose) {
    report(launch_.program_name, "%s is connected", name_of(host).c_str());
  }
  // Frames that the other hosts got before this one was connected.
  if (absence_) send_to(host, *absence_);
  if (job_.ending()) send_to(host, end_);
  if (++connected_count_ == hosts_.size()) {
    // All hosts are connected.
    listener_.reset();
    connect_limit_.reset();
  }
}

void Root::send_to(std::uint32_t host, const FrameHeader& header) {
  hosts_[host].link.queue(header);
  flush(host);
}

void Root::broadcast(const FrameHeader& header) {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) send_to(host, header);
}

void Root::flush(std::uint32_t host) {
  Host& self = hosts_[host];
  const bool blocked = !self.link.flush();
  if (!self.link.open() || blocked == self.blocked) return;
  self.blocked = blocked;
  epoll_event event{};
  event.events = EPOLLIN | (blocked ? std::uint32_t{EPOLLOUT} : 0U);
  event.data.u64 = make_tag(from_host, host);
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, self.link.socket(), &event);
}

void Root::receive_from(std::uint32_t host) {
  while (hosts_[host].link.open()) {
    const Received frame = hosts_[host].link.receive();
    switch (frame.outcome) {
      case Received::Outcome::would_block:
        return;
      case Received::Outcome::closed:
        lose_host(host, "the connection to it has ended");
        return;
      case Received::Outcome::malformed:
        lose_host(host, "it sent data that is not a message of the control protocol");
        return;
      case Received::Outcome::frame:
        if (!handle_frame(host, frame)) lose_host(host, "it sent a malformed message");
        break;
    }
  }
}

bool Root::handle_frame(std::uint32_t host, const Received& frame) {
  const FrameHeader& header = frame.header;
  const HostPart& part = launch_.hosts[host];
  const bool its_own = part.ranks.contains(header.first);
  switch (header.kind) {
    case FrameKind::heartbeat:
      return true;
    case FrameKind::host_joined:
      if (its_own) job_.joined(header.first, header.code);
      return its_own;
    case FrameKind::host_gather:
      return handle_gather(host, frame);
    case FrameKind::host_left:
      if (its_own) job_.left(header.first, header.sequence, departure_of(header));
      return its_own;
    case FrameKind::host_gone:
      if (its_own) job_.gone(header.first, header.code);
      return its_own;
    case FrameKind::host_wait_on_exited_rank:
      if (header.first >= launch_.hosts.ranks()) return false;
      job_.report_exited_peer(header.first);
      return true;
    case FrameKind::host_end:
      job_.end({header.code, header.first, header.death != 0},
               {reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()});
      return true;
    case FrameKind::host_error_report: {
      FrameHeader answer;
      answer.kind = FrameKind::job_error_report;
      answer.code = error_report_granted_ ? 0 : 1;
      error_report_granted_ = true;
      send_to(host, answer);
      return true;
    }
    case FrameKind::host_interrupted:
      if (!ends_job(header.code)) return false;
      job_.interrupted(header.code);
      return true;
    case FrameKind::host_finished:
      job_.finished(header.code != 0);
      retire_host(host, /*finished=*/true);
      return true;
    default:
      return false;
  }
}

bool Root::handle_gather(std::uint32_t host, const Received& frame) {
  if (const Fault wrong = gather_.add(host, frame.header, frame.payload)) {
    const std::uint32_t rank = launch_.hosts[host].ranks.front();
    job_.end({1, rank}, job_.name_of(rank) + ' ' + *wrong);
    return true;
  }
  if (gather_.complete()) {
    Gather::Result result = gather_.take();
    gathered(result.sequence, std::move(result.bytes));
  }
  return true;
}

void Root::gathered(std::uint32_t sequence, SharedBytes bytes) {
  FrameHeader header;
  header.kind = FrameKind::job_gathered;
  header.sequence = sequence;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    hosts_[host].link.queue(header, bytes);
    flush(host);
  }
}

void Root::absent(std::uint32_t rank, std::uint32_t sequence) {
  absence_.emplace();
  absence_->kind = FrameKind::job_absent;
  absence_->first = rank;
  absence_->sequence = sequence;
  broadcast(*absence_);
}

void Root::release(bool finalize_mpi) {
  FrameHeader header;
  header.kind = FrameKind::job_release;
  header.code = finalize_mpi ? 1 : 0;
  broadcast(header);
}

void Root::kill_agent(const Host& host) noexcept {
  if (host.agent == 0 || host.agent_exited) return;
  // The agent may not have made its process group yet.
  if (kill(-host.agent, SIGKILL) != 0) kill(host.agent, SIGKILL);
}

void Root::end(const Ending& ending, Teardown teardown) {
  end_.kind = FrameKind::job_end;
  end_.code = ending.code;
  end_.first = ending.rank;
  end_.death = ending.death ? 1 : 0;
  end_.count = static_cast<std::uint32_t>(teardown);
  broadcast(end_);
  if (remote_ == nullptr) {
    // Hosts that connect from now on are sent the end of the job too; they should do so soon.
    if (connect_limit_) connect_limit_ = after(late_connect_seconds);
    return;
  }
  // Hosts that are not connected yet must not start ranks, nor report that they cannot connect.
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    const Host& self = hosts_[host];
    if (self.connected) continue;
    kill_agent(self);
    retire_host(host, /*finished=*/false);
  }
  listener_.reset();
  connect_limit_.reset();
}

void Root::signal(int number) {
  FrameHeader header;
  header.kind = FrameKind::job_signal;
  header.code = number;
  broadcast(header);
  if (!ends_job(number)) return;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host].connected) retire_host(host, /*finished=*/false);
  }
  // A second interrupt does not wait for unreachable hosts.
  if (++interrupts_ == 2) abandon_output_at_ = after(1);
}

void Root::handle_signals() {
  signalfd_siginfo info;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) {
      reap();
    } else if (ends_job(number)) {
      job_.interrupted(number);
    } else {
      signal(number);
    }
    if (number == SIGTSTP) {
      raise(SIGSTOP);
      Clock::end_turn();
    }
  }
}

void Root::reap() {
  for (;;) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WNOHANG);
    if (process < 0 && errno == EINTR) continue;
    if (process <= 0) return;
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
      if (hosts_[host].agent == process) handle_agent_exit(host, status);
    }
  }
}

void Root::handle_agent_exit(std::uint32_t host, int status) {
  Host& self = hosts_[host];
  self.agent_exited = true;
  if (self.done) return;
  const std::string how = WIFEXITED(status)
                              ? "ended with status " + std::to_string(WEXITSTATUS(status))
                              : "was killed by " + describe_signal(WTERMSIG(status));
  self.agent_exit = "'" + command_for(host).front() + "' " + how;
  if (!self.connected) {
    const bool reported = WIFEXITED(status) && WEXITSTATUS(status) == reported_status;
    lose_host(host, reported ? std::string() : self.agent_exit + " before the job had begun there");
  } else if (status != 0) {
    // The host's further output is lost, unless the host has just finished.
    self.lost_at = after(output_drain_limit);
  }
}

void Root::lose_host(std::uint32_t host, const std::string& why) {
  if (hosts_[host].done) return;
  retire_host(host, /*finished=*/false);
  job_.end_for_lost_host(why.empty() ? why : name_of(host) + " is lost: " + why);
}

/// Closes the connection to a host that has finished or is lost.
void Root::retire_host(std::uint32_t host, bool finished) {
  Host& self = hosts_[host];
  if (self.done) return;
  self.done = true;
  self.lost_at.reset();
  ++done_count_;
  self.link.close();
  // The agent may have output left; but an agent that hangs would keep the job's output open.
  if (!finished) self.kill_agent_at = after(kill_agent_after);
  if (all_done() && job_.urgent() && !abandon_output_at_) abandon_output_at_ = after(1);
}

Deadline Root::next_deadline() const {
  Deadline next = earlier(job_.next_deadline(), heartbeat_at_);
  next = earlier(next, earlier(connect_limit_, abandon_output_at_));
  next = earlier(next, listen_at_);
  for (const Host& host : hosts_) {
    next = earlier(next, earlier(host.link.timeout_at(), host.kill_agent_at));
    next = earlier(next, host.lost_at);
  }
  for (const auto& connection : pending_connections_) next = earlier(next, connection->limit());
  return next;
}

void Root::meet_deadlines() {
  Clock::end_turn();
  job_.meet_deadlines();
  const auto now = Clock::now();
  if (met(heartbeat_at_)) {
    heartbeat_at_ = after(heartbeat_interval);
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
      if (!hosts_[host].link.open()) continue;
      hosts_[host].link.queue_heartbeat();
      flush(host);
    }
  }
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    Host& self = hosts_[host];
    if (met(self.kill_agent_at)) kill_agent(self);
    if (met(self.lost_at)) lose_host(host, self.agent_exit + ", through which its output came");
    if (const auto silence = self.link.timed_out()) {
      lose_host(host, "no heartbeat from it for " + std::to_string(*silence) + " s");
    }
  }
  if (met(connect_limit_)) {
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
      if (!hosts_[host].connected) lose_host(host, "it has not connected within 60 s");
    }
  }
  if (met(listen_at_) && listener_) watch(listener_.get(), make_tag(from_listener));
  std::erase_if(pending_connections_, [this, now](const auto& connection) {
    if (now < *connection->limit()) return false;
    report_refused(*connection);
    return true;
  });
}

}  // namespace gex::boot
