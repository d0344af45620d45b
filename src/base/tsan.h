#pragma once
// Annotations for ThreadSanitizer.
//
// It watches one process. An order between two of its threads that comes about through another
// process (what one wrote, a peer read and gave back, and the other writes next) it cannot see, and
// reports as a race. Such an order is annotated by `order_through_peer_begins` where the first
// thread hands over and `order_through_peer_ends` where the second has found what the peer gave
// back, both with one address: of the word by which the peer gives back, or of what its answer is
// for. In other builds they are nothing.

#if defined(__SANITIZE_THREAD__)
#define GEX_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GEX_UNDER_TSAN 1
#endif
#endif

#ifdef GEX_UNDER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace gex {

#ifdef GEX_UNDER_TSAN
inline constexpr bool under_tsan = true;
inline void order_through_peer_begins(void* address) noexcept {
  __tsan_release(address);
}
inline void order_through_peer_ends(void* address) noexcept {
  __tsan_acquire(address);
}
#else
inline constexpr bool under_tsan = false;
inline void order_through_peer_begins(void*) noexcept {
}
inline void order_through_peer_ends(void*) noexcept {
}
#endif

}  // namespace gex
