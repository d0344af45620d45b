#pragma once
// A broadcast of many bytes between two members with a core each, in which both copy where the
// kernel copies. It takes these parts of a DirectCopy's time (medians of five alternations on two
// cores that share a cache): 64 KiB 0.85, 128 KiB 0.92, 256 KiB 0.98, 512 KiB and 1 MiB 0.50, 4 MiB
// 0.67. A source that the other member maps is copied by that member alone: with help 64 to 256 KiB
// took 1.1 to 1.2 times as long.
//
//   root     describe -> make_own --> help ---------------> collect -> done
//            posts its   makes its    claims chunks from    waits until the other has read
//            source      own result   the last on, copies      |
//                           |         them, sets the mark      v
//                           v                               by pieces, if the other has declined
//                        by pieces,
//                        if it declines
//
//   other    offer -------> take -------------> look_for_mark --> done
//            posts its      claims chunks from    if the root    publishes at once that it has
//            destination    the first on and      has claimed    read all
//                           copies them           any
//                              |         |
//                              v         v
//                        by pieces,   decline: sets the word of its post -> by pieces
//                        if the root has declined
//
// Chunks are claimed by a count in the root's post, of which a bit is the mark: the root has copied
// all chunks that it has claimed, and claims no more.

#include <cstddef>
#include <cstdint>

#include "coll/direct_team.h"

namespace gex::coll {

class HelpedCopy {
 public:
  /// Before those of the pieces.
  static constexpr std::uint32_t numbers = 1;

  /// Returns true if such an operation of many bytes goes this way; the same at both members.
  static bool suits(const Request& request, gex_Rank_t members) noexcept;

  /// The root posts where its source is. False: there is no room for the post now.
  bool describe(DirectTeam& team, const DirectOperation& operation) {
    return root_.describe(team, operation);
  }
  /// Does what is possible. The root has described the operation. `progressed` becomes true if
  /// anything was done.
  Step advance(DirectTeam& team, const DirectOperation& operation, bool& progressed);

 private:
  /// The root copies chunks. True once there is nothing to help with.
  bool help(DirectTeam& team, const DirectOperation& operation, bool& progressed);
  Step collect(DirectTeam& team, const DirectOperation& operation);
  /// The other member posts where its destination is, before the root's post is there: the root may
  /// be waiting for this one. False: there is no room.
  bool offer(DirectTeam& team, const DirectOperation& operation);
  Step take(DirectTeam& team, const DirectOperation& operation, bool& progressed);
  Taken take_some(DirectTeam& team, const DirectOperation& operation, const Description& there);
  Step look_for_mark(DirectTeam& team, const DirectOperation& operation);
  Step decline(DirectTeam& team, const DirectOperation& operation);

  DirectRoot root_;
  bool has_offered_ = false;  ///< other
  /// Root: nothing is left to help with. Other: no chunk is left to claim, and the own ones are
  /// copied.
  bool has_copied_ = false;
  std::uint32_t chunks_copied_ = 0;  ///< by this member
};

}  // namespace gex::coll
