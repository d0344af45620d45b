#include "net/emu/segments.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/os_file.h"
#include "net/emu/fatal.h"

namespace gex::net::emu {

namespace {

/// Each is mapped by everybody, and its descriptor sent to everybody.
constexpr std::size_t most_neighborhoods = 64;

/// A key's second word.
constexpr std::uint64_t name_of(std::uint32_t place, std::uint32_t generation) noexcept {
  return std::uint64_t{generation} << 32 | place;
}

}  // namespace

Segments::Segments(const Host& host, const Layout& layout, std::span<std::byte> memory) noexcept
    : host_(host), layout_(layout), memory_(memory) {
}

void Segments::map_all() {
  if (host_.segment_file == nullptr) return;
  const std::uint32_t failed = map_files() ? 0 : 1;
  std::vector<std::uint32_t> everyones(host_.size);
  host_.exchange(&failed, sizeof failed, everyones.data());
  if (std::find(everyones.begin(), everyones.end(), 1U) != everyones.end()) parts_.clear();
}

bool Segments::map_files() {
  constexpr std::uint32_t unknown = ~std::uint32_t{0};
  part_of_.assign(host_.size, unknown);
  bool mapped = true;
  for (std::uint32_t rank = 0; rank < host_.size; ++rank) {
    if (part_of_[rank] != unknown) continue;
    if (parts_.size() == most_neighborhoods) return false;
    const SegmentFile file = host_.segment_file(rank);
    const os::FileDescriptor owned(file.descriptor);
    Part part;
    part.base = static_cast<std::byte*>(file.address);
    part.size = file.size;
    if (part.base == nullptr) {
      part.mapping = os::Mapping::shared(file.descriptor, file.offset, file.size);
      part.base = part.mapping.data();
    }
    if (part.base == nullptr) {
      mapped = false;
      char text[160];
      std::snprintf(text, sizeof text, "emu: put and get by messages: mapping %llu bytes: %s",
                    static_cast<unsigned long long>(file.size), std::strerror(errno));
      host_.warn(text);
    }
    for (const std::uint32_t member : std::span(file.ranks, file.count))
      part_of_[member] = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back(std::move(part));
  }
  return mapped;
}

Registration& Segments::registration(std::uint32_t rank, std::uint32_t place) const noexcept {
  return reinterpret_cast<Registration*>(memory_.data() + layout_.registrations(rank))[place];
}

int Segments::enter(void* address, std::size_t size, SegmentKey* key) {
  if (!is_own(address, size)) return 1;
  const Part& own = parts_[part_of_[host_.rank]];
  const std::uint64_t start =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(own.base);
  const std::lock_guard lock(entering_);
  for (std::uint32_t place = 0; place < registrations_each; ++place) {
    Registration& entry = registration(host_.rank, place);
    if (entry.generation.load(std::memory_order_relaxed) != 0) continue;
    const std::uint32_t generation = next_generation_++;
    entry.start.store(start, std::memory_order_relaxed);
    entry.size.store(size, std::memory_order_relaxed);
    // Release: whoever finds the generation of a key finds the range that it stands for.
    entry.generation.store(generation, std::memory_order_release);
    key->words[0] = start - reinterpret_cast<std::uintptr_t>(address);
    key->words[1] = name_of(place, generation);
    return 0;
  }
  return 1;
}

bool Segments::is_own(const void* address, std::size_t size) const noexcept {
  if (parts_.empty()) return false;
  const Part& own = parts_[part_of_[host_.rank]];
  const std::uint64_t start =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(own.base);
  return start <= own.size && size <= own.size - start;
}

void Segments::leave(const SegmentKey& key) {
  const auto place = static_cast<std::uint32_t>(key.words[1]);
  // Relaxed: an operation that is still under way is the client's mistake, found or not.
  registration(host_.rank, place).generation.store(0, std::memory_order_relaxed);
}

std::byte* Segments::find(const Remote& remote, std::size_t size) const {
  const auto place = static_cast<std::uint32_t>(remote.key.words[1]);
  if (remote.peer >= host_.size || place >= registrations_each || parts_.empty()) [[unlikely]]
    fatal(host_, "emu: an operation of rank %u on rank %u with a key that is none", host_.rank,
          remote.peer);
  const Registration& entry = registration(remote.peer, place);
  if (entry.generation.load(std::memory_order_acquire) != remote.key.words[1] >> 32) [[unlikely]]
    fatal(host_, "emu: an operation of rank %u on a segment of rank %u that is registered no more",
          host_.rank, remote.peer);
  const Part& part = parts_[part_of_[remote.peer]];
  const std::uint64_t at = remote.address + remote.key.words[0];
  const std::uint64_t offset = at - entry.start.load(std::memory_order_relaxed);
  const std::uint64_t whole = entry.size.load(std::memory_order_relaxed);
  // Against the mapping too: what stands in the entry is the peer's word.
  if (offset > whole || size > whole - offset || at > part.size || size > part.size - at)
      [[unlikely]]
    fatal(host_, "emu: an operation of rank %u on %zu bytes outside the segment of rank %u",
          host_.rank, size, remote.peer);
  return part.base + at;
}

}  // namespace gex::net::emu
