#pragma once
// Cancellation of threads (pthread_cancel).
//
// A thread that is cancelled ends at its next cancellation point, by unwinding its stack. libgex
// has frames that nothing may unwind and state that must not be left halfway, and the libraries of
// networks have cancellation points. So cancellation is disabled around what may reach one, and a
// wait of the client's asks for it where the thread holds nothing.

#include <pthread.h>

namespace gex {

/// While one exists, the calling thread is not cancelled. About 20 ns.
class CancellationDisabled {
 public:
  /// Does nothing unless `wanted`.
  explicit CancellationDisabled(bool wanted = true) noexcept {
    if (!wanted) return;
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    restore_ = before != PTHREAD_CANCEL_DISABLE;
  }
  ~CancellationDisabled() {
    if (restore_) pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  }
  CancellationDisabled(const CancellationDisabled&) = delete;
  CancellationDisabled& operator=(const CancellationDisabled&) = delete;

 private:
  bool restore_ = false;
};

/// The cancellation points of one wait. From the first one on, the thread is cancelled at these
/// alone: a handler that it runs meanwhile is not.
class CancellationPoints {
 public:
  CancellationPoints() = default;
  ~CancellationPoints() {
    if (restore_) pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  }
  CancellationPoints(const CancellationPoints&) = delete;
  CancellationPoints& operator=(const CancellationPoints&) = delete;

  /// Ends the thread if it has been cancelled, and may be.
  void visit() {
    if (restore_) pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
    restore_ = false;
    pthread_testcancel();
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    restore_ = before != PTHREAD_CANCEL_DISABLE;
  }

 private:
  bool restore_ = false;
};

}  // namespace gex
