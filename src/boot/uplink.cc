#include "boot/uplink.h"

#include <poll.h>
#include <signal.h>

#include <new>
#include <utility>

namespace gex::boot {

Uplink::Uplink(os::FileDescriptor root, const HostParts& hosts, Guardians& guardian, JobPage& page)
    : hosts_(hosts),
      guardian_(guardian),
      page_(page),
      link_(std::move(root)),
      heartbeat_at_(after(heartbeat_interval)) {
}

void Uplink::serve(EventLoop& loop, Lost lost) {
  lost_ = std::move(lost);
  watch_ = loop.watch(
      link_.socket(),
      [this] {
        if (!receive()) lost_("the connection to the root of the job has ended");
      },
      [this] { flush(); });
  watch_.want_writable(blocked_);
}

void Uplink::flush() {
  blocked_ = !link_.flush();
  watch_.want_writable(blocked_);
}

void Uplink::send(FrameKind kind, std::uint32_t rank, int code) {
  FrameHeader header;
  header.kind = kind;
  header.first = rank;
  header.code = code;
  link_.queue(header);
  flush();
}

void Uplink::joined(std::uint32_t rank, pid_t process) {
  send(FrameKind::host_joined, rank, process);
}

void Uplink::contribute(std::uint32_t sequence, SharedBytes bytes) {
  FrameHeader header;
  header.kind = FrameKind::host_gather;
  header.sequence = sequence;
  link_.queue(header, std::move(bytes));
  flush();
}

void Uplink::left(std::uint32_t rank, std::uint32_t sequence, const Departure& departure) {
  FrameHeader header;
  header.kind = FrameKind::host_left;
  header.first = rank;
  header.sequence = sequence;
  put_departure(header, departure);
  link_.queue(header);
  flush();
}

void Uplink::gone(std::uint32_t rank, pid_t process) {
  send(FrameKind::host_gone, rank, process);
}

void Uplink::report_exited_peer(std::uint32_t peer) {
  send(FrameKind::host_wait_on_exited_rank, peer, 0);
}

void Uplink::end(const Ending& ending, const std::string& text) {
  FrameHeader header;
  header.kind = FrameKind::host_end;
  header.first = ending.rank;
  header.code = ending.code;
  header.death = ending.death ? 1 : 0;
  link_.queue(header, text);
  flush();
}

void Uplink::request_error_report() {
  send(FrameKind::host_error_report, 0, 0);
}

void Uplink::interrupted(int signal) {
  send(FrameKind::host_interrupted, 0, signal);
}

void Uplink::finished(bool lost_output) {
  send(FrameKind::host_finished, 0, lost_output ? 1 : 0);
  // If a socket is closed with unread data, the kernel discards data that it has not sent yet. So
  // wait for the root to close the connection, which it does when it has received `host_finished`.
  for (;;) {
    pollfd end{link_.socket(), static_cast<short>(POLLIN | (blocked_ ? POLLOUT : 0)), 0};
    poll(&end, 1, milliseconds_until(next_deadline()));
    flush();
    Received frame;
    do {
      frame = link_.receive();
    } while (frame.outcome == Received::Outcome::frame);
    send_heartbeat();
    if (frame.outcome != Received::Outcome::would_block || link_.timed_out()) return;
  }
}

bool Uplink::receive() {
  for (;;) {
    const Received frame = link_.receive();
    if (frame.outcome == Received::Outcome::would_block) return true;
    if (frame.outcome != Received::Outcome::frame || !handle_frame(frame)) return false;
  }
}

bool Uplink::handle_frame(const Received& frame) {
  const FrameHeader& header = frame.header;
  switch (header.kind) {
    case FrameKind::heartbeat:
      return true;
    case FrameKind::job_gathered:
      return handle_gathered(frame);
    case FrameKind::job_absent:
      if (header.first >= hosts_.ranks()) return false;
      guardian_.absent(header.first, header.sequence);
      return true;
    case FrameKind::job_release:
      guardian_.release(header.code == 1);
      return true;
    case FrameKind::job_end:
      if (header.count > static_cast<std::uint32_t>(Teardown::immediate)) return false;
      guardian_.end({header.code, header.first, header.death != 0},
                    static_cast<Teardown>(header.count));
      return true;
    case FrameKind::job_signal:
      if (header.code <= 0 || header.code >= SIGRTMIN) return false;
      guardian_.signal(header.code);
      // A root that is suspended sends no heartbeats until it is continued.
      if (header.code == SIGTSTP) link_.allow_silence();
      return true;
    case FrameKind::job_error_report:
      page_.decide_error_report(header.code == 1 ? JobPage::ErrorReport::allowed
                                                 : JobPage::ErrorReport::refused);
      return true;
    default:
      return false;
  }
}

bool Uplink::handle_gathered(const Received& frame) {
  const FrameHeader& header = frame.header;
  if (gathered_.empty()) gathering_ = header;
  if (header.sequence != gathering_.sequence || header.total != gathering_.total ||
      header.total > max_exchange || header.total % hosts_.ranks() != 0 ||
      header.offset != gathered_.size() || frame.payload.size() > header.total - header.offset ||
      (frame.payload.empty() && header.total != 0)) {
    return false;
  }
  try {
    gathered_.reserve(header.total);
  } catch (const std::bad_alloc&) {
    return false;
  }
  gathered_.insert(gathered_.end(), frame.payload.begin(), frame.payload.end());
  if (gathered_.size() == header.total) {
    guardian_.gathered(header.sequence,
                       std::make_shared<const std::vector<std::byte>>(std::move(gathered_)));
    gathered_ = {};
  }
  return true;
}

Deadline Uplink::next_deadline() const {
  return earlier(heartbeat_at_, link_.timeout_at());
}

void Uplink::send_heartbeat() {
  if (!met(heartbeat_at_)) return;
  heartbeat_at_ = after(heartbeat_interval);
  link_.queue_heartbeat();
  flush();
}

void Uplink::meet_deadlines() {
  send_heartbeat();
  if (const auto silence = link_.timed_out()) {
    lost_("no heartbeat from the root of the job for " + std::to_string(*silence) + " s");
  }
}

}  // namespace gex::boot
