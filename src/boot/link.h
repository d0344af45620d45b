#pragma once
// Frames over a stream: what the guardians of several hosts and gexrun say to each other.
//
// A frame on a stream is its header, whose `bytes` is the size of the payload, and the payload.
// Sends never block: what the stream does not take waits in a queue.
//
// Both ends send a heartbeat every `heartbeat_interval`, so that a host that is gone, or a link
// that is cut, is noticed after `silence_limit` of silence; the kernel would take minutes. A host
// that stands still for 3 s, or a link that is down for 2, is survived: what then passes until the
// other end is heard again is the interval, and what the kernel waits before it sends once more.
// Where the other end's kernel acknowledges what is sent to it, host and link live, and a process
// that has ended would have closed the connection: it is only kept from a processor, by ranks that
// outnumber them or by who has frozen it, and may be silent for `frozen_limit`.

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "boot/channel.h"
#include "boot/deadline.h"
#include "boot/protocol.h"

namespace gex::boot {

inline constexpr double heartbeat_interval = 0.5;
inline constexpr double silence_limit = 4;
inline constexpr double frozen_limit = 20;

/// Cuts a stream of bytes into frames. Keeps at most one frame that is not yet whole.
class FrameReader {
 public:
  /// Where the next bytes of the stream are to be written; `took` says how many were.
  std::span<std::byte> room();
  void took(std::size_t bytes) noexcept { filled_ += bytes; }

  /// The next frame: `frame`, `would_block` when it is not whole yet, or `malformed`, after which
  /// the stream is of no more use. The payload is valid until the next call of `room`.
  Received next();

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(2 * (sizeof(FrameHeader) + max_payload));
  std::size_t begin_ = 0;
  std::size_t filled_ = 0;
};

/// One end of such a stream. Thread rules: one thread.
class Link {
 public:
  Link() = default;
  /// The socket is made non-blocking.
  explicit Link(os::FileDescriptor socket);

  int socket() const noexcept { return socket_.get(); }
  bool open() const noexcept { return static_cast<bool>(socket_); }
  void close();

  /// Queues a frame; a text longer than a frame is cut.
  void queue(const FrameHeader& header, std::string_view text = {});
  /// Queues `body` as frames of at most `max_payload` bytes, each headed by `header` with `total`
  /// and `offset` filled in. An empty body is one frame.
  void queue(FrameHeader header, SharedBytes body);
  /// Queues a heartbeat, unless something is under way that says as much.
  void beat();

  /// Sends what can be sent. False: some of it waits until the socket is writable.
  bool flush();

  /// The next frame; also notes that the other end was heard.
  Received receive();

  /// When `too_silent` is to be asked next; none while the other end may be silent for ever.
  const Deadline& silent_at() const noexcept { return silent_at_; }
  /// For how many seconds nothing was heard of the other end, when that is too long.
  std::optional<int> too_silent();
  /// The other end is stopped, or busy: it may be silent until it is heard again, or for so long.
  void expect_silence() noexcept { silent_at_.reset(); }
  void expect_silence(double seconds);

 private:
  struct Outgoing {
    FrameHeader header;
    SharedBytes body;
  };
  void serialize_next();

  os::FileDescriptor socket_;
  std::deque<Outgoing> queue_;
  std::vector<std::byte> sending_;  ///< one frame, of which `sent_` bytes are sent
  std::size_t sent_ = 0;
  FrameReader reader_;
  Clock::time_point heard_at_;
  Deadline silent_at_;
};

}  // namespace gex::boot
