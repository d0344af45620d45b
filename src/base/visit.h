#pragma once

#include <cstddef>
#include <type_traits>
#include <variant>

namespace gex {

/// Calls `act` with what a variant holds, as std::visit does, but throws nothing itself: a variant
/// whose alternatives are moved and copied without exceptions always holds one.
template <std::size_t index = 0, class Variant, class Act>
decltype(auto) visit(Variant& variant, Act act) {
  if constexpr (index + 1 == std::variant_size_v<std::remove_const_t<Variant>>) {
    return act(*std::get_if<index>(&variant));
  } else {
    if (auto* const held = std::get_if<index>(&variant)) return act(*held);
    return visit<index + 1>(variant, act);
  }
}

}  // namespace gex
