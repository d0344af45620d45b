#include "net/registration_cache.h"

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
  for (const Piece& piece : pieces_) registry_.remove(piece.handle);
}

RegistrationCache::Counts RegistrationCache::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

RegistrationCache::Piece* RegistrationCache::hold(const void* address, std::size_t size) {
  const Range pages = pages_of(address, size);
  if (size_of(pages) > bounds_.bytes) return nullptr;
  const std::lock_guard lock(mutex_);
  forget_unmapped();
  Piece* piece = find(pages);
  if (piece != nullptr) {
    ++counts_.found;
    pieces_.splice(pieces_.begin(), pieces_, piece->self);
  } else {
    const Range all = with_neighbors(pages);
    piece = add(all);
    // A neighbor may be of memory that goes with this one in no registration.
    if (piece == nullptr && size_of(all) != size_of(pages)) piece = add(pages);
    if (piece == nullptr) return nullptr;
  }
  ++piece->users;
  return piece;
}

void RegistrationCache::let_go(Piece& piece) {
  const std::lock_guard lock(mutex_);
  if (--piece.users == 0 && piece.forgotten) drop(piece);
}

void RegistrationCache::drop(Piece& piece) {
  registry_.remove(piece.handle);
  pieces_.erase(piece.self);
}

void RegistrationCache::forget(ByBegin::const_iterator at) {
  Piece& piece = *at->second;
  bytes_ -= size_of(piece.pages);
  by_begin_.erase(at);
  piece.forgotten = true;
  if (piece.users == 0) drop(piece);
}

void RegistrationCache::forget_unmapped() {
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
      forget(at);
    }
    at = next;
  }
}

RegistrationCache::Piece* RegistrationCache::find(const Range& bytes) {
  const auto at = first_behind(bytes.begin);
  return at != by_begin_.end() && holds(at->second->pages, bytes) ? at->second : nullptr;
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
       at != by_begin_.end() && at->second->pages.begin <= all.end; ++at)
    all = {std::min(all.begin, at->second->pages.begin), std::max(all.end, at->second->pages.end)};
  // What is used together with one large piece for once should not stay with it.
  return size_of(all) <= std::max(size_of(pages), bounds_.bytes / 4) ? all : pages;
}

void RegistrationCache::absorb(const Range& pages) {
  auto at = first_behind(pages.begin);
  while (at != by_begin_.end() && at->second->pages.begin < pages.end) {
    const auto next = std::next(at);
    ++counts_.merged;
    forget(at);
    at = next;
  }
}

void RegistrationCache::make_room(std::size_t bytes) {
  auto at = pieces_.end();
  while (at != pieces_.begin() &&
         (bytes_ + bytes > bounds_.bytes || by_begin_.size() + 1 > bounds_.pieces)) {
    --at;
    if (at->forgotten || at->users != 0) continue;
    ++counts_.evicted;
    const auto after = std::next(at);
    forget(by_begin_.find(at->pages.begin));
    at = after;
  }
}

RegistrationCache::Piece* RegistrationCache::add(const Range& pages) {
  absorb(pages);
  make_room(size_of(pages));
  if (bytes_ + size_of(pages) > bounds_.bytes || by_begin_.size() + 1 > bounds_.pieces)
    return nullptr;
  // Watched before it is registered: what is unmapped in between is told of.
  if (!monitor_.watch(pages)) return nullptr;
  void* handle = registry_.add(reinterpret_cast<void*>(pages.begin), size_of(pages));
  if (handle == nullptr) return nullptr;
  pieces_.push_front({pages, handle, 0, false, {}});
  Piece& piece = pieces_.front();
  piece.self = pieces_.begin();
  by_begin_.emplace(pages.begin, &piece);
  bytes_ += size_of(pages);
  ++counts_.registered;
  return &piece;
}

}  // namespace gex::net
