#include "net/ofi/segments.h"

#include <mutex>
#include <string>
#include <utility>

namespace gex::net::ofi {

bool Segments::add(const SegmentMemory& memory, Key& key) {
  std::string error;
  Region region =
      registrar_.add(memory.address, memory.size,
                     FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE | FI_SEND, error);
  if (!region) {
    host_.warn(("ofi: a segment is not registered, and accessed by messages: " + error).c_str());
    return false;
  }
  const std::uint64_t origin =
      registrar_.by_address() ? 0 : reinterpret_cast<std::uint64_t>(memory.address);
  key = {fi_mr_key(region.get()), origin};
  const std::unique_lock lock(mutex_);
  segments_.push_back({static_cast<std::byte*>(memory.address), memory.size, std::move(region)});
  return true;
}

void Segments::remove(const Key& key) {
  const std::unique_lock lock(mutex_);
  std::erase_if(segments_, [&](const Segment& segment) {
    return fi_mr_key(segment.region.get()) == key.of_provider;
  });
}

void* Segments::descriptor_of(const void* local, std::size_t size) const {
  const std::shared_lock lock(mutex_);
  for (const Segment& segment : segments_) {
    const auto offset =
        static_cast<std::size_t>(static_cast<const std::byte*>(local) - segment.address);
    if (offset < segment.size && size <= segment.size - offset)
      return fi_mr_desc(segment.region.get());
  }
  return nullptr;
}

}  // namespace gex::net::ofi
