#pragma once
// How long a peer takes to acknowledge, and how long to wait before a datagram is sent again.
//
// Peers acknowledge in their polls, so a peer that computes takes long: the estimate follows, and
// every repetition without an answer doubles the wait up to a bound. Nothing is ever given up.
// Repetitions queue at a peer that gets no processor, and taking them delays it further: the bound
// is far above what losses alone make of the wait. Once something comes from the peer, the wait is
// short again.

#include <algorithm>
#include <cstdint>

#include "net/udp/packet.h"

namespace gex::net::udp {

class RoundTrip {
 public:
  static constexpr Time longest = 1'000'000'000;
  /// For a peer of which something has come since.
  static constexpr Time longest_if_present = 100'000'000;

  explicit RoundTrip(Time shortest = 500'000) noexcept : shortest_(shortest) {}

  /// Takes the round trip of a datagram that was sent once, in nanoseconds.
  void sample(Time taken) noexcept {
    least_ = std::min(least_, taken);
    if (mean_ == 0) {
      mean_ = std::max<Time>(taken, 1);
      deviation_ = taken / 2;
      return;
    }
    const Time error = taken > mean_ ? taken - mean_ : mean_ - taken;
    deviation_ += (error - std::min(error, deviation_)) / 4;
    deviation_ -= (deviation_ - std::min(error, deviation_)) / 4;
    mean_ = mean_ - mean_ / 8 + taken / 8;
  }
  void progressed() noexcept { doublings_ = 0; }
  /// Something new has come from the peer; true: the wait is shorter now.
  bool something_came() noexcept {
    const std::uint32_t before = doublings_;
    while (doublings_ != 0 && timeout() > longest_if_present) --doublings_;
    return doublings_ != before;
  }
  void timed_out() noexcept { doublings_ = std::min(doublings_ + 1, 20U); }

  Time mean() const noexcept { return mean_; }
  Time least() const noexcept { return least_; }
  std::uint32_t timeouts_in_a_row() const noexcept { return doublings_; }
  /// After how long without an acknowledgement a datagram is sent again.
  Time timeout() const noexcept {
    const Time once = std::max(shortest_, mean_ + 4 * deviation_);
    return std::min(once, longest) << doublings_ > longest ? longest
                                                           : std::min(once, longest) << doublings_;
  }

 private:
  Time shortest_;
  Time mean_ = 0;
  Time deviation_ = 0;
  Time least_ = ~Time{0};
  std::uint32_t doublings_ = 0;
};

}  // namespace gex::net::udp
