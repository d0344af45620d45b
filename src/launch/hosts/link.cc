#include "launch/hosts/link.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace gex::launch {

namespace {

/// A reachable kernel acknowledges at least one of the heartbeats of this many seconds.
constexpr double acknowledged_within = 4 * job::heartbeat_interval;

/// Returns true if the peer's kernel has acknowledged data recently, or all that there was: an end
/// that lacks a processor itself has sent nothing for a while.
bool acknowledges(int socket) {
  int unacknowledged = 0;
  if (ioctl(socket, SIOCOUTQ, &unacknowledged) == 0 && unacknowledged == 0) return true;
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  constexpr std::size_t needed = offsetof(tcp_info, tcpi_last_ack_recv) + sizeof(std::uint32_t);
  return length >= needed && info.tcpi_last_ack_recv < 1000 * acknowledged_within;
}

}  // namespace

std::span<std::byte> FrameReader::free_space() {
  if (begin_ > 0) {
    std::memmove(bytes_.data(), bytes_.data() + begin_, filled_ - begin_);
    filled_ -= begin_;
    begin_ = 0;
  }
  return std::span(bytes_).subspan(filled_);
}

job::Received FrameReader::next() {
  job::Received received;
  received.outcome = job::Received::Outcome::would_block;
  const std::span<const std::byte> whole(bytes_);
  const std::size_t size = filled_ - begin_;
  if (size < sizeof(job::FrameHeader)) return received;
  std::memcpy(&received.header, whole.data() + begin_, sizeof(job::FrameHeader));
  if (received.header.bytes > job::max_payload) {
    received.outcome = job::Received::Outcome::malformed;
    return received;
  }
  const std::size_t sealed = sizeof(job::FrameHeader) + received.header.bytes;
  if (size < sealed + Secret::size) return received;
  if (!check_seal(std::span(bytes_).subspan(begin_, sealed + Secret::size))) {
    received.outcome = job::Received::Outcome::malformed;
    return received;
  }
  received.payload = whole.subspan(begin_ + sizeof(job::FrameHeader), received.header.bytes);
  begin_ += sealed + Secret::size;
  received.outcome = job::Received::Outcome::frame;
  return received;
}

/// Overwrites the seal.
bool FrameReader::check_seal(std::span<std::byte> frame) {
  Secret::Bytes seal;
  const std::span<std::byte> place = frame.last(seal.size());
  std::memcpy(seal.data(), place.data(), seal.size());
  std::memcpy(place.data(), &number_, sizeof number_);
  ++number_;
  return equal(seal, key_.prove(frame.first(frame.size() - seal.size() + sizeof number_)));
}

void seal_frame(std::vector<std::byte>& frame, const Secret& key, std::uint64_t number) {
  const auto bytes = std::as_bytes(std::span(&number, 1));
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  const Secret::Bytes seal = key.prove(frame);
  frame.resize(frame.size() - bytes.size());
  frame.insert(frame.end(), seal.begin(), seal.end());
}

void LinkCounts::Direction::add(const job::FrameHeader& header) {
  if (header.kind == job::FrameKind::heartbeat) return;
  ++frames;
  exchange_frames +=
      header.kind == job::FrameKind::host_gather || header.kind == job::FrameKind::job_gathered ? 1
                                                                                                : 0;
  bytes += sizeof header + header.bytes + Secret::size;
}

void LinkCounts::Direction::add(const Direction& other) {
  frames += other.frames;
  exchange_frames += other.exchange_frames;
  bytes += other.bytes;
}

void LinkCounts::add(const LinkCounts& other) {
  sent.add(other.sent);
  received.add(other.received);
}

Link::Link(os::FileDescriptor socket, const LinkKeys& keys)
    : socket_(std::move(socket)), key_(keys.send), reader_(Secret(keys.receive)) {
  fcntl(socket_.get(), F_SETFL, fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // Retransmit at constant intervals at first. If they doubled from the start, a link that was down
  // for 2 s would be silent for twice as long.
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &on, sizeof on);
  allow_silence(job::heartbeat_timeout);
}

void Link::close() {
  queue_.clear();
  sending_.clear();
  sent_ = 0;
  socket_.reset();
  timeout_at_.reset();
}

void Link::queue(const job::FrameHeader& header, std::string_view text) {
  if (!open()) return;
  const auto bytes = std::as_bytes(std::span(text.substr(0, job::max_payload)));
  queue_.push_back(
      {header, std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end())});
  queue_.back().header.total = bytes.size();
}

void Link::queue(job::FrameHeader header, SharedBytes body) {
  if (!open()) return;
  header.total = body->size();
  header.offset = 0;
  queue_.push_back({header, std::move(body)});
}

void Link::forward(const job::FrameHeader& header, SharedBytes payload) {
  if (open()) queue_.push_back({header, std::move(payload)});
}

void Link::queue_heartbeat() {
  if (!queue_.empty() || !sending_.empty()) return;
  job::FrameHeader header;
  header.kind = job::FrameKind::heartbeat;
  queue(header);
}

void Link::serialize_next() {
  Outgoing& next = queue_.front();
  auto payload = std::span(*next.body).subspan(next.serialized);
  payload = payload.first(std::min(payload.size(), job::max_payload));
  next.header.bytes = static_cast<std::uint32_t>(payload.size());
  sending_.resize(sizeof(job::FrameHeader) + payload.size());
  std::memcpy(sending_.data(), &next.header, sizeof(job::FrameHeader));
  std::copy(payload.begin(), payload.end(), sending_.begin() + sizeof(job::FrameHeader));
  seal_frame(sending_, key_, number_++);
  sent_ = 0;
  counts_.sent.add(next.header);
  next.header.offset += payload.size();
  next.serialized += payload.size();
  if (next.serialized == next.body->size()) queue_.pop_front();
}

void Link::allow_silence(double seconds) {
  last_received_at_ = Clock::now();
  timeout_at_ = after(seconds);
}

std::optional<int> Link::timed_out() {
  if (!timeout_at_ || Clock::now() < *timeout_at_) return std::nullopt;
  const std::chrono::duration<double> silence = Clock::now() - last_received_at_;
  if (silence.count() < suspended_timeout && acknowledges(socket_.get())) {
    timeout_at_ = after(std::min(job::heartbeat_interval, suspended_timeout - silence.count()));
    return std::nullopt;
  }
  return static_cast<int>(silence.count());
}

bool Link::flush() {
  while (open() && (!sending_.empty() || !queue_.empty())) {
    if (sending_.empty()) serialize_next();
    const ssize_t sent = send(socket_.get(), sending_.data() + sent_, sending_.size() - sent_,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) return false;
      // Frames that the peer sent before are still to be read; its end is detected after them.
      queue_.clear();
      sending_.clear();
      return true;
    }
    sent_ += static_cast<std::size_t>(sent);
    if (sent_ == sending_.size()) sending_.clear();
  }
  return true;
}

job::Received Link::receive() {
  for (;;) {
    job::Received received = reader_.next();
    if (received.outcome == job::Received::Outcome::frame) counts_.received.add(received.header);
    if (received.outcome != job::Received::Outcome::would_block) return received;
    const std::span<std::byte> room = reader_.free_space();
    const ssize_t got = recv(socket_.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got > 0) {
      reader_.commit(static_cast<std::size_t>(got));
      allow_silence(job::heartbeat_timeout);
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) {
      received.outcome = job::Received::Outcome::closed;
    }
    return received;
  }
}

}  // namespace gex::launch
