// The heap of gasnet_tools.h that watches itself: malloc with a guard on both sides of every object
// and a list of all that live.

#include <gex/tools_memory.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "base/error.h"
#include "base/immortal.h"

namespace {

constexpr std::uint64_t live_guard = 0x67655821a11ced00u;
constexpr std::uint64_t dead_guard = 0x67655821dead0000u;

/// Stands before every object; the guard is its last word, next to the object.
struct alignas(16) Header {
  Header* next;
  Header* previous;
  std::size_t size;
  const char* place;
  std::uint64_t unused;
  std::uint64_t guard;

  unsigned char* object() noexcept { return reinterpret_cast<unsigned char*>(this + 1); }
};
static_assert(sizeof(Header) % alignof(std::max_align_t) == 0);
static_assert(offsetof(Header, guard) + sizeof(std::uint64_t) == sizeof(Header));

constexpr std::size_t overhead = sizeof(Header) + sizeof live_guard;

Header* header_of(void* object) noexcept {
  return reinterpret_cast<Header*>(static_cast<unsigned char*>(object) - sizeof(Header));
}

class Heap {
 public:
  void* allocate(std::size_t size, const char* place) noexcept {
    if (size > PTRDIFF_MAX - overhead) exhausted(size, place);
    void* memory = std::malloc(size + overhead);
    if (memory == nullptr) exhausted(size, place);
    auto* header = new (memory) Header{nullptr, nullptr, size, place, 0, live_guard};
    std::memcpy(header->object() + size, &live_guard, sizeof live_guard);
    const std::lock_guard lock(mutex_);
    header->next = first_;
    if (first_ != nullptr) first_->previous = header;
    first_ = header;
    stats_.allocated_bytes += size;
    stats_.live_bytes += size;
    stats_.live_bytes_max = std::max(stats_.live_bytes_max, stats_.live_bytes);
    ++stats_.allocated_objects;
    ++stats_.live_objects;
    stats_.live_objects_max = std::max(stats_.live_objects_max, stats_.live_objects);
    stats_.overhead_bytes += overhead;
    return header->object();
  }

  void release(void* object, const char* place) noexcept {
    if (object == nullptr) return;
    Header* header = header_of(object);
    {
      const std::lock_guard lock(mutex_);
      check(header, place);
      if (next_to_check_ == header) next_to_check_ = header->next;
      (header->previous != nullptr ? header->previous->next : first_) = header->next;
      if (header->next != nullptr) header->next->previous = header->previous;
      header->guard = dead_guard;
      stats_.freed_bytes += header->size;
      stats_.live_bytes -= header->size;
      ++stats_.freed_objects;
      --stats_.live_objects;
      stats_.overhead_bytes -= overhead;
    }
    std::free(header);
  }

  std::size_t check_object(const void* object, const char* place) noexcept {
    const std::lock_guard lock(mutex_);
    Header* header = header_of(const_cast<void*>(object));
    check(header, place);
    return header->size;
  }

  void check_one(const char* place) noexcept {
    const std::lock_guard lock(mutex_);
    if (next_to_check_ == nullptr) next_to_check_ = first_;
    if (next_to_check_ == nullptr) return;
    check(next_to_check_, place);
    next_to_check_ = next_to_check_->next;
  }

  void check_all(const char* place) noexcept {
    const std::lock_guard lock(mutex_);
    for (Header* header = first_; header != nullptr; header = header->next) check(header, place);
  }

  gasnett_heapstats_t stats() noexcept {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

 private:
  [[noreturn]] static void exhausted(std::size_t size, const char* place) noexcept {
    gex::fatal("gasnett_debug_malloc: no memory for %zu bytes (%s)", size, place);
  }

  static void check(Header* header, const char* place) noexcept {
    if (header->guard == dead_guard) {
      gex::fatal("gasnett_debug_malloc: the object at %p is freed already (%s)",
                 static_cast<void*>(header->object()), place);
    }
    if (header->guard != live_guard) {
      gex::fatal(
          "gasnett_debug_malloc: the object at %p was not allocated here, or was written before "
          "its beginning (%s)",
          static_cast<void*>(header->object()), place);
    }
    if (std::memcmp(header->object() + header->size, &live_guard, sizeof live_guard) != 0) {
      gex::fatal(
          "gasnett_debug_malloc: the object at %p of %zu bytes, allocated at %s, was written past "
          "its end (%s)",
          static_cast<void*>(header->object()), header->size, header->place, place);
    }
  }

  std::mutex mutex_;
  Header* first_ = nullptr;
  Header* next_to_check_ = nullptr;
  gasnett_heapstats_t stats_{};
};

// Objects may be freed while the program ends.
gex::Immortal<Heap> immortal_heap;

Heap& heap() noexcept {
  return immortal_heap.get();
}

}  // namespace

int gasnett_getheapstats(gasnett_heapstats_t* stats) {
  *stats = heap().stats();
  return 0;
}

void* gex_debug_malloc_(std::size_t size, const char* place) {
  return heap().allocate(size, place);
}

void* gex_debug_calloc_(std::size_t count, std::size_t size, const char* place) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
  void* object = heap().allocate(bytes, place);
  std::memset(object, 0, bytes);
  return object;
}

void* gex_debug_realloc_(void* object, std::size_t size, const char* place) {
  if (object == nullptr) return heap().allocate(size, place);
  const std::size_t before = heap().check_object(object, place);
  void* moved = heap().allocate(size, place);
  std::memcpy(moved, object, std::min(before, size));
  heap().release(object, place);
  return moved;
}

char* gex_debug_strdup_(const char* text, const char* place) {
  return gex_debug_strndup_(text, SIZE_MAX, place);
}

char* gex_debug_strndup_(const char* text, std::size_t size, const char* place) {
  const std::size_t length = size == SIZE_MAX ? std::strlen(text) : ::strnlen(text, size);
  auto* copy = static_cast<char*>(heap().allocate(length + 1, place));
  std::memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

void gex_debug_free_(void* object, const char* place) {
  heap().release(object, place);
}

std::size_t gex_debug_memcheck_(const void* object, const char* place) {
  return heap().check_object(object, place);
}

void gex_debug_memcheck_one_(const char* place) {
  heap().check_one(place);
}

void gex_debug_memcheck_all_(const char* place) {
  heap().check_all(place);
}
