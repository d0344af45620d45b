#include "observe/in_call.h"

#include <limits>

#include "core/op.h"
#include "core/process.h"
#include "core/thread.h"
#include "job/job.h"
#include "job/last_call.h"
#include "observe/looked_at.h"
#include "observe/thread_part.h"
#include "observe/trace.h"

namespace gex {

namespace {

// Calls are noted by numbers from 1.
constexpr auto calls = static_cast<unsigned>(Call::count);
static_assert(calls < job::LastCall::max_calls);
static_assert(calls <= std::numeric_limits<std::uint8_t>::max());

/// The innermost of a thread's calls. Each takes a byte of the word, which holds the innermost
/// eight.
std::uint32_t innermost(const observe::ThreadPart& thread) noexcept {
  return thread.calls & 0xff;
}
static_assert(job::LastCall::none == 0);

/// The caller of a set-up call where only those are noted: no thread record is made for them.
constexpr std::uint32_t unknown_thread = 0;

/// Returns true if all calls are noted, not only those of set-up.
bool are_noted() noexcept {
  return checked() || progress_watched();
}

/// Null before `note_from_start`, and in a job of one.
job::LastCall* last_call = nullptr;

}  // namespace

void InCall::begin(Call call, Kind kind) noexcept {
  if (checked()) check_context(call);
  if (traced()) trace::detail::call_begin(call);
  if (progress_watched()) note_call(call);
  if (last_call == nullptr || (kind != set_up && !are_noted())) return;
  std::uint32_t caller = unknown_thread;
  if (are_noted()) {
    ThreadRecord& thread = this_thread();
    std::uint64_t& calls_of_thread = observe::part_of(thread).calls;
    calls_of_thread = (calls_of_thread << 8) | number_of(call);
    caller = thread.number;
  }
  last_call->begin(number_of(call), name_of(call), caller);
}

void InCall::finish(Call call, Kind kind, Result result) noexcept {
  if (traced()) {
    const bool refused = result.refused || result.event == GEX_EVENT_NO_OP;
    const auto id = reinterpret_cast<std::uint64_t>(result.event);
    unsigned detail = 0;
    if (refused) detail |= trace::refused;
    if (result.not_ready) detail |= trace::not_ready;
    trace::detail::call_end(call, refused ? 0 : id, static_cast<std::uint8_t>(detail));
  }
  if (last_call == nullptr || (kind != set_up && !are_noted())) return;
  if (are_noted()) {
    ThreadRecord& thread = this_thread();
    observe::ThreadPart& part = observe::part_of(thread);
    part.calls >>= 8;
    last_call->finish(number_of(call), thread.number, innermost(part));
  } else {
    last_call->forget(number_of(call), unknown_thread);
  }
}

void InCall::note_from_start() noexcept {
  last_call = process().job->last_call();
  begin(Call::client_init, set_up);
}

void InCall::name_calls() noexcept {
  for (unsigned i = 0; last_call != nullptr && i < calls; ++i) {
    const auto call = static_cast<Call>(i);
    last_call->set_name(number_of(call), name_of(call));
  }
}

}  // namespace gex
