#pragma once
// One process's end of a job's network over MPI.
//
//  - A message is copied into a buffer of its sender's, or was built in it, and goes by MPI_Isend.
//    The buffer is free again once MPI has taken the message, small ones at once. Each channel
//    to each peer has a number of them, so a reply is accepted even if its receiver never polls
//    (net/kit/channel_buffers.h). MPI is asked for several buffers at a time, or when one is
//    wanted: MPI_Test behind each MPI_Isend would wait until the processor has written the
//    message, and over Open MPI that was half of a sender's time.
//  - To receive, persistent receives from any source of any tag are posted; the tag is the channel,
//    or that of control messages of puts and gets (one_sided.h). Round trips take 1.01 to 1.04
//    times MPI_Send with MPI_Recv so, by MPI_Improbe or MPI_Iprobe up to 1.24 times. A poll asks
//    for the oldest, which completes first, but where a large message waits for its sender: now and
//    then all are looked at. What has arrived on a channel that is not to be delivered keeps its
//    slot, and more slots are made, of which there are enough for all that credits allow.
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

#include "net/kit/arrivals.h"
#include "net/kit/channel_buffers.h"
#include "net/kit/send_pool.h"
#include "net/mpi/library/one_sided.h"
#include "net/mpi/library/session.h"

namespace gex::net::mpi {

/// Payload that am/ can build in place or send in one message, beside room for its header.
inline constexpr std::size_t payload_room = 65536;
inline constexpr std::size_t header_room = 256;
inline constexpr std::size_t max_message = payload_room + header_room;

/// Stands in front of a buffer's bytes.
struct alignas(64) SendBuffer {
  static constexpr MessageRoom room{0, header_room, payload_room};

  MPI_Request request;
  std::uint32_t peer;
  Channel kind;
  std::byte* start;

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
  std::size_t poll(std::uint32_t channels, std::size_t max);
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size);
  void release(void* payload);

  bool register_segment(const SegmentMemory& memory, void* key);
  void deregister_segment(const void* key);
  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done);
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done);

  /// Waits until all that was sent has been taken, on all ranks. No other thread runs.
  void leave();

 private:
  /// Receives that are posted.
  static constexpr std::size_t slots = 16;
  struct Slot {
    std::byte* memory;
    MPI_Request request;
    std::uint32_t source;
    std::size_t size;
  };
  void check(int code, const char* call) const;
  [[noreturn]] void refuse_after_finalization(const char* what) const;

  // With the lock held.
  void post(Slot& slot);
  void post_more();
  void give_back(Slot& slot);
  void advance();
  void collect_arrivals();
  void collect_all_arrivals();
  void arrived(Slot& slot, const MPI_Status& status);
  void complete_sends();
  void complete_all_sends();
  /// MPI is about to be finalized.
  void close();

  const Host& host_;
  Session& session_;
  const bool threaded_;
  SendPool<SendBuffer> pool_;
  ChannelBuffers<SendBuffer> buffers_;
  std::mutex mutex_;
  bool is_closed_ = false;
  const MPI_Request complete_request_;
  std::vector<SendBuffer*> in_flight_;
  std::size_t next_in_flight_ = 0;
  std::byte* receive_memory_ = nullptr;
  const std::size_t max_slots_;
  std::deque<Slot> all_slots_;  ///< that were made
  std::vector<Slot*> free_slots_;
  std::deque<Slot*> posted_;         ///< oldest first
  ChannelArrivals<Slot*> arrivals_;  ///< to be delivered
  std::uint32_t empty_polls_ = 0;    ///< in a row
  bool took_control_ = false;        ///< in this poll
  OneSided one_sided_;
};

}  // namespace gex::net::mpi
