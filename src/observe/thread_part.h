#pragma once
// The state that observe keeps of a thread, in the slot of its record.

#include <cstdint>

#include "core/thread.h"

namespace gex {

namespace trace {
struct ThreadTrace;
}

namespace observe {

struct ThreadPart {
  std::uint64_t calls = 0;              ///< that the thread is in, the innermost last: in_call.cc
  std::uint32_t look = 0;               ///< the guardian's during which it has polled last
  std::uint64_t polled_at_ns = 0;       ///< its processor time then
  trace::ThreadTrace* trace = nullptr;  ///< its part of the trace, once it has recorded something
};

using PartSlot = Slot<ThreadRecord, ThreadSlot::observed, ThreadPart>;

/// The calling thread's; made when it is first asked for.
inline ThreadPart& part_of(ThreadRecord& thread) noexcept {
  if (PartSlot::of(thread) == nullptr) [[unlikely]]
    PartSlot::set(thread, new ThreadPart);
  return *PartSlot::of(thread);
}

}  // namespace observe
}  // namespace gex
