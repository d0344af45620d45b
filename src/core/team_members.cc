#include "core/team_members.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace gex {

TeamMembers::TeamMembers(std::span<const gex_EP_Location_t> in_rank_order)
    : size_(static_cast<gex_Rank_t>(in_rank_order.size())) {
  std::vector<gex_Rank_t> jobranks;
  std::vector<gex_EP_Index_t> endpoints;
  jobranks.reserve(size_);
  endpoints.reserve(size_);
  for (const gex_EP_Location_t& member : in_rank_order) {
    jobranks.push_back(member.gex_rank);
    endpoints.push_back(member.gex_ep_index);
  }
  if (size_ != 0) endpoint_ = endpoints[0];
  if (!std::ranges::all_of(endpoints, [this](auto index) { return index == endpoint_; }))
    endpoints_ = std::move(endpoints);
  const bool is_sorted = std::ranges::is_sorted(jobranks);
  jobranks_ = SteppedTable(std::move(jobranks));
  if (is_sorted || jobranks_.has_steps()) return;
  order_.resize(size_);
  std::iota(order_.begin(), order_.end(), gex_Rank_t{0});
  std::ranges::stable_sort(order_, {}, [this](gex_Rank_t member) { return jobranks_[member]; });
}

TeamMembers TeamMembers::all(gex_Rank_t count) noexcept {
  TeamMembers members;
  members.size_ = count;
  members.jobranks_ = {0, 1};
  return members;
}

std::size_t TeamMembers::place_of(gex_Rank_t jobrank) const noexcept {
  std::size_t first = 0;
  std::size_t end = size_;
  while (first < end) {
    const std::size_t middle = (first + end) / 2;
    if (jobranks_[by_jobrank(middle)] < jobrank)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

gex_Rank_t TeamMembers::rank_of(gex_Rank_t jobrank) const noexcept {
  if (!jobranks_.has_steps()) {
    const std::size_t place = place_of(jobrank);
    const bool is_member = place < size_ && jobranks_[by_jobrank(place)] == jobrank;
    return is_member ? by_jobrank(place) : GEX_RANK_INVALID;
  }
  const std::int64_t distance = std::int64_t{jobrank} - jobranks_.first();
  const std::int64_t step = static_cast<std::int32_t>(jobranks_.step());
  const bool is_in_step = step == 0 ? distance == 0 : distance % step == 0;
  const std::int64_t member = step == 0 ? 0 : distance / step;
  return is_in_step && member >= 0 && member < size_ ? static_cast<gex_Rank_t>(member)
                                                     : GEX_RANK_INVALID;
}

gex_Rank_t TeamMembers::primordial_rank_of(gex_Rank_t jobrank) const noexcept {
  const gex_Rank_t lowest = rank_of(jobrank);
  // In steps each process has one member, or one has all of them.
  if (lowest == GEX_RANK_INVALID || (jobranks_.has_steps() && jobranks_.step() != 0)) return lowest;
  for (std::size_t place = place_of(jobrank); place < size_; ++place) {
    const gex_Rank_t member = by_jobrank(place);
    if (jobranks_[member] != jobrank) break;
    if (endpoint_of(member) == 0) return member;
  }
  return lowest;
}

std::size_t TeamMembers::bytes() const noexcept {
  return jobranks_.bytes() + endpoints_.capacity() * sizeof endpoints_[0] +
         order_.capacity() * sizeof order_[0];
}

}  // namespace gex
