#include "waiting.h"

#include <cstdio>
#include <cstring>

#include "open_calls.h"
#include "process.h"

namespace upcxx::detail {

namespace {

// So many idle steps later the wait is shown: after about ten microseconds.
constexpr unsigned steps_unshown = 100;

/// " (solver.cc:41)", without the folders.
void append_place(char* text, std::size_t size, Place place) {
  if (place.file == nullptr) return;
  const char* const slash = std::strrchr(place.file, '/');
  const std::size_t used = std::strlen(text);
  std::snprintf(text + used, size - used, " (%s:%u)", slash ? slash + 1 : place.file, place.line);
}

void append(char* text, std::size_t size, const char* more) {
  const std::size_t used = std::strlen(text);
  std::snprintf(text + used, size - used, "%s", more);
}

}  // namespace

Waiting::Waiting(const char* call, const char* file, unsigned line)
    : call_(call), file_(file), line_(line) {
  if (!is_traced) return;
  std::snprintf(interval_, sizeof interval_, "%s", call);
  append_place(interval_, sizeof interval_, {file, line});
  gex_Annotation_Begin(interval_);
}

Waiting::~Waiting() {
  if (is_shown()) gex_Annotation_EndWait();
  if (is_traced) gex_Annotation_End(interval_);
}

bool Waiting::is_shown() const {
  return idle_steps_ > quick_steps + steps_unshown;
}

bool Waiting::step(gex_Event_t event) {
  if (make_progress(progress_level::user)) {
    if (is_shown()) gex_Annotation_EndWait();
    idle_steps_ = 0;
    return false;
  }
  if (!is_shown()) {
    ++idle_steps_;
    if (is_shown()) make_text();
  }
  if (is_shown()) gex_Annotation_Wait(text_, peer_, event);
  return idle_steps_ >= quick_steps;
}

void Waiting::make_text() {
  std::snprintf(text_, sizeof text_, "%s", call_);
  append_place(text_, sizeof text_, {file_, line_});
  peer_ = GEX_RANK_INVALID;
  const OpenCalls calls = process().is_watched ? open_calls() : OpenCalls{0, -1, {}};
  if (calls.count == 0) {
    if (const char* const lost = personas_with_calls()) append(text_, sizeof text_, lost);
    return;
  }
  peer_ = gex_Rank_t(calls.oldest_target);
  if (calls.count == 1) {
    append(text_, sizeof text_, " for the answer to upcxx::rpc");
  } else {
    char count[72];
    std::snprintf(count, sizeof count, " with %zu calls unanswered, the oldest upcxx::rpc",
                  calls.count);
    append(text_, sizeof text_, count);
  }
  append_place(text_, sizeof text_, calls.oldest_place);
}

void wait_until_ready(StateBase* const& state, const char* call, const char* file, unsigned line) {
  constexpr std::uintptr_t never = 1;
  const auto number = [&] { return reinterpret_cast<std::uintptr_t>(state); };
  wait_for([&] { return number() <= never || state->is_ready(); }, call, file, line);
  if (number() != never) return;
  fatal_error(
      "the future was made by its default constructor, or moved from, and never becomes ready; "
      "wait for one that a promise or an operation gave",
      call, file, int(line));
}

void refuse_copy() {
  fatal_error(
      "the values of the future can only be moved, and another future or a promise has them, too; "
      "wait_reference() and result_reference() leave them where they are",
      "future::result");
}

}  // namespace upcxx::detail
