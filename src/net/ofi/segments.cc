#include "net/ofi/segments.h"

#include <mutex>
#include <string>
#include <utility>

namespace gex::net::ofi {

bool Segments::add(const SegmentMemory& memory, Key& key) {
  std::string error;
  const bool is_device = memory.memory_class != host_memory;
  Region region =
      is_device ? registrar_.add_device(memory, error)
                : registrar_.add(memory.address, memory.size, Registrar::segment_access, error);
  if (!region) {
    const std::string text = std::string("ofi: a segment") + (is_device ? " of a device" : "") +
                             " is not registered, and accessed by messages: " + error;
    // Many networks cannot register a device's memory, so that deserves no warning.
    (is_device ? host_.inform : host_.warn)(text.c_str());
    return false;
  }
  const std::uint64_t origin =
      registrar_.by_address() ? 0 : reinterpret_cast<std::uint64_t>(memory.address);
  key = {fi_mr_key(region.get()), origin};
  const std::unique_lock lock(mutex_);
  segments_.push_back(
      {static_cast<std::byte*>(memory.address), memory.size, is_device, std::move(region)});
  if (is_device) has_devices_.store(true, std::memory_order_relaxed);
  return true;
}

void Segments::remove(const Key& key) {
  const std::unique_lock lock(mutex_);
  std::erase_if(segments_, [&](const Segment& segment) {
    return fi_mr_key(segment.region.get()) == key.of_provider;
  });
}

void* Segments::descriptor_of(const void* local, std::size_t size, bool of_device) const {
  const std::shared_lock lock(mutex_);
  for (const Segment& segment : segments_) {
    if (of_device && !segment.is_device) continue;
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(local) - segment.address);
    if (offset < segment.size && size <= segment.size - offset)
      return fi_mr_desc(segment.region.get());
  }
  return nullptr;
}

}  // namespace gex::net::ofi
