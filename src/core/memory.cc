#include "core/memory.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "base/immortal.h"
#include "core/thread.h"

namespace gex {

namespace detail {
constinit std::atomic<std::uintptr_t> kinds_begin{0};
constinit std::atomic<std::uintptr_t> kinds_end{0};
}  // namespace detail

namespace {

struct Piece {
  std::uintptr_t begin;
  std::uintptr_t end;
  const MemoryKind* kind;
};

/// A place in the table. Readers may come while it is written; they see so, and read again.
struct Entry {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<const MemoryKind*> kind{nullptr};
};

/// The pieces by address. `version` is odd while they change.
struct Table {
  Table(std::size_t room, const Table* smaller)
      : before(smaller), capacity(room), entries(new Entry[room]) {}

  const Table* before;  ///< so that LeakSanitizer finds those that are still read
  std::size_t capacity;
  std::unique_ptr<Entry[]> entries;
  std::atomic<std::size_t> count{0};
  std::atomic<std::uint64_t> version{0};
};

struct Changes {
  std::mutex mutex;
  std::vector<Piece> pieces;
};
Immortal<Changes> the_changes;
/// Never deleted: a reader may be in it. The next has twice the room, so all together are small.
constinit std::atomic<Table*> current{nullptr};

/// Writes all pieces to the table; under the lock.
void store(const std::vector<Piece>& pieces) {
  Table* table = current.load(std::memory_order_relaxed);
  const bool grows = table == nullptr || table->capacity < pieces.size();
  if (grows) table = new Table(std::max<std::size_t>(16, 2 * pieces.size()), table);
  const std::uint64_t version = table->version.load(std::memory_order_relaxed);
  table->version.store(version + 1, std::memory_order_relaxed);
  // Release: who reads one of these sees that the version is odd.
  table->count.store(pieces.size(), std::memory_order_release);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    table->entries[i].begin.store(pieces[i].begin, std::memory_order_release);
    table->entries[i].end.store(pieces[i].end, std::memory_order_release);
    table->entries[i].kind.store(pieces[i].kind, std::memory_order_release);
  }
  table->version.store(version + 2, std::memory_order_release);
  if (grows) current.store(table, std::memory_order_release);
  if (pieces.empty()) {
    detail::kinds_end.store(0, std::memory_order_relaxed);
    return;
  }
  std::uintptr_t end = 0;
  for (const Piece& piece : pieces) end = std::max(end, piece.end);
  detail::kinds_begin.store(pieces.front().begin, std::memory_order_relaxed);
  detail::kinds_end.store(end, std::memory_order_relaxed);
}

constinit std::uint64_t expected = 0;

/// The first piece that ends behind `address`: its kind, and where it begins; null if there is
/// none.
struct Found {
  const MemoryKind* kind = nullptr;
  std::uintptr_t begin = 0;
};
Found first_behind(std::uintptr_t address) noexcept {
  // Acquire: pairs with the release of `store`.
  const Table* const table = current.load(std::memory_order_acquire);
  if (table == nullptr) return {};
  for (;;) {
    const std::uint64_t version = table->version.load(std::memory_order_acquire);
    std::size_t low = 0;
    const std::size_t count = table->count.load(std::memory_order_acquire);
    for (std::size_t high = std::min(count, table->capacity); low < high;) {
      const std::size_t middle = low + (high - low) / 2;
      if (table->entries[middle].end.load(std::memory_order_acquire) > address)
        high = middle;
      else
        low = middle + 1;
    }
    Found found;
    if (low < count && low < table->capacity)
      found = {table->entries[low].kind.load(std::memory_order_acquire),
               table->entries[low].begin.load(std::memory_order_acquire)};
    // Acquire above: none of those reads is made after this one.
    if (version % 2 == 0 && table->version.load(std::memory_order_relaxed) == version) return found;
  }
}

}  // namespace

void* MemoryKind::allocate_host(std::size_t) const noexcept {
  return nullptr;
}

void MemoryKind::begin_copy_rows(const Rows& rows, CompletionTarget done,
                                 CompletionTarget local_done) const noexcept {
  for (std::size_t plane = 0; plane < rows.planes; ++plane)
    for (std::size_t i = 0; i < rows.count; ++i)
      copy(rows.to + plane * rows.to_plane + i * rows.to_stride,
           rows.from + plane * rows.from_plane + i * rows.from_stride, rows.width);
  complete(done);
  if (local_done != nullptr) complete(local_done);
}

void MemoryKind::pin(const HostRange&, const void*, std::size_t) const noexcept {
}

std::string MemoryKind::follow_event(void*, CompletionTarget) const {
  return "it has no events";
}

std::atomic<std::uint32_t>* MemoryKind::hold_stream(void*, std::string& why) const {
  why = "it has no streams";
  return nullptr;
}

int MemoryKind::export_descriptor(const void*, std::size_t, std::uint64_t&) const noexcept {
  return -1;
}

const MemoryKind* detail::find_kind(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const Found found = first_behind(at);
  return found.begin <= at ? found.kind : nullptr;
}

void detail::copy_by_kind(void* to, const void* from, std::size_t bytes) noexcept {
  const MemoryKind* const there = kind_at(to);
  const MemoryKind* const here = kind_at(from);
  if (there == nullptr && here == nullptr) {
    std::memcpy(to, from, bytes);
  } else if (there == nullptr || here == nullptr || there->memory_class == here->memory_class) {
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
  const MemoryKind* const kind = kind_at(to);
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
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  Changes& changes = the_changes.get();
  const std::lock_guard lock(changes.mutex);
  std::vector<Piece>& pieces = changes.pieces;
  pieces.insert(
      std::upper_bound(pieces.begin(), pieces.end(), begin,
                       [](std::uintptr_t at, const Piece& piece) { return at < piece.begin; }),
      {begin, begin + bytes, &kind});
  store(pieces);
}

void remove_memory(const void* address) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  Changes& changes = the_changes.get();
  const std::lock_guard lock(changes.mutex);
  std::vector<Piece>& pieces = changes.pieces;
  const auto found = std::find_if(pieces.begin(), pieces.end(),
                                  [&](const Piece& piece) { return piece.begin == begin; });
  if (found == pieces.end()) return;
  pieces.erase(found);
  store(pieces);
}

void expect_classes(std::uint64_t classes) noexcept {
  expected = classes;
}

std::uint64_t expected_classes() noexcept {
  return expected;
}
}  // namespace gex
