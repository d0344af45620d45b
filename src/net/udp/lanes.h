#pragma once
// The endpoints of a process, so that its threads do not share one socket and one lock.
//
// All ranks have the same number of lanes. A thread sends over the lane of its number, to the lane
// of that number at the peer, and begins its polls there; nothing relies on an order between lanes,
// and everything that an Endpoint keeps of peers it keeps for each lane by itself. The sockets are
// there from the start, an endpoint once its lane is used here or looked at for what others send.
//
// A poll that finds nothing on its own lane visits one more: one on which something came lately,
// or, now and then, any. It leaves alone a lane that a thread of that lane has polled since the
// visit before. So what comes over a lane whose thread has ended, or that has none here, is
// delivered. A thread that sleeps is woken by what comes over any lane, and looks at all of them.
//
// Thread rules: all but the constructor and `leave` any.

#include <gex/plugin/conduit.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "net/kit/segments.h"
#include "net/udp/directory.h"
#include "net/udp/endpoint.h"
#include "net/udp/seal.h"
#include "net/udp/socket.h"

namespace gex::net::udp {

class Lanes {
 public:
  static constexpr std::uint32_t max_lanes = 8;

  /// How many lanes a process may have: `wanted`, or, if that is 0, as many as threads of the rank
  /// may run at once, up to 4. One without threads, and fewer where there are many ranks.
  static std::uint32_t count_for(const Host& host, std::uint32_t wanted);

  /// The parts of a lane.
  struct Parts {
    std::unique_ptr<Socket> socket;
    std::unique_ptr<PeerDirectory> peers;
    std::uint32_t session;
  };

  Lanes(const Host& host, Seal seal, const EndpointSettings& settings, std::vector<Parts> parts);
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// False: there was no memory; the object must not be used.
  bool has_memory() const noexcept { return first_->has_memory(); }

  static void enter(std::uint32_t number) noexcept;
  /// Returns the endpoint of the calling thread.
  Endpoint& own();
  Endpoint& first() noexcept { return *first_; }
  /// Returns the endpoint in which a payload was built at this address; the calling thread's own if
  /// none was. A thread may have got its lane since.
  Endpoint& holder(const void* payload);
  Segments& segments() noexcept { return segments_; }
  /// See Endpoint::forget.
  void forget(const Segments::Range& memory);

  std::size_t poll(std::uint32_t channels, std::size_t max, Time now);
  /// See Endpoint::may_wait; for what comes on any lane. Fills `descriptors` from the first and
  /// returns how many, or `poll_again`. The next poll looks at all lanes.
  std::int32_t prepare_wait(std::span<int> descriptors, Time now, Time& until);

  /// Returns the counts of all of them in a line; empty: all are 0.
  std::string counts_text();
  /// With how many peers this process had to do, in a line.
  std::string peers_text();
  /// To which ranks packets are smaller than the interface takes, in a line; empty: to none.
  std::string paths_text();

  /// Returns when peers have everything that they were sent, or after some seconds of silence.
  void leave(Time (*clock)() noexcept);

 private:
  struct Lane {
    Parts parts;
    std::unique_ptr<Endpoint> made;
    std::atomic<Endpoint*> endpoint{nullptr};
    alignas(64) std::atomic<std::uint32_t> own_polls{
        0};  ///< by its own threads; counts about right
    std::atomic<std::uint32_t> polls_at_visit{0};
    std::atomic<std::uint64_t> received_at_visit{0};
    std::atomic<std::uint32_t> idle_visits{idle_limit};  ///< in a row
  };
  /// After so many visits without anything a lane is visited rarely.
  static constexpr std::uint32_t idle_limit = 256;
  /// One in so many polls that found nothing visits any lane.
  static constexpr std::uint32_t rarely = 16;

  Endpoint& open(std::uint32_t number);
  std::size_t poll_all(std::uint32_t channels, std::size_t max, Time now);
  std::size_t visit(std::uint32_t number, std::uint32_t channels, std::size_t max, Time now);

  const Host& host_;
  const Seal seal_;
  Segments segments_;
  const EndpointSettings settings_;
  const std::uint32_t count_;
  std::array<Lane, max_lanes> lanes_;
  Endpoint* first_;
  std::atomic<std::uint32_t> turn_{0};
  std::atomic<bool> has_waited_{false};  ///< and no poll has looked at all lanes since
  std::mutex mutex_;                     ///< of opening
};

}  // namespace gex::net::udp
