/// @file
/// Reading and writing memory of other ranks. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_RMA_HPP_
#define UPCXX_RMA_HPP_

#include <cstring>

#include <upcxx/global_ptr.hpp>
#include <upcxx/serialization.hpp>
#include <upcxx/transfer.hpp>

namespace upcxx {
namespace detail {

/// Begin a transfer, and set the operation's events. A put from a source that is not to be used
/// after the call has source_is_free.
UPCXXI_EXPORT void start_put(Operation* operation, const PointerParts& destination,
                             const void* source, std::size_t bytes, bool source_is_free);
UPCXXI_EXPORT void start_get(Operation* operation, void* destination, const PointerParts& source,
                             std::size_t bytes);

template <class T>
struct Identity {
  using type = T;
};

template <class... Action>
auto put(const PointerParts& destination, const void* source, std::size_t bytes,
         bool source_is_free, const completions<Action...>& how) {
  require_events<Action...>();
  if (void* const here = address_here(destination)) {
    std::memcpy(here, source, bytes);
    return completed_now(destination.rank, how);
  }
  auto* const operation = new Transfer<std::tuple<Action...>, void>(how.actions, destination.rank);
  return start(operation, [&] {
    start_put(operation, destination, source, bytes,
              source_is_free || (is_blocking<Action> || ...));
  });
}

template <class T>
constexpr void require_bytes() {
  static_assert(is_sent_as_bytes<T>,
                "what is put or got is copied as bytes: its type is to be trivially copyable, or "
                "upcxx::is_trivially_serializable to be specialised for it");
}

}  // namespace detail

/// Writes a value.
template <class T, class... Action>
auto rput(typename detail::Identity<T>::type value, global_ptr<T> destination,
          const completions<Action...>& how) {
  detail::require_bytes<T>();
  detail::require_value_size<T>();
  static_assert(!detail::has_event<detail::Event::source, Action...>,
                "a value that is passed by itself has no source completion");
  UPCXXI_CHECK(!destination.is_null(), "upcxx::rput: the destination is null");
  return detail::put(detail::PointerAccess::parts(destination), &value, sizeof(T), true, how);
}
template <class T>
auto rput(typename detail::Identity<T>::type value, global_ptr<T> destination) {
  return rput(std::move(value), destination, operation_cx::as_future());
}

/// Writes an array of `count` values.
template <class T, class... Action>
auto rput(const T* source, global_ptr<T> destination, std::size_t count,
          const completions<Action...>& how) {
  detail::require_bytes<T>();
  UPCXXI_CHECK(source != nullptr && !destination.is_null(), "upcxx::rput: an address is null");
  return detail::put(detail::PointerAccess::parts(destination), source, count * sizeof(T), false,
                     how);
}
template <class T>
auto rput(const T* source, global_ptr<T> destination, std::size_t count) {
  return rput(source, destination, count, operation_cx::as_future());
}

/// Reads a value, which the operation's event has.
template <class T, class... Action>
auto rget(global_ptr<const T> source, const completions<Action...>& how) {
  detail::require_bytes<T>();
  detail::require_operation_only<Action...>();
  detail::require_value_size<T>();
  UPCXXI_CHECK(!source.is_null(), "upcxx::rget: the source is null");
  const detail::PointerParts parts = detail::PointerAccess::parts(source);
  if (const void* const here = detail::address_here(parts)) {
    alignas(T) unsigned char value[sizeof(T)];
    std::memcpy(value, here, sizeof(T));
    return detail::completed_now(-1, how, *std::launder(reinterpret_cast<const T*>(value)));
  }
  auto* const operation = new detail::Transfer<std::tuple<Action...>, T>(how.actions);
  return detail::start(operation,
                       [&] { detail::start_get(operation, operation->value(), parts, sizeof(T)); });
}
template <class T>
auto rget(global_ptr<const T> source) {
  return rget(source, operation_cx::as_future());
}

/// Reads an array of `count` values into memory of the caller's.
template <class T, class... Action>
auto rget(global_ptr<const T> source, T* destination, std::size_t count,
          const completions<Action...>& how) {
  detail::require_bytes<T>();
  detail::require_operation_only<Action...>();
  UPCXXI_CHECK(destination != nullptr && !source.is_null(), "upcxx::rget: an address is null");
  const detail::PointerParts parts = detail::PointerAccess::parts(source);
  if (const void* const here = detail::address_here(parts)) {
    std::memcpy(static_cast<void*>(destination), here, count * sizeof(T));
    return detail::completed_now(-1, how);
  }
  auto* const operation = new detail::Transfer<std::tuple<Action...>, void>(how.actions);
  return detail::start(
      operation, [&] { detail::start_get(operation, destination, parts, count * sizeof(T)); });
}
template <class T>
auto rget(global_ptr<const T> source, T* destination, std::size_t count) {
  return rget(source, destination, count, operation_cx::as_future());
}

}  // namespace upcxx

#endif
