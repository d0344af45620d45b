#pragma once
// Frames over a stream: the connection between gexrun and the guardian of another host.
//
// A frame on a stream is its header, whose `bytes` is the size of the payload, the payload, and a
// seal: a code under the sender's key of this connection, which covers the frame and its number. A
// frame that was changed, repeated, left out, or brought from another connection or direction is
// malformed, and ends the connection.
//
// Sends never block: frames that the stream does not accept are queued.
//
// Both ends send a heartbeat every `heartbeat_interval`. A lost host or a cut link is therefore
// detected after `heartbeat_timeout` without a frame; the kernel would take minutes. The timeout
// tolerates a host that is suspended for 3 s and a link that is down for 2 s: it also covers the
// interval and the kernel's retransmission delay. If the peer's kernel acknowledges data, host and
// link are up, and the peer process exists, since the connection would be closed otherwise. It only
// does not run, because of oversubscription or because it is suspended, and gets
// `suspended_timeout`.

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/deadline.h"
#include "job/protocol.h"
#include "launch/channel.h"
#include "launch/hosts/secret.h"
#include "launch/link_keys.h"

namespace gex::launch {

inline constexpr double suspended_timeout = 20;

/// Appends the seal of the frame with that number, from 0, of its connection and direction.
void seal_frame(std::vector<std::byte>& frame, const Secret& key, std::uint64_t number);

/// Splits a stream of bytes into frames. Buffers at most one incomplete frame.
class FrameReader {
 public:
  explicit FrameReader(const Secret& key = Secret(Secret::Bytes{})) : key_(key) {}

  /// The space for the next bytes of the stream; the caller passes their number to `commit`.
  std::span<std::byte> free_space();
  void commit(std::size_t bytes) noexcept { filled_ += bytes; }

  /// The next frame: `frame`, `would_block` if it is incomplete, or `malformed`, after which the
  /// stream is unusable. The payload is valid until the next call of `free_space`.
  job::Received next();

 private:
  bool check_seal(std::span<std::byte> frame);

  std::vector<std::byte> bytes_ =
      std::vector<std::byte>(2 * (sizeof(job::FrameHeader) + job::max_payload + Secret::size));
  std::size_t begin_ = 0;
  std::size_t filled_ = 0;
  Secret key_;
  std::uint64_t number_ = 0;  ///< of the next frame
};

/// Frames on links, and their bytes on the wire.
struct LinkCounts {
  struct Direction {
    std::uint64_t frames = 0;
    std::uint64_t exchange_frames = 0;  ///< those of exchanges among ranks
    std::uint64_t bytes = 0;

    void add(const job::FrameHeader& header);
    void add(const Direction& other);
  };
  Direction sent;
  Direction received;

  void add(const LinkCounts& other);
};

/// One end of a stream of frames. Thread rules: one thread.
class Link {
 public:
  Link() = default;
  /// The socket is made non-blocking.
  explicit Link(os::FileDescriptor socket, const LinkKeys& keys = {});

  int socket() const noexcept { return socket_.get(); }
  bool open() const noexcept { return static_cast<bool>(socket_); }
  void close();

  /// Queues a frame; a text longer than a frame is truncated.
  void queue(const job::FrameHeader& header, std::string_view text = {});
  /// Queues `body` as frames of at most `max_payload` bytes, each headed by `header` with `total`
  /// and `offset` filled in. An empty body is one frame.
  void queue(job::FrameHeader header, SharedBytes body);
  /// Queues a frame that another link has received, as it is.
  void forward(const job::FrameHeader& header, SharedBytes payload);
  /// Queues a heartbeat, unless frames are queued already, which serve as well.
  void queue_heartbeat();

  /// Sends as much as the socket accepts. Returns false if the rest waits for it to be writable.
  bool flush();

  /// Receives the next frame, and restarts the timeout if any data has arrived.
  job::Received receive();

  /// When to call `timed_out` next; empty while the peer may be silent for ever.
  const Deadline& timeout_at() const noexcept { return timeout_at_; }
  /// Counts of what this link has sent and received, but for heartbeats.
  const LinkCounts& counts() const noexcept { return counts_; }
  /// The seconds since data was last received, if the peer has timed out. To be called before the
  /// heartbeat that is due is sent, which the peer's kernel cannot have acknowledged at once.
  std::optional<int> timed_out();
  /// Lets the peer be silent, until the next data arrives or for that many seconds, because it is
  /// suspended or busy.
  void allow_silence() noexcept { timeout_at_.reset(); }
  void allow_silence(double seconds);

 private:
  struct Outgoing {
    job::FrameHeader header;
    SharedBytes body;
    std::size_t serialized = 0;  ///< bytes of it
  };
  void serialize_next();

  os::FileDescriptor socket_;
  std::deque<Outgoing> queue_;
  std::vector<std::byte> sending_;  ///< one frame, of which `sent_` bytes are sent
  std::size_t sent_ = 0;
  Secret key_{Secret::Bytes{}};
  std::uint64_t number_ = 0;  ///< of the next frame
  FrameReader reader_;
  LinkCounts counts_;
  Clock::time_point last_received_at_;
  Deadline timeout_at_;
};

}  // namespace gex::launch
