/// @file
/// Annotations for ThreadSanitizer, which does not see an order between threads that comes about
/// through another process. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_TSAN_HPP_
#define UPCXX_TSAN_HPP_

#if defined(__SANITIZE_THREAD__)
#define UPCXXI_UNDER_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UPCXXI_UNDER_TSAN
#endif
#endif

#ifdef UPCXXI_UNDER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace upcxx {
namespace detail {

#ifdef UPCXXI_UNDER_TSAN
/// The calling thread has sent the address of an object to another process...
inline void address_departs(void* object) {
  __tsan_release(object);
}
/// ...and a thread that has got it back goes on with the object.
inline void address_returns(void* object) {
  __tsan_acquire(object);
}
#else
inline void address_departs(void*) {
}
inline void address_returns(void*) {
}
#endif

}  // namespace detail
}  // namespace upcxx

#endif
