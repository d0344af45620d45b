#pragma once
// How much may be in flight to a peer as far as the way there is concerned; what the receiver has
// room for is a window of its own (receive_room.h).
//
// The signal is delay: over a real network the window grows while datagrams take little longer than
// the fastest has, and shrinks in proportion when they take more. Losses alone are a weak signal,
// because some links lose at random: they shrink it when more than one in eight is lost in a round,
// or when the network marks datagrams (ECN). On the loopback, which has no queue but the receiver's
// buffer, delay means that a peer computes, so it is not looked at.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/udp/packet.h"

namespace gex::net::udp {

class Congestion {
 public:
  struct Settings {
    std::size_t initial;      ///< bytes
    std::size_t least;        ///< bytes
    std::size_t most;         ///< bytes
    bool delay_counts;        ///< over a real network
    Time tolerated = 50'000;  ///< delay beyond twice the fastest that is no congestion
  };

  Congestion() noexcept : Congestion({1 << 20, 1 << 12, 1 << 20, false}) {}
  explicit Congestion(const Settings& settings) noexcept
      : settings_(settings), window_(settings.initial), threshold_(settings.most) {}

  std::size_t window() const noexcept { return window_; }

  /// A datagram was acknowledged. `taken`: its round trip, 0 if it is not known.
  void acknowledged(std::size_t charge, Time taken, Time least, Time mean, Time now) noexcept {
    acknowledged_ += charge;
    slowest_ = std::max(slowest_, taken);
    end_round(least, mean, now);
    if (window_ >= settings_.most || is_slow(taken, least)) return;
    window_ += window_ < threshold_ || !settings_.delay_counts
                   ? charge
                   : std::max<std::size_t>(1, charge * charge / window_);
    window_ = std::min(window_, settings_.most);
  }
  void lost(std::size_t charge) noexcept { lost_ += charge; }
  /// The network has marked a datagram: its queues are filling.
  void marked() noexcept { marked_ = true; }
  /// Nothing has come for long, again.
  void timed_out(std::uint32_t in_a_row) noexcept {
    if (in_a_row != 2) return;
    shrink(2);
  }

 private:
  bool is_slow(Time taken, Time least) const noexcept {
    return settings_.delay_counts && taken > 2 * least + settings_.tolerated;
  }
  void shrink(std::size_t eighths_to_take) noexcept {
    window_ = std::max(settings_.least, window_ - window_ * eighths_to_take / 8);
    threshold_ = window_;
  }
  /// Once for each round trip.
  void end_round(Time least, Time mean, Time now) noexcept {
    if (now < round_ends_) return;
    round_ends_ = now + mean;
    if (lost_ * 8 > acknowledged_ + lost_)
      shrink(lost_ * 2 > acknowledged_ + lost_ ? 4 : 2);
    else if (marked_ || is_slow(slowest_, least))
      shrink(1);
    lost_ = acknowledged_ = 0;
    slowest_ = 0;
    marked_ = false;
  }

  Settings settings_;
  std::size_t window_;
  std::size_t threshold_;
  std::size_t acknowledged_ = 0;
  std::size_t lost_ = 0;
  Time slowest_ = 0;
  Time round_ends_ = 0;
  bool marked_ = false;
};

}  // namespace gex::net::udp
