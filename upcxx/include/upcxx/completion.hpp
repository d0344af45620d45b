/// @file
/// How the completion of an operation is notified. Part of upcxx/upcxx.hpp.
///
/// An operation has up to three events: source (its buffers may be written to again), remote (it
/// has arrived at the target) and operation (it is over for the initiator). Completion objects,
/// combined by |, select what is made of each.
#ifndef UPCXX_COMPLETION_HPP_
#define UPCXX_COMPLETION_HPP_

#include <upcxx/persona.hpp>

namespace upcxx {

/// A list of completions.
template <class... Action>
struct completions {
  std::tuple<Action...> actions;
};

template <class... A, class... B>
completions<A..., B...> operator|(completions<A...> a, completions<B...> b) {
  return {std::tuple_cat(std::move(a.actions), std::move(b.actions))};
}

namespace detail {

enum class Event { source, remote, operation };

#ifdef UPCXX_DEFER_COMPLETION
inline constexpr bool is_eager_by_default = !(UPCXX_DEFER_COMPLETION + 0);
#else
inline constexpr bool is_eager_by_default = true;
#endif

// An action has `event`, and makes a Notice for values V... of the event:
//   future()                a tuple of the future, or an empty one
//   now(action, values...)  the event has happened in the call: a tuple of the future
//   later(values...)        it has happened since, in user progress of the initiating persona
// For a remote event a notice is made with the target, and `now` has that instead of values.

template <Event E, bool Eager>
struct AsFuture {
  static constexpr Event event = E;

  template <class... V>
  class Notice {
   public:
    explicit Notice(AsFuture) {}
    std::tuple<upcxx::future<V...>> future() {
      if (state_ == nullptr) state_ = new State<V...>(1);
      return {FutureAccess::make<upcxx::future<V...>>(state_->retain())};
    }
    template <class... U>
    void later(U&&... values) {
      state_->set_values(std::forward<U>(values)...);
      state_->pending = 0;
      state_->run_callbacks();
    }
    template <class... U>
    static std::tuple<upcxx::future<V...>> now(AsFuture, U&&... values) {
      using Future = upcxx::future<V...>;
      if constexpr (Eager) {
        return {Future(typename Future::Now(), std::forward<U>(values)...)};
      } else {
        Notice notice{AsFuture()};
        auto result = notice.future();
        defer([notice, values = std::tuple<V...>(std::forward<U>(values)...)]() mutable {
          call_with([&](auto&&... value) { notice.later(value...); }, values);
        });
        return result;
      }
    }

   private:
    State<V...>* state_ = nullptr;
  };
};

template <Event E, bool Eager, class... T>
struct AsPromise {
  static constexpr Event event = E;
  promise<T...> target;

  template <class... V>
  class Notice {
    static_assert(sizeof...(V) == 0 || std::is_same<std::tuple<V...>, std::tuple<T...>>::value,
                  "the promise has other values than the operation");

   public:
    explicit Notice(const AsPromise& action) : target_(action.target) {
      target_.require_anonymous(1);
    }
    std::tuple<> future() { return {}; }
    template <class... U>
    void later(U&&... values) {
      if constexpr (sizeof...(V) == 0) {
        target_.fulfill_anonymous(1);
      } else {
        target_.fulfill_result(std::forward<U>(values)...);
      }
    }
    template <class... U>
    static std::tuple<> now(const AsPromise& action, U&&... values) {
      if constexpr (!Eager) {
        defer([notice = Notice(action),
               values = std::tuple<V...>(std::forward<U>(values)...)]() mutable {
          call_with([&](auto&&... value) { notice.later(value...); }, values);
        });
      } else if constexpr (sizeof...(V) > 0) {
        // A dependency more and one less are nothing.
        Notice(action).later(std::forward<U>(values)...);
      }
      return {};
    }

   private:
    promise<T...> target_;
  };
};

template <Event E, class Function>
struct AsLpc {
  static constexpr Event event = E;
  persona* target;
  Function function;

  template <class... V>
  class Notice {
   public:
    explicit Notice(const AsLpc& action) : target_(action.target), function_(action.function) {}
    std::tuple<> future() { return {}; }
    template <class... U>
    void later(U&&... values) {
      call(*target_, std::move(function_), std::forward<U>(values)...);
    }
    template <class... U>
    static std::tuple<> now(const AsLpc& action, U&&... values) {
      call(*action.target, action.function, std::forward<U>(values)...);
      return {};
    }

   private:
    template <class F, class... U>
    static void call(persona& target, F&& function, U&&... values) {
      target.lpc_ff([function = std::forward<F>(function),
                     values = std::tuple<V...>(std::forward<U>(values)...)]() mutable {
        std::apply(
            [&](auto&&... value) { std::move(function)(std::forward<decltype(value)>(value)...); },
            std::move(values));
      });
    }

    persona* target_;
    Function function_;
  };
};

/// The event has happened when the call returns: the source is free, or the call has waited for the
/// operation and gives its value.
template <Event E>
struct AsBlocking {
  static constexpr Event event = E;
  template <class... V>
  class Notice {
   public:
    explicit Notice(AsBlocking) {}
    std::tuple<> future() { return {}; }
    void later() {}
    static std::tuple<> now(AsBlocking) { return {}; }
  };
};

/// The future of all that must be complete before the call returns.
template <class... V>
struct Awaited {
  future<V...> wanted;
};
template <>
struct AsBlocking<Event::operation> {
  static constexpr Event event = Event::operation;
  using Ready = AsFuture<Event::operation, true>;
  template <class... V>
  class Notice : public Ready::Notice<V...> {
    using Base = typename Ready::template Notice<V...>;

   public:
    explicit Notice(AsBlocking) : Base(Ready()) {}
    std::tuple<Awaited<V...>> future() { return {{std::get<0>(Base::future())}}; }
    template <class... U>
    static std::tuple<Awaited<V...>> now(AsBlocking, U&&... values) {
      return {{std::get<0>(Base::now(Ready(), std::forward<U>(values)...))}};
    }
  };
};

template <Event E>
struct Completions {
  template <bool Eager, class... T>
  using Promise = completions<AsPromise<E, Eager, T...>>;

  static completions<AsFuture<E, is_eager_by_default>> as_future() { return {}; }
  static completions<AsFuture<E, true>> as_eager_future() { return {}; }
  static completions<AsFuture<E, false>> as_defer_future() { return {}; }
  template <class... T>
  static Promise<is_eager_by_default, T...> as_promise(promise<T...> target) {
    return {AsPromise<E, is_eager_by_default, T...>{std::move(target)}};
  }
  template <class... T>
  static Promise<true, T...> as_eager_promise(promise<T...> target) {
    return {AsPromise<E, true, T...>{std::move(target)}};
  }
  template <class... T>
  static Promise<false, T...> as_defer_promise(promise<T...> target) {
    return {AsPromise<E, false, T...>{std::move(target)}};
  }
  template <class Function>
  static completions<AsLpc<E, std::decay_t<Function>>> as_lpc(persona& target,
                                                              Function&& function) {
    return {AsLpc<E, std::decay_t<Function>>{&target, std::forward<Function>(function)}};
  }
};

/// True if one of the actions is for the event.
template <Event E, class... Action>
inline constexpr bool has_event = ((Action::event == E) || ... || false);
template <class Action>
inline constexpr bool is_blocking = false;
template <>
inline constexpr bool is_blocking<AsBlocking<Event::source>> = true;

template <class... T>
std::tuple<future<T...>> part_of_result(future<T...>&& wanted) {
  return {std::move(wanted)};
}
template <class... V>
std::tuple<V...> part_of_result(Awaited<V...>&& awaited) {
  return awaited.wanted.wait_tuple();
}

/// The result of a call: nothing, a future, or a tuple of several; values where the call waits.
template <class... Part>
auto as_result(std::tuple<Part...>&& parts) {
  auto all =
      std::apply([](auto&&... part) { return std::tuple_cat(part_of_result(std::move(part))...); },
                 std::move(parts));
  constexpr std::size_t count = std::tuple_size<decltype(all)>::value;
  if constexpr (count == 1) {
    return std::move(std::get<0>(all));
  } else if constexpr (count > 1) {
    return all;
  }
}

/// The notice of an action: its operation event has values, the others have none.
template <class Action, class... V>
using Notice =
    std::conditional_t<Action::event == Event::operation, typename Action::template Notice<V...>,
                       typename Action::template Notice<>>;

/// The effect of one action on an operation that is complete when its call returns.
template <class Action, class... V>
auto notify_now(intrank_t target, const Action& action, const V&... values) {
  (void)target;
  if constexpr (Action::event == Event::operation) {
    return Notice<Action, V...>::now(action, values...);
  } else if constexpr (Action::event == Event::remote) {
    return Notice<Action, V...>::now(action, target);
  } else {
    return Notice<Action, V...>::now(action);
  }
}

template <class Action, class... V>
Notice<Action, V...> make_notice(intrank_t target, const Action& action) {
  if constexpr (Action::event == Event::remote) {
    return Notice<Action, V...>(action, target);
  } else {
    return Notice<Action, V...>(action);
  }
}

/// The notices of an operation that is under way.
template <class Actions, class... V>
class Notices;
template <class... Action, class... V>
class Notices<std::tuple<Action...>, V...> {
 public:
  explicit Notices(const std::tuple<Action...>& actions, intrank_t target = -1)
      : Notices(actions, target, std::index_sequence_for<Action...>()) {}

  auto futures() {
    return std::apply([](auto&... notice) { return std::tuple_cat(notice.future()...); }, notices_);
  }
  /// Values are moved to one action, and copied to several.
  template <Event E, class... U>
  void later(U&&... values) {
    later_all<E>(std::index_sequence_for<Action...>(), std::forward<U>(values)...);
  }

 private:
  template <std::size_t... I>
  Notices(const std::tuple<Action...>& actions, intrank_t target, std::index_sequence<I...>)
      : notices_(make_notice<Action, V...>(target, std::get<I>(actions))...) {
    (void)actions;
    (void)target;
  }
  template <Event E, std::size_t... I, class... U>
  void later_all(std::index_sequence<I...>, U&&... values) {
    constexpr int actions = (int(Action::event == E) + ... + 0);
    if constexpr (actions == 1) {
      (later_one<E, I>(std::forward<U>(values)...), ...);
    } else if constexpr (actions > 1) {
      (later_one<E, I>(std::as_const(values)...), ...);
    }
  }
  template <Event E, std::size_t I, class... U>
  void later_one(U&&... values) {
    if constexpr (std::tuple_element_t<I, std::tuple<Action...>>::event == E) {
      std::get<I>(notices_).later(std::forward<U>(values)...);
    }
  }

  std::tuple<Notice<Action, V...>...> notices_;
};

}  // namespace detail

struct source_cx : detail::Completions<detail::Event::source> {
  static completions<detail::AsBlocking<detail::Event::source>> as_buffered() { return {}; }
  static completions<detail::AsBlocking<detail::Event::source>> as_blocking() { return {}; }
};
struct operation_cx : detail::Completions<detail::Event::operation> {
  /// The call waits, with user progress, and gives the value of the operation if it has one.
  static completions<detail::AsBlocking<detail::Event::operation>> as_blocking() { return {}; }
};

namespace detail {
using DefaultCompletions = decltype(operation_cx::as_future());
using EagerFuture = decltype(operation_cx::as_eager_future());
}  // namespace detail

}  // namespace upcxx

#endif
