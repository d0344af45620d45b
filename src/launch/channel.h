#pragma once
// The guardian's end of one rank's control socket.
//
// Sends never block: frames that the socket does not accept are queued. The payload of a frame to
// all ranks is shared by their queues.

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "job/protocol.h"

namespace gex::launch {

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;
using SharedDescriptor = std::shared_ptr<const os::FileDescriptor>;

/// Thread rules: one thread.
class Channel {
 public:
  Channel() = default;
  explicit Channel(os::FileDescriptor socket) noexcept : socket_(std::move(socket)) {}

  int socket() const noexcept { return socket_.get(); }
  bool open() const noexcept { return static_cast<bool>(socket_); }

  /// Queues a frame without payload.
  void queue(const job::FrameHeader& header, SharedDescriptor descriptor = nullptr);
  /// Queues `body` as frames of at most `max_payload` bytes, each headed by `header` with `total`
  /// and `offset` filled in. An empty body is one frame. A descriptor goes with the first.
  void queue(job::FrameHeader header, SharedBytes body, SharedDescriptor descriptor = nullptr);

  enum class State {
    idle,     ///< the queue is empty
    blocked,  ///< frames wait for the socket to be writable
    starved,  ///< too many descriptors are in flight; retry, since no event signals the end of that
    broken,   ///< the rank's end is closed; queued frames were dropped
  };
  /// Sends as many frames as the socket accepts.
  State flush();

  job::Received receive(job::FrameBuffer& buffer) {
    return job::receive_frame(socket_.get(), buffer, /*wait=*/false);
  }

  void close();

  /// Releases the socket. Requires an empty queue.
  os::FileDescriptor release() noexcept { return std::move(socket_); }

 private:
  struct Outgoing {
    job::FrameHeader header;
    SharedBytes body;
    SharedDescriptor descriptor;
  };

  os::FileDescriptor socket_;
  std::deque<Outgoing> queue_;
};

}  // namespace gex::launch
