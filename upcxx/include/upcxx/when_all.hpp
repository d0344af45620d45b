/// @file
/// A future of several futures. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_WHEN_ALL_HPP_
#define UPCXX_WHEN_ALL_HPP_

#include <array>

#include <upcxx/future.hpp>

namespace upcxx {
namespace detail {

template <class Future>
inline constexpr std::size_t values_in = std::tuple_size<typename Future::results_type>::value;

/// At most one of the futures has values, which are used where they are.
template <class... Futures>
inline constexpr bool one_has_values = ((values_in<Futures> != 0 ? 1 : 0) + ... + 0) <= 1;

template <class... Tuples>
struct FutureOfTuples;
template <class... T>
struct FutureOfTuples<std::tuple<T...>> {
  using type = future<T...>;
};
/// The future with the values of all of these futures.
template <class... Futures>
using Conjoined = typename FutureOfTuples<decltype(std::tuple_cat(
    std::declval<typename Futures::results_type>()...))>::type;

/// Hands `use` the values of ready futures, one after the other: as rvalues if no others have them.
/// `running` is the state whose last callback is running, if that calls.
template <class Use, class... Futures>
decltype(auto) with_values(const StateBase* running, Use&& use, Futures&... futures) {
  if ((FutureAccess::is_only(futures, running) && ...)) {
    return std::apply(std::forward<Use>(use),
                      std::tuple_cat(FutureAccess::move_values(futures)...));
  }
  if constexpr ((std::is_copy_constructible<typename Futures::results_type>::value && ...)) {
    return std::apply(std::forward<Use>(use), std::tuple_cat(futures.result_reference_tuple()...));
  } else {
    refuse_copy();
  }
}

template <class... Futures>
class WhenAllState final : public StateOf<Conjoined<Futures...>>::type {
  using Base = typename StateOf<Conjoined<Futures...>>::type;
  static constexpr bool forwards = one_has_values<Futures...>;

 public:
  explicit WhenAllState(Futures&&... futures)
      : Base(0), futures_(std::forward<Futures>(futures)...) {
    for (Arrival& arrival : arrivals_) arrival.owner = this;
    add_to(std::index_sequence_for<Futures...>());
  }

 private:
  struct Arrival final : Callback {
    void run(StateBase& source) noexcept override {
      owner->arrived(next == nullptr ? &source : nullptr);
    }
    void drop() noexcept override { owner->release(); }
    WhenAllState* owner = nullptr;
  };

  template <std::size_t... I>
  void add_to(std::index_sequence<I...>) {
    (add_to_one(std::get<I>(futures_), arrivals_[I]), ...);
  }
  template <class Future>
  void add_to_one(const Future& f, Arrival& arrival) {
    if (f.is_ready()) return;
    ++this->pending;
    StateBase* const state = FutureAccess::state(f);
    if (reinterpret_cast<std::uintptr_t>(state) <= 1) return;  // never ready
    this->retain();
    state->add(&arrival);
  }
  void arrived(const StateBase* running) {
    if (--this->pending > 0) {
      this->release();
      return;
    }
    take_values(running, std::index_sequence_for<Futures...>());
    this->run_callbacks_later();
  }
  template <std::size_t... I>
  void take_values(const StateBase* running, std::index_sequence<I...>) {
    (void)running;
    if constexpr (forwards) {
      (forward_one(std::get<I>(futures_)), ...);
    } else {
      with_values(
          running,
          [&](auto&&... value) { this->set_values(std::forward<decltype(value)>(value)...); },
          std::get<I>(futures_)...);
    }
    futures_ = std::tuple<Futures...>();
  }
  template <class Future>
  void forward_one(Future& f) {
    if constexpr (values_in<Future> != 0) {
      StateBase* const state = FutureAccess::state(f);
      if constexpr (is_small_future<Future>) {
        if (state == nullptr) {
          with_values(
              nullptr, [&](auto&&... value) { this->set_values(value...); }, f);
          return;
        }
      }
      this->take_values_of(*state);
    }
  }

  std::tuple<Futures...> futures_;
  std::array<Arrival, sizeof...(Futures)> arrivals_;
};

/// Returns the one that has values, of futures of which at most one has.
template <class First, class... More>
auto with_the_values(First&& first, More&&... more) {
  if constexpr (sizeof...(More) == 0 || values_in<First> != 0) {
    return std::forward<First>(first);
  } else {
    return with_the_values(std::forward<More>(more)...);
  }
}

template <class... Futures>
Conjoined<Futures...> conjoin(Futures&&... futures) {
  using Result = Conjoined<Futures...>;
  if ((futures.is_ready() && ...)) {
    if constexpr (one_has_values<Futures...>) {
      return with_the_values(std::move(futures)...);
    } else {
      return with_values(
          nullptr,
          [](auto&&... value) {
            return Result(typename Result::Now(), std::forward<decltype(value)>(value)...);
          },
          futures...);
    }
  }
  return FutureAccess::make<Result>(new WhenAllState<Futures...>(std::move(futures)...));
}

}  // namespace detail

inline future<> when_all() {
  return make_future();
}
template <class T>
auto when_all(T&& argument) {
  return to_future(std::forward<T>(argument));
}
/// A future that is ready when all arguments are, with their values one after the other. Arguments
/// that are no futures are values.
template <class T, class U, class... More>
auto when_all(T&& first, U&& second, More&&... more) {
  return detail::conjoin(to_future(std::forward<T>(first)), to_future(std::forward<U>(second)),
                         to_future(std::forward<More>(more))...);
}

}  // namespace upcxx

#endif
