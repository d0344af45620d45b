#include "core/segment.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include "base/env.h"
#include "base/immortal.h"
#include "base/os_file.h"
#include "base/os_mapping.h"
#include "base/os_memory.h"
#include "base/os_memory_limits.h"
#include "core/live_objects.h"
#include "core/memory_class.h"
#include "core/process.h"

namespace gex {

namespace {

/// Shared memory is taken and given back by one thread at a time, and so are bindings counted.
constinit std::mutex segments_change;

Immortal<LiveObjects<_gex_Segment>> the_live_segments{"segment"};
LiveObjects<_gex_Segment>& live_segments() noexcept {
  return the_live_segments.get();
}

gex_Segment_t make(gex_Client_t client, void* address, std::uintptr_t bytes, gex_Flags_t flags) {
  auto* segment = new _gex_Segment;
  segment->client = client;
  segment->address = static_cast<std::byte*>(address);
  segment->size = bytes;
  segment->flags = flags;
  live_segments().add(*segment);
  return segment;
}

/// The system writes every page of shared memory to a core dump, and allocates those that were
/// never touched: of a segment as large as the host's memory it would fill that.
void limit_core_dump(std::span<std::byte> memory) {
  const env::Memory wanted = env::memory(env::Variable::segment_dump);
  // Only where it matters: reading the limits takes 2% of the start of a rank.
  const std::uint64_t physical = wanted.is_fraction ? os::memory_limits().usable_physical() : 0;
  const std::uint64_t dumped =
      os::round_up_to_page(wanted.bytes_per_process(physical, own_host().size()));
  if (dumped < memory.size())
    static_cast<void>(os::exclude_from_core_dumps(memory.subspan(dumped)));
}

}  // namespace

std::uint64_t usable_memory() {
  const os::MemoryLimits limits = os::memory_limits();
  return std::min(
      {limits.available, limits.usable_physical(), process().neighborhood.memory_space()});
}

gex_Segment_t allocate_segment(gex_Client_t client, std::uintptr_t bytes, gex_Flags_t flags) {
  const std::lock_guard lock(segments_change);
  if (std::byte* shared = process().neighborhood.take_segment(bytes)) {
    const std::span memory(shared, os::round_up_to_page(bytes));
    static_cast<void>(os::advise_huge_pages(memory));
    limit_core_dump(memory);
    gex_Segment_t segment = make(client, shared, bytes, flags);
    segment->shared = true;
    return segment;
  }
  os::Mapping pages = os::Mapping::anonymous(bytes);
  if (!pages) return nullptr;
  gex_Segment_t segment = make(client, pages.data(), bytes, flags);
  segment->memory = std::make_shared<os::Mapping>(std::move(pages));
  return segment;
}

gex_Segment_t allocate_segment(gex_Client_t client, std::uintptr_t bytes, gex_Flags_t flags,
                               const MemoryKind& kind, std::string& why) {
  void* const memory = kind.allocate(bytes, why);
  if (memory == nullptr) return nullptr;
  gex_Segment_t segment = register_segment(client, memory, bytes, flags, &kind);
  segment->memory = {memory, [&kind, bytes](void* at) { kind.release(at, bytes); }};
  return segment;
}

gex_Segment_t register_segment(gex_Client_t client, void* address, std::uintptr_t bytes,
                               gex_Flags_t flags, const MemoryKind* kind) {
  gex_Segment_t segment = make(client, address, bytes, flags);
  segment->kind = kind;
  if (kind != nullptr) add_memory(address, bytes, *kind);
  return segment;
}

void require_live_segment(gex_Segment_t segment, const char* call) noexcept {
  live_segments().require(*segment, segment, call);
}

void destroy_segment(gex_Segment_t segment, bool untouched) {
  live_segments().remove(*segment);
  const std::lock_guard lock(segments_change);
  if (segment->registration == _gex_Segment::Registration::done)
    process().conduit->deregister_segment(segment->key.data());
  if (segment->kind != nullptr)
    remove_memory(segment->address);
  else
    unpin_memory(segment->address);
  if (segment->made_of != nullptr)
    segment->made_of->segments.fetch_sub(1, std::memory_order_relaxed);
  if (segment->shared) process().neighborhood.give_segment_back(segment->address, untouched);
  delete segment;
}

void bind_segment(gex_EP_t endpoint, gex_Segment_t segment) {
  PublishedSegment own;
  {
    const std::lock_guard lock(segments_change);
    if (endpoint->segment != nullptr) --endpoint->segment->bindings;
    endpoint->segment = segment;
    if (segment != nullptr) {
      ++segment->bindings;
      own.owner_address = reinterpret_cast<std::uintptr_t>(segment->address);
      own.size = segment->size;
      own.memory_class = class_of(*segment);
      if (segment->kind == nullptr)
        own.mapped = segment->address;
      else
        own.reached = segment->address, own.reached_by = segment->kind;
    }
  }
  publish_own_segment(endpoint->address(), own);
  refresh_displacements();
}

net::MemoryClass class_of(const _gex_Segment& segment) noexcept {
  return segment.kind != nullptr ? segment.kind->memory_class : net::host_memory;
}

bool give_to_network(_gex_Segment& segment) {
  using Registration = _gex_Segment::Registration;
  const net::Conduit* conduit = process().conduit;
  if (conduit == nullptr || conduit->register_segment == nullptr) return false;
  // A class that came after the conduit is not in its capabilities, and is not shown to it.
  const net::MemoryClass memory_class = class_of(segment);
  if ((conduit->capabilities & net::registers(memory_class)) == 0) return false;
  // Acquire: who finds it done finds the key.
  Registration registration = segment.registration.load(std::memory_order_acquire);
  if (registration != Registration::none) return registration == Registration::done;
  const std::lock_guard lock(segments_change);
  registration = segment.registration.load(std::memory_order_relaxed);
  if (registration == Registration::none) {
    net::SegmentMemory memory{segment.address, segment.size, memory_class, 0};
    os::FileDescriptor descriptor;
    if (segment.kind != nullptr) {
      memory.device = segment.kind->device;
      descriptor = os::FileDescriptor(
          segment.kind->export_descriptor(segment.address, segment.size, memory.descriptor_offset));
      memory.descriptor = descriptor.get();
    }
    segment.key.resize(process().network.key_bytes / sizeof(std::uint64_t));
    registration = conduit->register_segment(&memory, segment.key.data()) == 0
                       ? Registration::done
                       : Registration::refused;
    segment.registration.store(registration, std::memory_order_release);
  }
  return registration == Registration::done;
}

bool is_local_for_network(_gex_Segment& segment) {
  const net::Conduit* conduit = process().conduit;
  return conduit != nullptr && (conduit->capabilities & net::transfers(class_of(segment))) != 0 &&
         give_to_network(segment);
}

std::uint64_t shared_offset(const _gex_Segment& segment) noexcept {
  if (!segment.shared) return not_shared;
  const std::lock_guard lock(segments_change);
  return process().neighborhood.segment_offset(segment.address).value_or(not_shared);
}

std::uint64_t shared_offset(const void* address) noexcept {
  const std::lock_guard lock(segments_change);
  return process().neighborhood.segment_offset(address).value_or(not_shared);
}

}  // namespace gex
