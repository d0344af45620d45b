#pragma once
// The name of a named barrier as far as members have combined it: "nothing named yet", "id N", or
// "mismatch". Combining two of these is idempotent, so a value that reaches a rank twice does no
// harm.

#include <cstdint>

namespace gex::team {

enum class Knowledge : std::int32_t { anonymous, named, mismatch };

struct BarrierValue {
  Knowledge knowledge = Knowledge::anonymous;
  std::int32_t id = 0;
};

constexpr BarrierValue combine(const BarrierValue& a, const BarrierValue& b) noexcept {
  if (a.knowledge == Knowledge::mismatch || b.knowledge == Knowledge::mismatch)
    return {Knowledge::mismatch, 0};
  if (a.knowledge == Knowledge::anonymous) return b;
  if (b.knowledge == Knowledge::anonymous) return a;
  return a.id == b.id ? a : BarrierValue{Knowledge::mismatch, 0};
}

/// As one word, for flags that members share.
constexpr std::uint64_t packed(const BarrierValue& value) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(value.knowledge)} << 32 |
         static_cast<std::uint32_t>(value.id);
}
constexpr BarrierValue unpacked(std::uint64_t word) noexcept {
  return {static_cast<Knowledge>(word >> 32), static_cast<std::int32_t>(word)};
}

}  // namespace gex::team
