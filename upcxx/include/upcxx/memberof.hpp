/// @file
/// Global pointers to members of objects. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_MEMBEROF_HPP_
#define UPCXX_MEMBEROF_HPP_

#include <cstddef>
#include <memory>

#include <upcxx/rpc.hpp>

namespace upcxx {
namespace detail {

template <class Pointer>
using ObjectOf = typename std::remove_reference_t<Pointer>::element_type;

/// `Member` is the type of the member as an lvalue, an array's that of its elements.
template <class Member, class T, memory_kind Kind>
auto member_at(const global_ptr<T, Kind>& object, std::size_t offset) {
  using M = std::remove_all_extents_t<std::remove_reference_t<Member>>;
  PointerParts parts = PointerAccess::parts(object);
  UPCXXI_CHECK(parts.address != 0, "upcxx_memberof: the pointer is null");
  parts.address += offset;
  return PointerAccess::make<global_ptr<M, Kind>>(parts);
}

template <class M>
auto* first_element(M* member) {
  return reinterpret_cast<std::remove_all_extents_t<M>*>(member);
}

/// By the object itself, where it is.
template <class Find, class T>
auto member_of_object(const global_ptr<T>& object, const Find& find) {
  using M = std::remove_pointer_t<decltype(first_element(find(object.local())))>;
  UPCXXI_CHECK(!object.is_null(), "upcxx_memberof_general: the pointer is null");
  const auto displaced = [](const global_ptr<T>& of, std::uintptr_t offset) {
    PointerParts parts = PointerAccess::parts(of);
    parts.address += offset;
    return PointerAccess::make<global_ptr<M>>(parts);
  };
  const auto offset_here = [find](T* at) {
    return std::uintptr_t(first_element(find(at))) - std::uintptr_t(at);
  };
  if (object.is_local()) return make_future(displaced(object, offset_here(object.local())));
  return rpc(
             object.where(),
             [offset_here](const global_ptr<T>& of) { return offset_here(of.local()); }, object)
      .then([object, displaced](std::uintptr_t offset) { return displaced(object, offset); });
}

}  // namespace detail
}  // namespace upcxx

/// The global pointer to a member of the object that `gp` points to, of a type of standard layout.
#define upcxx_memberof(gp, ...)                                                   \
  (::upcxx::detail::member_at<decltype((                                          \
       ::std::declval<::upcxx::detail::ObjectOf<decltype(gp)>&>().__VA_ARGS__))>( \
      gp, offsetof(::upcxx::detail::ObjectOf<decltype(gp)>, __VA_ARGS__)))
/// The like for types whose layout the program is sure of.
#define upcxx_experimental_memberof_unsafe(gp, ...) upcxx_memberof(gp, __VA_ARGS__)
/// The like for any type: a future of the pointer, for which the owner may be asked.
#define upcxx_memberof_general(gp, ...) \
  (::upcxx::detail::member_of_object(   \
      gp, [](auto* upcxxi_object) { return ::std::addressof(upcxxi_object->__VA_ARGS__); }))

#endif
