#pragma once
// The messages of the active-message tests: arguments and payload that show where they belong, so
// that a lost, doubled or mixed-up one shows.

#include <gasnetex.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conformance.h"
#include "pattern.h"

namespace conformance {

/// Argument `index` of a message that carries `count` of them: all bits in use, both signs.
inline gex_AM_Arg_t argument(unsigned count, unsigned index) {
  return static_cast<gex_AM_Arg_t>(0x9e3779b9U * (count * 31 + index + 1));
}

/// A payload with the pattern `seed`.
inline std::vector<std::uint8_t> payload_of(std::size_t bytes, std::uint32_t seed) {
  std::vector<std::uint8_t> payload(bytes);
  fill(payload.data(), seed, bytes);
  return payload;
}

inline bool is_aligned(const void* address, std::size_t alignment) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/// Counts what handlers see. Handlers of one process may run on several threads.
class Count {
 public:
  void operator++() { __atomic_fetch_add(&value_, 1, __ATOMIC_RELEASE); }
  void add(long amount) { __atomic_fetch_add(&value_, amount, __ATOMIC_RELEASE); }
  void reset() { __atomic_store_n(&value_, 0, __ATOMIC_RELEASE); }
  long get() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }

 private:
  long value_ = 0;
};

/// The most that a long request may carry between any two ranks, up to `bytes`: the same
/// everywhere.
inline std::size_t fitting_long(std::size_t bytes, unsigned arguments) {
  return std::min(bytes,
                  gex_AM_MaxRequestLong(team(), GEX_RANK_INVALID, GEX_EVENT_NOW, 0, arguments));
}
/// As above, for medium requests.
inline std::size_t fitting_medium(std::size_t bytes, unsigned arguments) {
  return std::min(bytes,
                  gex_AM_MaxRequestMedium(team(), GEX_RANK_INVALID, GEX_EVENT_NOW, 0, arguments));
}

/// The directions and categories a handler is registered for.
inline constexpr gex_Flags_t short_request = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
inline constexpr gex_Flags_t short_reply = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY;
inline constexpr gex_Flags_t short_both = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP;
inline constexpr gex_Flags_t medium_request = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST;
inline constexpr gex_Flags_t medium_reply = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY;
inline constexpr gex_Flags_t long_request = GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST;
inline constexpr gex_Flags_t long_reply = GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY;
inline constexpr gex_Flags_t payload_both = GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP;

/// One entry of a handler table, its index to be assigned.
template <typename F>
gex_AM_Entry_t entry(F* function, gex_Flags_t flags, unsigned arguments, const char* name,
                     const void* cdata = nullptr) {
  return {0, handler(function), flags, arguments, cdata, name};
}

/// The answers of a running handler's token.
inline gex_Token_Info_t info_of(gex_Token_t token) {
  gex_Token_Info_t info{};
  EXPECT_EQ(gex_Token_Info(token, &info, GEX_TI_ALL) & GEX_TI_ALL, GEX_TI_ALL);
  return info;
}
inline bool is_request(gex_Token_t token) {
  return info_of(token).gex_is_req != 0;
}

}  // namespace conformance
