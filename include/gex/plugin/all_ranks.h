#pragma once
// Facts that a conduit's ranks find out together when it attaches.

#include <gex/plugin/conduit.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace gex::net {

/// Collective, inside `Conduit::attach`: the lowest rank on which `holds` is true; if it is on
/// none, their number.
inline std::uint32_t first_rank_with(const Host& host, bool holds) {
  if (has_least(host)) {
    std::uint64_t first = holds ? host.rank : host.size;
    host.least(&first, 1);
    return static_cast<std::uint32_t>(first);
  }
  const std::uint32_t mine = holds ? 1 : 0;
  std::vector<std::uint32_t> all(host.size);
  host.exchange(&mine, sizeof mine, all.data());
  return static_cast<std::uint32_t>(std::find(all.begin(), all.end(), 1U) - all.begin());
}

/// Collective, inside `Conduit::attach`: whether `error` is empty on all ranks. The lowest rank on
/// which it is not warns of it; most reasons are the same on all.
inline bool succeeded_on_all_ranks(const Host& host, const std::string& error) {
  const std::uint32_t first_failed = first_rank_with(host, !error.empty());
  if (first_failed == host.rank) host.warn(error.c_str());
  return first_failed == host.size;
}

/// Collective, inside `Conduit::attach`: sets `value` to that of one rank, which all name alike.
template <class Value>
void take_from_rank(const Host& host, std::uint32_t owner, Value& value) {
  static_assert(std::is_trivially_copyable_v<Value>);
  if (!has_least(host)) {
    std::vector<Value> all(host.size);
    host.exchange(&value, sizeof value, all.data());
    value = all[owner];
    return;
  }
  // The numbers of the others are the largest there are.
  constexpr std::size_t size = 8;
  constexpr std::size_t max_numbers = 32;
  std::vector<std::uint64_t> numbers((sizeof value + size - 1) / size, ~std::uint64_t{0});
  if (host.rank == owner) std::memcpy(numbers.data(), &value, sizeof value);
  for (std::size_t at = 0; at < numbers.size(); at += max_numbers)
    host.least(numbers.data() + at, std::min(max_numbers, numbers.size() - at));
  std::memcpy(static_cast<void*>(&value), numbers.data(), sizeof value);
}

}  // namespace gex::net
