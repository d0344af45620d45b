/** @file
 * Locks, condition variables and thread-local pointers. Part of gasnet_tools.h.
 *
 * Where there are threads, locks are POSIX threads' own, and misuse ends the job with one line that
 * names it: locking what the thread has locked, unlocking what it has not, waiting without the
 * mutex. Where there is one thread (gex/tools_mode.h) they are no-ops, and waiting on a condition
 * is an error, for no thread could signal it. None of this may be used between processes, and
 * nothing that blocks in AM handlers.
 */
#ifndef GEX_TOOLS_THREADS_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_THREADS_H_

#include <gex/platform.h>
#include <gex/tools_mode.h>
#include <pthread.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* The initialisers of POSIX are zeros on Linux, but have a 0 for a pointer, of which C++ compilers
 * can warn in the client's source. */
#if defined(__cplusplus)
#define GEX_STATIC_(initializer) \
  {}
#else
#define GEX_STATIC_(initializer) initializer
#endif

/** A lock for mutual exclusion, not recursive.
 * @see gasnett_mutex_lock
 */
typedef struct gasnett_mutex_t {
  pthread_mutex_t gex_native; /**< The library's. */
  uintptr_t gex_owner;        /**< The library's. */
} gasnett_mutex_t;
/** Initialises a gasnett_mutex_t where it is defined.
 * @see gasnett_mutex_init
 */
#define GASNETT_MUTEX_INITIALIZER \
  { GEX_STATIC_(PTHREAD_MUTEX_INITIALIZER), 0 }

/** A condition to wait for.
 * @see gasnett_cond_wait
 */
typedef struct gasnett_cond_t {
  pthread_cond_t gex_native; /**< The library's. */
} gasnett_cond_t;
/** Initialises a gasnett_cond_t where it is defined.
 * @see gasnett_cond_init
 */
#define GASNETT_COND_INITIALIZER \
  { GEX_STATIC_(PTHREAD_COND_INITIALIZER) }

/** A lock for many readers or one writer, not recursive. A thread may hold 64 of them at a time.
 * @see gasnett_rwlock_rdlock
 */
typedef struct gasnett_rwlock_t {
  uint64_t gex_native[8]; /**< The library's: a pthread_rwlock_t, which strict C does not see. */
  uintptr_t gex_writer;   /**< The library's. */
} gasnett_rwlock_t;
/** Initialises a gasnett_rwlock_t where it is defined.
 * @see gasnett_rwlock_init
 */
#define GASNETT_RWLOCK_INITIALIZER \
  { {0, 0, 0, 0, 0, 0, 0, 0}, 0 }

GEX_EXPORT_ void gex_mutex_init_(gasnett_mutex_t* mutex);
GEX_EXPORT_ void gex_mutex_destroy_(gasnett_mutex_t* mutex);
GEX_EXPORT_ int gex_mutex_destroy_ignoring_errors_(gasnett_mutex_t* mutex);
GEX_EXPORT_ void gex_mutex_lock_(gasnett_mutex_t* mutex);
GEX_EXPORT_ int gex_mutex_trylock_(gasnett_mutex_t* mutex);
GEX_EXPORT_ void gex_mutex_unlock_(gasnett_mutex_t* mutex);
GEX_EXPORT_ void gex_mutex_assert_(const gasnett_mutex_t* mutex, int locked);
GEX_EXPORT_ void gex_cond_init_(gasnett_cond_t* condition);
GEX_EXPORT_ void gex_cond_destroy_(gasnett_cond_t* condition);
GEX_EXPORT_ void gex_cond_signal_(gasnett_cond_t* condition);
GEX_EXPORT_ void gex_cond_broadcast_(gasnett_cond_t* condition);
GEX_EXPORT_ void gex_cond_wait_(gasnett_cond_t* condition, gasnett_mutex_t* mutex);
GEX_EXPORT_ void gex_cond_wait_alone_(void) __attribute__((__noreturn__));
GEX_EXPORT_ void gex_rwlock_init_(gasnett_rwlock_t* lock);
GEX_EXPORT_ void gex_rwlock_destroy_(gasnett_rwlock_t* lock);
GEX_EXPORT_ void gex_rwlock_rdlock_(gasnett_rwlock_t* lock);
GEX_EXPORT_ void gex_rwlock_wrlock_(gasnett_rwlock_t* lock);
GEX_EXPORT_ int gex_rwlock_tryrdlock_(gasnett_rwlock_t* lock);
GEX_EXPORT_ int gex_rwlock_trywrlock_(gasnett_rwlock_t* lock);
GEX_EXPORT_ void gex_rwlock_unlock_(gasnett_rwlock_t* lock);
#define GEX_LOCKED_READ_ 1
#define GEX_LOCKED_WRITE_ 2
/** `allowed`: an OR of GEX_LOCKED_..., or 0: not locked by the caller. */
GEX_EXPORT_ void gex_rwlock_assert_(const gasnett_rwlock_t* lock, int allowed);

static inline void gex_no_lock_(const void* lock) {
  (void)lock;
}
static inline int gex_no_trylock_(const void* lock) {
  (void)lock;
  return 0;
}
static inline void gex_no_wait_(const void* condition, const void* mutex) {
  (void)condition;
  (void)mutex;
  gex_cond_wait_alone_();
}

/** @name Mutexes
 * Take and release a lock for mutual exclusion, and assert that it is held.
 *
 * @param mutex  The lock.
 * @return trylock: 0 with the lock held, or EBUSY. destroy_ignoreerr: 0, or the error number, with
 *         which destroy ends the job.
 * @par Errors
 * Misuse ends the job with one line. The asserts check with GASNET_DEBUG only.
 * @par Context
 * Any thread; nothing that blocks in handlers.
 * @par Example
 * @code
 * static gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
 * gasnett_mutex_lock(&mutex);
 * total += amount;
 * gasnett_mutex_unlock(&mutex);
 * @endcode
 * @par Specification
 * GASNet tools, "Error-checking System Mutexes and Condition Variables".
 * @see gasnett_cond_wait, gex_HSL_Lock
 */
/**@{*/
#if GEX_TOOLS_LOCKS_
#define gasnett_mutex_init(mutex) gex_mutex_init_(mutex)
#define gasnett_mutex_destroy(mutex) gex_mutex_destroy_(mutex)
#define gasnett_mutex_destroy_ignoreerr(mutex) gex_mutex_destroy_ignoring_errors_(mutex)
#define gasnett_mutex_lock(mutex) gex_mutex_lock_(mutex)
#define gasnett_mutex_unlock(mutex) gex_mutex_unlock_(mutex)
#define gasnett_mutex_trylock(mutex) gex_mutex_trylock_(mutex)
#else
#define gasnett_mutex_init(mutex) gex_no_lock_(mutex)
#define gasnett_mutex_destroy(mutex) gex_no_lock_(mutex)
#define gasnett_mutex_destroy_ignoreerr(mutex) gex_no_trylock_(mutex)
#define gasnett_mutex_lock(mutex) gex_no_lock_(mutex)
#define gasnett_mutex_unlock(mutex) gex_no_lock_(mutex)
#define gasnett_mutex_trylock(mutex) gex_no_trylock_(mutex)
#endif
#if GEX_TOOLS_LOCKS_ && defined(GASNET_DEBUG)
#define gasnett_mutex_assertlocked(mutex) gex_mutex_assert_(mutex, 1)
#define gasnett_mutex_assertunlocked(mutex) gex_mutex_assert_(mutex, 0)
#else
#define gasnett_mutex_assertlocked(mutex) gex_no_lock_(mutex)
#define gasnett_mutex_assertunlocked(mutex) gex_no_lock_(mutex)
#endif
/**@}*/

/** @name Conditions
 * Wait for a condition that another thread signals.
 *
 * wait releases the mutex, sleeps without polling, and holds the mutex again on return. It may
 * return without a signal: the caller reads its condition again. The signaller holds the mutex of
 * the waiters.
 *
 * @param condition  The condition.
 * @param mutex      The mutex, which the caller holds.
 * @par Example
 * @code
 * gasnett_mutex_lock(&mutex);
 * while (!ready) gasnett_cond_wait(&changed, &mutex);
 * gasnett_mutex_unlock(&mutex);
 * @endcode
 * @par Context
 * Any thread; nothing that blocks in handlers.
 * @par Specification
 * GASNet tools, "Error-checking System Mutexes and Condition Variables".
 * @see gasnett_mutex_lock
 */
/**@{*/
#if GEX_TOOLS_LOCKS_
#define gasnett_cond_init(condition) gex_cond_init_(condition)
#define gasnett_cond_destroy(condition) gex_cond_destroy_(condition)
#define gasnett_cond_signal(condition) gex_cond_signal_(condition)
#define gasnett_cond_broadcast(condition) gex_cond_broadcast_(condition)
#define gasnett_cond_wait(condition, mutex) gex_cond_wait_(condition, mutex)
#else
#define gasnett_cond_init(condition) gex_no_lock_(condition)
#define gasnett_cond_destroy(condition) gex_no_lock_(condition)
#define gasnett_cond_signal(condition) gex_no_lock_(condition)
#define gasnett_cond_broadcast(condition) gex_no_lock_(condition)
#define gasnett_cond_wait(condition, mutex) gex_no_wait_(condition, mutex)
#endif
/**@}*/

/** @name Reader/writer locks
 * Take a lock together with other readers, or as the one writer; release it; assert how it is held.
 *
 * @param lock  The lock.
 * @return tryrdlock and trywrlock: 0 with the lock held, or EBUSY, or EAGAIN.
 * @par Errors
 * Misuse ends the job with one line. The asserts check with GASNET_DEBUG only.
 * @par Context
 * Any thread; nothing that blocks in handlers.
 * @par Example
 * @code
 * gasnett_rwlock_rdlock(&shared);
 * value = ready ? total : 0;
 * gasnett_rwlock_unlock(&shared);
 * @endcode
 * @par Specification
 * GASNet tools, "Error-checking System Mutexes and Condition Variables".
 * @see gasnett_mutex_lock
 */
/**@{*/
#if GEX_TOOLS_LOCKS_
#define gasnett_rwlock_init(lock) gex_rwlock_init_(lock)
#define gasnett_rwlock_destroy(lock) gex_rwlock_destroy_(lock)
#define gasnett_rwlock_rdlock(lock) gex_rwlock_rdlock_(lock)
#define gasnett_rwlock_wrlock(lock) gex_rwlock_wrlock_(lock)
#define gasnett_rwlock_unlock(lock) gex_rwlock_unlock_(lock)
#define gasnett_rwlock_tryrdlock(lock) gex_rwlock_tryrdlock_(lock)
#define gasnett_rwlock_trywrlock(lock) gex_rwlock_trywrlock_(lock)
#else
#define gasnett_rwlock_init(lock) gex_no_lock_(lock)
#define gasnett_rwlock_destroy(lock) gex_no_lock_(lock)
#define gasnett_rwlock_rdlock(lock) gex_no_lock_(lock)
#define gasnett_rwlock_wrlock(lock) gex_no_lock_(lock)
#define gasnett_rwlock_unlock(lock) gex_no_lock_(lock)
#define gasnett_rwlock_tryrdlock(lock) gex_no_trylock_(lock)
#define gasnett_rwlock_trywrlock(lock) gex_no_trylock_(lock)
#endif
#if GEX_TOOLS_LOCKS_ && defined(GASNET_DEBUG)
#define gasnett_rwlock_assertrdlocked(lock) gex_rwlock_assert_(lock, GEX_LOCKED_READ_)
#define gasnett_rwlock_assertwrlocked(lock) gex_rwlock_assert_(lock, GEX_LOCKED_WRITE_)
#define gasnett_rwlock_assertlocked(lock) \
  gex_rwlock_assert_(lock, GEX_LOCKED_READ_ | GEX_LOCKED_WRITE_)
#define gasnett_rwlock_assertunlocked(lock) gex_rwlock_assert_(lock, 0)
#else
#define gasnett_rwlock_assertrdlocked(lock) gex_no_lock_(lock)
#define gasnett_rwlock_assertwrlocked(lock) gex_no_lock_(lock)
#define gasnett_rwlock_assertlocked(lock) gex_no_lock_(lock)
#define gasnett_rwlock_assertunlocked(lock) gex_no_lock_(lock)
#endif
/**@}*/

/** @name Thread-local pointers
 * One void * per thread, NULL at first.
 *
 * DEFINE stands in one source, at global scope; DECLARE in the others; both are followed by a
 * semicolon. The same variable in every mode, so that sources of different modes can share it.
 * There is nothing to initialise: init does nothing, and the forms with _noinit are the others.
 *
 * @param key    The variable's name.
 * @param value  The calling thread's new pointer.
 * @return get: the calling thread's pointer.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * GASNETT_THREADKEY_DEFINE(my_state);
 * void begin_thread(void) { gasnett_threadkey_set(my_state, new_state()); }
 * @endcode
 * @par Specification
 * GASNet tools, "Thread-specific data".
 */
/**@{*/
#define GASNETT_THREADKEY_DEFINE(key)        \
  extern __thread void* gex_threadkey_##key; \
  __thread void* gex_threadkey_##key
#define GASNETT_THREADKEY_DECLARE(key) extern __thread void* gex_threadkey_##key
#define gasnett_threadkey_get(key) (gex_threadkey_##key)
#define gasnett_threadkey_set(key, value) ((void)(gex_threadkey_##key = (value)))
/** A name that clients refer to; it does nothing. */
static inline void _gasneti_threadkey_init(void* const* key) {
  (void)key;
}
#define gasnett_threadkey_init(key) _gasneti_threadkey_init(&gex_threadkey_##key)
#define gasnett_threadkey_get_noinit(key) gasnett_threadkey_get(key)
#define gasnett_threadkey_set_noinit(key, value) gasnett_threadkey_set(key, value)
/**@}*/

/** The most threads that may be inside the library at once, unless GASNET_MAX_THREADS is set.
 * @see gex_System_QueryMaxThreads
 */
#if defined(GASNETI_MAX_THREADS)
#define GASNETT_MAX_THREADS GASNETI_MAX_THREADS
#elif GEX_TOOLS_THREADS_
#define GASNETT_MAX_THREADS 256
#else
#define GASNETT_MAX_THREADS 1
#endif

/** Offers the processor to another thread, as sched_yield(2).
 * @par Context
 * Any thread.
 * @see gasnett_spinloop_hint
 */
GEX_EXPORT_ void gasnett_sched_yield(void);

#if defined(__cplusplus)
}
#endif
#endif
