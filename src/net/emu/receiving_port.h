#pragma once
// The port through which all that a rank is sent arrives: which times of it are taken, in memory
// that ranks share.
//
// A sender reserves at its call, for the time at which its bytes will be there, which is late if
// they wait at its own port. What is sent after that and comes before takes the time in between, in
// parts if need be, as packets do. So a port is idle while nothing has come, and never otherwise.
//
// Any thread, without a lock. Two that reserve at the same moment may each miss a gap that the
// other makes; and a gap more than there is room for is lost.

#include <array>
#include <atomic>
#include <cstddef>

#include "base/clock.h"

namespace gex::net::emu {

/// Memory of zeroes is a port that is free.
class ReceivingPort {
 public:
  /// Takes `duration` of the time from `earliest` on that is free; returns when the last part of it
  /// ends. Nothing that is reserved from now on is earlier than `now`.
  Tick reserve(Tick now, Tick earliest, Tick duration) noexcept;

 private:
  using Word = std::atomic<Tick>;
  /// Time that is free before `free_from_`.
  struct Gap {
    Word from;  ///< `closed`: another thread writes the other word
    Word to;
  };
  static constexpr Tick closed = ~Tick{0};
  /// There are most where one rank alone sends to many; where many do, they fill one another's.
  static constexpr std::size_t max_gaps = 63;

  /// Takes part of the first gap; returns its length, and moves `earliest` to its end.
  Tick take_from_gap(Tick now, Tick& earliest, Tick duration) noexcept;
  void add_gap(Tick now, Tick from, Tick to) noexcept;

  Word free_from_;
  Word last_gap_;  ///< where the last of all gaps ends
  std::array<Gap, max_gaps> gaps_;
};
static_assert(sizeof(ReceivingPort) == 1024);

}  // namespace gex::net::emu
