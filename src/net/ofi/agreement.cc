#include "net/ofi/agreement.h"

#include <algorithm>
#include <tuple>

namespace gex::net::ofi {

namespace {

Way way_shown_by(const Introduction& one) {
  return {one.provider, one.fabric};
}

/// Ways in the order in which every rank would take them.
bool is_preferred(const Way& left, const Way& right) {
  return std::tuple(preference_of(left.provider), left.fabric) <
         std::tuple(preference_of(right.provider), right.fabric);
}

std::string would_use(std::size_t rank, const Way& way) {
  return "rank " + std::to_string(rank) + " would use " + way.provider +
         (way.fabric.empty() ? "" : " on the fabric " + way.fabric);
}

}  // namespace

Verdict verdict_on(Introductions all, bool is_named) {
  const auto unready =
      std::find_if(all.begin(), all.end(), [](const Introduction& one) { return one.ready == 0; });
  if (unready != all.end()) {
    Verdict verdict;
    // The reason is mostly the same on all ranks: the lowest of them reports it.
    verdict.rank = static_cast<std::uint32_t>(unready - all.begin());
    if (!is_named && unready->provider[0] != '\0') verdict.refused = way_shown_by(*unready);
    return verdict;
  }
  const auto other = std::find_if(all.begin(), all.end(), [&](const Introduction& one) {
    return !(way_shown_by(one) == way_shown_by(all[0])) || one.name_size != all[0].name_size;
  });
  if (other == all.end()) return {.agreed = true, .refused = {}, .reason = {}, .rank = 0};
  const Way first = way_shown_by(all[0]), second = way_shown_by(*other);
  Verdict verdict;
  verdict.reason =
      would_use(0, first) + ", " + would_use(static_cast<std::size_t>(other - all.begin()), second);
  // The rank that would take the less preferred one does not have the other.
  if (!(first == second) && (!is_named || first.provider == second.provider))
    verdict.refused = is_preferred(first, second) ? first : second;
  else
    verdict.reason += "; set GEX_OFI_PROVIDER to one that all have";
  return verdict;
}

bool devices_divide(Introductions all) {
  return std::any_of(all.begin(), all.end(), [&](const Introduction& one) {
    return one.protocol != all[0].protocol && one.reaches_devices != all[0].reaches_devices;
  });
}

Broken broken_of(Introductions all) {
  Broken broken = 0;
  for (const Introduction& one : all) broken |= one.broken;
  return broken;
}

OneSidedExtent common_extent(Introductions all) {
  OneSidedExtent common = all[0].one_sided;
  for (const Introduction& one : all) {
    common.available &= one.one_sided.available;
    common.max_transfer = std::min(common.max_transfer, one.one_sided.max_transfer);
    common.pieces.own = std::min(common.pieces.own, one.one_sided.pieces.own);
    common.pieces.peer = std::min(common.pieces.peer, one.one_sided.pieces.peer);
    common.atomics.intersect(one.one_sided.atomics);
  }
  return common;
}

}  // namespace gex::net::ofi
