#include "observe/restricted.h"

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
  CallKind kind;
  CallRole role;
  const char* both_names;  ///< null if GASNet-1 has no name for it
};
constexpr const char* or_null(const char* both_names = nullptr) {
  return both_names;
}
constexpr Row rows[] = {
#define GEX_CALL(identifier, name, verdict, kind, role, ...) \
  {name, Verdict::verdict, CallKind::kind, CallRole::role,   \
   or_null(__VA_OPT__(name " (" __VA_ARGS__ ")"))},
#include "observe/restricted_calls.def"
#undef GEX_CALL
};
static_assert(std::size(rows) == static_cast<unsigned>(Call::count));

const Row& row_of(Call call) noexcept {
  return rows[static_cast<unsigned>(call)];
}

bool is_awaiting_attach = false;

struct Restriction {
  bool (*applies)() noexcept;
  const char* where;
};
constexpr unsigned max_restrictions = 4;
constinit Restriction restrictions[max_restrictions] = {};
constinit unsigned restriction_count = 0;

std::atomic<bool> warned[static_cast<unsigned>(Call::count)];

/// Where the thread is, or null for client context.
const char* restriction() noexcept {
  const ThreadRecord& thread = this_thread();
  if (thread.handler_depth != 0) return "in an active message handler";
  if (thread.operator_depth != 0) return "in a reduction operator";
  if (thread.held_locks != 0) return "while holding a handler-safe lock";
  if (thread.interrupts_held) return "in a no-interrupt section";
  for (unsigned i = 0; i < restriction_count; ++i)
    if (restrictions[i].applies()) return restrictions[i].where;
  return nullptr;
}

}  // namespace

const char* name_of(Call call) noexcept {
  const Row& row = row_of(call);
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
  const Row& row = row_of(call);
  if (row.verdict == Verdict::allowed) return;
  const char* where = restriction();
  if (where == nullptr) return;
  if (row.verdict == Verdict::fatal) fatal("%s: not allowed %s", name_of(call), where);
  if (!warned[static_cast<unsigned>(call)].exchange(true, std::memory_order_relaxed))
    warn("%s: not portable %s (reported once)", name_of(call), where);
}

CallKind kind_of(Call call) noexcept {
  return row_of(call).kind;
}

CallRole role_of(Call call) noexcept {
  return row_of(call).role;
}

const char* name_of(CallKind kind) noexcept {
  switch (kind) {
    case CallKind::set_up:
      return "set-up";
    case CallKind::query:
      return "query";
    case CallKind::poll:
      return "poll";
    case CallKind::message:
      return "message";
    case CallKind::put:
      return "put";
    case CallKind::get:
      return "get";
    case CallKind::atomic:
      return "atomic";
    case CallKind::region:
      return "region";
    case CallKind::synchronize:
      return "synchronize";
    case CallKind::collective:
      return "collective";
  }
  return "";
}

void register_restriction(bool (*applies)() noexcept, const char* where) noexcept {
  if (restriction_count == max_restrictions)
    fatal("more than %u restricted contexts registered", max_restrictions);
  restrictions[restriction_count++] = {applies, where};
}

}  // namespace gex
