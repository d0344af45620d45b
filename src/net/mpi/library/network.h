#pragma once
// One process's end of a job's network over MPI: messages only.
//
//  - A message is copied into a buffer of its sender's, or was built in it, and goes by MPI_Isend.
//    Small ones are complete at once; the others keep the buffer until a later poll. Each channel
//    to each peer has `depth` of them, out of a pool that has enough for what may be under way to
//    all (`total_depth`). So a reply is accepted even if its receiver never polls.
//  - To receive, each channel has persistent receives from any source posted on its communicator.
//    The oldest completes first, but where a large message waits for its sender: now and then all
//    are looked at.
//
// MPI is called by one thread at a time, under one lock, which no handler ever sees held. A thread
// that polls and finds it taken has nothing to do.
//
// Once MPI is finalized, by any caller, nothing arrives any more.
//
// Thread rules: as `Host::threaded` allows, and `poll` may be called from within Host::deliver.

#include <gex/plugin/conduit.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "net/kit/send_pool.h"
#include "net/mpi/library/session.h"

namespace gex::net::mpi {

/// Payload that am/ can build in place or send in one message, beside room for its header.
inline constexpr std::size_t payload_room = 65536;
inline constexpr std::size_t header_room = 256;
inline constexpr std::size_t max_message = payload_room + header_room;

/// Messages of one channel that one rank holds in buffers for another, and for all others.
inline constexpr std::uint32_t depth = 32;
inline constexpr std::uint32_t total_depth = 2048;

/// Stands in front of a buffer's bytes.
struct alignas(64) SendBuffer {
  MPI_Request request;
  std::uint32_t peer;
  Channel channel;

  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  std::byte* payload() noexcept { return bytes() + header_room; }
};

class Network {
 public:
  Network(const Host& host, Session& session);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network();

  /// Ready to receive.
  bool start(std::string& error);

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces);
  std::size_t poll(std::uint32_t channels, std::size_t most);
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size);
  void release(void* payload);

  /// Waits until all that was sent has been taken, on all ranks. No other thread runs.
  void leave();

 private:
  /// Receives posted for each channel.
  static constexpr std::size_t slots = 16;
  struct Slot {
    std::byte* memory;
    MPI_Request request;
    std::uint32_t source;
    std::size_t size;
  };
  struct Incoming {
    std::array<Slot, slots> all;
    std::vector<Slot*> posted;  ///< oldest first
    std::deque<Slot*> arrived;  ///< to be delivered
  };
  using Held = std::array<std::uint32_t, 2>;  ///< buffers, by channel

  static constexpr std::uint32_t max_held(Channel channel) noexcept {
    // A reply may have been handled, and the request that it made room for have been answered,
    // before this process has read that its buffer is free.
    return channel == reply_channel ? 2 * depth : depth;
  }
  SendBuffer* take_buffer(Channel channel, std::uint32_t peer);
  void give_back(SendBuffer& buffer);
  void check(int code, const char* call) const;

  // With the lock held.
  void post(Slot& slot);
  void advance();
  void take_arrivals();
  void take_all_arrivals(Incoming& incoming);
  void arrived(Incoming& incoming, std::size_t place, const MPI_Status& status);
  void complete_sends();
  /// MPI is about to be finalized.
  void close();

  const Host& host_;
  Session& session_;
  const bool threaded_;
  const bool tests_before_progress_;
  SendPool<SendBuffer> pool_;
  std::mutex mutex_;
  bool is_closed_ = false;
  std::vector<Held> held_;  ///< by peer
  std::vector<SendBuffer*> in_flight_;
  std::size_t next_in_flight_ = 0;
  std::byte* receive_memory_ = nullptr;
  std::array<Incoming, 2> incoming_;
  std::uint32_t empty_polls_ = 0;    ///< in a row
  std::uint32_t first_channel_ = 0;  ///< that was looked at first
};

}  // namespace gex::net::mpi
