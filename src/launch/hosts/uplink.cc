#include "launch/hosts/uplink.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <new>
#include <utility>

#include "job/packed_table.h"

namespace gex::launch {

Uplink::Uplink(os::FileDescriptor root, const LinkKeys& keys, const job::HostParts& hosts,
               std::uint32_t host, Guardians& guardian, job::JobPage& page)
    : hosts_(hosts),
      host_(host),
      guardian_(guardian),
      page_(page),
      link_(std::move(root), keys),
      heartbeat_at_(after(job::heartbeat_interval)) {
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

/// Queues a frame behind what has happened to ranks before.
template <typename... Body>
void Uplink::queue(const job::FrameHeader& header, Body&&... body) {
  queue_events();
  link_.queue(header, std::forward<Body>(body)...);
  flush();
}

void Uplink::send(job::FrameKind kind, std::uint32_t rank, int code) {
  job::FrameHeader header;
  header.kind = kind;
  header.first = rank;
  header.code = code;
  queue(header);
}

void Uplink::add_event(job::FrameKind kind, const job::RankEvent& event) {
  if (kind != event_kind_) queue_events();
  event_kind_ = kind;
  events_.push_back(event);
  if (!events_at_) events_at_ = after(max_event_delay);
  if (events_.size() == std::min<std::size_t>(hosts_[host_].ranks.size(), job::max_events))
    queue_events();
  flush();
}

void Uplink::queue_events() {
  events_at_.reset();
  if (events_.empty()) return;
  job::FrameHeader header;
  header.kind = event_kind_;
  header.count = static_cast<std::uint32_t>(events_.size());
  link_.queue(header, std::make_shared<const std::vector<std::byte>>(job::pack_rows(events_)));
  events_.clear();
}

void Uplink::joined(std::uint32_t rank, pid_t process) {
  add_event(job::FrameKind::host_joined, {.rank = rank, .code = process});
}

void Uplink::contribute(std::uint32_t sequence, job::Exchange kind, SharedBytes bytes) {
  job::FrameHeader header;
  header.kind = job::FrameKind::host_gather;
  header.count = static_cast<std::uint32_t>(kind);
  header.sequence = sequence;
  switch (kind) {
    case job::Exchange::all:
      bytes = std::make_shared<const std::vector<std::byte>>(
          job::pack_table(*bytes, hosts_[host_].ranks.size()));
      break;
    case job::Exchange::least:
      break;
    case job::Exchange::on_host:
      on_host_ = std::exchange(bytes, std::make_shared<const std::vector<std::byte>>());
      break;
  }
  queue(header, std::move(bytes));
}

void Uplink::left(std::uint32_t rank, std::uint32_t sequence, const job::Departure& departure) {
  job::FrameHeader header;
  job::put_departure(header, departure);
  add_event(job::FrameKind::host_left, {rank, header.code, header.count, sequence});
}

void Uplink::gone(std::uint32_t rank, pid_t process) {
  add_event(job::FrameKind::host_gone, {.rank = rank, .code = process});
}

void Uplink::report_exited_peer(std::uint32_t peer) {
  send(job::FrameKind::host_wait_on_exited_rank, peer, 0);
}

void Uplink::end(const job::Ending& ending, const std::string& text) {
  job::FrameHeader header;
  header.kind = job::FrameKind::host_end;
  header.first = ending.rank;
  header.code = ending.code;
  header.death = ending.death ? 1 : 0;
  queue(header, text);
}

void Uplink::request_error_report() {
  send(job::FrameKind::host_error_report, 0, 0);
}

void Uplink::interrupted(int signal) {
  send(job::FrameKind::host_interrupted, 0, signal);
}

void Uplink::observed(const Observation& observation) {
  queue(frame_of(observation));
}

void Uplink::collected(std::uint32_t number, SharedBytes reports) {
  job::FrameHeader header;
  header.kind = job::FrameKind::host_collected;
  header.sequence = number;
  queue(header, std::move(reports));
}

void Uplink::finished(bool lost_output) {
  send(job::FrameKind::host_finished, 0, lost_output ? 1 : 0);
  // If a socket is closed with unread data, the kernel discards data that it has not sent yet. So
  // wait for the root to close the connection, which it does when it has received `host_finished`.
  for (;;) {
    pollfd end{link_.socket(), static_cast<short>(POLLIN | (blocked_ ? POLLOUT : 0)), 0};
    poll(&end, 1, milliseconds_until(next_deadline()));
    flush();
    job::Received frame;
    do {
      frame = link_.receive();
    } while (frame.outcome == job::Received::Outcome::frame);
    if (frame.outcome != job::Received::Outcome::would_block || link_.timed_out()) return;
    send_heartbeat();
  }
}

bool Uplink::receive() {
  for (;;) {
    const job::Received frame = link_.receive();
    if (frame.outcome == job::Received::Outcome::would_block) return true;
    if (frame.outcome != job::Received::Outcome::frame || !handle_frame(frame)) return false;
  }
}

bool Uplink::handle_frame(const job::Received& frame) {
  const job::FrameHeader& header = frame.header;
  switch (header.kind) {
    case job::FrameKind::heartbeat:
      return true;
    case job::FrameKind::job_gathered:
      return handle_gathered(frame);
    case job::FrameKind::job_absent:
      if (header.first >= hosts_.ranks()) return false;
      guardian_.absent(header.first, header.sequence);
      return true;
    case job::FrameKind::job_release:
      guardian_.release(header.code == 1);
      return true;
    case job::FrameKind::job_end:
      if (header.count > static_cast<std::uint32_t>(Teardown::immediate)) return false;
      guardian_.end({header.code, header.first, header.death != 0},
                    static_cast<Teardown>(header.count));
      return true;
    case job::FrameKind::job_signal:
      if (header.code <= 0 || header.code >= SIGRTMIN) return false;
      guardian_.signal(header.code);
      // A root that is suspended sends no heartbeats until it is continued.
      if (header.code == SIGTSTP) link_.allow_silence();
      return true;
    case job::FrameKind::job_error_report:
      page_.decide_error_report(header.code == 1 ? job::JobPage::ErrorReport::allowed
                                                 : job::JobPage::ErrorReport::refused);
      return true;
    case job::FrameKind::job_observe:
      if (header.count == 0) return false;
      guardian_.observe(header.count);
      return true;
    case job::FrameKind::job_collect:
      if (header.count > static_cast<std::uint32_t>(Collection::stacks)) return false;
      guardian_.collect(header.sequence, static_cast<Collection>(header.count));
      return true;
    default:
      return false;
  }
}

bool Uplink::handle_gathered(const job::Received& frame) {
  const job::FrameHeader& header = frame.header;
  if (gathered_.empty()) gathering_ = header;
  if (header.sequence != gathering_.sequence || header.total != gathering_.total ||
      header.count != gathering_.count || header.total > job::max_exchange + job::max_growth ||
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
  if (gathered_.size() != header.total) return true;
  SharedBytes result = take_gathered();
  if (result == nullptr) return false;
  guardian_.gathered(header.sequence, std::move(result));
  return true;
}

/// The result of an exchange that has come as a whole; null: it is malformed.
SharedBytes Uplink::take_gathered() {
  std::vector<std::byte> whole = std::exchange(gathered_, {});
  switch (static_cast<job::Exchange>(gathering_.count)) {
    case job::Exchange::all: {
      auto table = job::unpack_table(whole, hosts_.ranks(), job::max_exchange);
      if (!table) return nullptr;
      return std::make_shared<const std::vector<std::byte>>(std::move(*table));
    }
    case job::Exchange::least:
      if (whole.size() > job::max_least || whole.size() % sizeof(std::uint64_t) != 0)
        return nullptr;
      return std::make_shared<const std::vector<std::byte>>(std::move(whole));
    case job::Exchange::on_host:
      return whole.empty() ? std::exchange(on_host_, nullptr) : nullptr;
  }
  return nullptr;
}

Deadline Uplink::next_deadline() const {
  return earlier(earlier(heartbeat_at_, events_at_), link_.timeout_at());
}

void Uplink::send_heartbeat() {
  if (!met(heartbeat_at_)) return;
  heartbeat_at_ = after(job::heartbeat_interval);
  link_.queue_heartbeat();
  flush();
}

void Uplink::meet_deadlines() {
  if (const auto silence = link_.timed_out())
    lost_("no heartbeat from the root of the job for " + std::to_string(*silence) + " s");
  if (met(events_at_)) {
    queue_events();
    flush();
  }
  send_heartbeat();
}

}  // namespace gex::launch
