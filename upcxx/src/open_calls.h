// Remote calls whose answers have not arrived, in jobs whose progress is watched: what hang reports
// show of a wait. Any thread.
#ifndef UPCXX_SRC_OPEN_CALLS_H_
#define UPCXX_SRC_OPEN_CALLS_H_

#include <upcxx/message.hpp>

namespace upcxx::detail {

/// The calling thread begins a call.
void note_open_call(const CallRecord* call, intrank_t target, Place place);
/// Its answer has arrived.
void forget_open_call(const CallRecord* call);

struct OpenCalls {
  std::size_t count;
  intrank_t oldest_target;
  Place oldest_place;
};
/// The calls that the calling thread has begun.
OpenCalls open_calls();

}  // namespace upcxx::detail

#endif
