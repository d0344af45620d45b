#pragma once
// When what the windows allow may leave. Over a network with a queue of its own a whole window that
// leaves at once, as after an acknowledgement of much, overflows the queue even where the window
// would have fit into the way and the queue together. So it leaves in steps, spread over a round
// trip: the rate is the window over the mean round trip, and half as much again, so that it is the
// window that bounds what is in flight.
//
//   pacing.update(window, mean, absent, now);       // before packets to the peer are sent
//   while (pacing.may_send(in_flight)) { ...; pacing.sent(charge); }
//
// A step is an eighth of the window, and small packets of it are still one batch for the kernel.
// There is no timer but that of a process that sleeps (`opens_at`): what has to wait is looked at
// again in the next poll, and a process that polls seldom may send at once what it could have sent
// since its last poll. While no more than a step is
// in flight nothing waits, so it never stalls.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "net/udp/packet.h"

namespace gex::net::udp {

class Pacing {
 public:
  /// Below such a round trip the steps would be shorter than the calls of the system's that send
  /// them, and what fills it are the two processors rather than a queue between them.
  static constexpr Time shortest = 200'000;

  Pacing() noexcept = default;
  /// `datagram`: the charge of an ordinary one over that network.
  explicit Pacing(std::size_t datagram) noexcept
      : least_step_(4 * datagram), max_step_(32 * datagram) {}

  /// `mean`: of the round trips, 0 if there was none yet; `absent`: since the poll before this one.
  void update(std::size_t window, Time mean, Time absent, Time now) noexcept {
    is_limited_ = max_step_ != 0 && mean >= shortest;
    if (!is_limited_) return;
    step_ = std::clamp(window / 8, least_step_, max_step_);
    const auto step = static_cast<std::int64_t>(step_);
    const auto earned = [&](Time time) {
      return static_cast<std::int64_t>(std::min(time, mean) * window / mean * 3 / 2);
    };
    // Threads may ask with times that have overtaken one another.
    const Time since = now > looked_at_ ? now - looked_at_ : 0;
    credit_ = std::min(std::max(credit_, -step) + earned(since), std::max(step, earned(absent)));
    looked_at_ = std::max(looked_at_, now);
    is_open_ = credit_ >= step;
  }
  /// Returns true if so much may be in flight, with the next packet, as far as this goes.
  bool may_send(std::size_t in_flight) const noexcept {
    return !is_limited_ || in_flight <= step_ || (is_open_ && credit_ > 0);
  }
  /// When more than a step may be in flight again, if nothing is acknowledged; `now` at the
  /// earliest. `window` and `mean`: as of the last `update`.
  Time opens_at(std::size_t window, Time mean, Time now) const noexcept {
    const auto step = static_cast<std::int64_t>(step_);
    if (!is_limited_ || window == 0 || credit_ >= step) return now;
    // Rounded up, so that the update at that time finds a whole step.
    const auto missing = static_cast<std::uint64_t>(step - credit_) * 2 / 3 + 2;
    return std::max(now, looked_at_ + missing * mean / window + 1);
  }
  void sent(std::size_t charge) noexcept {
    if (is_limited_) credit_ -= static_cast<std::int64_t>(charge);
  }

 private:
  std::size_t least_step_ = 0;
  std::size_t max_step_ = 0;  ///< 0: a way without a queue
  std::size_t step_ = 0;
  std::int64_t credit_ = 0;
  Time looked_at_ = 0;
  bool is_limited_ = false;
  bool is_open_ = false;  ///< a whole step had been earned
};

}  // namespace gex::net::udp
