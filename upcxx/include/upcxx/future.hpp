/// @file
/// Futures: values that will be there. Part of upcxx/upcxx.hpp.
///
/// A future, and all copies of it, belong to the persona that obtained it. Small values of a future
/// that is ready at once are part of the future itself: nothing is allocated for it.
#ifndef UPCXX_FUTURE_HPP_
#define UPCXX_FUTURE_HPP_

#include <type_traits>
#include <upcxx/future_state.hpp>

namespace upcxx {

template <class... T>
class future;

namespace detail {

/// Makes user progress until the state is ready; 1 stands for one that never is. Ends the job if
/// the caller is in a callback, where what it waits for cannot happen.
UPCXXI_EXPORT void wait_until_ready(StateBase* const& state, const char* call, const char* file,
                                    unsigned line);

/// Values that can only be moved are wanted of a future that shares them.
[[noreturn]] UPCXXI_EXPORT void refuse_copy();

/// Values that a future may carry in itself.
template <class T>
inline constexpr bool is_small_value = std::is_lvalue_reference<T>::value ||
                                       (std::is_trivially_copy_constructible<T>::value &&
                                        std::is_trivially_destructible<T>::value);
template <class... T>
inline constexpr bool are_small_values = (is_small_value<T> && ...) &&
                                         sizeof(std::tuple<T...>) <= 32;

/// The result of result<I>: -1 all, by itself or as a tuple, otherwise one, or nothing out of
/// range.
template <int I, class... T>
struct Chosen {
  static constexpr bool is_one = I >= 0 ? I < int(sizeof...(T)) : sizeof...(T) == 1;
  static constexpr bool is_tuple = I == -1 && sizeof...(T) > 1;
  static constexpr std::size_t index = I < 0 ? 0 : std::size_t(I);
};

template <class T>
using Argument = std::conditional_t<std::is_reference<T>::value, T, const T&>;

template <class Function, class... T, std::size_t... I>
decltype(auto) call_with(Function&& function, const std::tuple<T...>& values,
                         std::index_sequence<I...>) {
  (void)values;  // of no value
  return std::forward<Function>(function)(static_cast<Argument<T>>(std::get<I>(values))...);
}
template <class Function, class... T>
decltype(auto) call_with(Function&& function, const std::tuple<T...>& values) {
  return call_with(std::forward<Function>(function), values, std::index_sequence_for<T...>());
}

/// The future of what a callback returns.
template <class R>
struct FutureOf {
  using type = future<R>;
};
template <>
struct FutureOf<void> {
  using type = future<>;
};
template <class... T>
struct FutureOf<future<T...>> {
  using type = future<T...>;
};

template <class Future>
struct StateOf;
template <class... T>
struct StateOf<future<T...>> {
  using type = State<T...>;
};

template <class R>
inline constexpr bool is_future = false;
template <class... T>
inline constexpr bool is_future<future<T...>> = true;

/// True if a future may be ready without a state.
template <class Future>
inline constexpr bool is_small_future = false;
template <class... T>
inline constexpr bool is_small_future<future<T...>> = are_small_values<T...>;

/// True if a function that is called may use what it captured after it has returned.
#ifdef __cpp_impl_coroutine
template <class Returned, class Function>
inline constexpr bool may_be_coroutine =
    is_future<std::decay_t<Returned>> && !std::is_empty<Function>::value;
#else
template <class Returned, class Function>
inline constexpr bool may_be_coroutine = false;
#endif

/// Calls a function that lives until the future that it returns is ready.
template <class Result, class Function, class Values>
Result call_and_keep(Function&& function, const Values& values) {
  auto* const kept = new std::decay_t<Function>(std::forward<Function>(function));
  Result result(call_with(std::move(*kept), values));
  if (result.is_ready()) {
    delete kept;
  } else {
    result.then([kept](auto&&...) { delete kept; });
  }
  return result;
}

/// The state of a future: of future<T...> that is not ready, or whose values are not small.
struct FutureAccess {
  template <class... T>
  static StateBase* state(const future<T...>& f) {
    return f.state_;
  }
  /// Returns true if no other future has the values, which may be moved then. `running` is a state
  /// whose last callback is running.
  template <class... T>
  static bool is_only(const future<T...>& f, const StateBase* running) {
    return f.state_ == nullptr || f.only_holder(running) != nullptr;
  }
  template <class... T>
  static std::tuple<T&&...> move_values(future<T...>& f) {
    return std::apply([](auto&... value) { return std::tuple<T&&...>(static_cast<T&&>(value)...); },
                      const_cast<std::tuple<T...>&>(f.values()));
  }
  /// Takes over a reference.
  template <class Future>
  static Future make(StateBase* state) {
    return Future(typename Future::Adopt(), state);
  }
};

template <class Source, class Function>
class ThenState;

}  // namespace detail

template <class... T>
class future {
  using Values = std::tuple<T...>;
  static constexpr bool small = detail::are_small_values<T...>;
  template <int I>
  using Chosen = detail::Chosen<I, T...>;

 public:
  using results_type = std::tuple<T...>;

  /// A future that never becomes ready.
  future() : state_(never()) {}
  future(const future& other) : state_(other.state_) {
    if (is_shared()) {
      state_->retain();
    } else {
      copy_values(other);
    }
  }
  future(future&& other) noexcept : state_(other.state_) {
    if (is_shared()) {
      other.state_ = never();
    } else {
      copy_values(other);
    }
  }
  future& operator=(const future& other) { return *this = future(other); }
  future& operator=(future&& other) noexcept {
    if (this == &other) return *this;
    detail::StateBase* const old = is_shared() ? state_ : nullptr;
    ::new (static_cast<void*>(this)) future(std::move(other));
    if (old != nullptr) old->release();
    return *this;
  }
  ~future() {
    if (is_shared()) state_->release();
  }

  bool is_ready() const { return state_ == nullptr || (is_shared() && state_->is_ready()); }
  /// The older spelling.
  bool ready() const { return is_ready(); }

  /// All values of a future, which must be ready, as a tuple if there are several, or that of index
  /// I.
  template <int I = -1>
  decltype(auto) result() const& {
    return chosen<I>(values());
  }
  /// The values of a future that is no longer needed: those that no other future has are moved.
  template <int I = -1>
  decltype(auto) result() && {
    if constexpr (!small) {
      if (detail::StateBase* const holder = only_holder()) {
        return chosen<I>(std::move(detail::State<T...>::values_of(*holder)));
      }
    }
    if constexpr (std::is_copy_constructible<Values>::value) {
      return chosen<I>(values());
    } else {
      detail::refuse_copy();
    }
  }
  /// As references to the values, which are valid as long as this future, or the one that it was
  /// copied from, is.
  template <int I = -1>
  decltype(auto) result_reference() const {
    if constexpr (Chosen<I>::is_one) {
      return static_cast<detail::Argument<std::tuple_element_t<Chosen<I>::index, Values>>>(
          std::get<Chosen<I>::index>(values()));
    } else if constexpr (Chosen<I>::is_tuple) {
      return result_reference_tuple();
    }
  }
  Values result_tuple() const { return values(); }
  /// For the headers: the values as a tuple of references.
  std::tuple<detail::Argument<T>...> result_reference_tuple() const {
    return detail::call_with(
        [](auto&&... value) { return std::tuple<detail::Argument<T>...>(value...); }, values());
  }

  /// Makes user progress until the future is ready. Not in callbacks.
  /// Hang reports name the place of the call.
  template <int I = -1>
  decltype(auto) wait(const char* file = __builtin_FILE(),
                      unsigned line = __builtin_LINE()) const& {
    wait_for("future::wait", file, line);
    return result<I>();
  }
  template <int I = -1>
  decltype(auto) wait(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) && {
    wait_for("future::wait", file, line);
    return std::move(*this).template result<I>();
  }
  template <int I = -1>
  decltype(auto) wait_reference(const char* file = __builtin_FILE(),
                                unsigned line = __builtin_LINE()) const {
    wait_for("future::wait_reference", file, line);
    return result_reference<I>();
  }
  Values wait_tuple(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) const {
    wait_for("future::wait_tuple", file, line);
    return values();
  }
  /// Calls `progress` instead of user progress.
  template <int I = -1, class Progress>
  decltype(auto) wait(Progress&& progress) const {
    while (!is_ready()) progress();
    return result<I>();
  }

  /// Calls `function` with the values when they are there: at once if the future is ready. The
  /// result is the future of what it returns.
  template <class Function>
  auto then(Function&& function) const {
    using Returned = decltype(detail::call_with(std::declval<std::decay_t<Function>>(), values()));
    using Result = typename detail::FutureOf<std::decay_t<Returned>>::type;
    if (is_ready()) {
      if constexpr (std::is_void<Returned>::value) {
        detail::call_with(std::forward<Function>(function), values());
        return Result(typename Result::Now());
      } else if constexpr (detail::may_be_coroutine<Returned, std::decay_t<Function>>) {
        return detail::call_and_keep<Result>(std::forward<Function>(function), values());
      } else if constexpr (detail::is_future<std::decay_t<Returned>>) {
        return Result(detail::call_with(std::forward<Function>(function), values()));
      } else {
        return Result(typename Result::Now(),
                      detail::call_with(std::forward<Function>(function), values()));
      }
    } else if (!is_shared()) {
      return Result();
    } else {
      state_->require_owner("future::then");
      auto* const state =
          new detail::ThenState<future, std::decay_t<Function>>(std::forward<Function>(function));
      state_->add(state);
      return detail::FutureAccess::make<Result>(state);
    }
  }

  /// For the headers: a ready future of these values.
  struct Now {};
  template <class... U>
  explicit future(Now, U&&... values) : state_(nullptr) {
    if constexpr (small) {
      ::new (static_cast<void*>(&room_)) Values(std::forward<U>(values)...);
    } else {
      auto* const state = new detail::State<T...>(0);
      state->set_values(std::forward<U>(values)...);
      state_ = state;
    }
  }

 private:
  friend struct detail::FutureAccess;
  template <class... U>
  friend class future;
  struct Adopt {};
  future(Adopt, detail::StateBase* state) : state_(state) {}

  static detail::StateBase* never() {
    return reinterpret_cast<detail::StateBase*>(std::uintptr_t(1));
  }
  template <int I, class From>
  static decltype(auto) chosen(From&& from) {
    if constexpr (Chosen<I>::is_one) {
      // A value, or the reference that the future has.
      return static_cast<std::tuple_element_t<Chosen<I>::index, Values>>(
          std::get<Chosen<I>::index>(std::forward<From>(from)));
    } else if constexpr (Chosen<I>::is_tuple) {
      return Values(std::forward<From>(from));
    }
  }
  /// The state with the values if no other future refers to it; otherwise nullptr.
  detail::StateBase* only_holder(const detail::StateBase* running = nullptr) const {
    UPCXXI_CHECK(is_ready(), "future::result: the future is not ready; wait() waits for it");
    // A state whose callbacks run has a reference from that.
    if (!is_shared() || state_->references > (state_ == running ? 2 : 1)) return nullptr;
    detail::StateBase* const holder = state_->holder();
    return holder == state_ || holder->references == 1 ? holder : nullptr;
  }
  bool is_shared() const { return reinterpret_cast<std::uintptr_t>(state_) > 1; }

  void copy_values(const future& other) {
    if constexpr (small && sizeof...(T) > 0) {
      if (state_ == nullptr) ::new (static_cast<void*>(&room_)) Values(other.inline_values());
    } else {
      (void)other;
    }
  }
  const Values& inline_values() const {
    return *std::launder(reinterpret_cast<const Values*>(&room_));
  }
  const Values& values() const {
    UPCXXI_CHECK(is_ready(), "future::result: the future is not ready; wait() waits for it");
    if constexpr (sizeof...(T) == 0) {
      return detail::no_values;
    } else {
      if constexpr (small) {
        if (state_ == nullptr) return inline_values();
      }
      return detail::State<T...>::values_of(*state_);
    }
  }
  void wait_for(const char* call, const char* file, unsigned line) const {
    if (is_ready()) return;
    if (is_shared()) state_->require_owner(call);
    detail::wait_until_ready(state_, call, file, line);
  }

  // nullptr: ready, with the values in room_. never(): never ready.
  detail::StateBase* state_;
  struct Nothing {};
  struct Room {
    alignas(std::tuple<T...>) unsigned char bytes[sizeof(std::tuple<T...>)];
  };
  std::conditional_t<small && (sizeof...(T) > 0), Room, Nothing> room_;
};

namespace detail {

/// A future that waits for another one, with its function: one allocation for both.
template <class... T, class Function>
class ThenState<future<T...>, Function> final
    : public StateOf<typename FutureOf<std::decay_t<decltype(call_with(
          std::declval<Function>(), std::declval<const std::tuple<T...>&>()))>>::type>::type,
      public Callback {
  using Returned =
      decltype(call_with(std::declval<Function>(), std::declval<const std::tuple<T...>&>()));
  using Result = typename FutureOf<std::decay_t<Returned>>::type;
  using Base = typename StateOf<Result>::type;

 public:
  template <class F, class = std::enable_if_t<!std::is_same<std::decay_t<F>, ThenState>::value>>
  explicit ThenState(F&& function) : Base(1), function_(std::forward<F>(function)) {
    this->retain();  // by the source's list of callbacks
  }
  ~ThenState() override {
    if (has_function_) function_.~Function();
  }

  /// An exception of the function ends the job. NOLINTNEXTLINE(bugprone-exception-escape)
  void run(StateBase& source) noexcept override {
#if defined(UPCXX_CODEMODE) || !defined(__cpp_exceptions)
    go_on(source);
#else
    try {
      go_on(source);
    } catch (...) {
      end_by_exception("an exception left a callback of future::then");
    }
#endif
  }
  void drop() noexcept override {
    this->release();
  }

 private:
  void go_on(StateBase& source) {
    if (is_called_) {
      // What the function returned has become ready.
      forget_function();
      this->take_values_of(source);
      finish();
      return;
    }
    const std::tuple<T...>& values = State<T...>::values_of(source);
    if constexpr (std::is_void<Returned>::value) {
      call_with(std::move(function_), values);
      forget_function();
      finish();
    } else if constexpr (is_future<std::decay_t<Returned>>) {
      const Result inner(call_with(std::move(function_), values));
      is_called_ = true;
      StateBase* const state = FutureAccess::state(inner);
      if (!inner.is_ready()) {
        if (reinterpret_cast<std::uintptr_t>(state) > 1) {
          this->next = nullptr;
          state->add(this);
        } else {
          this->release();  // never ready
        }
        return;
      }
      forget_function();
      if constexpr (is_small_future<Result>) {
        if (state == nullptr) {
          call_with([this](auto&&... value) { this->set_values(value...); }, inner.result_tuple());
          finish();
          return;
        }
      }
      this->take_values_of(*state);
      finish();
    } else {
      this->set_values(call_with(std::move(function_), values));
      forget_function();
      finish();
    }
  }
  void forget_function() {
    function_.~Function();
    has_function_ = false;
  }
  void finish() {
    this->pending = 0;
    this->run_callbacks_later();
  }

  union {
    Function function_;
  };
  bool has_function_ = true;
  // A function that is a coroutine uses what it captured until its future is ready.
  bool is_called_ = false;
};

}  // namespace detail

/// A ready future of these values.
template <class... T>
future<std::decay_t<T>...> make_future(T&&... values) {
  using Result = future<std::decay_t<T>...>;
  return Result(typename Result::Now(), std::forward<T>(values)...);
}

/// A future as it is, and a value as a ready future.
template <class T>
auto to_future(T&& value) {
  if constexpr (detail::is_future<std::decay_t<T>>) {
    return std::decay_t<T>(std::forward<T>(value));
  } else {
    return make_future(std::forward<T>(value));
  }
}

}  // namespace upcxx

#endif
