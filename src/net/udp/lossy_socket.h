#pragma once
// A socket that treats what it sends as a bad network would, for tests of whole jobs:
// GEX_UDP_FAULTS.
//
//   loss=0.05,duplication=0.01,reordering=0.02,corruption=0.001,seed=7
//
// Each is the probability that it happens to a datagram; the seed is combined with the rank.
//
// Thread rules: as of Socket.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "net/udp/socket.h"

namespace gex::net::udp {

struct SocketFaults {
  double loss = 0;
  double duplication = 0;
  double reordering = 0;
  double corruption = 0;
  std::uint64_t seed = 1;
};

/// Nothing, and one line in `error`, if the text is invalid.
std::optional<SocketFaults> parse_faults(std::string_view text, std::string& error);

class LossySocket final : public Socket {
 public:
  LossySocket(std::unique_ptr<Socket> below, const SocketFaults& faults, std::uint32_t rank);

  std::size_t send(std::span<const Outgoing> all) override;
  std::size_t receive(std::span<Incoming> all) override { return below_->receive(all); }
  std::uint16_t connect(const Address& to) override { return below_->connect(to); }
  const SocketLimits& limits() const noexcept override { return limits_; }
  std::size_t max_datagram(const Address& to) const override { return below_->max_datagram(to); }
  std::size_t interface_datagram(const Address& to) const override {
    return below_->interface_datagram(to);
  }
  std::size_t charge(std::size_t bytes) const noexcept override { return below_->charge(bytes); }
  SocketCounts counts() const noexcept override { return below_->counts(); }
  int descriptor() const noexcept override { return below_->descriptor(); }

 private:
  struct Held {
    Address to;
    std::uint16_t route;
    std::vector<std::byte> bytes;
  };
  bool happens(double probability) { return probability != 0 && random_.unit() < probability; }
  /// Then what is not lost is sent as it is, in batches that the kernel cuts.
  bool only_loses() const noexcept;
  /// Sends what is not lost of it. False: there is no room for it now.
  bool send_rest(const Outgoing& batch);
  void send_one(const Address& to, std::uint16_t route, std::vector<std::byte>& bytes);

  std::unique_ptr<Socket> below_;
  SocketFaults faults_;
  SocketLimits limits_;
  Random random_;
  std::optional<Held> held_back_;
  // A run of pieces of the batch that is being sent.
  struct Run {
    std::size_t first_piece;
    std::size_t bytes;
  };
  std::vector<iovec> pieces_;
  std::vector<Run> runs_;
};

}  // namespace gex::net::udp
