#pragma once
// How regularly this process polls: what arrives while it computes waits for it, and how long that
// took is no measure of the network.
//
// Thread rules: one thread at a time.

#include <algorithm>
#include <utility>

#include "net/udp/packet.h"

namespace gex::net::udp {

class Attendance {
 public:
  /// After so long without a poll, how long something took is no measure of the network.
  static constexpr Time away = 500'000;

  /// A poll begins. `all_received`: the one before has received all that had come.
  void polled(Time now, bool all_received) noexcept {
    // What comes while a thread sleeps wakes it.
    const Time attended = std::max(last_poll_, std::min(watched_until_, now));
    if (now - attended > away)
      absence_ = now - attended;
    else if (all_received)
      absence_ = 0;
    poll_before_ = std::exchange(last_poll_, now);
  }
  /// A thread sleeps until then, or until a datagram comes.
  void watch(Time until) noexcept { watched_until_ = until; }

  /// The time without polls for which what is received now may have waited; 0: it has not.
  Time absence() const noexcept { return absence_; }
  /// The time since the poll before the last.
  Time since_poll_before(Time now) const noexcept {
    return now > poll_before_ ? now - poll_before_ : 0;
  }

 private:
  Time last_poll_ = 0;
  Time poll_before_ = 0;
  Time watched_until_ = 0;
  Time absence_ = 0;
};

}  // namespace gex::net::udp
