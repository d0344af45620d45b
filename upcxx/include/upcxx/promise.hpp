/// @file
/// Promises: what makes a future ready. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_PROMISE_HPP_
#define UPCXX_PROMISE_HPP_

#include <upcxx/future.hpp>

namespace upcxx {

/// A counter of dependencies, and the values of a future that becomes ready when all are met.
/// Copies are handles of one promise. Operations are counted without allocation.
template <class... T>
class promise {
 public:
  explicit promise(std::intptr_t dependencies = 1) : state_(new detail::State<T...>(dependencies)) {
    UPCXXI_CHECK(dependencies >= 1, "promise: at least one dependency is needed");
  }
  promise(const promise& other) : state_(other.state_) {
    if (state_ != nullptr) state_->retain();
  }
  promise(promise&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
  promise& operator=(promise other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~promise() {
    if (state_ != nullptr) state_->release();
  }

  /// Adds dependencies to a promise that has some left.
  void require_anonymous(std::intptr_t count) const {
    state_->require_owner("promise::require_anonymous");
    UPCXXI_CHECK(count >= 0, "promise::require_anonymous: the count is negative");
    UPCXXI_CHECK(state_->pending > 0,
                 "promise::require_anonymous: the promise has been fulfilled already");
    state_->pending += count;
  }
  /// Meets dependencies. With the last one the future becomes ready, and its callbacks run.
  void fulfill_anonymous(std::intptr_t count) const {
    state_->require_owner("promise::fulfill");
    UPCXXI_CHECK(count >= 0 && count <= state_->pending,
                 "promise::fulfill_anonymous: there are fewer dependencies left");
    if (count == 0 || (state_->pending -= count) > 0) return;
    UPCXXI_CHECK(state_->has_values(),
                 "promise: all dependencies are met, but fulfill_result was not called");
    state_->retain()->run_callbacks();
  }
  /// Gives the values, and meets one dependency.
  template <class... U>
  void fulfill_result(U&&... values) const {
    state_->set_values(std::forward<U>(values)...);
    fulfill_anonymous(1);
  }

  future<T...> get_future() const {
    return detail::FutureAccess::make<future<T...>>(state_->retain());
  }
  future<T...> finalize() const {
    fulfill_anonymous(1);
    return get_future();
  }

 private:
  detail::State<T...>* state_;
};

}  // namespace upcxx

#endif
