/// @file
/// Copies between any two memories: of hosts and devices, of any ranks. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_COPY_HPP_
#define UPCXX_COPY_HPP_

#include <cstring>

#include <upcxx/rma.hpp>
#include <upcxx/rpc.hpp>

namespace upcxx {
namespace detail {

/// One of the two is this rank's, or host memory that it can address.
UPCXXI_EXPORT void start_copy(Operation* operation, const PointerParts& destination,
                              const PointerParts& source, std::size_t bytes, bool source_is_free);

inline PointerParts parts_of_own(const void* address) {
  PointerParts parts;
  parts.rank = rank_me();
  parts.address = reinterpret_cast<std::uintptr_t>(address);
  return parts;
}

inline future<> copy_from_here(const PointerParts& destination, const PointerParts& source,
                               std::size_t bytes);

template <class... Action>
auto copy_bytes(const PointerParts& destination, const PointerParts& source, std::size_t bytes,
                const completions<Action...>& how) {
  require_events<Action...>();
  UPCXXI_CHECK(destination.address != 0 && source.address != 0, "upcxx::copy: an address is null");
  const void* const source_here = address_here(source);
  void* const destination_here = address_here(destination);
  if (source_here != nullptr && destination_here != nullptr) {
    std::memmove(destination_here, source_here, bytes);
    return completed_now(destination.rank, how);
  }
  const intrank_t me = rank_me();
  if (source.rank != me && destination.rank != me && source_here == nullptr &&
      destination_here == nullptr) {
    // Neither end is here: the rank that has the source puts it.
    return completed_with(rpc(source.rank, copy_from_here, destination, source, bytes),
                          destination.rank, how);
  }
  auto* const operation = new Transfer<std::tuple<Action...>, void>(how.actions, destination.rank);
  return start(operation, [&] {
    start_copy(operation, destination, source, bytes, (is_blocking<Action> || ...));
  });
}

inline future<> copy_from_here(const PointerParts& destination, const PointerParts& source,
                               std::size_t bytes) {
  return copy_bytes(destination, source, bytes, operation_cx::as_future());
}

}  // namespace detail

/// Copies `count` objects. Each end is of any rank and any kind of memory, or is the caller's own.
template <class T, memory_kind From, memory_kind To, class Cx = detail::DefaultCompletions>
auto copy(global_ptr<const T, From> source, global_ptr<T, To> destination, std::size_t count,
          const Cx& how = {}) {
  detail::require_bytes<T>();
  return detail::copy_bytes(detail::PointerAccess::parts(destination),
                            detail::PointerAccess::parts(source), count * sizeof(T), how);
}
template <class T, memory_kind To, class Cx = detail::DefaultCompletions>
auto copy(const T* source, global_ptr<T, To> destination, std::size_t count, const Cx& how = {}) {
  detail::require_bytes<T>();
  return detail::copy_bytes(detail::PointerAccess::parts(destination), detail::parts_of_own(source),
                            count * sizeof(T), how);
}
template <class T, memory_kind From, class Cx = detail::DefaultCompletions>
auto copy(global_ptr<const T, From> source, T* destination, std::size_t count, const Cx& how = {}) {
  detail::require_bytes<T>();
  return detail::copy_bytes(detail::parts_of_own(destination), detail::PointerAccess::parts(source),
                            count * sizeof(T), how);
}

}  // namespace upcxx

#endif
