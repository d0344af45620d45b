#include "core/annotated_wait.h"

#include <cstring>

#include "core/event.h"
#include "core/progress.h"
#include "core/thread.h"

namespace gex {

void show_annotated_wait(const char* text, gex_Rank_t jobrank, gex_Event_t event) noexcept {
  job::ThreadStatus& status = this_thread().status;
  // Shown already, and no wait of the library's has taken its place since.
  if (status.waiting_since.load(std::memory_order_relaxed) != 0) return;
  std::strncpy(status.annotation, text, sizeof status.annotation - 1);
  if (event != GEX_EVENT_INVALID) return LongWait::begin(op_of(event));
  LongWait::begin(Op::with_peer(OpKind::annotated, 0, jobrank, 0));
}

void end_annotated_wait() noexcept {
  job::ThreadStatus& status = this_thread().status;
  status.annotation[0] = 0;
  LongWait::end();
}

}  // namespace gex
