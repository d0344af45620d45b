#include <sched.h>

#include <cstdlib>
#include <new>
#include <upcxx/operation.hpp>

#include "process.h"

namespace upcxx {
namespace detail {

__thread ThreadState this_thread __attribute__((tls_model("initial-exec")));

struct EndOfBlocks {
  ~EndOfBlocks() {
    end(this_thread.messages, std::free);
    end(this_thread.records, [](void* memory) { ::operator delete(memory); });
  }
  template <class Free>
  static void end(Blocks& blocks, Free&& free) {
    while (void* const block = blocks.take()) free(block);
    blocks.more_ = 0;
  }
};

bool Blocks::begin() {
#ifdef __SANITIZE_ADDRESS__
  return false;  // so that uses of what was freed are found
#endif
  static thread_local bool has_begun = false;
  if (has_begun) return false;
  has_begun = true;
  static thread_local EndOfBlocks end;
  (void)end;
  constexpr std::size_t max_blocks = 256;
  this_thread.messages.more_ = max_blocks;
  this_thread.records.more_ = max_blocks;
  return true;
}

namespace {

// Callbacks of one call of progress: those that they add are run in a later one.
constexpr int max_callbacks = 256;

/// The default persona of a thread, which stays lowest on its stack.
struct ThreadDefault {
  persona own;
  alignas(persona_scope) unsigned char scope[sizeof(persona_scope)];
};

ThreadDefault& thread_default() {
  static thread_local ThreadDefault made;
  return made;
}

persona_scope& top() {
  if (this_thread.top == nullptr) default_persona_scope();
  return *this_thread.top;
}

bool has_completed(void*& event) {
  if (event == nullptr) return true;
  if (gex_Event_Test(static_cast<gex_Event_t>(event)) != GASNET_OK) return false;
  event = nullptr;
  return true;
}

bool poll_operations(persona& of) {
  bool found = false;
  Operation** link = &PersonaAccess::operations(of);
  while (Operation* operation = *link) {
    if (operation->source_event != nullptr && has_completed(operation->source_event)) {
      operation->source_completed();
      found = true;
    }
    if (operation->source_event == nullptr && has_completed(operation->event)) {
      *link = operation->next;
      operation->completed();
      found = true;
    } else {
      link = &operation->next;
    }
  }
  return found;
}

bool run_tasks(persona& of) {
  OwnTasks own;
  std::swap(own, PersonaAccess::own(of));
  bool found = false;
  while (Task* task = own.pop()) {
    task->run();
    found = true;
  }
  Inbox& inbox = PersonaAccess::inbox(of);
  for (int count = 0; count < max_callbacks; ++count) {
    Task* const task = inbox.pop();
    if (task == nullptr) break;
    task->run();
    found = true;
  }
  return found;
}

}  // namespace

bool make_progress(progress_level level) {
  // Senders wait when this rank takes nothing. What a callback, or internal progress, waits for may
  // come behind messages.
  const bool may_run = level == progress_level::user && this_thread.callbacks == 0;
  if (process().has_joined && !(may_run && has_backlog())) gasnet_AMPoll();
  bool found = false;
  for (persona_scope* scope = &top(); scope != nullptr; scope = PersonaAccess::below(*scope)) {
    found |= poll_operations(PersonaAccess::of(*scope));
  }
  if (!may_run) return found;
  ++this_thread.callbacks;
  for (persona_scope* scope = &top(); scope != nullptr; scope = PersonaAccess::below(*scope)) {
    found |= run_tasks(PersonaAccess::of(*scope));
  }
  --this_thread.callbacks;
  return found;
}

void wait_step(const char* call, unsigned& idle_steps) {
  require_unrestricted(call);
  if (make_progress(progress_level::user)) {
    idle_steps = 0;
  } else if (++idle_steps > (process().is_crowded ? 10u : 1000u)) {
    sched_yield();
  }
}

void watch(Operation* operation) {
  Operation*& first = PersonaAccess::operations(current_persona());
  operation->next = first;
  first = operation;
}

}  // namespace detail

using detail::PersonaAccess;
using detail::this_thread;

persona_scope::persona_scope(persona& with, void* mutex, void (*unlock)(void*))
    : persona_(&with), below_(&detail::top()), mutex_(mutex), unlock_(unlock) {
  if (with.scopes_ > 0 && !with.active_with_caller()) {
    fatal_error("the persona is held by another thread", "persona_scope");
  }
  ++with.scopes_;
  with.holder_.store(&this_thread, std::memory_order_relaxed);
  this_thread.top = this;
}

persona_scope::persona_scope(persona& with) : persona_scope(with, nullptr, nullptr) {
}

persona_scope::~persona_scope() {
  if (this_thread.top != this) {
    fatal_error("scopes are to be destroyed in the reverse order, by the thread that made them",
                "~persona_scope");
  }
  this_thread.top = below_;
  if (--persona_->scopes_ == 0) persona_->holder_.store(nullptr, std::memory_order_relaxed);
  if (unlock_ != nullptr) unlock_(mutex_);
}

persona_scope& default_persona_scope() {
  detail::ThreadDefault& made = detail::thread_default();
  auto* const scope = std::launder(reinterpret_cast<persona_scope*>(made.scope));
  if (!PersonaAccess::is_held(made.own)) {
    // A first scope would look for the one below it.
    made.own.scopes_ = 1;
    made.own.holder_.store(&this_thread, std::memory_order_relaxed);
    scope->persona_ = &made.own;
    scope->below_ = nullptr;
    scope->mutex_ = nullptr;
    scope->unlock_ = nullptr;
    this_thread.top = scope;
  }
  return *scope;
}

persona& default_persona() {
  return PersonaAccess::of(default_persona_scope());
}
persona_scope& top_persona_scope() {
  return detail::top();
}
persona& current_persona() {
  return PersonaAccess::of(detail::top());
}
persona& master_persona() {
  return detail::process().master;
}

void liberate_master_persona() {
  detail::Process& process = detail::process();
  if (process.master_scope == nullptr) {
    fatal_error("the master persona is not the one that init() put on this thread's stack",
                "liberate_master_persona");
  }
  process.master_scope.reset();
}

void progress(progress_level level) {
  detail::make_progress(level);
}

bool progress_required(persona_scope& scope) {
  for (persona_scope* at = &detail::top(); at != nullptr; at = PersonaAccess::below(*at)) {
    if (PersonaAccess::operations(PersonaAccess::of(*at)) != nullptr) return true;
    if (at == &scope) break;
  }
  return false;
}

void discharge(persona_scope& scope) {
  unsigned idle_steps = 0;
  while (progress_required(scope)) {
    if (detail::make_progress(progress_level::internal)) {
      idle_steps = 0;
    } else if (++idle_steps > 100) {
      sched_yield();
    }
  }
}

}  // namespace upcxx
