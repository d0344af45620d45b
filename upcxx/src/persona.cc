#include <dlfcn.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <upcxx/operation.hpp>

#include "process.h"

namespace upcxx {
namespace detail {

__thread ThreadState this_thread __attribute__((tls_model("initial-exec")));

unsigned quick_steps = 1000;
bool is_traced = false;

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

/// The name of a persona as traces have it.
void name_persona(const persona& of, char* name, std::size_t size) {
  if (&of == &process().master) {
    std::snprintf(name, size, "master persona");
  } else if (&of == &default_persona()) {
    std::snprintf(name, size, "default persona");
  } else {
    std::snprintf(name, size, "persona %u", PersonaAccess::number(of));
  }
}

/// Runs a task as an interval that is named by where its code is, as addr2line takes it.
void run_traced(Task* task) {
  const auto function = reinterpret_cast<std::uintptr_t>(PersonaAccess::function(*task));
  char name[56] = "task";
  Dl_info found;
  if (dladdr(reinterpret_cast<void*>(function), &found) != 0) {
    const char* const slash = std::strrchr(found.dli_fname, '/');
    std::snprintf(name, sizeof name, "task %.30s(+0x%zx)", slash ? slash + 1 : found.dli_fname,
                  std::size_t(function - reinterpret_cast<std::uintptr_t>(found.dli_fbase)));
  }
  gex_Annotation_Begin(name);
  task->run();
  gex_Annotation_End(name);
}

template <bool IsTraced>
void run_task(Task* task) {
  try {
    if constexpr (IsTraced) {
      run_traced(task);
    } else {
      task->run();
    }
  } catch (...) {
    end_by_exception("an exception left a callback of user progress");
  }
}

template <bool IsTraced>
bool run_tasks(persona& of) {
  OwnTasks own;
  std::swap(own, PersonaAccess::own(of));
  bool found = false;
  while (Task* task = own.pop()) {
    run_task<IsTraced>(task);
    found = true;
  }
  Inbox& inbox = PersonaAccess::inbox(of);
  for (int count = 0; count < max_callbacks; ++count) {
    Task* const task = inbox.pop();
    if (task == nullptr) break;
    run_task<IsTraced>(task);
    found = true;
  }
  return found;
}

/// The tasks of a persona that has some are an interval.
[[gnu::cold, gnu::noinline]] bool run_traced_tasks(persona& of) {
  if (PersonaAccess::own(of).is_empty() && PersonaAccess::inbox(of).is_empty()) return false;
  char name[56];
  name_persona(of, name, sizeof name);
  gex_Annotation_Begin(name);
  const bool found = run_tasks<true>(of);
  gex_Annotation_End(name);
  return found;
}

/// All personas of the process.
struct Personas {
  std::mutex mutex;
  std::uint32_t made = 0;
  persona* first = nullptr;
};
Personas& personas() {
  static auto* const made = new Personas;
  return *made;
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
    persona& of = PersonaAccess::of(*scope);
    if (is_traced) {
      found |= run_traced_tasks(of);
    } else {
      found |= run_tasks<false>(of);
    }
  }
  --this_thread.callbacks;
  return found;
}

bool may_sleep() {
  if (!process().has_joined) return false;
  for (persona_scope* scope = &top(); scope != nullptr; scope = PersonaAccess::below(*scope)) {
    if (PersonaAccess::gets_lpcs(PersonaAccess::of(*scope))) return false;
  }
  return true;
}

std::uint32_t current_persona_number() {
  return PersonaAccess::number(current_persona());
}

void require_owner(std::uint32_t number, const char* call) {
  for (persona_scope* scope = &top(); scope != nullptr; scope = PersonaAccess::below(*scope)) {
    if (PersonaAccess::number(PersonaAccess::of(*scope)) == number) return;
  }
  const std::lock_guard<std::mutex> lock(personas().mutex);
  for (persona* at = personas().first; at != nullptr; at = PersonaAccess::next(*at)) {
    if (PersonaAccess::number(*at) != number || PersonaAccess::holder(*at) == nullptr) continue;
    fatal_error(
        "the future, or promise, belongs to a persona that another thread holds; only that thread "
        "may use it: have persona::lpc run there what is to be done",
        call);
  }
}

const char* personas_with_calls() {
  const std::lock_guard<std::mutex> lock(personas().mutex);
  const char* text = nullptr;
  for (persona* at = personas().first; at != nullptr; at = PersonaAccess::next(*at)) {
    if (!PersonaAccess::inbox(*at).has_tasks() || at->active_with_caller()) continue;
    if (PersonaAccess::holder(*at) == nullptr) {
      return ", while lpcs are queued on a persona that no thread holds";
    }
    text = ", while lpcs are queued on a persona of another thread, which makes no progress";
  }
  return text;
}

void warn_of_lost_calls() {
  std::size_t count = 0;
  {
    const std::lock_guard<std::mutex> lock(personas().mutex);
    for (persona* at = personas().first; at != nullptr; at = PersonaAccess::next(*at)) {
      const bool is_held = PersonaAccess::holder(*at) != nullptr;
      if (PersonaAccess::inbox(*at).has_tasks() && !is_held) ++count;
    }
  }
  if (count == 0) return;
  std::fprintf(stderr,
               "upcxx: rank %d: upcxx::finalize: warning: lpcs are queued on %zu persona%s that no "
               "thread holds, and have not run; a thread runs them by progress() within a "
               "persona_scope\n",
               job.rank_me, count, count == 1 ? "" : "s");
}

void watch(Operation* operation) {
  Operation*& first = PersonaAccess::operations(current_persona());
  operation->next = first;
  first = operation;
}

}  // namespace detail

using detail::PersonaAccess;
using detail::this_thread;

persona::persona() {
  detail::Personas& all = detail::personas();
  const std::lock_guard<std::mutex> lock(all.mutex);
  number_ = ++all.made;
  next_ = std::exchange(all.first, this);
}

void persona::end() {
  detail::Personas& all = detail::personas();
  const std::lock_guard<std::mutex> lock(all.mutex);
  persona** link = &all.first;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
}

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

persona_scope::persona_scope(persona_scope&& other) noexcept
    : persona_(std::exchange(other.persona_, nullptr)),
      below_(other.below_),
      mutex_(other.mutex_),
      unlock_(other.unlock_) {
  persona_scope** link = &this_thread.top;
  while (*link != nullptr && *link != &other) link = &(*link)->below_;
  if (*link == nullptr) {
    fatal_error("the scope is not on the stack of this thread, which alone may move it",
                "persona_scope");
  }
  *link = this;
}

persona_scope::~persona_scope() {
  if (persona_ == nullptr) return;
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
