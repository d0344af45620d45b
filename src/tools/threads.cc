// Locks of gasnet_tools.h: POSIX threads' own, and which thread holds them.
//
// The holder is kept beside every lock, in release builds too, so that sources compiled with and
// without GASNET_DEBUG can share one. It costs a thread-local read and two plain stores.

#include <gex/tools_threads.h>

#include <pthread.h>
#include <sched.h>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/error.h"

static_assert(sizeof(gasnett_rwlock_t::gex_native) >= sizeof(pthread_rwlock_t));
static_assert(alignof(gasnett_rwlock_t) >= alignof(pthread_rwlock_t));

namespace {

std::uintptr_t self() noexcept {
  return reinterpret_cast<std::uintptr_t>(::pthread_self());
}

/// Relaxed: only the holder writes its own identity there, so a thread that reads its own identity
/// wrote it, and whatever else it reads is not its own.
std::atomic_ref<std::uintptr_t> owner_of(std::uintptr_t& word) noexcept {
  return std::atomic_ref<std::uintptr_t>(word);
}

bool owned(const std::uintptr_t& word) noexcept {
  return owner_of(const_cast<std::uintptr_t&>(word)).load(std::memory_order_relaxed) == self();
}

void set_owner(std::uintptr_t& word, std::uintptr_t owner) noexcept {
  owner_of(word).store(owner, std::memory_order_relaxed);
}

void require(int error, const char* call) noexcept {
  if (error != 0) [[unlikely]]
    gex::fatal_system(call, error);
}

pthread_rwlock_t* native(gasnett_rwlock_t* lock) noexcept {
  return reinterpret_cast<pthread_rwlock_t*>(lock->gex_native);
}

/// The reader/writer locks that this thread holds for reading. POSIX offers no query, and a
/// recursive read lock deadlocks only when a writer happens to wait in between.
struct ReadLocks {
  static constexpr std::size_t capacity = 64;
  const gasnett_rwlock_t* held[capacity];
  std::size_t count;

  bool holds(const gasnett_rwlock_t* lock) const noexcept {
    for (std::size_t i = count; i > 0; --i) {
      if (held[i - 1] == lock) return true;
    }
    return false;
  }

  void add(const gasnett_rwlock_t* lock) noexcept { held[count++] = lock; }

  bool remove(const gasnett_rwlock_t* lock) noexcept {
    for (std::size_t i = count; i > 0; --i) {
      if (held[i - 1] != lock) continue;
      held[i - 1] = held[--count];
      return true;
    }
    return false;
  }
};
thread_local constinit ReadLocks read_locks{};

void require_not_held(const gasnett_rwlock_t* lock, const char* call) noexcept {
  if (owned(lock->gex_writer)) gex::fatal("%s: this thread holds the lock for writing", call);
  if (read_locks.holds(lock)) gex::fatal("%s: this thread holds the lock for reading", call);
}

void require_room(const char* call) noexcept {
  if (read_locks.count == ReadLocks::capacity) {
    gex::fatal("%s: this thread holds %zu reader/writer locks already, the most it may", call,
               read_locks.count);
  }
}

}  // namespace

void gex_mutex_init_(gasnett_mutex_t* mutex) {
  require(::pthread_mutex_init(&mutex->gex_native, nullptr), "gasnett_mutex_init");
  mutex->gex_owner = 0;
}

void gex_mutex_destroy_(gasnett_mutex_t* mutex) {
  require(gex_mutex_destroy_ignoring_errors_(mutex), "gasnett_mutex_destroy");
}

int gex_mutex_destroy_ignoring_errors_(gasnett_mutex_t* mutex) {
  if (owner_of(mutex->gex_owner).load(std::memory_order_relaxed) != 0) return EBUSY;
  return ::pthread_mutex_destroy(&mutex->gex_native);
}

void gex_mutex_lock_(gasnett_mutex_t* mutex) {
  if (owned(mutex->gex_owner)) [[unlikely]] {
    gex::fatal("gasnett_mutex_lock: this thread holds the mutex already");
  }
  require(::pthread_mutex_lock(&mutex->gex_native), "gasnett_mutex_lock");
  set_owner(mutex->gex_owner, self());
}

int gex_mutex_trylock_(gasnett_mutex_t* mutex) {
  if (owned(mutex->gex_owner)) [[unlikely]] {
    gex::fatal("gasnett_mutex_trylock: this thread holds the mutex already");
  }
  const int error = ::pthread_mutex_trylock(&mutex->gex_native);
  if (error == EBUSY) return EBUSY;
  require(error, "gasnett_mutex_trylock");
  set_owner(mutex->gex_owner, self());
  return 0;
}

void gex_mutex_unlock_(gasnett_mutex_t* mutex) {
  if (!owned(mutex->gex_owner)) [[unlikely]] {
    gex::fatal("gasnett_mutex_unlock: this thread does not hold the mutex");
  }
  set_owner(mutex->gex_owner, 0);
  require(::pthread_mutex_unlock(&mutex->gex_native), "gasnett_mutex_unlock");
}

void gex_mutex_assert_(const gasnett_mutex_t* mutex, int locked) {
  if (owned(mutex->gex_owner) == (locked != 0)) return;
  gex::fatal(locked ? "gasnett_mutex_assertlocked: this thread does not hold the mutex"
                    : "gasnett_mutex_assertunlocked: this thread holds the mutex");
}

void gex_cond_init_(gasnett_cond_t* condition) {
  require(::pthread_cond_init(&condition->gex_native, nullptr), "gasnett_cond_init");
}

void gex_cond_destroy_(gasnett_cond_t* condition) {
  require(::pthread_cond_destroy(&condition->gex_native), "gasnett_cond_destroy");
}

void gex_cond_signal_(gasnett_cond_t* condition) {
  require(::pthread_cond_signal(&condition->gex_native), "gasnett_cond_signal");
}

void gex_cond_broadcast_(gasnett_cond_t* condition) {
  require(::pthread_cond_broadcast(&condition->gex_native), "gasnett_cond_broadcast");
}

void gex_cond_wait_(gasnett_cond_t* condition, gasnett_mutex_t* mutex) {
  if (!owned(mutex->gex_owner)) [[unlikely]] {
    gex::fatal("gasnett_cond_wait: this thread does not hold the mutex");
  }
  set_owner(mutex->gex_owner, 0);
  require(::pthread_cond_wait(&condition->gex_native, &mutex->gex_native), "gasnett_cond_wait");
  set_owner(mutex->gex_owner, self());
}

void gex_cond_wait_alone_() {
  gex::fatal("gasnett_cond_wait in a program compiled for one thread: no other could signal it");
}

void gex_rwlock_init_(gasnett_rwlock_t* lock) {
  require(::pthread_rwlock_init(native(lock), nullptr), "gasnett_rwlock_init");
  lock->gex_writer = 0;
}

void gex_rwlock_destroy_(gasnett_rwlock_t* lock) {
  require(::pthread_rwlock_destroy(native(lock)), "gasnett_rwlock_destroy");
}

void gex_rwlock_rdlock_(gasnett_rwlock_t* lock) {
  require_not_held(lock, "gasnett_rwlock_rdlock");
  require_room("gasnett_rwlock_rdlock");
  int error = ::pthread_rwlock_rdlock(native(lock));
  // Too many readers at the moment: the caller asked to wait for its turn.
  while (error == EAGAIN) {
    ::sched_yield();
    error = ::pthread_rwlock_rdlock(native(lock));
  }
  require(error, "gasnett_rwlock_rdlock");
  read_locks.add(lock);
}

void gex_rwlock_wrlock_(gasnett_rwlock_t* lock) {
  require_not_held(lock, "gasnett_rwlock_wrlock");
  require(::pthread_rwlock_wrlock(native(lock)), "gasnett_rwlock_wrlock");
  set_owner(lock->gex_writer, self());
}

int gex_rwlock_tryrdlock_(gasnett_rwlock_t* lock) {
  require_not_held(lock, "gasnett_rwlock_tryrdlock");
  require_room("gasnett_rwlock_tryrdlock");
  const int error = ::pthread_rwlock_tryrdlock(native(lock));
  if (error == EBUSY || error == EAGAIN) return error;
  require(error, "gasnett_rwlock_tryrdlock");
  read_locks.add(lock);
  return 0;
}

int gex_rwlock_trywrlock_(gasnett_rwlock_t* lock) {
  require_not_held(lock, "gasnett_rwlock_trywrlock");
  const int error = ::pthread_rwlock_trywrlock(native(lock));
  if (error == EBUSY) return EBUSY;
  require(error, "gasnett_rwlock_trywrlock");
  set_owner(lock->gex_writer, self());
  return 0;
}

void gex_rwlock_unlock_(gasnett_rwlock_t* lock) {
  if (owned(lock->gex_writer)) {
    set_owner(lock->gex_writer, 0);
  } else if (!read_locks.remove(lock)) {
    gex::fatal("gasnett_rwlock_unlock: this thread does not hold the lock");
  }
  require(::pthread_rwlock_unlock(native(lock)), "gasnett_rwlock_unlock");
}

void gex_rwlock_assert_(const gasnett_rwlock_t* lock, int allowed) {
  const int held = owned(lock->gex_writer)  ? GEX_LOCKED_WRITE_
                   : read_locks.holds(lock) ? GEX_LOCKED_READ_
                                            : 0;
  if (allowed == 0 ? held == 0 : (held & allowed) != 0) return;
  static constexpr const char* states[] = {"not locked", "locked for reading", "locked for writing",
                                           "locked"};
  gex::fatal("gasnett_rwlock_assert: the lock should be %s by this thread and is %s",
             states[allowed & 3], states[held]);
}

void gasnett_sched_yield() {
  ::sched_yield();
}
