#pragma once
// The ranks of a job over a simulated network, as objects of one process.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "../recognisable.h"
#include "net/udp/endpoint.h"
#include "simulated_network.h"

namespace gex::net::udp::test {

inline constexpr std::size_t everything = SIZE_MAX;
inline constexpr std::uint32_t both = 3;

/// (this rank, source, channel, message).
using Handler =
    std::function<void(std::uint32_t, std::uint32_t, Channel, std::span<const std::byte>)>;
inline Handler handler;
inline thread_local std::uint32_t current_rank;

inline void deliver(std::uint32_t source, Channel channel, const void* message, std::size_t size) {
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message) % 16, 0U);
  const std::uint32_t me = current_rank;
  handler(me, source, channel, {static_cast<const std::byte*>(message), size});
  current_rank = me;
}
inline void complete(void* target) {
  std::atomic_ref(*static_cast<int*>(target)).fetch_add(1);
}
inline void die(const char* text) {
  std::fprintf(stderr, "%s\n", text);
  std::_Exit(7);
}

/// A message that can be recognised.
inline std::vector<std::byte> message_of(std::uint32_t sender, std::uint32_t number,
                                         std::size_t size) {
  std::vector<std::byte> bytes(std::max<std::size_t>(size, 8));
  std::memcpy(bytes.data(), &sender, 4);
  std::memcpy(bytes.data() + 4, &number, 4);
  gex::test::fill_recognisably(bytes.data() + 8, bytes.size() - 8, sender, number);
  return bytes;
}
inline std::uint32_t number_of(std::span<const std::byte> message) {
  std::uint32_t sender, number;
  EXPECT_GE(message.size(), 8U);
  std::memcpy(&sender, message.data(), 4);
  std::memcpy(&number, message.data() + 4, 4);
  const auto expected = message_of(sender, number, message.size());
  EXPECT_EQ(std::memcmp(expected.data(), message.data(), message.size()), 0);
  return number;
}

/// Peers whose settings are listed.
struct Listed final : PeerDirectory {
  explicit Listed(std::vector<PeerSettings> all) : peers(std::move(all)) {}
  std::size_t ranks() const noexcept override { return peers.size(); }
  PeerBounds bounds() const noexcept override { return PeerBounds::of(peers); }
  PeerSettings settings_of(std::uint32_t rank) const override { return peers[rank]; }
  std::uint32_t session_of(std::uint32_t rank) const noexcept override {
    return peers[rank].session;
  }
  std::vector<PeerSettings> peers;
};

class Ranks {
 public:
  static constexpr std::size_t max_message = 16640;

  /// `session`: of rank 0, the next one's that of rank 1.
  /// `threaded`: several threads may use a rank's endpoint.
  explicit Ranks(std::uint32_t count, const Faults& faults, EndpointSettings settings = {},
                 std::uint32_t session = 0x1000, bool threaded = false)
      : network(faults) {
    settings.max_message = max_message;
    if (settings.depth == 0) settings.depth = 16;
    std::vector<PeerSettings> peers(count);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      PeerSettings& peer = peers[rank];
      peer.address = SimulatedNetwork::address_of(rank);
      peer.session = session + rank;
      peer.datagram = std::min<std::size_t>(faults.max_datagram, 65504);
      if (faults.searches)
        peer.path = {.least = 548,
                     .start = 1252,
                     .max = static_cast<std::uint32_t>(peer.datagram),
                     .headers = 28};
      peer.first_window = first_window(faults.receive_buffer, 4480, count);
      // Over a real network, where the links have a rate.
      const bool is_far = faults.rate != 0;
      peer.congestion = {.initial = is_far ? std::size_t{16 * 2240} : faults.receive_buffer,
                         .least = is_far ? 4480U : 8192U,
                         .max = faults.receive_buffer,
                         .delay_counts = is_far};
      peer.is_paced = is_far && faults.is_paced;
    }
    directory = std::make_unique<Listed>(std::move(peers));
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      hosts.push_back(Host{.version = interface_version,
                           .rank = rank,
                           .size = count,
                           .threaded = threaded ? 1U : 0U,
                           .deliver = deliver,
                           .complete = complete,
                           .fatal = die});
      sockets.push_back(network.open(rank));
      segments.push_back(std::make_unique<Segments>(threaded));
      settings.session = directory->session_of(rank);
      endpoints.push_back(std::make_unique<Endpoint>(hosts.back(), *sockets.back(), seal,
                                                     *segments.back(), settings, *directory));
      EXPECT_TRUE(endpoints.back()->has_memory());
    }
  }
  ~Ranks() {
    for (auto& endpoint : endpoints) endpoint->check_invariants();
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(endpoints.size()); }
  SendResult send(std::uint32_t from, Channel channel, std::uint32_t to,
                  const std::vector<std::byte>& bytes) {
    const std::size_t cut = bytes.size() / 3;
    const Piece pieces[] = {{bytes.data(), cut},
                            {nullptr, 0},
                            {bytes.data() + cut, 1},
                            {bytes.data() + cut + 1, bytes.size() - cut - 1}};
    return endpoints[from]->send(channel, to, pieces, network.now);
  }
  std::size_t poll(std::uint32_t rank, std::uint32_t channels = both,
                   std::size_t max = everything) {
    current_rank = rank;
    return endpoints[rank]->poll(channels, max, network.now);
  }
  /// All ranks poll once, and some time passes.
  void step(Time by = 1000) {
    for (std::uint32_t rank = 0; rank < size(); ++rank) poll(rank);
    network.now += by;
  }
  /// Until `is_done`, within some seconds of the network's time.
  template <class Done>
  bool run_until(Done is_done, Time limit = 20'000'000'000) {
    const Time end = network.now + limit;
    while (!is_done()) {
      if (network.now > end) return false;
      step();
    }
    return true;
  }
  bool settle() {
    return run_until([&] {
      for (auto& endpoint : endpoints)
        if (!endpoint->is_quiet()) return false;
      return true;
    });
  }

  SimulatedNetwork network;
  Seal seal{SipKey{1, 2}};
  std::deque<Host> hosts;
  std::vector<std::unique_ptr<Socket>> sockets;
  std::vector<std::unique_ptr<Segments>> segments;
  std::unique_ptr<Listed> directory;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
};

}  // namespace gex::net::udp::test
