#pragma once
// Facts that a conduit's ranks find out together when it attaches.

#include <gex/plugin/conduit.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace gex::net {

/// Collective, inside `Conduit::attach`: whether `error` is empty on all ranks. The lowest rank on
/// which it is not warns of it; most reasons are the same on all.
inline bool succeeded_on_all_ranks(const Host& host, const std::string& error) {
  if (has_least(host)) {
    const std::uint64_t no_rank = ~std::uint64_t{0};
    std::uint64_t first_failed = error.empty() ? no_rank : host.rank;
    host.least(&first_failed, 1);
    if (first_failed == host.rank) host.warn(error.c_str());
    return first_failed == no_rank;
  }
  const std::uint32_t mine = error.empty() ? 0 : 1;
  std::vector<std::uint32_t> failed(host.size);
  host.exchange(&mine, sizeof mine, failed.data());
  const auto first = std::find(failed.begin(), failed.end(), 1U);
  if (first == failed.end()) return true;
  if (first - failed.begin() == host.rank) host.warn(error.c_str());
  return false;
}

}  // namespace gex::net
