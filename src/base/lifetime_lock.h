#pragma once
// A lock that a thread takes once and keeps for the rest of its life, by which others find out
// whether that thread has ended.
//
// The system gives the lock up when the thread has run the last of its code: after every destructor
// of its keys and thread-local objects, however it ends. A thread that has been joined has given it
// up.

#include <pthread.h>

#include <cerrno>

#include "base/tsan.h"

namespace gex {

class LifetimeLock {
 public:
  LifetimeLock() noexcept {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  LifetimeLock(const LifetimeLock&) = delete;
  LifetimeLock& operator=(const LifetimeLock&) = delete;

  /// Takes it for the calling thread. False: a thread that has not ended has it. Acquire: what the
  /// last owner did is seen.
  bool try_take() noexcept {
    const int error = pthread_mutex_trylock(&mutex_);
    if (error == EOWNERDEAD) {
      pthread_mutex_consistent(&mutex_);
      // Given up by the system, which ThreadSanitizer does not see.
      order_through_peer_ends(this);
    }
    return error == 0 || error == EOWNERDEAD;
  }
  /// Gives it up at once. Release.
  void give_up() noexcept { pthread_mutex_unlock(&mutex_); }
  /// For ThreadSanitizer: what the owner has done until now precedes what the next one does.
  void will_end() noexcept { order_through_peer_begins(this); }

 private:
  pthread_mutex_t mutex_;
};

}  // namespace gex
