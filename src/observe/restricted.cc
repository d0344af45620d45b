#include "core/restricted.h"

#include <atomic>
#include <string>

#include "base/error.h"
#include "core/objects.h"
#include "core/thread.h"

namespace gex {

namespace {

enum class Verdict { fatal, warn_once, allowed };

struct Row {
  const char* name;
  Verdict verdict;
  const char* both_names;  ///< null if GASNet-1 has no name for it
};
constexpr const char* or_null(const char* both_names = nullptr) {
  return both_names;
}
constexpr Row rows[] = {
#define GEX_CALL(identifier, name, verdict, ...) \
  {name, Verdict::verdict, or_null(__VA_OPT__(name " (" __VA_ARGS__ ")"))},
#include "core/restricted_calls.def"
#undef GEX_CALL
};
static_assert(std::size(rows) == static_cast<unsigned>(Call::count));

bool is_awaiting_attach = false;

std::atomic<bool> warned[static_cast<unsigned>(Call::count)];

/// Where the thread is, or null for client context.
const char* restriction() noexcept {
  const ThreadRecord& thread = this_thread();
  if (thread.handler_depth != 0) return "in an active message handler";
  if (thread.request_descriptor.open || thread.reply_descriptor.open)
    return "between Prepare and Commit or Cancel";
  if (thread.operator_depth != 0) return "in a reduction operator";
  if (thread.held_locks != 0) return "while holding a handler-safe lock";
  if (thread.interrupts_held) return "in a no-interrupt section";
  return nullptr;
}

}  // namespace

const char* name_of(Call call) noexcept {
  const Row& row = rows[static_cast<unsigned>(call)];
  const bool both = gex_proc_.gasnet1_team != GEX_TM_INVALID && row.both_names != nullptr;
  return both ? row.both_names : row.name;
}

bool awaiting_attach() noexcept {
  return is_awaiting_attach;
}
void set_awaiting_attach(bool awaiting) noexcept {
  is_awaiting_attach = awaiting;
}

void check_context(Call call) noexcept {
  if (gex_proc_.jobsize == 0 && call != Call::client_init)
    fatal("%s: called before gex_Client_Init", name_of(call));
  if (is_awaiting_attach && call != Call::attach && !has_several_clients())
    fatal("%s: called between gasnet_init and gasnet_attach", name_of(call));
  const Row& row = rows[static_cast<unsigned>(call)];
  if (row.verdict == Verdict::allowed) return;
  const char* where = restriction();
  if (where == nullptr) return;
  if (row.verdict == Verdict::fatal) fatal("%s: not allowed %s", name_of(call), where);
  if (!warned[static_cast<unsigned>(call)].exchange(true, std::memory_order_relaxed))
    warn("%s: not portable %s (reported once)", name_of(call), where);
}

bool is_question(Call call) noexcept {
  switch (call) {
    case Call::am_poll:
    case Call::event_test:
    case Call::event_test_some:
    case Call::event_test_all:
    case Call::nbi_test:
    case Call::coll_barrier_try:
    case Call::barrier_try:
    case Call::try_syncnb:
    case Call::try_syncnb_some:
    case Call::try_syncnb_all:
    case Call::try_syncnbi:
      return true;
    default:
      return false;
  }
}

bool communicates(Call call) noexcept {
  switch (call) {
    case Call::rank_to_jobrank:
    case Call::jobrank_to_rank:
    case Call::rank_to_endpoint:
    case Call::query_bound:
    case Call::query_leaf:
    case Call::pair:
    case Call::event_wait:
    case Call::event_wait_some:
    case Call::event_wait_all:
    case Call::nbi_wait:
    case Call::begin_region:
    case Call::end_region:
    case Call::wait_value:
      return false;
    default:
      return !is_question(call);
  }
}

}  // namespace gex
