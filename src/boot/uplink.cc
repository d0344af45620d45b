#include "boot/uplink.h"

#include <poll.h>
#include <signal.h>

#include <new>

namespace gex::boot {

Uplink::Uplink(os::FileDescriptor root, const HostParts& hosts, Guardians& guardian, JobPage& page)
    : hosts_(hosts),
      guardian_(guardian),
      page_(page),
      link_(std::move(root)),
      beat_at_(after(heartbeat_interval)) {
}

void Uplink::tell(FrameKind kind, std::uint32_t rank, int code) {
  FrameHeader header;
  header.kind = kind;
  header.first = rank;
  header.code = code;
  link_.queue(header);
  flush();
}

void Uplink::joined(std::uint32_t rank, pid_t process) {
  tell(FrameKind::host_joined, rank, process);
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
  tell(FrameKind::host_gone, rank, process);
}

void Uplink::waits_in_vain(std::uint32_t absent) {
  tell(FrameKind::host_waits_in_vain, absent, 0);
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

void Uplink::asks_to_tell() {
  tell(FrameKind::host_asks_to_tell, 0, 0);
}

void Uplink::interrupted(int signal) {
  tell(FrameKind::host_interrupted, 0, signal);
}

void Uplink::finished(bool lost_output) {
  tell(FrameKind::host_finished, 0, lost_output ? 1 : 0);
  // Where a connection is closed with something unread in it, the kernel throws away what it has
  // yet to send. So the root closes it, when it has heard of the end.
  for (;;) {
    pollfd end{link_.socket(), static_cast<short>(POLLIN | (blocked_ ? POLLOUT : 0)), 0};
    poll(&end, 1, milliseconds_until(next_deadline()));
    flush();
    Received frame;
    do {
      frame = link_.receive();
    } while (frame.outcome == Received::Outcome::frame);
    if (frame.outcome != Received::Outcome::would_block || meet_deadlines()) return;
  }
}

bool Uplink::hear() {
  for (;;) {
    const Received frame = link_.receive();
    if (frame.outcome == Received::Outcome::would_block) return true;
    if (frame.outcome != Received::Outcome::frame || !take(frame)) return false;
  }
}

bool Uplink::take(const Received& frame) {
  const FrameHeader& header = frame.header;
  switch (header.kind) {
    case FrameKind::heartbeat:
      return true;
    case FrameKind::job_gathered:
      return take_gathered(frame);
    case FrameKind::job_absent:
      if (header.first >= hosts_.ranks()) return false;
      guardian_.absent(header.first, header.sequence);
      return true;
    case FrameKind::job_farewell:
      guardian_.farewell(header.code == 1);
      return true;
    case FrameKind::job_end:
      if (header.count > static_cast<std::uint32_t>(Haste::at_once)) return false;
      guardian_.end({header.code, header.first, header.death != 0},
                    static_cast<Haste>(header.count));
      return true;
    case FrameKind::job_signal:
      if (header.code <= 0 || header.code >= SIGRTMIN) return false;
      guardian_.signal(header.code);
      // A root that is stopped sends no heartbeats until it is continued.
      if (header.code == SIGTSTP) link_.expect_silence();
      return true;
    case FrameKind::job_tell:
      page_.decide_telling(header.code == 1 ? JobPage::Telling::allowed
                                            : JobPage::Telling::refused);
      return true;
    default:
      return false;
  }
}

bool Uplink::take_gathered(const Received& frame) {
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
  return earlier(beat_at_, link_.silent_at());
}

void Uplink::beat() {
  if (!met(beat_at_)) return;
  beat_at_ = after(heartbeat_interval);
  link_.beat();
  flush();
}

std::optional<int> Uplink::meet_deadlines() {
  beat();
  return link_.too_silent();
}

}  // namespace gex::boot
