#pragma once
// How an operation is initiated in each of its forms: blocking, implicit (NBI), with an event (NB).
// Only here do the forms differ in counters, events and waits.
//
// An operation has one or more parts. Its `inject` function gives them to whatever carries them:
// each part adds one to `CompletionTargets::done` when it is complete and, if `inject` reports so
// (`Injected::completes_local_done`), one to `CompletionTargets::local_done` when its source is not
// in use any more, perhaps before `inject` returns. `inject` may wait for room, polling; it returns
// how many parts there are, or that nothing was injected, which only an immediate operation may.
//
// What completes inside its call, as a copy to mapped memory does, is not initiated: it touches no
// counter and has no event. What is initiated is described by an Op (core/op.h), for reports of
// what is in flight.
//
// Thread rules: client context. The targets belong to the calling thread's operation; any thread
// completes them.

#include <cstdint>

#include "base/cancellation.h"
#include "base/tsan.h"
#include "core/event.h"
#include "core/observer.h"
#include "core/op.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/thread.h"

namespace gex {

struct CompletionTargets {
  CompletionTarget done;
  CompletionTarget local_done;  ///< null: the call does not ask for local completion
};

/// Injecting an operation has this result.
struct Injected {
  std::uint32_t parts;                ///< 0: nothing was injected
  bool completes_local_done = false;  ///< each part does, perhaps already; else the source is free
};
inline constexpr Injected not_injected{0};

/// Local completion, as a put asks for it.
enum class LocalCompletion : std::uint8_t {
  with_done,  ///< the source is not touched before the operation is complete
  now,        ///< before the call returns
  group,      ///< counted with the implicit operations of the thread
  leaf,       ///< a leaf of the operation's event
};

enum class Form : std::uint8_t { blocking, implicit, with_event };

/// The result of a call that initiates.
struct Initiated {
  bool refused = false;                   ///< nothing was injected
  gex_Event_t event = GEX_EVENT_INVALID;  ///< with_event: until it is complete
  /// leaf: parts of the injection complete the leaf, perhaps already; else it is complete.
  bool completes_local_done = false;

  /// Calls that return an event return this.
  gex_Event_t event_or_no_op() const noexcept { return refused ? GEX_EVENT_NO_OP : event; }
};

namespace detail {
inline void wait_for_parts(const Op& op, const StdCompletion::Word& completed,
                           std::uint32_t parts) noexcept {
  wait_until([&]() noexcept { return op; },
             [&]() noexcept { return StdCompletion::load_acquire(completed) == parts; });
}
/// A peer's answer completes the targets, in whatever thread takes it.
inline void hand_over(const CompletionTargets& targets) noexcept {
  order_through_peer_begins(targets.done);
  if (targets.local_done != nullptr) order_through_peer_begins(targets.local_done);
}
/// Injects, and follows the operation until it is complete; traced jobs only.
template <class Inject>
[[gnu::noinline]] Injected inject_followed(const CompletionTargets& targets,
                                           Inject& inject) noexcept {
  const FollowedTargets given = the_observer.follow(targets.done, targets.local_done);
  const CompletionTargets followed{given.done, given.local_done};
  hand_over(followed);
  const Injected injected = inject(followed);
  the_observer.settle(given, injected.parts, injected.completes_local_done ? injected.parts : 0);
  return injected;
}
template <class Inject>
Injected inject_into(const CompletionTargets& targets, Inject& inject) noexcept {
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  if (traced()) [[unlikely]]
    return inject_followed(targets, inject);
  hand_over(targets);
  return inject(targets);
}
}  // namespace detail

/// Initiates an operation and waits until it is complete.
template <class Inject>
Initiated initiate_blocking(const Op& op, Inject inject) noexcept {
  StdCompletion::Word done{0};
  const Injected injected = detail::inject_into(CompletionTargets{&done, nullptr}, inject);
  if (injected.parts == 0) return {.refused = true};
  detail::wait_for_parts(op, done, injected.parts);
  return {};
}

/// Initiates an operation that the thread's implicit ones of this category include.
template <class Inject>
Initiated initiate_implicit(const Op& op, Category_index category, LocalCompletion wanted,
                            Inject inject) noexcept {
  ThreadRecord& thread = this_thread();
  Counters& counters = thread.implicit_counters();
  StdCompletion::Word reusable{0};
  CompletionTarget local_done = nullptr;
  if (wanted == LocalCompletion::now) local_done = &reusable;
  if (wanted == LocalCompletion::group) local_done = &counters.completed[ec_lc];
  const Injected injected =
      detail::inject_into(CompletionTargets{&counters.completed[category], local_done}, inject);
  if (injected.parts == 0) return {.refused = true};
  show(thread.implicit_op(category), op);
  counters.initiated[category] += injected.parts;
  if (injected.completes_local_done && wanted == LocalCompletion::group)
    counters.initiated[ec_lc] += injected.parts;
  if (injected.completes_local_done && wanted == LocalCompletion::now)
    detail::wait_for_parts(op, reusable, injected.parts);
  return {};
}

/// Initiates an operation with an event of its own.
template <class Inject>
Initiated initiate_with_event(const Op& op, Category_index category, LocalCompletion wanted,
                              Inject inject) noexcept {
  ThreadRecord& thread = this_thread();
  Event& event = allocate_event(thread);
  StdCompletion::Word reusable{0};
  CompletionTarget local_done = nullptr;
  if (wanted == LocalCompletion::now) local_done = &reusable;
  if (wanted == LocalCompletion::leaf) local_done = &event.counters.completed[ec_lc];
  const Injected injected = detail::inject_into(
      CompletionTargets{&event.counters.completed[category], local_done}, inject);
  if (injected.parts == 0) {
    free_event(thread, event);
    return {.refused = true};
  }
  show(event.op, op);
  event.counters.initiated[category] = injected.parts;
  if (wanted == LocalCompletion::leaf) {
    event.counters.initiated[ec_lc] = injected.parts;
    if (!injected.completes_local_done) complete(local_done, injected.parts);
  }
  if (injected.completes_local_done && wanted == LocalCompletion::now)
    detail::wait_for_parts(op, reusable, injected.parts);
  return {.event = handle_of(event), .completes_local_done = injected.completes_local_done};
}

/// Initiates an operation in a form that is known at run time only. A blocking operation has no
/// local completion of its own, an implicit one no leaf.
template <class Inject>
Initiated initiate(Form form, const Op& op, Category_index category, LocalCompletion wanted,
                   Inject inject) noexcept {
  switch (form) {
    case Form::blocking:
      return initiate_blocking(op, inject);
    case Form::implicit:
      return initiate_implicit(op, category, wanted, inject);
    case Form::with_event:
      break;
  }
  return initiate_with_event(op, category, wanted, inject);
}

/// An event that counts no parts: `probe` is asked whether it has happened.
inline gex_Event_t event_of(const Op& op, const Probe& probe, void* subject,
                            std::uint32_t sequence) noexcept {
  Event& event = allocate_event(this_thread());
  show(event.op, op);
  event.probe = &probe;
  event.subject = subject;
  event.sequence = sequence;
  return handle_of(event);
}

}  // namespace gex
