#include <upcxx/heap.hpp>

#include <cstdio>
#include <ostream>

#include "first_fit.h"
#include "process.h"

namespace upcxx {
namespace {

detail::FirstFit& heap() {
  static auto* const made = [] {
    const gex_Segment_t segment = gex_EP_QuerySegment(detail::process().endpoint);
    return new detail::FirstFit(reinterpret_cast<std::uintptr_t>(gex_Segment_QueryAddr(segment)),
                                gex_Segment_QuerySize(segment));
  }();
  return *made;
}

void require_job(const char* call) {
  if (!detail::process().has_joined) fatal_error("call upcxx::init() first", call);
}

}  // namespace

bad_shared_alloc::bad_shared_alloc(const char* call, std::size_t size) noexcept {
  std::snprintf(
      text_, sizeof text_,
      "rank %d: %s found no %zu bytes in the shared heap, of which %zu of %zu bytes are in "
      "use; upcxx-run -shared-heap or UPCXX_SHARED_HEAP_SIZE make it larger",
      detail::job.rank_me, call == nullptr ? "an allocation" : call, size,
      detail::process().has_joined ? heap().used() : 0,
      detail::process().has_joined ? heap().size() : 0);
}

void* allocate(std::size_t size, std::size_t alignment) {
  require_job("upcxx::allocate");
  return reinterpret_cast<void*>(heap().allocate(size, alignment));
}

void deallocate(void* memory) {
  if (memory == nullptr) return;
  require_job("upcxx::deallocate");
  if (!heap().deallocate(reinterpret_cast<std::uintptr_t>(memory))) {
    fatal_error("the memory is not from upcxx::allocate, or was freed before", "upcxx::deallocate");
  }
}

std::int64_t shared_segment_size() {
  return std::int64_t(heap().size());
}
std::int64_t shared_segment_used() {
  return std::int64_t(heap().used());
}

namespace detail {

PointerParts find_shared(const void* address) {
  PointerParts parts;
  if (address == nullptr) return parts;
  const auto here = reinterpret_cast<std::uintptr_t>(address);
  for (const Neighbor& neighbor : process().neighbors) {
    if (here - neighbor.here > neighbor.size) continue;
    parts.rank = neighbor.rank;
    parts.address = here - std::uintptr_t(job.displacements[neighbor.rank]);
    // One past the end of a heap may be the beginning of another.
    if (here - neighbor.here < neighbor.size) return parts;
  }
  return parts;
}

void print_pointer(std::ostream& stream, const PointerParts& parts) {
  char text[64];
  if (parts.address == 0) {
    stream << "(null)";
    return;
  }
  std::snprintf(text, sizeof text, "(rank %d, kind %d, %#zx)", parts.rank, int(parts.kind),
                std::size_t(parts.address));
  stream << text;
}

}  // namespace detail
}  // namespace upcxx
