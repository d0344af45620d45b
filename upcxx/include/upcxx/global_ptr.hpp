/// @file
/// Pointers to memory of any rank. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_GLOBAL_PTR_HPP_
#define UPCXX_GLOBAL_PTR_HPP_

#include <functional>
#include <iosfwd>

#include <upcxx/job.hpp>

namespace upcxx {

/// Kinds of memory, as bits.
enum class memory_kind : std::uint16_t {
  host = 1,
  cuda_device = 2,
  hip_device = 4,
  ze_device = 8,
  any = 0xffff
};

template <class T, memory_kind Kind = memory_kind::host>
struct global_ptr;

namespace detail {

/// For the headers: the parts of a pointer.
struct PointerParts {
  intrank_t rank = 0;
  memory_kind kind = memory_kind::host;
  std::uint16_t device = 0;    // index of the device's endpoint at the rank; 0: host
  std::uintptr_t address = 0;  // at the rank; 0: null
};
/// Programs make and take apart pointers by the functions that take it.
struct internal_only {};
struct PointerAccess {
  template <class Pointer>
  static PointerParts parts(const Pointer& pointer) {
    return pointer.parts();
  }
  template <class Pointer>
  static Pointer make(PointerParts parts) {
    Pointer result;
    result.set(parts);
    return result;
  }
};

/// Where the caller can read and write the memory, or nullptr.
inline void* address_here(const PointerParts& parts) {
  const std::intptr_t displacement = job.displacements[parts.rank];
  if (displacement == no_displacement || parts.kind != memory_kind::host) return nullptr;
  return reinterpret_cast<void*>(parts.address + std::uintptr_t(displacement));
}

UPCXXI_EXPORT PointerParts find_shared(const void* address);
UPCXXI_EXPORT void print_pointer(std::ostream& stream, const PointerParts& parts);

}  // namespace detail

template <class T, memory_kind Kind>
struct global_ptr<const T, Kind> {
  using element_type = const T;
  using pointer_type = const T*;
  static constexpr memory_kind kind = Kind;

  global_ptr(std::nullptr_t = nullptr) {}
  /// Takes a pointer of a certain kind as one of any kind.
  template <memory_kind Other,
            class = std::enable_if_t<Kind == memory_kind::any && Other != memory_kind::any>>
  global_ptr(const global_ptr<const T, Other>& other) {
    set(detail::PointerAccess::parts(other));
  }

  /// An address as it is at the rank.
  global_ptr(detail::internal_only, intrank_t rank, const T* address)
      : private_detail_do_not_use_rank_(rank),
        kind_(Kind),
        private_detail_do_not_use_raw_ptr_(const_cast<T*>(address)) {}
  const T* raw_internal(detail::internal_only) const { return private_detail_do_not_use_raw_ptr_; }

  bool is_null() const { return private_detail_do_not_use_raw_ptr_ == nullptr; }
  explicit operator bool() const { return !is_null(); }
  /// Returns true if the caller can read and write the object by local().
  bool is_local() const { return is_null() || detail::address_here(parts()) != nullptr; }
  const T* local() const { return static_cast<const T*>(local_address()); }
  intrank_t where() const { return private_detail_do_not_use_rank_; }
  memory_kind dynamic_kind() const { return kind_; }

  global_ptr operator+(std::ptrdiff_t count) const { return moved(*this, count); }
  global_ptr operator-(std::ptrdiff_t count) const { return moved(*this, -count); }
  global_ptr& operator+=(std::ptrdiff_t count) { return *this = *this + count; }
  global_ptr& operator-=(std::ptrdiff_t count) { return *this = *this - count; }
  global_ptr& operator++() { return *this += 1; }
  global_ptr& operator--() { return *this -= 1; }
  global_ptr operator++(int) {
    const global_ptr old = *this;
    ++*this;
    return old;
  }
  global_ptr operator--(int) {
    const global_ptr old = *this;
    --*this;
    return old;
  }
  friend global_ptr operator+(std::ptrdiff_t count, const global_ptr& pointer) {
    return pointer + count;
  }
  friend std::ptrdiff_t operator-(const global_ptr& a, const global_ptr& b) {
    return (std::ptrdiff_t(a.parts().address) - std::ptrdiff_t(b.parts().address)) /
           std::ptrdiff_t(sizeof(T));
  }

  friend bool operator==(const global_ptr& a, const global_ptr& b) {
    return a.parts().address == b.parts().address &&
           (a.is_null() || (a.parts().rank == b.parts().rank && a.parts().kind == b.parts().kind));
  }
  friend bool operator!=(const global_ptr& a, const global_ptr& b) { return !(a == b); }
  friend bool operator<(const global_ptr& a, const global_ptr& b) {
    if (a.is_null() || b.is_null()) return a.is_null() && !b.is_null();
    return std::make_tuple(a.parts().rank, a.parts().kind, a.parts().address) <
           std::make_tuple(b.parts().rank, b.parts().kind, b.parts().address);
  }
  friend bool operator>(const global_ptr& a, const global_ptr& b) { return b < a; }
  friend bool operator<=(const global_ptr& a, const global_ptr& b) { return !(b < a); }
  friend bool operator>=(const global_ptr& a, const global_ptr& b) { return !(a < b); }
  friend std::ostream& operator<<(std::ostream& stream, const global_ptr& pointer) {
    detail::print_pointer(stream, pointer.parts());
    return stream;
  }

 protected:
  friend struct detail::PointerAccess;
  template <class Pointer>
  static Pointer moved(const Pointer& pointer, std::ptrdiff_t count) {
    Pointer result = pointer;
    result.set_address(pointer.parts().address + std::uintptr_t(count) * sizeof(T));
    return result;
  }
  void* local_address() const {
    if (is_null()) return nullptr;
    void* const address = detail::address_here(parts());
    UPCXXI_CHECK(address != nullptr,
                 "global_ptr::local: the memory is another host's or a device's; is_local() asks");
    return address;
  }

  // Programs that keep copies of other ranks' objects take pointers apart by these two names.
  intrank_t private_detail_do_not_use_rank_ = 0;
  memory_kind kind_ = memory_kind::host;
  std::uint16_t device_ = 0;
  T* private_detail_do_not_use_raw_ptr_ = nullptr;

 private:
  detail::PointerParts parts() const {
    return {private_detail_do_not_use_rank_, kind_, device_,
            reinterpret_cast<std::uintptr_t>(private_detail_do_not_use_raw_ptr_)};
  }
  void set(const detail::PointerParts& parts) {
    private_detail_do_not_use_rank_ = parts.rank;
    kind_ = parts.kind;
    device_ = parts.device;
    set_address(parts.address);
  }
  void set_address(std::uintptr_t address) {
    private_detail_do_not_use_raw_ptr_ = reinterpret_cast<T*>(address);
  }
};

template <class T, memory_kind Kind>
struct global_ptr : global_ptr<const T, Kind> {
  static_assert(!std::is_volatile<T>::value && !std::is_reference<T>::value,
                "the type of a global_ptr is neither volatile nor a reference");
  using element_type = T;
  using pointer_type = T*;

  global_ptr(std::nullptr_t = nullptr) {}
  template <memory_kind Other,
            class = std::enable_if_t<Kind == memory_kind::any && Other != memory_kind::any>>
  global_ptr(const global_ptr<T, Other>& other) : global_ptr<const T, Kind>(other) {}

  global_ptr(detail::internal_only tag, intrank_t rank, T* address)
      : global_ptr<const T, Kind>(tag, rank, address) {}
  T* raw_internal(detail::internal_only) const { return this->private_detail_do_not_use_raw_ptr_; }

  T* local() const { return static_cast<T*>(this->local_address()); }

  global_ptr operator+(std::ptrdiff_t count) const { return this->moved(*this, count); }
  global_ptr operator-(std::ptrdiff_t count) const { return this->moved(*this, -count); }
  using global_ptr<const T, Kind>::operator-;
  global_ptr& operator+=(std::ptrdiff_t count) { return *this = *this + count; }
  global_ptr& operator-=(std::ptrdiff_t count) { return *this = *this - count; }
  global_ptr& operator++() { return *this += 1; }
  global_ptr& operator--() { return *this -= 1; }
  global_ptr operator++(int) {
    const global_ptr old = *this;
    ++*this;
    return old;
  }
  global_ptr operator--(int) {
    const global_ptr old = *this;
    --*this;
    return old;
  }
  friend global_ptr operator+(std::ptrdiff_t count, const global_ptr& pointer) {
    return pointer + count;
  }
};

template <class T, class U, memory_kind Kind>
global_ptr<T, Kind> reinterpret_pointer_cast(const global_ptr<U, Kind>& pointer) {
  return detail::PointerAccess::make<global_ptr<T, Kind>>(detail::PointerAccess::parts(pointer));
}
template <class T, class U, memory_kind Kind>
global_ptr<T, Kind> static_pointer_cast(const global_ptr<U, Kind>& pointer) {
  detail::PointerParts parts = detail::PointerAccess::parts(pointer);
  if (parts.address != 0) {
    // A base may lie elsewhere in the object: the distance is found where no object is needed.
    U* const from = reinterpret_cast<U*>(parts.address);
    parts.address = reinterpret_cast<std::uintptr_t>(static_cast<T*>(from));
  }
  return detail::PointerAccess::make<global_ptr<T, Kind>>(parts);
}
template <class T, class U, memory_kind Kind>
global_ptr<T, Kind> const_pointer_cast(const global_ptr<U, Kind>& pointer) {
  static_assert(std::is_same<std::remove_const_t<T>, std::remove_const_t<U>>::value,
                "const_pointer_cast changes const only");
  return detail::PointerAccess::make<global_ptr<T, Kind>>(detail::PointerAccess::parts(pointer));
}
/// A pointer of another kind; null if the memory is of a third one.
template <memory_kind To, class T, memory_kind From>
global_ptr<T, To> dynamic_kind_cast(const global_ptr<T, From>& pointer) {
  if (pointer.is_null() || (To != memory_kind::any && pointer.dynamic_kind() != To)) return nullptr;
  return detail::PointerAccess::make<global_ptr<T, To>>(detail::PointerAccess::parts(pointer));
}
template <memory_kind To, class T, memory_kind From>
global_ptr<T, To> static_kind_cast(const global_ptr<T, From>& pointer) {
  static_assert(To == From || To == memory_kind::any || From == memory_kind::any,
                "static_kind_cast goes to the same kind, to any kind or from it");
  UPCXXI_CHECK(pointer.is_null() || To == memory_kind::any || pointer.dynamic_kind() == To,
               "static_kind_cast: the memory is of another kind");
  return detail::PointerAccess::make<global_ptr<T, To>>(detail::PointerAccess::parts(pointer));
}

/// The global pointer to an object in the shared heap of a rank of the local team, or null.
template <class T>
global_ptr<T> try_global_ptr(T* pointer) {
  return detail::PointerAccess::make<global_ptr<T>>(detail::find_shared(pointer));
}
/// The like, where any other object is an error.
template <class T>
global_ptr<T> to_global_ptr(T* pointer) {
  const global_ptr<T> result = try_global_ptr(pointer);
  if (pointer != nullptr && result.is_null()) {
    fatal_error("the object is in no shared heap of the local team", "upcxx::to_global_ptr");
  }
  return result;
}

}  // namespace upcxx

template <class T, upcxx::memory_kind Kind>
struct std::hash<upcxx::global_ptr<T, Kind>> {
  std::size_t operator()(const upcxx::global_ptr<T, Kind>& pointer) const noexcept {
    const upcxx::detail::PointerParts parts = upcxx::detail::PointerAccess::parts(pointer);
    if (parts.address == 0) return 0;
    return parts.address * 0x9e3779b97f4a7c15u ^ std::size_t(parts.rank) * 0xc2b2ae3d27d4eb4fu;
  }
};

#endif
