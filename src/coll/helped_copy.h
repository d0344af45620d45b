#pragma once
// A broadcast of many bytes between two members with a core each, in which both copy where the
// kernel copies. It takes these parts of a DirectCopy's time (medians of five alternations on two
// cores that share a cache): 64 KiB 0.85, 128 KiB 0.92, 256 KiB 0.98, 512 KiB and 1 MiB 0.50, 4 MiB
// 0.67. A source that the other member maps is copied by that member alone: with help 64 to 256 KiB
// took 1.1 to 1.2 times as long.
//
//   root     describe -> keep ------> help ---------------> collect -> complete
//            posts its   its own      claims chunks from    waits until the other has read
//            source         result    the last on, copies      |
//               |                     them, marks the end      v
//               v                                           by pieces, if the other refused
//            by pieces
//
//   other    offer ---------> take -------------> await ---> complete
//            posts its        claims chunks from  the mark,  publishes at once that it has read all
//            destination      the first on and    if the root
//                             copies them         has claimed any
//                                |
//                                v
//                             refuse: sets the word of its post -> by pieces
//
// Chunks are claimed by a count in the root's post, the mark is a bit of it.

#include <cstddef>
#include <cstdint>

#include "coll/direct_team.h"

namespace gex::coll {

class HelpedCopy {
 public:
  /// Before those of the pieces.
  static constexpr std::uint32_t numbers = 1;

  /// Returns true if such a broadcast goes this way; the same answer at both members.
  static bool takes(const Request& request, gex_Rank_t members) noexcept;

  /// The root posts where its memory is. False: there is no room for the post now.
  bool describe(DirectTeam& team, const Numbered& operation) {
    return root_.describe(team, operation);
  }
  /// Does what is possible. The root has described the operation. `progressed` becomes true if
  /// anything was done.
  Step advance(DirectTeam& team, const Numbered& operation, bool& progressed);

 private:
  Step serve(DirectTeam& team, const Numbered& operation, bool& progressed);
  bool help(DirectTeam& team, const Numbered& operation, bool& progressed);
  Step take(DirectTeam& team, const Numbered& operation, bool& progressed);
  enum class Taken { some, all, refused };
  Taken take_chunks(DirectTeam& team, const Numbered& operation, const Description& root);

  DirectRoot root_;
  bool offered_ = false;       ///< other: it has posted
  bool has_copied_ = false;    ///< no chunk is left to claim, and the own ones are copied
  std::uint32_t claimed_ = 0;  ///< chunks that this member has copied
};

}  // namespace gex::coll
