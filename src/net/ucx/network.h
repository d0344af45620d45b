#pragma once
// One process's end of a job's network over UCX: the messages of one worker.
//
// Both channels share the worker and one endpoint for each peer. They do not block one another all
// the same:
//  - UCX takes any number of messages and keeps what it cannot send yet, without a bound. So each
//    message leaves from a buffer of the conduit's, of which each channel to each peer has a
//    number of its own (net/kit/channel_buffers.h): that is the bound, and a reply is accepted even
//    if its receiver never polls.
//  - A receiver takes in everything that arrives, whichever channel it polls. UCX's callback, out
//    of which nothing of UCX may be called, only puts the message's place in a queue; it stays
//    where UCX has it until its handler has run. A small one is copied into the queue.
//
// Nothing moves unless both ends poll.
//
// Requires: `host` outlives this object.
//
// Thread rules: as `Host::threaded` allows, and `poll` may be called from within Host::deliver.

#include <gex/plugin/conduit.h>
#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "net/kit/arrivals.h"
#include "net/kit/channel_buffers.h"
#include "net/kit/handshakes.h"
#include "net/kit/stray_warning.h"
#include "net/ucx/endpoints.h"
#include "net/ucx/one_sided.h"
#include "net/ucx/send_buffer.h"
#include "net/ucx/wire.h"
#include "net/ucx/worker.h"

namespace gex::net::ucx {

/// A message that has arrived.
struct Arrival {
  std::byte* kept;  ///< UCX keeps it there; null: it is `copy`
  std::uint32_t size;
  std::uint32_t source;
  alignas(message_alignment) std::array<std::byte, max_copied> copy;
};

class Network {
 public:
  /// `takes_offers`: of the first lane, to which peers offer further ones.
  Network(const Host& host, Worker& worker, Endpoints& endpoints, OneSided& one_sided,
          bool takes_offers);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Ready to receive. `key_bytes`: of segments' keys, which the ranks have agreed on.
  bool start(std::size_t key_bytes, std::string& error);

  /// See net/kit/handshakes.h.
  void connect_neighbors();

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces);
  std::size_t poll(std::uint32_t channels, std::size_t max);
  /// As of a conduit, for this worker: 1 with its descriptor, or what else that returns.
  std::int32_t prepare_wait(int& descriptor, std::uint64_t& limit_ns);
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size) {
    return buffers_.build(channel, peer, size);
  }
  void release(void* payload) { buffers_.release(payload); }
  /// Returns true if this is a place that `buffer` has given.
  bool has_built(const void* payload) const noexcept { return pool_.built_at(payload) != nullptr; }

  /// Offers a peer a lane; false: no room now.
  bool send_offer(std::uint32_t peer, std::uint32_t lane, std::span<const std::byte> address);
  bool has_offers() const noexcept { return any_offers_.load(std::memory_order_relaxed); }
  /// Returns what peers have offered since the last call.
  std::vector<LaneOffer> take_offers();

  // The process leaves: no other thread runs.

  void begin_to_leave();
  /// Messages and operations that are not complete.
  std::size_t under_way() const noexcept {
    return in_flight_.load(std::memory_order_relaxed) + one_sided_.under_way();
  }
  /// Moves on what is under way.
  void advance() { progress(); }
  /// Drops what has arrived and was not polled for, and what still comes.
  void finish_leaving();

 private:
  void give_back(SendBuffer& buffer);
  /// Sends a message of the conduit's own; false: no buffer is free.
  bool send_own(Kind kind, std::uint32_t peer, std::span<const Piece> content);
  /// Gives UCX a filled buffer.
  void post(SendBuffer& buffer, std::size_t size);
  static void sent_off(void* request, ucs_status_t status, void* buffer);
  static ucs_status_t arrived(void* network, const void* header, std::size_t header_size,
                              void* data, std::size_t size, const ucp_am_recv_param_t* parameters);
  /// `may_stay`: UCX keeps the message until it is given back.
  ucs_status_t handle_message(const void* header, std::size_t header_size, void* data,
                              std::size_t size, bool may_stay);
  void deliver(Channel channel, const Arrival& arrival);

  /// Lets UCX make progress. Only one thread does at a time; others find nothing to do.
  void progress();
  /// Gives UCX back what a message lay in.
  void give_up(std::byte* message);

  const Host& host_;
  Worker& worker_;
  Endpoints& endpoints_;
  OneSided& one_sided_;
  const bool threaded_;
  const bool takes_offers_;
  SendPool pool_;
  ChannelBuffers<SendBuffer> buffers_;
  ChannelArrivals<Arrival> arrivals_;
  Handshakes handshakes_;
  StrayWarning strays_;

  std::mutex handled_mutex_;
  std::vector<std::byte*> handled_;         ///< messages that UCX is to be given back
  std::vector<std::byte*> given_back_now_;  ///< those that are being given back
  std::atomic<bool> any_handled_{false};

  std::vector<LaneOffer> offers_;  ///< with the worker in use
  std::atomic<bool> any_offers_{false};

  bool has_moved_ = false;  ///< anything since the last `prepare_wait`; with the worker in use
  std::atomic<std::size_t> in_flight_{0};  ///< buffers that UCX has
  bool leaving_ = false;
  bool drops_arrivals_ = false;
};

}  // namespace gex::net::ucx
