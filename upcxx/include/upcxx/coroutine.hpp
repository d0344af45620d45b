/// @file
/// Awaiting: futures in coroutines of C++20. Part of upcxx/upcxx.hpp.
///
/// `co_await f` gives what f.wait() gives, without waiting: the caller of the coroutine runs in the
/// meantime. It may be used where waiting is forbidden. A function whose result is a
/// future may be a coroutine, as may be the function of an rpc.
#ifndef UPCXX_COROUTINE_HPP_
#define UPCXX_COROUTINE_HPP_

#ifdef __cpp_impl_coroutine

#include <coroutine>

#include <upcxx/when_all.hpp>

namespace upcxx {

/// The result of a coroutine: a future of what it returns by co_return.
template <class... T>
using task = future<T...>;

namespace detail {

/// Part of the coroutine that awaits: nothing is allocated for it.
template <class... T>
class Awaiting final : public Callback {
 public:
  explicit Awaiting(future<T...> wanted) : wanted_(std::move(wanted)) {}
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;

  bool await_ready() const { return wanted_.is_ready(); }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    StateBase* const state = FutureAccess::state(wanted_);
    // Otherwise it is never ready.
    if (reinterpret_cast<std::uintptr_t>(state) > 1) state->add(this);
  }
  decltype(auto) await_resume() { return std::move(wanted_).result(); }

  void run(StateBase&) noexcept override { waiter_.resume(); }
  void drop() noexcept override {}

 private:
  future<T...> wanted_;
  std::coroutine_handle<> waiter_;
};

/// The common part of all coroutines with a future<T...>.
template <class... T>
class CoroutineBase {
 public:
  CoroutineBase() : state_(new State<T...>(1)) {}
  CoroutineBase(const CoroutineBase&) = delete;
  CoroutineBase& operator=(const CoroutineBase&) = delete;
  ~CoroutineBase() { state_->release(); }

  future<T...> get_return_object() { return FutureAccess::make<future<T...>>(state_->retain()); }
  std::suspend_never initial_suspend() const noexcept { return {}; }
  auto final_suspend() const noexcept { return End(); }
  void unhandled_exception() const { end_by_exception("an exception left a coroutine"); }

 protected:
  State<T...>* state_;

 private:
  struct End {
    bool await_ready() const noexcept { return false; }
    /// The future becomes ready when what the coroutine had is gone: callbacks may end what that
    /// referred to.
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      StateBase* const state = static_cast<CoroutineBase&>(ended.promise()).state_->retain();
      ended.destroy();
      state->pending = 0;
      if (this_thread.ready != nullptr) {
        state->run_callbacks_later();
      } else {
        state->run_callbacks();
      }
    }
    void await_resume() const noexcept {}
  };
};

template <class... T>
class Coroutine : public CoroutineBase<T...> {
 public:
  void return_value(std::tuple<T...> values) {
    std::apply([this](auto&&... value) { this->state_->set_values(std::move(value)...); },
               std::move(values));
  }
};
template <class T>
class Coroutine<T> : public CoroutineBase<T> {
 public:
  template <class U = T>
  void return_value(U&& value) {
    this->state_->set_values(std::forward<U>(value));
  }
};
template <>
class Coroutine<> : public CoroutineBase<> {
 public:
  void return_void() const {}
};

}  // namespace detail

template <class... T>
detail::Awaiting<T...> operator co_await(future<T...> wanted) {
  return detail::Awaiting<T...>(std::move(wanted));
}

}  // namespace upcxx

template <class... T, class... A>
struct std::coroutine_traits<upcxx::future<T...>, A...> {
  using promise_type = upcxx::detail::Coroutine<T...>;
};

#endif
#endif
