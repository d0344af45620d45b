#pragma once
// A reduction of many bytes, whose members read the operands where they are. It takes three numbers
// for itself.
//
//   describe --> learn -------> agree ------> combine -------> collect --> done
//   posts 1:     all posts 1    posts 2: is   its slice of     all posts 3
//   its memory   are here;      all reached;  all operands,
//                is it clear    all posts 2   to each result;
//                who reaches    are here      posts 3
//                what?             |
//                  |    \__________|____^ (clear: yes)
//                  v               v
//               by pieces       by pieces
//
// A member that has seen all third posts has its result, and its memory is used no more. The result
// may be in the place of the operand: only the member that combines a slice reads it of the
// operands, and only that member writes it.

#include <cstddef>
#include <cstdint>

#include "coll/direct_team.h"

namespace gex::coll {

class DirectReduction {
 public:
  /// Before those of the pieces.
  static constexpr std::uint32_t numbers = 3;

  /// Returns true if such an operation of many bytes may go this way; the same at all members.
  static bool suits(const Request& request, gex_Rank_t members) noexcept;

  /// Posts where the own memory is. False: there is no room for the post now.
  bool describe(DirectTeam& team, const DirectOperation& operation);
  /// Does what is possible, once it is described here. `progressed` becomes true if anything was
  /// done.
  Step advance(DirectTeam& team, const DirectOperation& operation, bool& progressed);

 private:
  enum class Stage : std::uint8_t { learning, agreeing, combining, collecting };

  Step learn(DirectTeam& team, const DirectOperation& operation);
  Step agree(DirectTeam& team, const DirectOperation& operation);
  bool post_verdict(DirectTeam& team, const DirectOperation& operation);
  bool combine(DirectTeam& team, const DirectOperation& operation, bool& progressed);
  void combine_chunk(DirectTeam& team, const DirectOperation& operation, std::size_t offset,
                     std::size_t bytes);
  void enter(Stage stage) noexcept {
    stage_ = stage;
    seen_ = 0;
  }

  Stage stage_ = Stage::learning;
  gex_Rank_t seen_ = 0;     ///< members whose posts of this stage have been read
  bool all_shared_ = true;  ///< of those: all memory that is used lies in segments
  bool agrees_ = true;      ///< of those: they reach all memory that they need
  bool kernel_agrees_ = true;
  std::size_t moved_ = 0;  ///< bytes of the own slice
};

}  // namespace gex::coll
