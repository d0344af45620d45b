#include "launch/local/control_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "base/os_mapping.h"
#include "base/os_memory.h"
#include "job/packed_table.h"
#include "launch/local/execution.h"
#include "launch/local/spawn.h"
#include "launch/report.h"

namespace gex::launch {

namespace {

using namespace std::chrono_literals;

/// Pause before a send is retried that had too many descriptors in flight.
constexpr auto starvation_pause = 10ms;

job::FrameHeader frame_of(job::FrameKind kind, int code = 0) {
  job::FrameHeader frame;
  frame.kind = kind;
  frame.code = code;
  return frame;
}

/// A memory file with these bytes; null: there is none.
SharedDescriptor file_of(const std::vector<std::byte>& bytes) {
  os::MemoryFile file = os::create_fixed_file("gex-exchange", bytes.size());
  if (!file.descriptor) return nullptr;
  const os::Mapping mapping = os::Mapping::shared(file.descriptor.get(), 0, bytes.size());
  if (!mapping) return nullptr;
  std::ranges::copy(bytes, mapping.data());
  return std::make_shared<const os::FileDescriptor>(std::move(file.descriptor));
}

}  // namespace

ControlServer::ControlServer(LocalJob& job, EventLoop& loop, LocalProcesses& processes,
                             RankObserver& observer)
    : job_(job),
      loop_(loop),
      processes_(processes),
      observer_(observer),
      lines_(job.ranks.size()),
      gather_(job.part),
      sharing_(job.part) {
  host_numbers_ =
      std::make_shared<const std::vector<std::byte>>(job::pack_rows(job.launch.hosts.host_of()));
}

void ControlServer::set_page_file(os::FileDescriptor file) {
  page_file_ = std::make_shared<const os::FileDescriptor>(std::move(file));
}

void ControlServer::queue_welcome(std::uint32_t rank) {
  at(rank).channel.queue(frame_of(job::FrameKind::welcome), host_numbers_, page_file_);
}

os::FileDescriptor ControlServer::open(std::uint32_t rank) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return {};
  os::FileDescriptor ours(sockets[0]);
  os::FileDescriptor theirs(sockets[1]);
  const int on = 1;
  if (setsockopt(ours.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return {};
  at(rank).channel = Channel(std::move(ours));
  job_.at(rank).connected = true;
  queue_welcome(rank);
  at(rank).channel.flush();
  return theirs;
}

void ControlServer::watch(std::uint32_t rank) {
  Line& line = at(rank);
  line.watch = loop_.watch(
      line.channel.socket(), [this, rank] { receive_from(rank); }, [this, rank] { flush(rank); });
}

void ControlServer::serve() {
  for (const std::uint32_t rank : job_.part.ranks) {
    if (!at(rank).channel.open()) continue;
    watch(rank);
    flush(rank);
  }
}

void ControlServer::adopt(std::uint32_t rank, pid_t process, os::FileDescriptor socket) {
  at(rank).channel = Channel(std::move(socket));
  job_.at(rank).connected = true;
  watch(rank);
  queue_welcome(rank);
  if (job_.ending) at(rank).channel.queue(frame_of(job::FrameKind::ending, job_.page.end().code));
  flush(rank);
  handle_hello(rank, process);
}

void ControlServer::send(std::uint32_t rank, const job::FrameHeader& header,
                         SharedDescriptor descriptor) {
  at(rank).channel.queue(header, std::move(descriptor));
  flush(rank);
}

void ControlServer::send_all(const job::FrameHeader& header) {
  for (const std::uint32_t rank : job_.part.ranks) send(rank, header);
}

void ControlServer::flush(std::uint32_t rank) {
  Line& line = at(rank);
  const Channel::State state = line.channel.flush();
  // If the connection is broken, frames that the rank sent before are still to be read; its end is
  // detected after them.
  line.watch.want_writable(state == Channel::State::blocked);
  if (state == Channel::State::starved) starved_ = true;
}

void ControlServer::receive_from(std::uint32_t rank) {
  while (at(rank).channel.open()) {
    job::Received frame = at(rank).channel.receive(frame_);
    switch (frame.outcome) {
      case job::Received::Outcome::would_block:
        return;
      case job::Received::Outcome::closed:
        handle_close(rank);
        return;
      case job::Received::Outcome::malformed:
        job_.fault(rank, "sent data that is not a message of the control protocol");
        break;
      case job::Received::Outcome::frame:
        handle_frame(rank, std::move(frame));
        break;
    }
  }
}

void ControlServer::handle_frame(std::uint32_t rank, job::Received frame) {
  LocalRank& self = job_.at(rank);
  const job::FrameHeader& header = frame.header;
  // These two are handled even while the job ends.
  if (header.kind == job::FrameKind::end) {
    self.end_begun = true;
    job_.request_end({header.code, rank}, {});
    return;
  }
  if (header.kind == job::FrameKind::error_report) {
    job_.coordinator->request_error_report();
    return;
  }
  // Ranks that finalize a library together wait for one another.
  if (is_finalizing_ && !job_.ending && header.kind == job::FrameKind::gather)
    return handle_gather(rank, frame);
  if (job_.ending) return;
  if (header.kind == job::FrameKind::hello) return handle_hello(rank, frame.sender);
  // Other threads of a rank that has called gasnet_exit may go on to send. Ignore them.
  if (self.ends) return;
  if (header.kind == job::FrameKind::exec_failed && !self.joined) {
    handle_exec_failure(rank, header.code, job::StartStep{header.count});
  } else if (self.left && header.kind == job::FrameKind::wait_on_exited_rank) {
    // Sent before this rank left itself. Ranks that are still waiting send their own.
  } else if (self.joined && header.kind == job::FrameKind::leave) {
    handle_leave(rank, job::departure_of(header));
  } else if (!self.joined || self.left) {
    job_.fault(rank, self.left ? "sent a message after leaving the job"
                               : "sent a message before joining the job");
  } else if (header.kind == job::FrameKind::gather) {
    handle_gather(rank, frame);
  } else if (header.kind == job::FrameKind::status) {
    observer_.attach(rank, frame.descriptor);
  } else if (header.kind == job::FrameKind::share) {
    handle_share(rank, frame);
  } else if (header.kind == job::FrameKind::wait_on_exited_rank) {
    handle_wait_on_exited_rank(rank, header.first);
  } else {
    job_.fault(rank, "sent an unknown message");
  }
}

void ControlServer::handle_hello(std::uint32_t rank, pid_t process) {
  LocalRank& self = job_.at(rank);
  if (self.joined) {
    job_.fault(rank, "was joined by a second process, pid " + std::to_string(process) +
                         ": a wrapper ran two programs that use libgex, or one of them twice");
    return;
  }
  if (self.gone) {
    job_.fault(rank, "joined the job after the process started as this rank had ended");
    return;
  }
  self.joined = true;
  processes_.joined(rank, process != 0 ? process : self.process);
  if (job_.launch.verbose)
    report(job_.launch.program_name, "%s has joined", job_.name_of(rank).c_str());
  job_.coordinator->joined(rank, self.joined_process);
}

void ControlServer::handle_gather(std::uint32_t rank, const job::Received& frame) {
  if (const Fault wrong = gather_.add(job_.index_of(rank), frame.header, frame.payload)) {
    job_.fault(rank, *wrong);
    return;
  }
  if (gather_.complete()) {
    Gather::Result result = gather_.take();
    job_.coordinator->contribute(result.sequence, result.kind, std::move(result.bytes));
  }
  detect_waits_on_exited_ranks();
}

void ControlServer::gathered(std::uint32_t sequence, const SharedBytes& bytes) {
  job::FrameHeader answer = frame_of(job::FrameKind::gathered);
  answer.sequence = sequence;
  // Ranks may keep the result: there is one of it for all of them, unless it is small.
  constexpr std::size_t max_copied = 1024;
  const SharedDescriptor file = bytes->size() > max_copied ? file_of(*bytes) : nullptr;
  answer.total = bytes->size();
  for (const std::uint32_t rank : job_.part.ranks) {
    if (file != nullptr)
      at(rank).channel.queue(answer, file);
    else
      at(rank).channel.queue(answer, bytes);
    flush(rank);
  }
}

void ControlServer::absent(std::uint32_t rank, std::uint32_t sequence) {
  absence_ = {rank, sequence};
  job_.page.note_absence();
  detect_waits_on_exited_ranks();
}

void ControlServer::handle_share(std::uint32_t rank, job::Received& frame) {
  std::optional<Sharing::Group> group;
  const Fault wrong =
      sharing_.add(rank, frame.header, frame.payload, std::move(frame.descriptor), group);
  if (wrong) {
    job_.fault(rank, *wrong);
    return;
  }
  if (!group) {
    detect_waits_on_exited_ranks();
    return;
  }
  for (const std::uint32_t member : group->ranks) {
    send(member, frame_of(job::FrameKind::shared),
         member == group->owner ? nullptr : group->descriptor);
  }
}

void ControlServer::handle_leave(std::uint32_t rank, const job::Departure& departure) {
  LocalRank& self = job_.at(rank);
  self.left = true;
  self.ends = departure.ends_job();
  self.left_with = departure.code;
  // It has flushed its streams and needs no signal to end.
  self.end_begun = self.ends;
  // Another thread of the rank may have contributed to the current exchange.
  const std::uint32_t missed = gather_.has_finished(job_.index_of(rank)) ? 1 : 0;
  job_.coordinator->left(rank, gather_.sequence() + missed, departure);
  detect_waits_on_exited_ranks();
}

void ControlServer::handle_wait_on_exited_rank(std::uint32_t rank, std::uint32_t peer) {
  if (peer >= job_.launch.hosts.ranks() || peer == rank) {
    job_.fault(rank, "reported waiting for an invalid rank");
    return;
  }
  job_.coordinator->report_exited_peer(peer);
}

/// Reports to the coordinator a wait of this host's ranks for a rank that has left.
void ControlServer::detect_waits_on_exited_ranks() {
  if (job_.ending) return;
  std::optional<std::uint32_t> exited =
      sharing_.waits_for([this](std::uint32_t rank) { return job_.at(rank).left; });
  // An exchange cannot complete once a rank has left before it. Ranks that contribute to it would
  // wait for ever.
  if (absence_ && (gather_.sequence() > absence_->sequence ||
                   (gather_.sequence() == absence_->sequence && gather_.pending()))) {
    exited = absence_->rank;
  }
  if (exited) job_.coordinator->report_exited_peer(*exited);
}

void ControlServer::release(bool finalize) {
  is_finalizing_ = finalize;
  // All ranks have left: an exchange that follows misses none.
  absence_.reset();
  send_all(frame_of(job::FrameKind::release, finalize ? 1 : 0));
}

void ControlServer::announce_end(int code) {
  send_all(frame_of(job::FrameKind::ending, code));
}

void ControlServer::handle_exec_failure(std::uint32_t rank, int error, job::StartStep step) {
  constexpr int max_errno = 4095;
  if (error < 1 || error > max_errno) {
    job_.fault(rank, "sent an invalid error number");
    return;
  }
  const char* failed = nullptr;
  if (step == job::StartStep::keep_connection) failed = "keep its connection to the job";
  if (step == job::StartStep::redirect_input) failed = "redirect its standard input";
  if (step == job::StartStep::redirect_output) failed = "redirect its standard output and error";
  if (failed != nullptr) {
    job_.fault(rank, std::string("cannot ") + failed + ": " + std::strerror(error));
    return;
  }
  const std::vector<std::string>& command = job_.launch.command;
  const std::string program = command.empty() ? "" : command.front();
  job_.request_end({exec_failure_status(error), rank},
                   "cannot execute '" + program + "' on " + job_.part.name + ": " +
                       describe_execution_error(program, error));
}

void ControlServer::handle_close(std::uint32_t rank) {
  Line& line = at(rank);
  line.watch.reset();
  line.channel.close();
  LocalRank& self = job_.at(rank);
  self.connected = false;
  // One that lives on has executed another program, or closed a descriptor that it does not own.
  if (self.joined && !self.left && !self.gone && !job_.ending) processes_.connection_closed(rank);
}

Deadline ControlServer::next_deadline() const {
  return starved_ ? Deadline(Clock::now() + starvation_pause) : Deadline();
}

void ControlServer::meet_deadlines() {
  if (!std::exchange(starved_, false)) return;
  for (const std::uint32_t rank : job_.part.ranks) flush(rank);
}

}  // namespace gex::launch
