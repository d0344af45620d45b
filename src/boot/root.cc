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

/// What logging in on all hosts may take.
constexpr double connect_limit_seconds = 60;

/// What may pass until the last guardian has heard that the job has ended before it could begin.
constexpr double late_limit_seconds = 5;

/// From a host's greeting to its guardian's first word.
constexpr double start_silence_limit = 20;

/// How long what has started a host that is lost may go on.
constexpr double end_starter_after = 0.5;

/// Connections that have not shown yet that they know the secret: so many of strangers, and so many
/// for each host, which may come by each of this one's addresses.
constexpr std::size_t most_strangers = 64;
constexpr std::size_t most_of_a_host = 8;

/// When new connections cannot be taken in, how long until that is tried again.
constexpr double listen_pause = 0.1;

/// How long a host whose starter has failed may go on, to say what has become of it.
constexpr double last_words_limit = 1;

enum Tag : std::uint64_t { from_listener = 1, from_signals, from_relay, from_guest, from_host };
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
      // Lines come tagged from the hosts.
      relay_(launch.program_name, /*tag=*/false) {
}

std::string Root::name_of(std::uint32_t host) const {
  const HostPart& part = launch_.hosts[host];
  return "host " + part.name + " (" + describe_ranks(part.ranks) + ")";
}

bool Root::prepare() {
  // A connection, two pipes and a greeting or two for each host.
  getrlimit(RLIMIT_NOFILE, &descriptors_before_);
  rlimit raised = descriptors_before_;
  raised.rlim_cur = raised.rlim_max;
  setrlimit(RLIMIT_NOFILE, &raised);
  const auto fail = [this](const char* what) {
    report(launch_.program_name, "%s: %s", what, std::strerror(errno));
    return false;
  };
  if (remote_ != nullptr) {
    const auto secret = Secret::draw();
    if (!secret) return fail("cannot draw the job's secret");
    secret_ = *secret;
    listener_ = listen_for_guardians(address_, reach());
    if (!listener_) return fail("cannot listen for the other hosts");
  }
  const sigset_t handled = signals_to_hear(passed_on);
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
  beat_at_ = after(heartbeat_interval);
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
  relay_.let_go();
  kill_descendants(spared_, [](pid_t, int) {});
  return job_.status();
}

void Root::dispatch(std::uint64_t tag, std::uint32_t events) {
  const auto index = static_cast<std::uint32_t>(tag);
  switch (static_cast<Tag>(tag >> 32)) {
    case from_listener:
      accept_guests();
      break;
    case from_signals:
      hear_signals();
      break;
    case from_relay:
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, relay_.finished_event(), nullptr);
      break;
    case from_guest:
      hear_guest(static_cast<int>(index));
      break;
    case from_host:
      if ((events & EPOLLOUT) != 0) flush(index);
      if ((events & ~EPOLLOUT) != 0) hear(index);
      break;
  }
}

/// Whether another may come: the oldest goes for it, if it has had its time.
bool Root::has_room_for_guest() {
  if (guests_.size() < most_strangers + most_of_a_host * hosts_.size()) return true;
  if (Clock::now() < guests_.front()->may_go_at()) return false;
  guests_.erase(guests_.begin());
  return true;
}

/// Those who come wait in the kernel meanwhile.
void Root::stop_listening() {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, listener_.get(), nullptr);
  listen_at_ = after(listen_pause);
}

void Root::accept_guests() {
  while (listener_) {
    if (!has_room_for_guest()) {
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
    watch(socket.get(), make_tag(from_guest, static_cast<std::uint32_t>(socket.get())));
    guests_.push_back(std::make_unique<Greeting>(std::move(socket), address_of(from)));
  }
}

void Root::hear_guest(int socket) {
  const auto at = std::find_if(guests_.begin(), guests_.end(),
                               [socket](const auto& guest) { return guest->socket() == socket; });
  if (at == guests_.end()) return;
  Greeting& guest = **at;
  const Greeting::State state = guest.hear(secret_);
  if (state == Greeting::State::incomplete) return;
  if (state == Greeting::State::refused) {
    refuse(guest);
  } else if (state == Greeting::State::proven && guest.host() < hosts_.size() &&
             !hosts_[guest.host()].connected && !hosts_[guest.host()].done) {
    connected(guest.host(), guest.take_socket());
  }
  guests_.erase(at);
}

void Root::refuse(const Greeting& guest) {
  if (refusal_told_) return;
  refusal_told_ = true;
  report(launch_.program_name,
         "refused a connection from %s that did not authenticate (reported once)",
         guest.address().c_str());
}

void Root::connected(std::uint32_t host, os::FileDescriptor socket) {
  Host& self = hosts_[host];
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket.get(), nullptr);
  self.link = Link(std::move(socket));
  self.link.expect_silence(start_silence_limit);
  self.connected = true;
  watch(self.link.socket(), make_tag(from_host, host));
  if (launch_.verbose) {
    report(launch_.program_name, "%s is connected", name_of(host).c_str());
  }
  // What it would have been told with the others.
  if (absence_) tell(host, *absence_);
  if (job_.ending()) tell(host, end_);
  if (++connected_count_ == hosts_.size()) {
    // Nobody else is to come.
    listener_.reset();
    connect_limit_.reset();
  }
}

void Root::tell(std::uint32_t host, const FrameHeader& header) {
  hosts_[host].link.queue(header);
  flush(host);
}

void Root::tell_all(const FrameHeader& header) {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) tell(host, header);
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

void Root::hear(std::uint32_t host) {
  while (hosts_[host].link.open()) {
    const Received frame = hosts_[host].link.receive();
    switch (frame.outcome) {
      case Received::Outcome::would_block:
        return;
      case Received::Outcome::closed:
        lose(host, "the connection to it has ended");
        return;
      case Received::Outcome::malformed:
        lose(host, "it sent data that is not a message of the control protocol");
        return;
      case Received::Outcome::frame:
        if (!take(host, frame)) lose(host, "it sent a malformed message");
        break;
    }
  }
}

bool Root::take(std::uint32_t host, const Received& frame) {
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
      return take_gather(host, frame);
    case FrameKind::host_left:
      if (its_own) job_.left(header.first, header.sequence, departure_of(header));
      return its_own;
    case FrameKind::host_gone:
      if (its_own) job_.gone(header.first, header.code);
      return its_own;
    case FrameKind::host_waits_in_vain:
      if (header.first >= launch_.hosts.ranks()) return false;
      job_.waits_in_vain(header.first);
      return true;
    case FrameKind::host_end:
      job_.end({header.code, header.first, header.death != 0},
               {reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size()});
      return true;
    case FrameKind::host_asks_to_tell: {
      FrameHeader answer;
      answer.kind = FrameKind::job_tell;
      answer.code = error_told_ ? 0 : 1;
      error_told_ = true;
      tell(host, answer);
      return true;
    }
    case FrameKind::host_interrupted:
      if (!ends_job(header.code)) return false;
      job_.interrupted(header.code);
      return true;
    case FrameKind::host_finished:
      job_.finished(header.code != 0);
      let_go(host, /*finished=*/true);
      return true;
    default:
      return false;
  }
}

bool Root::take_gather(std::uint32_t host, const Received& frame) {
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
  tell_all(*absence_);
}

void Root::farewell(bool finalize_mpi) {
  FrameHeader header;
  header.kind = FrameKind::job_farewell;
  header.code = finalize_mpi ? 1 : 0;
  tell_all(header);
}

void Root::kill_starter(const Host& host) noexcept {
  if (host.starter == 0 || host.starter_gone) return;
  // It may not have come as far as to have a group of its own.
  if (kill(-host.starter, SIGKILL) != 0) kill(host.starter, SIGKILL);
}

void Root::end(const Ending& ending, Haste haste) {
  end_.kind = FrameKind::job_end;
  end_.code = ending.code;
  end_.first = ending.rank;
  end_.death = ending.death ? 1 : 0;
  end_.count = static_cast<std::uint32_t>(haste);
  tell_all(end_);
  if (remote_ == nullptr) {
    // Hosts that come yet are to hear of the end too, and should be under way.
    if (connect_limit_) connect_limit_ = after(late_limit_seconds);
    return;
  }
  // What has not begun on the other hosts is not to begin any more, nor to say that nobody listens.
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    const Host& self = hosts_[host];
    if (self.connected) continue;
    kill_starter(self);
    let_go(host, /*finished=*/false);
  }
  listener_.reset();
  connect_limit_.reset();
}

void Root::signal(int number) {
  FrameHeader header;
  header.kind = FrameKind::job_signal;
  header.code = number;
  tell_all(header);
  if (!ends_job(number)) return;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host].connected) let_go(host, /*finished=*/false);
  }
  // Whoever asks twice does not want to wait for what cannot be reached either.
  if (++interrupts_ == 2) abandon_output_at_ = after(1);
}

void Root::hear_signals() {
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
      if (hosts_[host].starter == process) starter_ended(host, status);
    }
  }
}

void Root::starter_ended(std::uint32_t host, int status) {
  Host& self = hosts_[host];
  self.starter_gone = true;
  if (self.done) return;
  const std::string how = WIFEXITED(status)
                              ? "ended with status " + std::to_string(WEXITSTATUS(status))
                              : "was killed by " + describe_signal(WTERMSIG(status));
  self.starters_end = "'" + command_for(host).front() + "' " + how;
  if (!self.connected) {
    const bool told = WIFEXITED(status) && WEXITSTATUS(status) == told_status;
    lose(host, told ? std::string() : self.starters_end + " before the job had begun there");
  } else if (status != 0) {
    // What is printed there gets lost from here on, unless the host has just finished.
    self.lost_at = after(last_words_limit);
  }
}

void Root::lose(std::uint32_t host, const std::string& why) {
  if (hosts_[host].done) return;
  let_go(host, /*finished=*/false);
  job_.lose(why.empty() ? why : name_of(host) + " is lost: " + why);
}

/// Nothing more is expected of the host: it has finished, or will not.
void Root::let_go(std::uint32_t host, bool finished) {
  Host& self = hosts_[host];
  if (self.done) return;
  self.done = true;
  self.lost_at.reset();
  ++done_count_;
  self.link.close();
  // It may have something to say yet; but one that waits for what will not come would hold the
  // output open.
  if (!finished) self.end_starter_at = after(end_starter_after);
  if (all_done() && job_.hurried() && !abandon_output_at_) abandon_output_at_ = after(1);
}

Deadline Root::next_deadline() const {
  Deadline next = earlier(job_.next_deadline(), beat_at_);
  next = earlier(next, earlier(connect_limit_, abandon_output_at_));
  next = earlier(next, listen_at_);
  for (const Host& host : hosts_) {
    next = earlier(next, earlier(host.link.silent_at(), host.end_starter_at));
    next = earlier(next, host.lost_at);
  }
  for (const auto& guest : guests_) next = earlier(next, guest->limit());
  return next;
}

void Root::meet_deadlines() {
  Clock::end_turn();
  job_.meet_deadlines();
  const auto now = Clock::now();
  if (met(beat_at_)) {
    beat_at_ = after(heartbeat_interval);
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
      if (!hosts_[host].link.open()) continue;
      hosts_[host].link.beat();
      flush(host);
    }
  }
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    Host& self = hosts_[host];
    if (met(self.end_starter_at)) kill_starter(self);
    if (met(self.lost_at)) lose(host, self.starters_end + ", through which its output came");
    if (const auto silence = self.link.too_silent()) {
      lose(host, "no heartbeat from it for " + std::to_string(*silence) + " s");
    }
  }
  if (met(connect_limit_)) {
    for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
      if (!hosts_[host].connected) lose(host, "it has not connected within 60 s");
    }
  }
  if (met(listen_at_) && listener_) watch(listener_.get(), make_tag(from_listener));
  std::erase_if(guests_, [this, now](const auto& guest) {
    if (now < *guest->limit()) return false;
    refuse(*guest);
    return true;
  });
}

}  // namespace gex::boot
