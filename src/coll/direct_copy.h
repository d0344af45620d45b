#pragma once
// A broadcast of many bytes, whose members copy from the root's memory. It takes one number for
// itself, under which the root posts its Description.
//
//   root     describe -> keep ------> collect -> complete
//            posts it    copies its   waits until all have read, or refused
//               |        own result      |
//               v                        v
//            by pieces                by pieces
//
//   others   find -----> take ------------------> complete
//            waits for   copies from the root's   publishes at once that it has read all
//            the post    memory
//               |            |
//               v            v
//            by pieces    refuse: posts so under the same number -> by pieces
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

  /// The root posts where its memory is. False: there is no room for the post now.
  bool describe(DirectTeam& team, const Numbered& operation) {
    return root_.describe(team, operation);
  }
  /// Does what is possible. The root has described the operation. `progressed` becomes true if
  /// anything was done.
  Step advance(DirectTeam& team, const Numbered& operation, bool& progressed);

 private:
  Step serve(DirectTeam& team, const Numbered& operation, bool& progressed);
  Step take(DirectTeam& team, const Numbered& operation, bool& progressed);
  Step refuse(DirectTeam& team, const Numbered& operation);
  bool copy(DirectTeam& team, const Numbered& operation, const Description& root);

  DirectRoot root_;
  bool refused_ = false;    ///< root: by another member; others: the root's memory is not reached
  gex_Rank_t seen_ = 0;     ///< root: members that have read, or refused
  std::size_t copied_ = 0;  ///< others: bytes
};

}  // namespace gex::coll
