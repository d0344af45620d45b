/// @file
/// The state that futures which are not ready at once share with the promise, or the operation,
/// that makes them ready. Part of upcxx/upcxx.hpp.
///
/// A state belongs to one thread at a time: its references are counted without atomics. States that
/// become ready while callbacks run are put into a list, and states without references into
/// another, so that a chain of any length is served without recursion.
#ifndef UPCXX_FUTURE_STATE_HPP_
#define UPCXX_FUTURE_STATE_HPP_

#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include <upcxx/diagnostic.hpp>
#include <upcxx/thread.hpp>

namespace upcxx {
namespace detail {

/// Waits for a state. Exactly one of the two calls is made, once.
class Callback {
 public:
  /// The state is ready.
  virtual void run(StateBase& source) noexcept = 0;
  /// The state has been destroyed without becoming ready.
  virtual void drop() noexcept = 0;

  Callback* next = nullptr;

 protected:
  ~Callback() = default;
};

/// The number of the calling thread's current persona.
UPCXXI_EXPORT std::uint32_t current_persona_number();

/// Ends the job if another thread than the caller holds the persona.
UPCXXI_EXPORT void require_owner(std::uint32_t persona, const char* call);

class StateBase : public Record {
 public:
  /// Ready after `dependencies` fulfilments; the caller has the first reference.
  explicit StateBase(std::intptr_t dependencies)
      :
#ifndef UPCXX_CODEMODE
        owner_(current_persona_number()),
#endif
        pending(dependencies),
        last_(&first_) {
  }
  StateBase(const StateBase&) = delete;
  StateBase& operator=(const StateBase&) = delete;
  virtual ~StateBase();

  bool is_ready() const {
    return pending == 0;
  }
  /// In debug mode: the caller uses the future, or its promise.
  void require_owner(const char* call) const {
#ifndef UPCXX_CODEMODE
    if (owner_ != 0) detail::require_owner(owner_, call);
#else
    (void)call;
#endif
  }

  StateBase* retain() {
    ++references;
    return this;
  }
  void release() {
    if (--references == 0) destroy(this);
  }

  void add(Callback* callback) {
    *last_ = callback;
    last_ = &callback->next;
  }

  /// Runs the callbacks of a state whose last dependency is met, and those of states that become
  /// ready by them. Takes over a reference.
  void run_callbacks() {
    if (first_ != nullptr) {
      run_all(this);
    } else {
      release();
    }
  }
  /// The like in a callback: they are run when it has returned.
  void run_callbacks_later() {
    if (first_ == nullptr) {
      release();
      return;
    }
    ReadyStates& ready = *this_thread.ready;
    (ready.first == nullptr ? ready.first : ready.last->next_) = this;
    ready.last = this;
    next_ = nullptr;
  }

  /// Where the values are: here, or in a state that this one depended on.
  StateBase* holder() const {
    return holder_;
  }
  void take_values_of(StateBase& source) {
    holder_ = source.holder_->retain();
  }

  std::int32_t references = 1;

 private:
  // In debug mode, the persona that the future belongs to.
  [[maybe_unused]] std::uint32_t owner_ = 0;

 public:
  std::intptr_t pending;

 private:
  static void destroy(StateBase* state) {
    ThreadState& thread = this_thread;
    state->next_ = thread.to_destroy;
    thread.to_destroy = state;
    if (thread.destroying) return;
    thread.destroying = true;
    while (StateBase* dead = thread.to_destroy) {
      thread.to_destroy = dead->next_;
      delete dead;
    }
    thread.destroying = false;
  }

  static void run_all(StateBase* state) {
    ReadyStates ready;
    ReadyStates* const outer = this_thread.ready;
    this_thread.ready = &ready;
    state->run_callbacks_later();
    while (StateBase* at = ready.first) {
      ready.first = at->next_;
      Callback* callback = at->first_;
      at->first_ = nullptr;
      at->last_ = &at->first_;
      while (callback != nullptr) {
        Callback* const next = callback->next;
        callback->run(*at);
        callback = next;
      }
      at->release();
    }
    this_thread.ready = outer;
  }

  Callback* first_ = nullptr;
  Callback** last_;
  StateBase* holder_ = this;
  StateBase* next_ = nullptr;
};

inline StateBase::~StateBase() {
  for (Callback* callback = first_; callback != nullptr;) {
    Callback* const next = callback->next;
    callback->drop();
    callback = next;
  }
  if (holder_ != this) holder_->release();
}

/// A state with room for the values of a future<T...>.
template <class... T>
class State : public StateBase {
 public:
  explicit State(std::intptr_t dependencies) : StateBase(dependencies) {}
  ~State() override {
    if (has_values_) values_.~Values();
  }

  using Values = std::tuple<T...>;

  template <class... U>
  void set_values(U&&... values) {
    UPCXXI_CHECK(!has_values_, "promise: a second result was given");
    ::new (static_cast<void*>(&values_)) Values(std::forward<U>(values)...);
    has_values_ = true;
  }
  bool has_values() const { return has_values_ || holder() != this; }

  /// The values of a state that is ready.
  static Values& values_of(const StateBase& state) {
    return static_cast<State*>(state.holder())->values_;
  }

 private:
  union {
    Values values_;
  };
  bool has_values_ = false;
};

inline constexpr std::tuple<> no_values{};

/// A state without values, which needs no room for them.
template <>
class State<> : public StateBase {
 public:
  using StateBase::StateBase;
  using Values = std::tuple<>;

  void set_values() {}
  bool has_values() const { return true; }

  static const Values& values_of(const StateBase&) { return no_values; }
};

}  // namespace detail
}  // namespace upcxx

#endif
