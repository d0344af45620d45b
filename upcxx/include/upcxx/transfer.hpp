/// @file
/// Operations with completions, under way or over. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_TRANSFER_HPP_
#define UPCXX_TRANSFER_HPP_

#include <upcxx/completion.hpp>
#include <upcxx/operation.hpp>

namespace upcxx {
namespace detail {

/// An operation under way. `Value` is what its event has, or void.
template <class Actions, class Value>
class Transfer;

template <class... Action>
class Transfer<std::tuple<Action...>, void> final : public Operation {
 public:
  explicit Transfer(const std::tuple<Action...>& actions) : notices_(actions) {}
  auto result() { return notices_.result(); }

  void source_completed() override {
    if constexpr (has_event<Event::source, Action...>) {
      source_is_over_ = true;
      // In user progress, and before the operation's own event.
      defer([this] { notices_.template later<Event::source>(); });
    }
  }
  void completed() override {
    if (!source_is_over_) source_completed();
    notices_.template later<Event::remote>();
    PersonaAccess::own(current_persona()).push(this);
  }
  void run() override {
    notices_.template later<Event::operation>();
    delete this;
  }

 private:
  bool source_is_over_ = false;
  Notices<std::tuple<Action...>> notices_;
};

template <class Value, class... Action>
class Transfer<std::tuple<Action...>, Value> final : public Operation {
 public:
  explicit Transfer(const std::tuple<Action...>& actions) : notices_(actions) {}
  auto result() { return notices_.result(); }
  void* value() { return &value_; }

  void completed() override { PersonaAccess::own(current_persona()).push(this); }
  void run() override {
    notices_.template later<Event::operation>(*static_cast<Value*>(value()));
    delete this;
  }

 private:
  alignas(Value) unsigned char value_[sizeof(Value)];
  Notices<std::tuple<Action...>, Value> notices_;
};

/// Of an operation that is over: the result of its call.
template <class... Action, class... V>
auto completed_now(const completions<Action...>& how, const V&... values) {
  return std::apply(
      [&](const Action&... action) {
        return as_result(std::tuple_cat(notify_now(action, values...)...));
      },
      how.actions);
}

}  // namespace detail
}  // namespace upcxx

#endif
