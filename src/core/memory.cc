#include "core/memory.h"

#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/error.h"
#include "base/immortal.h"

namespace gex {

namespace detail {
constinit std::atomic<bool> has_other_kinds{false};
}  // namespace detail

namespace {

struct Piece {
  std::size_t bytes;
  const MemoryKind* kind;
};
struct Pieces {
  std::shared_mutex mutex;
  std::map<const std::byte*, Piece> by_address;
};
Immortal<Pieces> pieces;

}  // namespace

const MemoryKind* kind_of_address(const void* address) noexcept {
  Pieces& all = pieces.get();
  const auto* at = static_cast<const std::byte*>(address);
  const std::shared_lock lock(all.mutex);
  auto behind = all.by_address.upper_bound(at);
  if (behind == all.by_address.begin()) return nullptr;
  --behind;
  return static_cast<std::size_t>(at - behind->first) < behind->second.bytes ? behind->second.kind
                                                                             : nullptr;
}

void detail::copy_by_kind(void* to, const void* from, std::size_t bytes) noexcept {
  const MemoryKind* const there = kind_of_address(to);
  const MemoryKind* const here = kind_of_address(from);
  if (there == nullptr && here == nullptr) {
    std::memcpy(to, from, bytes);
  } else if (there == nullptr || here == nullptr || there->kind == here->kind) {
    (there != nullptr ? there : here)->copy(to, from, bytes);
  } else {
    // Each kind reaches its own memory and the host's.
    alignas(64) std::byte between[4096];
    auto* out = static_cast<std::byte*>(to);
    const auto* in = static_cast<const std::byte*>(from);
    while (bytes != 0) {
      const std::size_t part = bytes < sizeof between ? bytes : sizeof between;
      here->copy(between, in, part);
      there->copy(out, between, part);
      out += part;
      in += part;
      bytes -= part;
    }
  }
}

void detail::fill_by_kind(void* to, int value, std::size_t bytes) noexcept {
  const MemoryKind* const kind = kind_of_address(to);
  if (kind == nullptr) {
    std::memset(to, value, bytes);
    return;
  }
  alignas(64) std::byte filled[4096];
  std::memset(filled, value, bytes < sizeof filled ? bytes : sizeof filled);
  for (auto* out = static_cast<std::byte*>(to); bytes != 0;) {
    const std::size_t part = bytes < sizeof filled ? bytes : sizeof filled;
    kind->copy(out, filled, part);
    out += part;
    bytes -= part;
  }
}

void add_memory(const void* address, std::size_t bytes, const MemoryKind& kind) {
  Pieces& all = pieces.get();
  const std::unique_lock lock(all.mutex);
  all.by_address[static_cast<const std::byte*>(address)] = {bytes, &kind};
  detail::has_other_kinds.store(true, std::memory_order_relaxed);
}

void remove_memory(const void* address) noexcept {
  Pieces& all = pieces.get();
  const std::unique_lock lock(all.mutex);
  all.by_address.erase(static_cast<const std::byte*>(address));
}

void require_host_memory(const void* address, const char* what, const char* call) noexcept {
  if (const MemoryKind* const kind = kind_at(address))
    fatal(
        "%s: %s is memory of the kind %s, and this operation works on host memory only; copy it to "
        "host memory first",
        call, what, kind->name);
}

}  // namespace gex
