#pragma once
// Checks that the members of a team make the same collective calls; checked mode only.
//
// Collective calls of a team are numbered as each member makes them, barriers included. Each member
// announces to rank 0 of the team what it has called with which arguments, and rank 0 ends the job
// when two differ. When all have announced a number, rank 0 notifies all members; only then is an
// operation launched, so that what differs is found before it does harm. A barrier does not wait
// for that.
//
// All functions are called with the lock of the TeamCollectives held.

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "coll/announcement.h"
#include "core/team.h"

namespace gex::coll {

class Agreement {
 public:
  void bind(Team& team) noexcept { team_ = &team; }

  /// The next call of this member; returns its number.
  std::uint32_t announce(const Announcement& announcement);
  /// Returns true if all members have made the call `number` alike.
  bool reached(std::uint32_t number) const noexcept {
    return static_cast<std::int32_t>(agreed_ - number) > 0;
  }

  bool advance();
  /// Nothing to send, and no message of rank 0 that this member still expects.
  bool idle() const noexcept;

  /// Rank 0's.
  void announced(std::uint32_t number, gex_Rank_t source, const Announcement& announcement);
  /// All numbers below are agreed on.
  void agreed(std::uint32_t below) noexcept;

 private:
  struct Unsent {
    std::uint32_t number;
    Announcement announcement;
  };
  /// Each number has such a record of what has been announced.
  struct Record {
    Announcement announcement;
    gex_Rank_t source;
    gex_Rank_t members;
  };

  Team* team_ = nullptr;
  std::uint32_t announced_ = 0;
  std::uint32_t agreed_ = 0;  ///< all below
  std::deque<Unsent> unsent_;
  // Rank 0's.
  std::map<std::uint32_t, Record> records_;
  std::vector<std::uint32_t> notified_;  ///< by rank: what has been sent to it
};

}  // namespace gex::coll
