#pragma once
// The unit in which processors exchange memory, and hints about it.
//
// Two words that different ranks or threads write belong in different cache lines. `cache_line` is
// the constant for `alignas` and for layouts shared between processes; it is part of the layout, so
// it does not follow the machine.

#include <cstddef>

namespace gex {

inline constexpr std::size_t cache_line = 64;

/// A value that shares its cache lines with nothing else:
///
///   CacheAligned<std::atomic<std::uint32_t>> head;
///   head.value.store(1, std::memory_order_release);
template <class T>
struct alignas(cache_line) CacheAligned {
  T value{};
};

/// `bytes` rounded up to whole cache lines.
constexpr std::size_t round_up_to_line(std::size_t bytes) noexcept {
  return (bytes + cache_line - 1) & ~(cache_line - 1);
}

/// Hints that the line of `address` will be read soon. Never faults; any address is allowed.
inline void prefetch(const void* address) noexcept {
  __builtin_prefetch(address, 0, 3);
}

/// Hints that the line of `address` will be written soon, so that it is fetched for ownership at
/// once instead of being shared first. Never faults; any address is allowed.
inline void prefetch_for_write(const void* address) noexcept {
#ifdef __x86_64__
  // Compilers make that a fetch for reading unless they may assume a processor that has more;
  // processors that have not do nothing here.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1, 3);
#endif
}

}  // namespace gex
