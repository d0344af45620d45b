#include "boot/guardian.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/env.h"
#include "base/os_task_limits.h"
#include "boot/process_tree.h"
#include "boot/terminal.h"

namespace gex::boot {

namespace {

using namespace std::chrono_literals;

/// Pause before a send is retried that had too many descriptors in flight.
constexpr auto starvation_pause = 10ms;

/// How long a wrapper may outlive a rank that has ended without leaving the job.
constexpr auto wrapper_grace = 2s;

}  // namespace

Guardian::Guardian(const Launch& launch, os::FileDescriptor launcher, const SignalState& signals)
    : launch_(launch),
      launcher_(std::move(launcher)),
      signals_before_(signals),
      part_(launch.part()),
      ranks_(part_.ranks.size()),
      gather_(part_),
      sharing_(part_),
      relay_(launch.program_name, launch.tag_output) {
}

Coordinator& Guardian::coordinator() noexcept {
  if (job_) return *job_;
  return *uplink_;
}

std::optional<Membership> Guardian::start() {
  leave_terminal();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Inheritance inheritance;
  inheritance.guardian = getpid();
  inheritance.signals = signals_before_;
  inheritance.process_name = process_name(getpid());
  prctl(PR_SET_NAME, guardian_name);

  getrlimit(RLIMIT_NOFILE, &inheritance.descriptors);
  rlimit raised = inheritance.descriptors;
  raised.rlim_cur = raised.rlim_max;
  setrlimit(RLIMIT_NOFILE, &raised);
  // A control socket for each rank, two pipes if its output is forwarded, and the guardian's own.
  const rlim_t each = adopting() ? 2 : launch_.command.empty() ? 1 : 3;
  const rlim_t needed = each * part_.ranks.size() + 64;
  if (raised.rlim_cur < needed) {
    fail_start(std::to_string(part_.ranks.size()) + " ranks need about " + std::to_string(needed) +
               " open files; the limit is " + std::to_string(raised.rlim_cur) + " (ulimit -Hn)");
  }

  os::FileDescriptor page;
  if (std::string why; page_.create(page, part_.ranks.size(), &why) != 0) {
    fail_start("cannot make the job's page of memory: " + why);
  }
  page_file_ = std::make_shared<const os::FileDescriptor>(std::move(page));
  const auto numbers = std::as_bytes(std::span(launch_.hosts.host_of()));
  host_numbers_ = std::make_shared<const std::vector<std::byte>>(numbers.begin(), numbers.end());
  if (launch_.root < 0) {
    page_.decide_error_report(JobPage::ErrorReport::allowed);
  } else {
    Guardians& self = *this;
    uplink_.emplace(os::FileDescriptor(launch_.root), launch_.hosts, self, page_);
  }
  if (adopting()) return std::nullopt;
  decide_binding(raised.rlim_cur - needed);
  for (const std::uint32_t rank : part_.ranks) {
    std::optional<Membership> membership;
    start_rank(rank, inheritance, membership);
    if (membership) return membership;
    // Starting many ranks takes long on busy processors; the root expects heartbeats.
    if (uplink_) uplink_->send_heartbeat();
  }
  return std::nullopt;
}

void Guardian::start_rank(std::uint32_t rank, const Inheritance& inheritance,
                          std::optional<Membership>& membership) {
  const auto fail = [&] {
    fail_start("cannot start rank " + std::to_string(rank) + " of " +
               std::to_string(launch_.hosts.ranks()) + ": " + os::describe_task_error(errno));
  };
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) fail();
  os::FileDescriptor ours(sockets[0]);
  Connection theirs;
  theirs.control.reset(sockets[1]);
  const int on = 1;
  if (setsockopt(ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) fail();
  at(rank).channel = Channel(std::move(ours));
  if (!launch_.command.empty()) {
    for (const auto stream : {LineRelay::output, LineRelay::error}) {
      int pipes[2];
      if (pipe2(pipes, O_CLOEXEC) != 0) fail();
      relay_.add(rank, stream, os::FileDescriptor(pipes[0]));
      (stream == LineRelay::output ? theirs.output : theirs.error).reset(pipes[1]);
    }
  }
  // The welcome is in the socket before the rank starts, so that joining does not wait.
  FrameHeader welcome;
  welcome.kind = FrameKind::welcome;
  at(rank).channel.queue(welcome, host_numbers_, page_file_);
  at(rank).channel.flush();

  const pid_t process = fork();
  if (process < 0) fail();
  if (process == 0) {
    membership = become_rank(launch_, rank, inheritance, std::move(theirs),
                             binding_.cores_of(part_.ranks.index_of(rank)));
    return;
  }
  // Here and in the child: the group must exist whichever of the two runs first.
  setpgid(process, process);
  at(rank).process = process;
  if (launch_.verbose) {
    report(launch_.program_name, "rank %u is pid %d on %s", rank, process, part_.name.c_str());
  }
}

void Guardian::decide_binding(std::size_t spare_descriptors) {
  const std::string program = launch_.command.empty() ? "" : launch_.command.front();
  binding_ = Binding(launch_.bind, part_.ranks.size(), program, spare_descriptors);
  // The ranks refuse a malformed value.
  const std::string verbose = env::value(env::Variable::verbose).value_or("0");
  if (launch_.verbose || env::parse_boolean(verbose).value_or(false)) {
    report(launch_.program_name, "%s", binding_.describe(part_.ranks, part_.name).c_str());
  }
}

void Guardian::fail_start(const std::string& why) {
  report(launch_.program_name, "%s", why.c_str());
  kill_descendants({}, [](pid_t, int) {});
  _exit(1);
}

void Guardian::watch(int descriptor, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

void Guardian::prepare_to_serve() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  constexpr int wanted[] = {SIGINT, SIGTERM, SIGHUP};
  const sigset_t handled = signals_to_handle(wanted);
  signals_.reset(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!epoll_ || !signals_) {
    fail_start(std::string("the guardian cannot wait for its ranks: ") + std::strerror(errno));
  }
  if (!launch_.command.empty()) {
    if (const int error = relay_.start(); error != 0) {
      fail_start("cannot start the thread that passes on output: " +
                 os::describe_task_error(error));
    }
    watch(relay_.finished_event(), make_tag(from_relay));
  }
  watch(signals_.get(), make_tag(from_children));
  if (adopting()) {
    prepare_to_adopt();
  } else {
    watch(launcher_.get(), make_tag(from_launcher));
    for (const std::uint32_t rank : part_.ranks) {
      watch(at(rank).channel.socket(), make_tag(from_rank, rank));
      flush(rank);
    }
  }
  if (uplink_) {
    watch(uplink_->socket(), make_tag(from_root));
  } else {
    Guardians& self = *this;
    job_.emplace(launch_, self);
  }
}

int Guardian::serve() {
  prepare_to_serve();
  bool swept = false;
  for (;;) {
    if (all_gone() && !swept) {
      // Processes that the ranks have left behind belong to the job and keep its output open.
      kill_everything();
      swept = true;
      if (urgent_ && !abandon_output_at_) abandon_output_at_ = after(1);
    }
    const bool output_done = launch_.command.empty() || relay_.finished() ||
                             (abandon_output_at_ && Clock::now() >= *abandon_output_at_);
    if (swept && output_done) break;
    std::array<epoll_event, 64> events;
    const int count = wait_for_events(epoll_.get(), events, next_deadline());
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      dispatch(event.data.u64, event.events);
    }
    meet_deadlines();
    if (uplink_) update_root_events();
  }
  relay_.detach();
  coordinator().finished(relay_.lost_output());
  // With several hosts the root decides the status.
  return job_ ? job_->status() : 0;
}

void Guardian::dispatch(std::uint64_t tag, std::uint32_t events) {
  const auto rank = static_cast<std::uint32_t>(tag);
  switch (static_cast<Tag>(tag >> 32)) {
    case from_launcher:
      if (adopting()) {
        handle_launcher_exit();
        break;
      }
      receive_from_launcher();
      break;
    case from_children:
      reap();
      break;
    case from_relay:
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, relay_.finished_event(), nullptr);
      break;
    case from_root:
      if ((events & EPOLLOUT) != 0) uplink_->flush();
      if ((events & ~EPOLLOUT) != 0) receive_from_root();
      break;
    case from_rank:
      if ((events & EPOLLOUT) != 0) flush(rank);
      if ((events & ~EPOLLOUT) != 0) receive_from(rank);
      break;
    case from_listener:
      accept_connections();
      break;
    case from_pending:
      handle_pending_connection(static_cast<int>(rank));
      break;
    case from_program:
      if (adopting()) {
        handle_adopted_exit(rank);
        break;
      }
      epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, at(rank).joined_handle.get(), nullptr);
      if (!at(rank).left && !ending_) at(rank).lost = Clock::now() + wrapper_grace;
      break;
  }
}

Deadline Guardian::next_deadline() const {
  Deadline next = job_ ? job_->next_deadline() : uplink_->next_deadline();
  for (const Deadline& deadline :
       {quit_at_, terminate_at_, kill_at_, abandon_output_at_, join_deadline_}) {
    next = earlier(next, deadline);
  }
  for (const Rank& rank : ranks_) next = earlier(next, rank.lost);
  if (starved_) next = earlier(next, Clock::now() + starvation_pause);
  return next;
}

void Guardian::meet_deadlines() {
  Clock::end_turn();
  if (starved_) {
    starved_ = false;
    for (const std::uint32_t rank : part_.ranks) flush(rank);
  }
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    if (met(ranks_[i].lost)) fail_lost_rank(part_.ranks[i]);
  }
  if (job_) {
    job_->meet_deadlines();
  } else if (const auto silence = uplink_->meet_deadlines()) {
    abandon("no heartbeat from the root of the job for " + std::to_string(*silence) + " s");
  }
  if (met(join_deadline_)) handle_join_timeout();
  if (met(quit_at_)) quit_ranks();
  if (met(terminate_at_)) terminate_ranks();
  if (met(kill_at_)) kill_everything();
}

void Guardian::receive_from_launcher() {
  std::array<unsigned char, 64> signals;
  const ssize_t got = read(launcher_.get(), signals.data(), signals.size());
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) abandon({});
  for (ssize_t i = 0; i < got; ++i) {
    const int number = signals[static_cast<std::size_t>(i)];
    if (ends_job(number)) {
      coordinator().interrupted(number);
    } else {
      signal(number);
    }
  }
}

void Guardian::receive_from_root() {
  if (!uplink_->receive()) abandon("the connection to the root of the job has ended");
}

/// Polls the connection to the root for writability while frames wait to be sent.
void Guardian::update_root_events() {
  if (uplink_->blocked() == root_blocked_) return;
  root_blocked_ = uplink_->blocked();
  epoll_event event{};
  event.events = EPOLLIN | (root_blocked_ ? std::uint32_t{EPOLLOUT} : 0U);
  event.data.u64 = make_tag(from_root);
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, uplink_->socket(), &event);
}

void Guardian::flush(std::uint32_t rank) {
  Rank& self = at(rank);
  const Channel::State state = self.channel.flush();
  const bool blocked = state == Channel::State::blocked;
  if (self.channel.open() && blocked != self.blocked) {
    epoll_event event{};
    event.events = EPOLLIN | (blocked ? std::uint32_t{EPOLLOUT} : 0U);
    event.data.u64 = make_tag(from_rank, rank);
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, self.channel.socket(), &event);
    self.blocked = blocked;
  }
  switch (state) {
    case Channel::State::idle:
    case Channel::State::blocked:
      break;
    case Channel::State::starved:
      starved_ = true;
      break;
    case Channel::State::broken:
      // Frames that the rank sent before are still to be read; its end is detected after them.
      break;
  }
}

void Guardian::receive_from(std::uint32_t rank) {
  while (at(rank).channel.open()) {
    Received frame = at(rank).channel.receive(frame_);
    switch (frame.outcome) {
      case Received::Outcome::would_block:
        return;
      case Received::Outcome::closed:
        handle_close(rank);
        return;
      case Received::Outcome::malformed:
        fault(rank, "sent data that is not a message of the control protocol");
        break;
      case Received::Outcome::frame:
        handle_frame(rank, std::move(frame));
        break;
    }
  }
}

void Guardian::handle_frame(std::uint32_t rank, Received frame) {
  Rank& self = at(rank);
  const FrameHeader& header = frame.header;
  // These two are handled even while the job ends.
  if (header.kind == FrameKind::end) {
    self.end_begun = true;
    request_end({header.code, rank}, {});
    return;
  }
  if (header.kind == FrameKind::error_report) {
    coordinator().request_error_report();
    return;
  }
  // Other threads of a rank that has called gasnet_exit may go on to send. Ignore them.
  if (ending_ || self.ends) return;
  if (header.kind == FrameKind::hello) {
    handle_hello(rank, frame.sender);
  } else if (header.kind == FrameKind::exec_failed && !self.joined) {
    handle_exec_failure(rank, header.code, StartStep{header.count});
  } else if (self.left && header.kind == FrameKind::wait_on_exited_rank) {
    // Sent before this rank left itself. Ranks that are still waiting send their own.
  } else if (self.joined && header.kind == FrameKind::leave) {
    handle_leave(rank, departure_of(header));
  } else if (!self.joined || self.left) {
    fault(rank, self.left ? "sent a message after leaving the job"
                          : "sent a message before joining the job");
  } else if (header.kind == FrameKind::gather) {
    handle_gather(rank, frame);
  } else if (header.kind == FrameKind::share) {
    handle_share(rank, frame);
  } else if (header.kind == FrameKind::wait_on_exited_rank) {
    handle_wait_on_exited_rank(rank, header.first);
  } else {
    fault(rank, "sent an unknown message");
  }
}

void Guardian::handle_hello(std::uint32_t rank, pid_t sender) {
  Rank& self = at(rank);
  if (self.joined) {
    fault(rank, "was joined by a second process, pid " + std::to_string(sender) +
                    ": a wrapper ran two programs that use libgex, or one of them twice");
    return;
  }
  if (self.gone) {
    fault(rank, "joined the job after the process started as this rank had ended");
    return;
  }
  self.joined = true;
  self.joined_process = sender != 0 ? sender : self.process;
  if (self.joined_process != self.process) {
    self.joined_handle.reset(static_cast<int>(syscall(SYS_pidfd_open, self.joined_process, 0)));
    if (self.joined_handle) {
      watch(self.joined_handle.get(), make_tag(from_program, rank));
    }
  }
  if (launch_.verbose) report(launch_.program_name, "%s has joined", name_of(rank).c_str());
  coordinator().joined(rank, self.joined_process);
}

void Guardian::handle_gather(std::uint32_t rank, const Received& frame) {
  if (const Fault wrong = gather_.add(part_.ranks.index_of(rank), frame.header, frame.payload)) {
    fault(rank, *wrong);
    return;
  }
  if (gather_.complete()) {
    Gather::Result result = gather_.take();
    coordinator().contribute(result.sequence, std::move(result.bytes));
  }
  detect_waits_on_exited_ranks();
}

void Guardian::gathered(std::uint32_t sequence, SharedBytes bytes) {
  FrameHeader answer;
  answer.kind = FrameKind::gathered;
  answer.sequence = sequence;
  for (const std::uint32_t rank : part_.ranks) {
    at(rank).channel.queue(answer, bytes);
    flush(rank);
  }
}

void Guardian::absent(std::uint32_t rank, std::uint32_t sequence) {
  absence_ = {rank, sequence};
  page_.note_absence();
  detect_waits_on_exited_ranks();
}

void Guardian::handle_share(std::uint32_t rank, Received& frame) {
  std::optional<Sharing::Group> group;
  const Fault wrong =
      sharing_.add(rank, frame.header, frame.payload, std::move(frame.descriptor), group);
  if (wrong) {
    fault(rank, *wrong);
    return;
  }
  if (!group) {
    detect_waits_on_exited_ranks();
    return;
  }
  FrameHeader answer;
  answer.kind = FrameKind::shared;
  for (const std::uint32_t member : group->ranks) {
    at(member).channel.queue(answer, member == group->owner ? nullptr : group->descriptor);
    flush(member);
  }
}

void Guardian::handle_leave(std::uint32_t rank, const Departure& departure) {
  Rank& self = at(rank);
  self.left = true;
  self.ends = departure.ends_job();
  self.left_with = departure.code;
  // It has flushed its streams and needs no signal to end.
  self.end_begun = self.ends;
  // Another thread of the rank may have contributed to the current exchange.
  const std::uint32_t missed = gather_.has_finished(part_.ranks.index_of(rank)) ? 1 : 0;
  coordinator().left(rank, gather_.sequence() + missed, departure);
  detect_waits_on_exited_ranks();
}

void Guardian::handle_wait_on_exited_rank(std::uint32_t rank, std::uint32_t peer) {
  if (peer >= launch_.hosts.ranks() || peer == rank) {
    fault(rank, "reported waiting for an invalid rank");
    return;
  }
  coordinator().report_exited_peer(peer);
}

void Guardian::release(bool finalize_mpi) {
  FrameHeader frame;
  frame.kind = FrameKind::release;
  frame.code = finalize_mpi ? 1 : 0;
  for (const std::uint32_t rank : part_.ranks) {
    at(rank).channel.queue(frame);
    flush(rank);
  }
}

void Guardian::handle_exec_failure(std::uint32_t rank, int error, StartStep step) {
  constexpr int max_errno = 4095;
  if (error < 1 || error > max_errno) {
    fault(rank, "sent an invalid error number");
    return;
  }
  const char* failed = nullptr;
  if (step == StartStep::keep_connection) failed = "keep its connection to the job";
  if (step == StartStep::redirect_input) failed = "redirect its standard input";
  if (step == StartStep::redirect_output) failed = "redirect its standard output and error";
  if (failed != nullptr) {
    fault(rank, std::string("cannot ") + failed + ": " + std::strerror(error));
    return;
  }
  const std::string& program = launch_.command.empty() ? "" : launch_.command.front();
  request_end({exec_failure_status(error), rank},
              "cannot execute '" + program + "' on " + part_.name + ": " + std::strerror(error));
}

void Guardian::handle_close(std::uint32_t rank) {
  Rank& self = at(rank);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, self.channel.socket(), nullptr);
  self.channel.close();
  // Usually the process has ended and is about to be reaped. One that lives on has executed another
  // program, or closed a descriptor that it does not own.
  if (self.joined && !self.left && !self.gone && !ending_) {
    self.lost = Clock::now() + wrapper_grace;
  }
}

}  // namespace gex::boot
