#pragma once
// Sizes and quotients rounded up.

#include <cstddef>
#include <cstdint>

namespace gex {

/// `value` rounded up to whole units.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

/// `value / unit`, rounded up; any value.
constexpr std::uint64_t quotient_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return value / unit + (value % unit != 0 ? 1 : 0);
}

/// Rounds up to the unit in which payload is aligned.
constexpr std::size_t round_up_16(std::size_t bytes) noexcept {
  return (bytes + 15) & ~std::size_t{15};
}

}  // namespace gex
