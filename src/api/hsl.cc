// Entry points: handler-safe locks, out of line.

#include <gasnetex.h>

#include "api/require.h"
#include "base/error.h"
#include "base/spin.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/thread.h"
#include "observe/trace.h"

namespace {

using gex::fatal;

bool take(gex_HSL_t* hsl) {
  return __atomic_load_n(&hsl->state_, __ATOMIC_RELAXED) == 0 &&
         __atomic_exchange_n(&hsl->state_, 1U, __ATOMIC_ACQUIRE) == 0;
}

void note_taken(gex_HSL_t* hsl) {
  if (!gex::checked()) return;
  gex::ThreadRecord& thread = gex::this_thread();
  __atomic_store_n(&hsl->owner_, thread.number, __ATOMIC_RELAXED);
  ++thread.held_locks;
}

/// A second lock by the thread that holds it would wait for ever.
void check_not_held(gex_HSL_t* hsl, const char* call) {
  if (!gex::checked()) return;
  gex::require(hsl, call);
  // Asked for before the owner is read: a thread's first call takes over the number of one that has
  // ended, which may hold the lock until then.
  const std::uint32_t number = gex::this_thread().number;
  if (__atomic_load_n(&hsl->state_, __ATOMIC_RELAXED) != 0 &&
      __atomic_load_n(&hsl->owner_, __ATOMIC_RELAXED) == number)
    fatal("%s: this thread holds the lock already", call);
}

}  // namespace

extern "C" {

void gex_HSL_Init(gex_HSL_t* hsl) {
  *gex::require(hsl, __func__) = GEX_HSL_INITIALIZER;
}

void gex_HSL_Destroy(gex_HSL_t* hsl) {
  gex::require(hsl, __func__);
  if (gex::checked() && __atomic_load_n(&hsl->state_, __ATOMIC_RELAXED) != 0)
    fatal("gex_HSL_Destroy: the lock is held");
}

void gex_hsl_lock_(gex_HSL_t* hsl) {
  check_not_held(hsl, "gex_HSL_Lock");
  if (!take(hsl)) {
    // No other thread exists that could release it, or that it could keep out: so a client which
    // takes a lock again goes on, as where locks of SEQ are nothing at all.
    if (gex_proc_.mode == GEX_MODE_SEQ_) {
      if (gex::checked())
        fatal("gex_HSL_Lock: the lock is held, and in SEQ mode no other thread can release it");
      return;
    }
    const gex::ObservedWait observed(gex::WaitCause::lock);
    gex::Waiter waiter;
    gex::LongWait long_wait;
    while (!take(hsl)) {
      if (waiter.wait())
        long_wait.yielded([]() noexcept { return gex::Op::of_library(gex::OpKind::lock); });
    }
  }
  note_taken(hsl);
}

void gex_hsl_unlock_(gex_HSL_t* hsl) {
  if (gex::checked()) {
    gex::require(hsl, "gex_HSL_Unlock");
    gex::ThreadRecord& thread = gex::this_thread();
    if (__atomic_load_n(&hsl->state_, __ATOMIC_RELAXED) == 0)
      fatal("gex_HSL_Unlock: the lock is not held");
    if (__atomic_load_n(&hsl->owner_, __ATOMIC_RELAXED) != thread.number)
      fatal("gex_HSL_Unlock: another thread holds the lock");
    --thread.held_locks;
    __atomic_store_n(&hsl->owner_, 0U, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&hsl->state_, 0U, __ATOMIC_RELEASE);
}

int gex_hsl_trylock_(gex_HSL_t* hsl) {
  check_not_held(hsl, "gex_HSL_Trylock");
  if (!take(hsl)) return GASNET_ERR_NOT_READY;
  note_taken(hsl);
  return GASNET_OK;
}

}  // extern "C"
