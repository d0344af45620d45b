/// @file
/// The state that the layer keeps for each thread. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_THREAD_HPP_
#define UPCXX_THREAD_HPP_

#include <upcxx/version.hpp>

namespace upcxx {

class persona;
class persona_scope;

namespace detail {

class StateBase;

/// States that have become ready and whose callbacks have not run, in order.
struct ReadyStates {
  StateBase* first = nullptr;
  StateBase* last = nullptr;
};

struct ThreadState {
  persona_scope* top;     ///< The stack of personas; nullptr: no persona was used yet.
  ReadyStates* ready;     ///< Where a state that becomes ready in a callback of a future is put.
  StateBase* to_destroy;  ///< States without references.
  bool destroying;        ///< They are being destroyed by a caller further up.
  int callbacks;          ///< Depth of user progress: above 0 in its callbacks.
};

// Not thread_local, which makes every access test whether an initializer is to be run.
extern UPCXXI_EXPORT __thread ThreadState this_thread __attribute__((tls_model("initial-exec")));

}  // namespace detail
}  // namespace upcxx

#endif
