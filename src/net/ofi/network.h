#pragma once
// One process's end of a job's network over libfabric: the messages of one of its endpoints. A
// process has one for each lane that it has opened (lanes.h), independent of each other.
//
// Both channels share one endpoint and one completion queue, so that a poll looks at one place and
// a pair of ranks has one connection. They do not block one another all the same:
//  - A sender copies what the provider does not take at once into a buffer of its own and offers it
//    again in later polls. Each channel to each peer has buffers of its own
//    (net/kit/channel_buffers.h). So a reply is accepted even if its receiver never polls.
//  - A receiver takes in everything that arrives, whichever channel it polls; what it does not want
//    yet waits in the memory into which it came (receive_buffers.h).
//
// Progress is manual: nothing moves unless both ends poll.
//
// Requires: `send` and `buffer` only to peers to which the endpoint has a message route; `host`
// outlives this object.
//
// Thread rules: as `Host::threaded` allows, and `poll` may be called from within Host::deliver.

#include <gex/plugin/conduit.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/zeroed_table.h"
#include "net/kit/arrivals.h"
#include "net/kit/channel_buffers.h"
#include "net/kit/handshakes.h"
#include "net/kit/loss_detector.h"
#include "net/kit/stray_warning.h"
#include "net/ofi/endpoint.h"
#include "net/ofi/one_sided.h"
#include "net/ofi/receive_buffers.h"
#include "net/ofi/registration.h"
#include "net/ofi/send_pool.h"
#include "net/ofi/wire.h"

namespace gex::net::ofi {

/// A message that has arrived.
struct Arrival {
  const std::byte* message;
  std::size_t size;
  std::uint32_t source;
  ReceiveBuffers::Buffer* buffer;  ///< in which it lies
};

/// Takes offers of peers' lanes. Called with the lock of the reading of completions held.
class OfferSink {
 public:
  virtual void handle_offer(std::uint32_t source, const LaneOffer& offer) = 0;

 protected:
  ~OfferSink() = default;
};

class Network {
 public:
  /// `one_sided` gets the completions of its operations. `offers` is null for the endpoint of a
  /// further lane; the first lane's gets `offers_per_peer` messages for each peer more to send.
  Network(const Host& host, Endpoint& endpoint, Registrar& registrar, OneSided& one_sided,
          OfferSink* offers, std::size_t offers_per_peer);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Ready to receive.
  bool start(std::string& error) { return receive_.start(error); }

  /// See net/kit/handshakes.h. Does nothing over a provider without connections, but with all ranks
  /// over one that opens a peer's file at the first contact.
  void connect_neighbors();

  /// Makes a connection with an endpoint of the peer's, and routes one-sided operations to it once
  /// it is there; messages as well, unless it is the endpoint of the peer's first lane. A peer that
  /// cannot be reached that way keeps the routes that it has.
  void connect(std::uint32_t peer, fi_addr_t address);
  /// False: no room now.
  bool send_offer(std::uint32_t peer, const LaneOffer& offer);

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces);
  std::size_t poll(std::uint32_t channels, std::size_t max);
  /// As of a conduit, for this endpoint: 1 with its descriptor, or what else that returns.
  std::int32_t prepare_wait(int& descriptor, std::uint64_t& limit_ns);
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size) {
    return buffers_.build(channel, peer, size);
  }
  void release(void* payload) { buffers_.release(payload); }
  /// Returns true if this is a place that `buffer` has given.
  bool has_built(const void* payload) const noexcept { return pool_.built_at(payload) != nullptr; }

  // The process leaves: no other thread runs.

  /// Sends a farewell to all peers to which something was sent.
  void begin_to_leave();
  /// Messages that peers have not taken yet.
  std::size_t under_way() const noexcept;
  /// Checks in the checking form that no buffer was lost, if nothing is under way.
  void finish_leaving() const;
  /// Moves on what is under way.
  void advance() { progress(); }

 private:
  struct alignas(64) PeerState {
    std::uint64_t refused_in_round = 0;  ///< round of retries in which it took no more
    std::uint32_t tallies = 0;           ///< that have not gone yet; as `progress`, one thread's
  };

  void give_back(SendBuffer& buffer);
  /// Sends a message of the conduit's own; false: no buffer is free. `content` is a multiple of
  /// `message_alignment` long.
  bool send_own(Kind kind, std::uint32_t peer, fi_addr_t route,
                std::span<const std::byte> content = {});
  /// Returns true if the job goes on without this message: its peer may have left.
  bool is_optional(Kind kind) const noexcept;
  /// Gives a filled buffer to the provider, now or in a later poll.
  void post(SendBuffer& buffer);
  bool try_post(SendBuffer& buffer);
  void retry_postponed();

  /// A reading of completions has one of these results.
  enum class Progress : std::uint8_t { nothing, something, more_likely };
  /// Reads completions once. Only one thread does at a time; others find nothing to do.
  Progress progress();
  void completed(const fi_cq_data_entry& entry);
  void failed();
  void arrived(const fi_cq_data_entry& entry, ReceiveBuffers::Buffer& buffer);
  void deliver(Channel channel, const Arrival& arrival);
  void sent_off(SendBuffer& buffer);
  /// Asks peers what has come of all that was sent to them; now and then.
  void look_for_losses();
  bool send_tally(std::uint32_t peer, const Tally& tally);
  void handle_tally(std::uint32_t peer, const Tally& tally);

  const Host& host_;
  Endpoint& endpoint_;
  OneSided& one_sided_;
  OfferSink* const offers_;
  bool threaded_;
  std::size_t inject_limit_;
  SendPool pool_;
  ChannelBuffers<SendBuffer> buffers_;
  ReceiveBuffers receive_;
  ChannelArrivals<Arrival> arrivals_;
  Handshakes handshakes_;
  StrayWarning strays_;
  ZeroedTable<PeerState> peers_;

  LossDetector losses_;
  std::uint32_t looks_ = 0;

  std::mutex progress_mutex_;
  std::uint32_t empty_readings_ = 0;  ///< in a row
  std::uint64_t received_ = 0;        ///< completions of receives
  bool has_read_ = false;             ///< any completions since the last `prepare_wait`
  std::chrono::steady_clock::time_point last_seen_waiting_;
  std::uint64_t round_ = 0;

  std::mutex postponed_mutex_;
  std::vector<SendBuffer*> postponed_;
  std::atomic<std::size_t> postponed_count_{0};

  std::atomic<std::size_t> in_flight_{0};  ///< buffers that the provider has
  bool leaving_ = false;
  bool warned_of_error_ = false;
};

}  // namespace gex::net::ofi
