#pragma once
// A member's part of a collective operation over messages: from which members it receives what, and
// to which it sends.
//
// Trees are grown twice: in each neighborhood of the team over its members, and over the
// neighborhoods through one member of each, so that a value crosses the network once for each
// neighborhood. Both are binomial trees. The subtree of a vertex is a run of consecutive vertices
// behind it, and its children's subtrees are in order of their distance, so that combining the own
// operand with the children's in that order keeps the order of the vertices.
//
// Where members of a neighborhood do their part by posts (by_leaders.h), a plan is that between
// neighborhoods alone: those who take part are the members through which neighborhoods are reached,
// and the root.
//
// An operation that must keep the order of ranks (GEX_OP_USER_NC) has rank 0 at the root and goes
// through the neighborhoods only if each is a run of ranks; otherwise through one tree of all
// ranks.

#include <gasnetex.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gex::coll {

/// The members of a team by neighborhood, each in rank order, the neighborhoods by their first
/// member. Where each is a run of ranks there is an entry for each neighborhood, and none for
/// members.
class Groups {
 public:
  /// `neighborhood_of[rank]`: any number that members of the same neighborhood share.
  explicit Groups(const std::vector<std::uint32_t>& neighborhood_of);

  /// Ranks of a group, rising.
  class Members {
   public:
    Members(const gex_Rank_t* ranks, gex_Rank_t first, std::uint32_t size) noexcept
        : ranks_(ranks), first_(first), size_(size) {}
    std::uint32_t size() const noexcept { return size_; }
    gex_Rank_t operator[](std::uint32_t position) const noexcept {
      return ranks_ == nullptr ? first_ + position : ranks_[position];
    }

   private:
    const gex_Rank_t* ranks_;  ///< null: a run of ranks
    gex_Rank_t first_;
    std::uint32_t size_;
  };

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(begins_.size() - 1); }
  Members members(std::uint32_t group) const noexcept {
    const gex_Rank_t begin = begins_[group];
    return {in_rank_order() ? nullptr : ranks_.data() + begin, begin, begins_[group + 1] - begin};
  }
  std::uint32_t group_of(gex_Rank_t rank) const noexcept;
  std::uint32_t position_of(gex_Rank_t rank) const noexcept;
  gex_Rank_t size() const noexcept { return begins_.back(); }
  /// Returns true if the order of groups and positions is that of the ranks.
  bool in_rank_order() const noexcept { return ranks_.empty(); }
  /// Bytes that its entries take.
  std::size_t bytes() const noexcept;

 private:
  std::vector<gex_Rank_t> begins_;  ///< of groups among all their members, and the end
  // Empty where groups are runs of ranks.
  std::vector<gex_Rank_t> ranks_;        ///< members, group by group
  std::vector<std::uint32_t> group_of_;  ///< by rank
};

/// The member of a group that leads it in an operation whose trees are grown from `top`: that, or
/// its first.
inline gex_Rank_t leader_of(const Groups& groups, std::uint32_t group, gex_Rank_t top) noexcept {
  return groups.group_of(top) == group ? top : groups.members(group)[0];
}

struct Plan {
  /// Members whose combined operands are combined with the own ones, in this order.
  std::vector<gex_Rank_t> contributors;
  /// The member that gets what has been combined here, or GEX_RANK_INVALID.
  gex_Rank_t collector = GEX_RANK_INVALID;
  /// True if the collector gets the result itself.
  bool collector_gets_result = false;

  /// Between the two: exchanges of what has been combined, one after the other.
  struct Round {
    gex_Rank_t partner;
    bool partner_is_left;  ///< in the order of operands
  };
  std::vector<Round> rounds;

  /// The member that sends the result, or GEX_RANK_INVALID: it is made here or not wanted.
  gex_Rank_t result_sender = GEX_RANK_INVALID;
  /// To whom it is passed on, in this order.
  std::vector<gex_Rank_t> receivers;
  /// True if the result is combined and wanted here.
  bool makes_result = false;

  void clear() noexcept;
};

/// Groups folded to a power of two of them, for recursive doubling (plan_quick_reduce_to_all). The
/// surplus joins in pairs of neighbors, of which the lower one speaks for both.
struct FoldedGroups {
  explicit FoldedGroups(std::uint32_t groups) noexcept
      : count(std::bit_floor(groups)), surplus(groups - count) {}

  bool is_paired(std::uint32_t group) const noexcept { return group < 2 * surplus; }
  std::uint32_t index_of(std::uint32_t group) const noexcept {
    return is_paired(group) ? group / 2 : group - surplus;
  }
  /// The group that speaks for an index.
  std::uint32_t group_at(std::uint32_t index) const noexcept {
    return index < surplus ? 2 * index : index + surplus;
  }

  std::uint32_t count;
  std::uint32_t surplus;
};

/// The trees in which members take part.
enum class Trees : std::uint8_t {
  both,     ///< over neighborhoods, and in each over its members
  between,  ///< over neighborhoods
};

/// The part of rank `me`; `plan` is cleared first. `ordered`: operands keep the order of ranks; not
/// `between` neighborhoods that are not runs of ranks.
void plan_broadcast(Plan& plan, const Groups& groups, gex_Rank_t root, gex_Rank_t me,
                    Trees trees = Trees::both);
void plan_reduce_to_one(Plan& plan, const Groups& groups, gex_Rank_t root, gex_Rank_t me,
                        bool ordered, Trees trees = Trees::both);
/// Up one tree and down again: each member sends and receives every byte a few times at most.
void plan_reduce_to_all(Plan& plan, const Groups& groups, gex_Rank_t me, bool ordered,
                        Trees trees = Trees::both);
/// A reduction to all in fewer steps, with more traffic: neighborhoods exchange pairwise, at twice
/// the distance in each round.
void plan_quick_reduce_to_all(Plan& plan, const Groups& groups, gex_Rank_t me, bool ordered,
                              Trees trees = Trees::both);

}  // namespace gex::coll
