#pragma once
// How much each peer may have in flight to this process, so that the kernel's receive buffer holds
// it: the buffer is divided among those that have sent something lately.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/udp/packet.h"

namespace gex::net::udp {

class ReceiveRoom {
 public:
  static constexpr Time round = 2'000'000;

  /// `budget`: bytes of the receive buffer; `least`: a window that lets anything through.
  ReceiveRoom(std::size_t budget, std::size_t least) noexcept : budget_(budget), least_(least) {}

  /// A peer has sent something; `active_in` is where that is noted of it.
  void received_from(std::uint64_t& active_in) noexcept {
    if (active_in == round_) return;
    active_in = round_;
    ++active_;
  }
  void look(Time now) noexcept {
    if (now < ends_) return;
    ends_ = now + round;
    ++round_;
    before_ = active_;
    active_ = 0;
  }
  std::size_t window() const noexcept {
    const std::size_t senders = std::max<std::size_t>(1, std::max(active_, before_));
    return std::max(least_, budget_ / senders);
  }

 private:
  std::size_t budget_;
  std::size_t least_;
  std::uint64_t round_ = 1;
  std::size_t active_ = 0;
  std::size_t before_ = 0;
  Time ends_ = 0;
};

}  // namespace gex::net::udp
