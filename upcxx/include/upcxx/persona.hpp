/// @file
/// Personas, local procedure calls, progress. Part of upcxx/upcxx.hpp.
///
/// A persona is what futures and notifications belong to. Every thread has a stack of personas, its
/// default persona lowest; user progress of a thread serves all of its stack. One persona of a
/// process, the master persona, runs the RPCs that arrive.
#ifndef UPCXX_PERSONA_HPP_
#define UPCXX_PERSONA_HPP_

#include <atomic>

#include <type_traits>
#include <upcxx/promise.hpp>

namespace upcxx {

enum class progress_level { internal, user };

class persona;
class persona_scope;
UPCXXI_EXPORT persona_scope& default_persona_scope();

namespace detail {

/// Something to be run by a persona.
class Task {
 public:
  /// Runs the task, and frees it if it is not needed any more.
  using Run = void (*)(Task*);
  explicit Task(Run function) : run_(function) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  void run() { run_(this); }

 protected:
  ~Task() = default;

 private:
  friend class Inbox;
  friend class OwnTasks;
  friend struct PersonaAccess;
  std::atomic<Task*> next_{nullptr};
  // One pointer, and not a table: for most tasks it is the function that a message names.
  Run run_;
};

/// Tasks from any thread for one, in order. Adding is wait-free.
class Inbox {
 public:
  Inbox() : last_(&stub_), first_(&stub_) {}
  /// Returns true if there are tasks; any thread, of that moment.
  bool has_tasks() const { return last_.load(std::memory_order_relaxed) != &stub_; }

  void push(Task* task) {
    task->next_.store(nullptr, std::memory_order_relaxed);
    // Released with all that the task has, acquired so that `previous` can be linked.
    Task* const previous = last_.exchange(task, std::memory_order_acq_rel);
    previous->next_.store(task, std::memory_order_release);
  }
  bool is_empty() const {
    return first_ == &stub_ && stub_.next_.load(std::memory_order_relaxed) == nullptr;
  }
  /// By the thread that holds the persona: the earliest task, or nullptr.
  Task* pop() {
    Task* first = first_;
    Task* next = first->next_.load(std::memory_order_acquire);
    if (first == &stub_) {
      if (next == nullptr) return nullptr;
      first_ = first = next;
      next = first->next_.load(std::memory_order_acquire);
    }
    if (next == nullptr) {
      if (first != last_.load(std::memory_order_acquire)) return nullptr;  // is being linked
      push(&stub_);
      next = first->next_.load(std::memory_order_acquire);
      if (next == nullptr) return nullptr;
    }
    first_ = next;
    return first;
  }

 private:
  struct Stub final : Task {
    Stub() : Task(nullptr) {}  // never run
  };
  std::atomic<Task*> last_;
  Task* first_;
  Stub stub_;
};

/// Tasks from the thread that holds a persona, for itself.
class OwnTasks {
 public:
  void push(Task* task) {
    task->next_.store(nullptr, std::memory_order_relaxed);
    if (first_ == nullptr) {
      first_ = task;
    } else {
      last_->next_.store(task, std::memory_order_relaxed);
    }
    last_ = task;
  }
  bool is_empty() const { return first_ == nullptr; }
  Task* pop() {
    Task* const task = first_;
    if (task != nullptr) first_ = task->next_.load(std::memory_order_relaxed);
    return task;
  }

 private:
  Task* first_ = nullptr;
  Task* last_ = nullptr;
};

template <class Function>
class FunctionTask final : public Task {
 public:
  template <class F, class = std::enable_if_t<!std::is_same<std::decay_t<F>, FunctionTask>::value>>
  explicit FunctionTask(F&& function) : Task(run_function), function_(std::forward<F>(function)) {}

 private:
  static void run_function(Task* task) {
    auto* const self = static_cast<FunctionTask*>(task);
    if constexpr (may_be_coroutine<decltype(std::declval<Function>()()), Function>) {
      std::move(self->function_)().then([self](auto&&...) { delete self; });
    } else {
      std::move(self->function_)();
      delete self;
    }
  }

  Function function_;
};

class Operation;
struct PersonaAccess;
template <class Function>
class Lpc;

}  // namespace detail

class persona {
 public:
  UPCXXI_EXPORT persona();
  ~persona() {
    UPCXXI_CHECK(inbox_.is_empty(),
                 "~persona: lpcs of the persona have not run; its thread makes progress() until "
                 "they have");
    end();
  }
  persona(const persona&) = delete;
  persona& operator=(const persona&) = delete;

  /// Runs `function` in user progress of the thread that holds this persona. From any thread.
  template <class Function>
  void lpc_ff(Function&& function) {
    take(new detail::FunctionTask<std::decay_t<Function>>(std::forward<Function>(function)));
  }
  /// The like, with a future of the result, which belongs to the caller's current persona.
  template <class Function>
  auto lpc(Function&& function);

  bool active_with_caller() const {
    return holder_.load(std::memory_order_relaxed) == &detail::this_thread;
  }

 private:
  friend class persona_scope;
  friend struct detail::PersonaAccess;
  friend persona_scope& default_persona_scope();

  UPCXXI_EXPORT void end();

  /// An lpc, from any thread.
  void take(detail::Task* task) {
    if (!active_with_caller()) gets_lpcs_.store(true, std::memory_order_relaxed);
    inbox_.push(task);
  }

  detail::Inbox inbox_;
  detail::OwnTasks own_;
  detail::Operation* operations_ = nullptr;
  std::atomic<const detail::ThreadState*> holder_{nullptr};
  std::atomic<bool> gets_lpcs_{false};  ///< Threads that do not hold it have queued some.
  int scopes_ = 0;
  std::uint32_t number_;  // from 1
  persona* next_;         // of all
};

/// Puts a persona on top of the calling thread's stack, for as long as the scope lives. The form
/// with a mutex holds that for as long, too.
class UPCXXI_EXPORT persona_scope {
 public:
  explicit persona_scope(persona& with);
  template <class Mutex>
  persona_scope(Mutex& mutex, persona& with)
      : persona_scope(with, (mutex.lock(), static_cast<void*>(&mutex)),
                      [](void* locked) { static_cast<Mutex*>(locked)->unlock(); }) {}
  /// Takes the place of the other one on the stack, by the thread that made it.
  persona_scope(persona_scope&& other) noexcept;
  persona_scope& operator=(persona_scope&&) = delete;
  ~persona_scope();

 private:
  friend struct detail::PersonaAccess;
  friend persona_scope& default_persona_scope();
  persona_scope(persona& with, void* mutex, void (*unlock)(void*));

  persona* persona_;  // nullptr: moved from
  persona_scope* below_;
  void* mutex_;
  void (*unlock_)(void*);
};

UPCXXI_EXPORT persona& master_persona();
UPCXXI_EXPORT persona& default_persona();
UPCXXI_EXPORT persona& current_persona();
UPCXXI_EXPORT persona_scope& top_persona_scope();
/// By the thread of init(), once: other threads may hold the master persona then.
UPCXXI_EXPORT void liberate_master_persona();

UPCXXI_EXPORT void progress(progress_level level = progress_level::user);
/// Returns true if the calling thread is in a callback of user progress.
inline bool in_progress() {
  return detail::this_thread.callbacks > 0;
}
/// Returns true if what the personas of the stack, down to the scope's, have begun needs internal
/// progress.
UPCXXI_EXPORT bool progress_required(persona_scope& scope = top_persona_scope());
/// Makes internal progress until it does not.
UPCXXI_EXPORT void discharge(persona_scope& scope = top_persona_scope());

namespace detail {

struct PersonaAccess {
  static std::uint32_t number(const persona& of) { return of.number_; }
  static persona*& next(persona& of) { return of.next_; }
  static const ThreadState* holder(const persona& of) {
    return of.holder_.load(std::memory_order_relaxed);
  }
  static Task::Run function(const Task& task) { return task.run_; }
  static Inbox& inbox(persona& of) { return of.inbox_; }
  static void take(persona& by, Task* task) { by.take(task); }
  static bool gets_lpcs(const persona& of) { return of.gets_lpcs_.load(std::memory_order_relaxed); }
  static OwnTasks& own(persona& of) { return of.own_; }
  static Operation*& operations(persona& of) { return of.operations_; }
  static bool is_held(const persona& of) { return of.scopes_ > 0; }
  static persona& of(const persona_scope& scope) { return *scope.persona_; }
  static persona_scope* below(const persona_scope& scope) { return scope.below_; }
};

/// Runs `function` in the next user progress of the calling thread's current persona.
template <class Function>
void defer(Function&& function) {
  PersonaAccess::own(current_persona())
      .push(new FunctionTask<std::decay_t<Function>>(std::forward<Function>(function)));
}

/// A call that another persona runs: it goes there, and back with the result.
template <class Function>
class Lpc final : public Task {
  using Returned = decltype(std::declval<Function>()());
  using Plain = std::conditional_t<std::is_lvalue_reference<Returned>::value, Returned,
                                   std::decay_t<Returned>>;
  using Result = typename FutureOf<Plain>::type;
  using ResultState = typename StateOf<Result>::type;

 public:
  template <class F>
  Lpc(F&& function, persona& initiator)
      : Task([](Task* task) { static_cast<Lpc*>(task)->go_on(); }),
        function_(std::forward<F>(function)),
        initiator_(&initiator),
        state_(new ResultState(1)) {}
  ~Lpc() {
    if (has_values_) values_.~Values();
  }

  Result get_future() { return FutureAccess::make<Result>(state_->retain()); }

 private:
  using Values = typename Result::results_type;

  void go_on() {
    if (is_back_) {
      std::apply(
          [&](auto&&... value) { state_->set_values(std::forward<decltype(value)>(value)...); },
          std::move(values_));
      ResultState* const state = state_;
      delete this;
      state->pending = 0;
      state->run_callbacks();
    } else if constexpr (std::is_void<Returned>::value) {
      std::move(function_)();
      go_back();
    } else if constexpr (is_future<Plain>) {
      std::move(function_)().then([this](auto&&... value) { this->go_back(value...); });
    } else {
      go_back(std::move(function_)());
    }
  }

  template <class... U>
  void go_back(U&&... values) {
    ::new (static_cast<void*>(&values_)) Values(std::forward<U>(values)...);
    has_values_ = true;
    is_back_ = true;
    PersonaAccess::take(*initiator_, this);
  }

  Function function_;
  persona* initiator_;
  ResultState* state_;  // of the initiator's thread
  union {
    Values values_;
  };
  bool has_values_ = false;
  bool is_back_ = false;
};

}  // namespace detail

template <class Function>
auto persona::lpc(Function&& function) {
  auto* const call =
      new detail::Lpc<std::decay_t<Function>>(std::forward<Function>(function), current_persona());
  auto result = call->get_future();
  take(call);
  return result;
}

}  // namespace upcxx

#endif
