#include "net/kit/registration_cache.h"

#include <unistd.h>

#include <algorithm>

namespace gex::net {

namespace {

Range pages_of(const void* address, std::size_t size) noexcept {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return {begin & ~(page - 1), (begin + size + page - 1) & ~(page - 1)};
}

std::size_t size_of(const Range& range) noexcept {
  return range.end - range.begin;
}

bool holds(const Range& outer, const Range& inner) noexcept {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

}  // namespace

RegistrationCache::RegistrationCache(MemoryRegistry& registry, MemoryMonitor& monitor,
                                     const Bounds& bounds)
    : registry_(registry), monitor_(monitor), bounds_(bounds) {
}

RegistrationCache::~RegistrationCache() {
  remove(pieces_);
}

RegistrationCache::Counts RegistrationCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

RegistrationCache::Piece* RegistrationCache::hold(const void* address, std::size_t size) {
  const Range pages = pages_of(address, size);
  // Relaxed: one that sees it late is refused once more.
  if (size_of(pages) > bounds_.bytes || is_useless_.load(std::memory_order_relaxed)) return nullptr;
  Pieces gone;
  Range all = pages;
  Piece* found = nullptr;
  bool is_awaited = false;
  {
    const std::lock_guard lock(mutex_);
    found = find_current(pages, gone);
    if (found != nullptr) {
      ++counts_.found;
      ++found->users;
      pieces_.splice(pieces_.begin(), pieces_, found->self);
    } else {
      is_awaited = is_being_registered(pages);
      all = with_neighbors(pages);
    }
  }
  remove(gone);
  if (found != nullptr || is_awaited) return found;
  Piece* made = add(all);
  // A neighbor may be of memory that goes with this one in no registration.
  if (made == nullptr && size_of(all) != size_of(pages)) made = add(pages);
  return made;
}

void RegistrationCache::release(Piece& piece) {
  Pieces gone;
  {
    const std::lock_guard lock(mutex_);
    if (--piece.users == 0 && piece.forgotten) gone.splice(gone.end(), pieces_, piece.self);
  }
  remove(gone);
}

bool RegistrationCache::give_up_one() {
  Pieces gone;
  {
    const std::lock_guard lock(mutex_);
    evict_one(gone);
  }
  const bool any = !gone.empty();
  remove(gone);
  return any;
}

void RegistrationCache::remove(Pieces& gone) noexcept {
  for (const Piece& piece : gone)
    if (piece.handle != nullptr) registry_.remove(piece.handle);
  gone.clear();
}

void RegistrationCache::forget(ByBegin::const_iterator at, Pieces& gone) {
  Piece& piece = *at->second;
  bytes_ -= size_of(piece.pages);
  by_begin_.erase(at);
  piece.forgotten = true;
  if (piece.users == 0) gone.splice(gone.end(), pieces_, piece.self);
}

void RegistrationCache::forget_unmapped(Pieces& gone) {
  const MemoryMonitor::Changes changes = monitor_.changes();
  if (changes.count == 0) return;
  const auto has_changed = [&](const Range& pages) {
    return changes.all ||
           std::any_of(changes.ranges.begin(), changes.ranges.begin() + changes.count,
                       [&](const Range& range) {
                         return range.begin < pages.end && pages.begin < range.end;
                       });
  };
  for (auto at = by_begin_.begin(); at != by_begin_.end();) {
    const auto next = std::next(at);
    if (has_changed(at->second->pages)) {
      ++counts_.unmapped;
      forget(at, gone);
    }
    at = next;
  }
}

RegistrationCache::Piece* RegistrationCache::find_current(const Range& bytes, Pieces& gone) {
  const Piece* found = find(bytes);
  if (found != nullptr && !monitor_.catch_up()) {
    // It may be of other memory.
    ++counts_.unmapped;
    forget(by_begin_.find(found->pages.begin), gone);
  }
  forget_unmapped(gone);
  return find(bytes);
}

RegistrationCache::Piece* RegistrationCache::find(const Range& bytes) const {
  const auto at = first_behind(bytes.begin);
  if (at == by_begin_.end() || at->second->handle == nullptr) return nullptr;
  return holds(at->second->pages, bytes) ? at->second : nullptr;
}

bool RegistrationCache::is_being_registered(const Range& pages) const {
  for (auto at = first_behind(pages.begin);
       at != by_begin_.end() && at->second->pages.begin < pages.end; ++at)
    if (at->second->handle == nullptr) return true;
  return false;
}

RegistrationCache::ByBegin::const_iterator RegistrationCache::first_behind(
    std::uintptr_t address) const {
  const auto at = by_begin_.upper_bound(address);
  if (at == by_begin_.begin()) return at;
  const auto before = std::prev(at);
  return before->second->pages.end > address ? before : at;
}

Range RegistrationCache::with_neighbors(const Range& pages) const {
  Range all = pages;
  // From the one on that ends where this begins.
  for (auto at = first_behind(pages.begin - 1);
       at != by_begin_.end() && at->second->pages.begin <= all.end; ++at) {
    if (at->second->handle == nullptr) return pages;
    all = {std::min(all.begin, at->second->pages.begin), std::max(all.end, at->second->pages.end)};
  }
  // What is used together with one large piece for once should not stay with it.
  return size_of(all) <= std::max(size_of(pages), bounds_.bytes / 4) ? all : pages;
}

void RegistrationCache::absorb(const Range& pages, Pieces& gone) {
  auto at = first_behind(pages.begin);
  while (at != by_begin_.end() && at->second->pages.begin < pages.end) {
    const auto next = std::next(at);
    ++counts_.merged;
    forget(at, gone);
    at = next;
  }
}

bool RegistrationCache::evict_one(Pieces& gone) {
  for (auto at = pieces_.rbegin(); at != pieces_.rend(); ++at) {
    if (at->forgotten || at->users != 0) continue;
    ++counts_.evicted;
    forget(by_begin_.find(at->pages.begin), gone);
    return true;
  }
  return false;
}

bool RegistrationCache::make_room(std::size_t bytes, Pieces& gone) {
  while (bytes_ + bytes > bounds_.bytes || by_begin_.size() + 1 > bounds_.pieces)
    if (!evict_one(gone)) return false;
  return true;
}

RegistrationCache::Piece* RegistrationCache::reserve(const Range& pages, Pieces& gone) {
  // Another thread may have begun since, or even be done.
  if (is_being_registered(pages)) return nullptr;
  if (Piece* found = find_current(pages, gone)) {
    ++counts_.found;
    ++found->users;
    return found;
  }
  absorb(pages, gone);
  if (!make_room(size_of(pages), gone)) return nullptr;
  // Watched before it is registered: what is unmapped in between is reported.
  if (!monitor_.watch(pages)) return nullptr;
  pieces_.push_front({pages, nullptr, 1, false, {}});
  Piece& piece = pieces_.front();
  piece.self = pieces_.begin();
  by_begin_.emplace(pages.begin, &piece);
  bytes_ += size_of(pages);
  return &piece;
}

void RegistrationCache::learn_from_refusal(const Range& pages) noexcept {
  monitor_.unwatch(pages);
  void* const handle = registry_.add(reinterpret_cast<void*>(pages.begin), size_of(pages));
  if (handle == nullptr) return;
  is_useless_.store(true, std::memory_order_relaxed);
  registry_.remove(handle);
}

RegistrationCache::Piece* RegistrationCache::add(const Range& pages) {
  Pieces gone;
  Piece* piece = nullptr;
  {
    const std::lock_guard lock(mutex_);
    piece = reserve(pages, gone);
  }
  // What overlaps, or had to make room, first: the registry may have no more.
  remove(gone);
  if (piece == nullptr || piece->handle != nullptr) return piece;
  void* handle = registry_.add(reinterpret_cast<void*>(pages.begin), size_of(pages));
  if (handle == nullptr) learn_from_refusal(pages);
  const std::lock_guard lock(mutex_);
  if (handle != nullptr) {
    ++counts_.registered;
    piece->handle = handle;
    return piece;
  }
  // Unless it was unmapped meanwhile.
  if (!piece->forgotten) forget(by_begin_.find(pages.begin), gone);
  pieces_.erase(piece->self);
  return nullptr;
}

}  // namespace gex::net
