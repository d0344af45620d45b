/// @file
/// Operations with completions, under way or over. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_TRANSFER_HPP_
#define UPCXX_TRANSFER_HPP_

#include <upcxx/completion.hpp>
#include <upcxx/operation.hpp>

namespace upcxx {
namespace detail {

struct NothingKept {};

/// An operation under way. `Value` is what its event has, or void; `Kept` is needed until it is
/// over.
template <class Actions, class Value, class Kept = NothingKept>
class Transfer;

template <class... Action, class Kept>
class Transfer<std::tuple<Action...>, void, Kept> final : public Operation {
 public:
  /// `target` is where a remote completion calls.
  explicit Transfer(const std::tuple<Action...>& actions, intrank_t target = -1,
                    Kept needed = Kept())
      : Operation(end), kept(std::move(needed)), notices_(actions, target) {}
  auto futures() { return notices_.futures(); }

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

  Kept kept;

 private:
  static void end(Task* task) {
    auto* const transfer = static_cast<Transfer*>(task);
    transfer->notices_.template later<Event::operation>();
    delete transfer;
  }

  bool source_is_over_ = false;
  Notices<std::tuple<Action...>> notices_;
};

template <class Value, class... Action, class Kept>
class Transfer<std::tuple<Action...>, Value, Kept> final : public Operation {
 public:
  explicit Transfer(const std::tuple<Action...>& actions, Kept needed = Kept())
      : Operation(end), kept(std::move(needed)), notices_(actions) {}
  auto futures() { return notices_.futures(); }
  void* value() { return &value_; }

  void completed() override { PersonaAccess::own(current_persona()).push(this); }

  Kept kept;

 private:
  static void end(Task* task) {
    auto* const transfer = static_cast<Transfer*>(task);
    transfer->notices_.template later<Event::operation>(*static_cast<Value*>(transfer->value()));
    delete transfer;
  }

  alignas(Value) unsigned char value_[sizeof(Value)];
  Notices<std::tuple<Action...>, Value> notices_;
};

/// Begins an operation, and gives the result of its call.
template <class Operation, class Begin>
auto start(Operation* operation, Begin&& begin) {
  auto futures = operation->futures();
  begin();
  return as_result(std::move(futures));
}

/// The result of the call of an operation that is over.
template <class... Action, class... V>
auto completed_now(intrank_t target, const completions<Action...>& how, const V&... values) {
  return std::apply(
      [&](const Action&... action) {
        return as_result(std::tuple_cat(notify_now(target, action, values...)...));
      },
      how.actions);
}

/// The notices of an operation that is over when a future is ready.
template <class Actions, class... V>
class Following;
template <class... Action, class... V>
class Following<std::tuple<Action...>, V...> {
 public:
  Following(const std::tuple<Action...>& actions, intrank_t target) : notices_(actions, target) {}
  auto futures() { return notices_.futures(); }
  void follow(const future<V...>& wanted) {
    wanted.then([this](const V&... values) {
      notices_.template later<Event::source>();
      notices_.template later<Event::remote>();
      notices_.template later<Event::operation>(values...);
      delete this;
    });
  }

 private:
  Notices<std::tuple<Action...>, V...> notices_;
};

/// The result of a call whose operation is over when `wanted` is ready.
template <class... V, class... Action>
auto completed_with(const future<V...>& wanted, intrank_t target,
                    const completions<Action...>& how) {
  if constexpr (std::is_same<completions<Action...>, EagerFuture>::value) {
    return wanted;
  } else {
    if (wanted.is_ready()) {
      return std::apply([&](const V&... values) { return completed_now(target, how, values...); },
                        wanted.result_reference_tuple());
    }
    auto* const following = new Following<std::tuple<Action...>, V...>(how.actions, target);
    return start(following, [&] { following->follow(wanted); });
  }
}

template <class... Action>
constexpr void require_events() {
  static_assert(has_event<Event::operation, Action...> || has_event<Event::remote, Action...>,
                "a completion of the operation, or of its arrival, is to be asked for");
}
/// The like for an operation that has no other events.
template <class... Action>
constexpr void require_operation_only() {
  static_assert(has_event<Event::operation, Action...> && !has_event<Event::source, Action...> &&
                    !has_event<Event::remote, Action...>,
                "this operation has an operation completion, and neither a source completion nor "
                "a remote one");
}
template <class... Action>
constexpr void require_operation_only(const completions<Action...>&) {
  require_operation_only<Action...>();
}
/// Requires that values of the type may be passed by themselves.
template <class T>
constexpr void require_value_size() {
  static_assert(sizeof(T) <= UPCXX_MAX_VALUE_SIZE,
                "the value is larger than UPCXX_MAX_VALUE_SIZE: pass its address and count, or "
                "define a larger limit in front of the header");
}

}  // namespace detail
}  // namespace upcxx

#endif
