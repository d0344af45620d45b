#pragma once
// The members of a team in rank order. Most teams have one endpoint of each process, in equal steps
// of jobranks, as rows, columns, hosts and their leaders do: those are a few numbers, however many
// members there are. Of others each member has an entry.
//
// Does not change once it is made. Thread rules: any.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/stepped_table.h"

namespace gex {

class TeamMembers {
 public:
  explicit TeamMembers(std::span<const gex_EP_Location_t> in_rank_order);
  /// Endpoint 0 of each of so many processes, by jobrank.
  static TeamMembers all(gex_Rank_t count) noexcept;

  gex_Rank_t size() const noexcept { return size_; }
  gex_Rank_t jobrank_of(gex_Rank_t member) const noexcept { return jobranks_[member]; }
  gex_EP_Index_t endpoint_of(gex_Rank_t member) const noexcept {
    return endpoints_.empty() ? endpoint_ : endpoints_[member];
  }
  gex_EP_Location_t operator[](gex_Rank_t member) const noexcept {
    return {jobrank_of(member), endpoint_of(member)};
  }

  /// The lowest if that process has several endpoints in the team, GEX_RANK_INVALID if it has none.
  gex_Rank_t rank_of(gex_Rank_t jobrank) const noexcept;
  /// The primordial one if that process has several endpoints in the team, GEX_RANK_INVALID if it
  /// has none.
  gex_Rank_t primordial_rank_of(gex_Rank_t jobrank) const noexcept;
  /// Returns true if all of them are primordial endpoints.
  bool are_primordial() const noexcept { return endpoints_.empty() && endpoint_ == 0; }

  /// Bytes that entries of members take.
  std::size_t bytes() const noexcept;

 private:
  TeamMembers() = default;

  /// The members by jobrank, those of one process by rank.
  gex_Rank_t by_jobrank(std::size_t place) const noexcept {
    return order_.empty() ? static_cast<gex_Rank_t>(place) : order_[place];
  }
  /// The first place in that order that is not of a lower jobrank.
  std::size_t place_of(gex_Rank_t jobrank) const noexcept;

  gex_Rank_t size_ = 0;
  SteppedTable<gex_Rank_t> jobranks_;
  // No table in steps: each message reads it, and would multiply by a step of 0.
  gex_EP_Index_t endpoint_ = 0;            ///< of all members, if they are equal
  std::vector<gex_EP_Index_t> endpoints_;  ///< empty: they are
  /// Where `jobranks_` are in no equal steps: members as above; empty: in rank order.
  std::vector<gex_Rank_t> order_;
};

}  // namespace gex
