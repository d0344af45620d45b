/// @file
/// The shared heap: memory of this rank that all ranks can read and write. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_HEAP_HPP_
#define UPCXX_HEAP_HPP_

#include <new>

#include <upcxx/global_ptr.hpp>

namespace upcxx {

/// The shared heap of this rank has no room.
struct UPCXXI_EXPORT bad_shared_alloc : std::bad_alloc {
  explicit bad_shared_alloc(const char* call = nullptr, std::size_t size = 0) noexcept;
  const char* what() const noexcept override { return text_; }

 private:
  char text_[256];
};

/// Bytes of the shared heap, for anything; nullptr if there is no room. From any thread.
UPCXXI_EXPORT void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t));
UPCXXI_EXPORT void deallocate(void* memory);

UPCXXI_EXPORT std::int64_t shared_segment_size();
UPCXXI_EXPORT std::int64_t shared_segment_used();

/// Room for `count` objects, which are not constructed; null if there is none.
template <class T>
global_ptr<T> allocate(std::size_t count = 1, std::size_t alignment = alignof(T)) {
  if (count > SIZE_MAX / sizeof(T)) return nullptr;
  return try_global_ptr(static_cast<T*>(allocate(count * sizeof(T), alignment)));
}
template <class T>
void deallocate(global_ptr<T> pointer) {
  UPCXXI_CHECK(pointer.is_null() || pointer.where() == rank_me(),
               "upcxx::deallocate: the memory is another rank's");
  deallocate(static_cast<void*>(const_cast<std::remove_const_t<T>*>(pointer.local())));
}

namespace detail {

[[noreturn]] UPCXXI_EXPORT void throw_bad_shared_alloc(const char* call, std::size_t size);

/// Returns the object constructed in `memory`, which is freed should the constructor throw.
template <class Construct>
void construct_or_free(void* memory, Construct&& construct) {
  struct Guard {
    void* memory;
    ~Guard() {
      if (memory != nullptr) deallocate(memory);
    }
  } guard{memory};
  construct();
  guard.memory = nullptr;
}

// In front of an array: its length.
template <class T>
inline constexpr std::size_t array_header = alignof(T) > sizeof(std::size_t) ? alignof(T)
                                                                             : sizeof(std::size_t);

template <class T>
global_ptr<T> make_array(std::size_t count) {
  constexpr std::size_t header = array_header<T>;
  if (count > (SIZE_MAX - header) / sizeof(T)) return nullptr;
  auto* const memory = static_cast<unsigned char*>(allocate(header + count * sizeof(T), header));
  if (memory == nullptr) return nullptr;
  T* const first = reinterpret_cast<T*>(memory + header);
  construct_or_free(memory, [&] {
    struct Guard {
      T* first;
      std::size_t made;
      ~Guard() {
        while (made > 0) first[--made].~T();
      }
    } guard{first, 0};
    for (; guard.made < count; ++guard.made) ::new (static_cast<void*>(first + guard.made)) T;
    guard.made = 0;
  });
  *reinterpret_cast<std::size_t*>(memory + header - sizeof(std::size_t)) = count;
  return to_global_ptr(first);
}

template <class T, class... Arguments>
global_ptr<T> make_one(Arguments&&... arguments) {
  void* const memory = allocate(sizeof(T), alignof(T));
  if (memory == nullptr) return nullptr;
  construct_or_free(memory, [&] { ::new (memory) T(std::forward<Arguments>(arguments)...); });
  return to_global_ptr(static_cast<T*>(memory));
}

}  // namespace detail

/// An object in the shared heap. Without std::nothrow bad_shared_alloc is thrown if there is no
/// room, with it the result is null.
template <class T, class... Arguments>
global_ptr<T> new_(const std::nothrow_t&, Arguments&&... arguments) {
  return detail::make_one<T>(std::forward<Arguments>(arguments)...);
}
template <class T, class... Arguments>
global_ptr<T> new_(Arguments&&... arguments) {
  const global_ptr<T> result = detail::make_one<T>(std::forward<Arguments>(arguments)...);
  if (result.is_null()) detail::throw_bad_shared_alloc("upcxx::new_", sizeof(T));
  return result;
}
/// An array of default-initialised objects.
template <class T>
global_ptr<T> new_array(std::size_t count, const std::nothrow_t&) {
  return detail::make_array<T>(count);
}
template <class T>
global_ptr<T> new_array(std::size_t count) {
  const global_ptr<T> result = detail::make_array<T>(count);
  if (result.is_null()) {
    detail::throw_bad_shared_alloc("upcxx::new_array", count * sizeof(T));
  }
  return result;
}

template <class T>
void delete_(global_ptr<T> pointer) {
  if (pointer.is_null()) return;
  UPCXXI_CHECK(pointer.where() == rank_me(), "upcxx::delete_: the object is another rank's");
  pointer.local()->~T();
  deallocate(pointer);
}
template <class T>
void delete_array(global_ptr<T> pointer) {
  if (pointer.is_null()) return;
  UPCXXI_CHECK(pointer.where() == rank_me(), "upcxx::delete_array: the array is another rank's");
  T* const first = pointer.local();
  auto* const memory = reinterpret_cast<unsigned char*>(first);
  std::size_t count = *reinterpret_cast<std::size_t*>(memory - sizeof(std::size_t));
  while (count > 0) first[--count].~T();
  deallocate(static_cast<void*>(memory - detail::array_header<T>));
}

}  // namespace upcxx

#endif
