#include "net/ucx/segments.h"

#include <cstring>
#include <vector>

namespace gex::net::ucx {

namespace {

/// Bytes that keys of devices' memory may have more than those of the host's.
constexpr std::size_t device_key_room = 128;

ucs_status_t map(const Context& context, void* address, std::size_t size, ucs_memory_type_t type,
                 ucp_mem_h* memory) {
  ucp_mem_map_params_t parameters{};
  parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                          UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
  parameters.address = address;
  parameters.length = size;
  parameters.memory_type = type;
  return ucp_mem_map(context.get(), &parameters, memory);
}

/// A packed remote key.
std::vector<std::byte> packed(const Context& context, ucp_mem_h memory, ucs_status_t& status) {
  void* buffer = nullptr;
  std::size_t size = 0;
  status = ucp_rkey_pack(context.get(), memory, &buffer, &size);
  if (status != UCS_OK) return {};
  const auto* const bytes = static_cast<const std::byte*>(buffer);
  std::vector<std::byte> result(bytes, bytes + size);
  ucp_rkey_buffer_release(buffer);
  return result;
}

}  // namespace

std::size_t Segments::key_bytes(const Context& context) {
  alignas(4096) static std::byte sample[4096];
  ucp_mem_h memory = nullptr;
  ucs_status_t status = map(context, sample, sizeof sample, UCS_MEMORY_TYPE_HOST, &memory);
  if (status != UCS_OK) return 0;
  const std::size_t size = packed(context, memory, status).size();
  ucp_mem_unmap(context.get(), memory);
  std::size_t bytes = (sizeof(KeyHeader) + size + 7) / 8 * 8;
  if (context.has_devices() && bytes <= max_key_bytes - device_key_room) bytes += device_key_room;
  return status == UCS_OK && bytes <= max_key_bytes ? bytes : 0;
}

Segments::~Segments() {
  for (const auto& [number, one] : by_number_) ucp_mem_unmap(context_.get(), one.memory);
}

bool Segments::add(const SegmentMemory& memory, void* key, std::size_t key_bytes) {
  const ucs_memory_type_t type = memory_type_of(memory.memory_class);
  const bool is_device = memory.memory_class != host_memory;
  if (is_device && !(takes_devices_ && context_.has(type))) {
    host_.inform(
        "ucx: a segment of a device is not registered, and accessed by messages: UCX was built "
        "without such devices, or has no adapter for them here");
    return false;
  }
  ucp_mem_h mapped = nullptr;
  ucs_status_t status = map(context_, memory.address, memory.size, type, &mapped);
  std::vector<std::byte> packed_key;
  if (status == UCS_OK) packed_key = packed(context_, mapped, status);
  const bool fits = sizeof(KeyHeader) + packed_key.size() <= key_bytes;
  if (status != UCS_OK || !fits) {
    if (mapped != nullptr) ucp_mem_unmap(context_.get(), mapped);
    const std::string reason = status != UCS_OK ? text_of(status) : "its key is too long";
    host_.warn(("ucx: a segment is not registered, and accessed by messages: " + reason).c_str());
    return false;
  }
  KeyHeader header{0, packed_key.size()};
  {
    const std::lock_guard guard(mutex_);
    header.number = ++last_number_;
    by_number_.emplace(
        header.number,
        Registered{mapped, reinterpret_cast<std::uint64_t>(memory.address), memory.size, type});
    if (is_device) has_devices_.store(true, std::memory_order_relaxed);
  }
  std::memset(key, 0, key_bytes);
  std::memcpy(key, &header, sizeof header);
  std::memcpy(static_cast<std::byte*>(key) + sizeof header, packed_key.data(), packed_key.size());
  return true;
}

void Segments::remove(const void* key) {
  KeyHeader header;
  std::memcpy(&header, key, sizeof header);
  const std::lock_guard guard(mutex_);
  const auto place = by_number_.find(header.number);
  if (place == by_number_.end()) return;
  ucp_mem_unmap(context_.get(), place->second.memory);
  by_number_.erase(place);
}

ucs_memory_type_t Segments::type_of(const void* local) const noexcept {
  // Relaxed: the segment was registered before its memory is used.
  if (!has_devices_.load(std::memory_order_relaxed)) return UCS_MEMORY_TYPE_HOST;
  const auto address = reinterpret_cast<std::uint64_t>(local);
  const std::lock_guard guard(mutex_);
  for (const auto& [number, one] : by_number_)
    if (one.type != UCS_MEMORY_TYPE_HOST && address - one.address < one.size) return one.type;
  return UCS_MEMORY_TYPE_HOST;
}

bool Segments::holds(std::uint64_t number, std::uint64_t address, std::size_t size) {
  const std::lock_guard guard(mutex_);
  const auto place = by_number_.find(number);
  if (place == by_number_.end()) return false;
  const Registered& one = place->second;
  return one.type == UCS_MEMORY_TYPE_HOST && address >= one.address && size <= one.size &&
         address - one.address <= one.size - size;
}

}  // namespace gex::net::ucx
