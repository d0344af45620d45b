#include "core/restricted.h"

#include <atomic>
#include <string>

#include "base/error.h"
#include "core/thread.h"

namespace gex {

namespace {

enum class Verdict { fatal, warn_once, allowed };

struct Row {
  const char* name;
  Verdict verdict;
};
constexpr Row rows[] = {
#define GEX_CALL(identifier, name, verdict) {name, Verdict::verdict},
#include "core/restricted_calls.def"
#undef GEX_CALL
};
static_assert(std::size(rows) == static_cast<unsigned>(Call::count));

std::atomic<bool> warned[static_cast<unsigned>(Call::count)];

/// Where the thread is, or null for client context.
const char* restriction() noexcept {
  const ThreadRecord& thread = this_thread();
  if (thread.handler_depth != 0) return "in an active message handler";
  if (thread.request_descriptor.open || thread.reply_descriptor.open)
    return "between Prepare and Commit or Cancel";
  if (thread.held_locks != 0) return "while holding a handler-safe lock";
  return nullptr;
}

}  // namespace

const char* name_of(Call call) noexcept {
  return rows[static_cast<unsigned>(call)].name;
}

void judge_context(Call call) noexcept {
  if (gex_proc_.jobsize == 0 && call != Call::client_init)
    fatal("%s: called before gex_Client_Init", name_of(call));
  const Row& row = rows[static_cast<unsigned>(call)];
  if (row.verdict == Verdict::allowed) return;
  const char* where = restriction();
  if (where == nullptr) return;
  if (row.verdict == Verdict::fatal) fatal("%s: not allowed %s", row.name, where);
  if (!warned[static_cast<unsigned>(call)].exchange(true, std::memory_order_relaxed))
    warn("%s: not portable %s (said once)", row.name, where);
}

}  // namespace gex
