#pragma once
// How much may be in flight to a peer as far as the way there is concerned; what the receiver has
// room for is a window of its own (receive_room.h).
//
// Over a real network the window grows as long as it is what holds the sender back, up to what is
// needed: twice what the path carries in its shortest round trip, and a bounded number of bytes
// that may wait on the way, fewer where a queue on the way does not hold them. That is the signal
// of delay, but in bytes: a fixed time would be a few datagrams on a slow link. A round trip in
// which the peer did not poll, or this process, is no measure of the path.
//
// Losses alone are a weak signal, because some links lose at random: they shrink the window when
// more than one in eight is lost in a round, or when the network marks datagrams (ECN). On the
// loopback, which has no queue but the receiver's buffer, delay is not looked at.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/udp/packet.h"

namespace gex::net::udp {

class Congestion {
 public:
  struct Settings {
    std::size_t initial;                         ///< bytes
    std::size_t least;                           ///< bytes: two ordinary datagrams
    std::size_t max;                             ///< bytes
    bool delay_counts;                           ///< over a real network
    std::size_t waiting = std::size_t{1} << 20;  ///< bytes that may wait on the way

    bool operator==(const Settings&) const = default;
  };

  Congestion() noexcept : Congestion({1 << 20, 1 << 12, 1 << 20, false}) {}
  explicit Congestion(const Settings& settings) noexcept
      : settings_(settings),
        window_(settings.initial),
        threshold_(settings.max),
        needed_(settings.max),
        surplus_(settings.max) {}

  std::size_t window() const noexcept { return window_; }

  /// There was more to send than may be in flight.
  void filled() noexcept { filled_ = true; }
  /// A datagram was acknowledged. `least`, `mean`: round trips; `waited`: that of this datagram
  /// includes that a process did not poll.
  void acknowledged(std::size_t charge, Time least, Time mean, bool waited, Time now) noexcept {
    acknowledged_ += charge;
    waited_ |= waited;
    if (now >= round_ends_) end_round(least, mean, now);
    if (!filled_ && !was_filled_) return;
    const std::size_t bound = std::min(settings_.max, needed_);
    if (window_ >= bound) return;
    window_ += window_ < threshold_ || !settings_.delay_counts
                   ? charge
                   : std::max(charge / 16, charge * charge / window_);
    window_ = std::min(window_, bound);
  }
  void lost(std::size_t charge) noexcept { lost_ += charge; }
  /// The network has marked a datagram: its queues are filling.
  void marked() noexcept { marked_ = true; }
  /// Nothing has come for long, again.
  void timed_out(std::uint32_t in_a_row) noexcept {
    // The peer may only have been away: the window grows again as fast as it did.
    if (in_a_row == 2) window_ = std::max(settings_.least, window_ - window_ / 4);
  }

 private:
  void shrink(std::size_t eighths_to_take) noexcept {
    window_ = std::max(settings_.least, window_ - window_ * eighths_to_take / 8);
    threshold_ = window_;
  }
  /// A queue on the way that holds less than the surplus loses some of each round. If as much is
  /// lost with the least surplus, the losses are random, and are ignored for a while.
  void adapt_surplus() noexcept {
    const std::size_t least = least_surplus * settings_.least;
    const bool loses = lost_ * 64 > acknowledged_ + lost_;
    if (tolerant_rounds_ != 0) {
      --tolerant_rounds_;
      surplus_ += surplus_ / 4;
    } else if (!loses) {
      surplus_ += std::max(settings_.least / 2, surplus_ / 32);
      useless_rounds_ = 0;
    } else if (surplus_ > least) {
      surplus_ = std::max(least, surplus_ - surplus_ / 4);
    } else if (window_ <= needed_ && ++useless_rounds_ == 8) {
      useless_rounds_ = 0;
      tolerant_rounds_ = 1000;
    }
    surplus_ = std::min(surplus_, settings_.max);
  }
  /// Once for each round trip.
  void end_round(Time least, Time mean, Time now) noexcept {
    const Time taken = now - round_began_;
    if (settings_.delay_counts) adapt_surplus();
    if (!settings_.delay_counts || waited_) {
      needed_ = std::min(2 * needed_, settings_.max);
    } else if (filled_ && was_filled_ && least <= mean) {
      const std::size_t carried = acknowledged_ * least / std::max<Time>(1, taken);
      surplus_ = std::min(surplus_, carried + settings_.waiting);
      needed_ = carried + surplus_;
      if (window_ > needed_) window_ -= std::min(window_ / 8, window_ - needed_);
    }
    if (lost_ * 8 > acknowledged_ + lost_)
      shrink(lost_ * 2 > acknowledged_ + lost_ ? 4 : 2);
    else if (marked_)
      shrink(1);
    round_began_ = now;
    round_ends_ = now + mean;
    was_filled_ = filled_;
    acknowledged_ = lost_ = 0;
    filled_ = waited_ = marked_ = false;
  }

  Settings settings_;
  std::size_t window_;
  std::size_t threshold_;
  std::size_t needed_;   ///< more would only wait on the way
  std::size_t surplus_;  ///< of it, beyond what the path carries in its shortest round trip
  static constexpr std::size_t least_surplus = 4;  ///< in `Settings::least`
  std::uint32_t useless_rounds_ = 0;   ///< with losses although the surplus is the least
  std::uint32_t tolerant_rounds_ = 0;  ///< in which losses change no surplus
  // State of the current round.
  Time round_began_ = 0;
  Time round_ends_ = 0;
  std::size_t acknowledged_ = 0;
  std::size_t lost_ = 0;
  bool filled_ = false;
  bool waited_ = false;
  bool marked_ = false;
  bool was_filled_ = false;  ///< in the round before
};

}  // namespace gex::net::udp
