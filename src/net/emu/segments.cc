#include "net/emu/segments.h"

#include <gex/plugin/all_ranks.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/os_memory.h"
#include "net/kit/fatal.h"

namespace gex::net::emu {

namespace {

/// The descriptor of each neighborhood's file is sent to, and open in, every process.
constexpr std::size_t max_neighborhoods = 64;

constexpr std::uint64_t name_of(std::uint32_t place, std::uint64_t generation) noexcept {
  return generation << 32 | place;
}

constexpr bool is_within(std::uint64_t offset, std::uint64_t size, std::uint64_t whole) noexcept {
  return offset <= whole && size <= whole - offset;
}

}  // namespace

Segments::Segments(const Host& host, const Layout& layout, std::span<std::byte> memory)
    : host_(host),
      layout_(layout),
      memory_(memory),
      windows_(std::make_unique<std::atomic<Windows*>[]>(host.size)) {
}

Segments::~Segments() {
  for (std::uint32_t rank = 0; rank < host_.size; ++rank) {
    const std::unique_ptr<Windows> windows(windows_[rank].load(std::memory_order_relaxed));
    if (windows == nullptr) continue;
    for (const auto& window : *windows) delete window.load(std::memory_order_relaxed);
  }
}

void Segments::open_all() {
  if (host_.segment_file == nullptr) return;
  if (first_rank_with(host_, !open_files()) != host_.size) parts_.clear();
}

bool Segments::open_files() {
  constexpr std::uint32_t unknown = ~std::uint32_t{0};
  part_of_.assign(host_.size, unknown);
  bool opened = true;
  for (std::uint32_t rank = 0; rank < host_.size; ++rank) {
    if (part_of_[rank] != unknown) continue;
    if (parts_.size() == max_neighborhoods) {
      if (host_.rank == 0)
        host_.inform(
            "emu: puts, gets and atomics are made of messages: more than 64 neighborhoods");
      return false;
    }
    const SegmentFile file = host_.segment_file(rank);
    opened = opened && file.descriptor >= 0;
    for (const std::uint32_t member : std::span(file.ranks, file.count))
      part_of_[member] = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back({os::FileDescriptor(file.descriptor), file.offset, file.size});
  }
  return opened;
}

Registration& Segments::registration(std::uint32_t rank, std::uint32_t place) const noexcept {
  return reinterpret_cast<Registration*>(memory_.data() + layout_.registrations(rank))[place];
}

int Segments::enter(void* address, std::size_t size, Key* key) {
  std::uint64_t start = 0;
  if (parts_.empty() || host_.segment_place(address, &start) != 0 ||
      !is_within(start, size, parts_[part_of_[host_.rank]].size))
    return 1;
  const std::lock_guard lock(entering_);
  for (std::uint32_t place = 0; place < registrations_each; ++place) {
    Registration& entry = registration(host_.rank, place);
    if (entry.generation.load(std::memory_order_relaxed) != 0) continue;
    const std::uint32_t generation = next_generation_++;
    entry.start.store(start, std::memory_order_relaxed);
    entry.size.store(size, std::memory_order_relaxed);
    // Release: a peer that finds the generation of a key finds the range that it stands for.
    entry.generation.store(generation, std::memory_order_release);
    own_[place] = {static_cast<const std::byte*>(address), size};
    *key = {start - reinterpret_cast<std::uintptr_t>(address), name_of(place, generation)};
    return 0;
  }
  return 1;
}

bool Segments::is_own(const void* address, std::size_t size) const noexcept {
  const std::lock_guard lock(entering_);
  return std::any_of(own_.begin(), own_.end(), [&](const auto& each) {
    const OwnSegment& segment = each.second;
    const auto offset =
        static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - segment.address);
    return is_within(offset, size, segment.size);
  });
}

void Segments::leave(const Key& key) {
  const auto place = static_cast<std::uint32_t>(key.name);
  const std::lock_guard lock(entering_);
  own_.erase(place);
  // Relaxed: an operation that is still under way is the client's mistake, found or not.
  registration(host_.rank, place).generation.store(0, std::memory_order_relaxed);
}

std::byte* Segments::find(const Remote& remote, std::size_t size) const {
  const Key& key = *static_cast<const Key*>(remote.key);
  const auto place = static_cast<std::uint32_t>(key.name);
  if (remote.peer >= host_.size || place >= registrations_each || parts_.empty()) [[unlikely]]
    fatal(host_, "emu: an operation of rank %u on rank %u with an invalid key", host_.rank,
          remote.peer);
  const Registration& entry = registration(remote.peer, place);
  const std::uint64_t generation = key.name >> 32;
  if (entry.generation.load(std::memory_order_acquire) != generation) [[unlikely]]
    fatal(host_,
          "emu: an operation of rank %u on a segment of rank %u that is no longer registered",
          host_.rank, remote.peer);
  const Window& there = window(remote.peer, place, generation);
  const std::uint64_t offset = remote.address + key.shift - there.start;
  if (!is_within(offset, size, there.size)) [[unlikely]]
    fatal(host_, "emu: an operation of rank %u on %zu bytes outside the segment of rank %u",
          host_.rank, size, remote.peer);
  return there.base + offset;
}

const Segments::Window& Segments::window(std::uint32_t rank, std::uint32_t place,
                                         std::uint64_t generation) const {
  // Acquire, twice: what is found was filled before.
  if (const Windows* const windows = windows_[rank].load(std::memory_order_acquire)) [[likely]] {
    const Window* const window = (*windows)[place].load(std::memory_order_acquire);
    if (window != nullptr && window->generation == generation) [[likely]]
      return *window;
  }
  return map_window(rank, place, generation);
}

const Segments::Window& Segments::map_window(std::uint32_t rank, std::uint32_t place,
                                             std::uint64_t generation) const {
  const std::lock_guard lock(mapping_);
  Windows* windows = windows_[rank].load(std::memory_order_relaxed);
  if (windows == nullptr) {
    windows = new Windows{};
    windows_[rank].store(windows, std::memory_order_release);
  }
  std::atomic<const Window*>& entry = (*windows)[place];
  const Window* const former = entry.load(std::memory_order_relaxed);
  if (former != nullptr && former->generation == generation) return *former;

  const Registration& registered = registration(rank, place);
  auto made = std::make_unique<Window>();
  made->generation = generation;
  made->start = registered.start.load(std::memory_order_relaxed);
  made->size = registered.size.load(std::memory_order_relaxed);
  const Part& part = parts_[part_of_[rank]];
  // The peer writes the entry.
  if (!is_within(made->start, made->size, part.size))
    fatal(host_, "emu: rank %u has registered a segment that is outside of its memory", rank);
  const std::uint64_t at = part.offset + made->start;
  const std::uint64_t first_page = at / os::page_size() * os::page_size();
  made->mapping = os::Mapping::guarded(part.file.get(), first_page, made->size + (at - first_page));
  if (!made->mapping)
    fatal(host_, "emu: cannot map %llu bytes of the segment of rank %u: %s",
          static_cast<unsigned long long>(made->size), rank, std::strerror(errno));
  static_cast<void>(os::exclude_from_core_dumps(made->mapping.bytes()));
  made->base = made->mapping.data() + (at - first_page);
  entry.store(made.get(), std::memory_order_release);
  // That registration has ended, and no operation on it is under way.
  delete former;
  return *made.release();
}

}  // namespace gex::net::emu
