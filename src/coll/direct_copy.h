#pragma once
// A broadcast of many bytes, whose members copy from the root's memory. It takes one number for
// itself, under which the root posts its Description.
//
//   root     describe -----> make_own ------> collect --------------> done
//            posts where     makes its own    waits until all others
//            its source is   result           have read, or declined
//                               |                |
//                               v                v
//                            by pieces,       by pieces, if any has declined
//                            if it declines
//
//   others   take -------------------------> done
//            waits for the description, and  publishes at once that it has read all
//            copies from the source
//               |                  |
//               v                  v
//            by pieces, if      decline -> by pieces
//            the root has       if it does not reach the source: posts so under the same number
//            declined
//
// A member that has copied all publishes that it has read all numbers of the operation, which is
// what the root waits for.

#include <cstddef>
#include <cstdint>

#include "coll/direct_team.h"

namespace gex::coll {

class DirectCopy {
 public:
  /// Before those of the pieces.
  static constexpr std::uint32_t numbers = 1;

  /// Returns true if such an operation of many bytes may go this way; the same at all members.
  static bool suits(const Request& request) noexcept { return request.kind == Kind::broadcast; }

  /// The root posts where its source is. False: there is no room for the post now.
  bool describe(DirectTeam& team, const DirectOperation& operation) {
    return root_.describe(team, operation);
  }
  /// Does what is possible. The root has described the operation. `progressed` becomes true if
  /// anything was done.
  Step advance(DirectTeam& team, const DirectOperation& operation, bool& progressed);

 private:
  Step collect(DirectTeam& team, const DirectOperation& operation);
  Step take(DirectTeam& team, const DirectOperation& operation, bool& progressed);
  Taken take_some(DirectTeam& team, const DirectOperation& operation, const Description& there);
  Step decline(DirectTeam& team, const DirectOperation& operation);

  DirectRoot root_;
  gex_Rank_t collected_ = 0;   ///< root: members below have read, or declined
  bool any_declined_ = false;  ///< root: of those
  bool declines_ = false;      ///< others: this one does not reach the source
  std::size_t copied_ = 0;     ///< others: bytes
};

}  // namespace gex::coll
