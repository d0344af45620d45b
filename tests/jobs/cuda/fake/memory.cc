// Memory of the devices: plain, mapped and imported.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "fake.h"

namespace fake_cuda {

namespace {

constexpr std::size_t granularity_bytes = std::size_t{2} << 20;

struct Ranges {
  std::mutex mutex;
  std::map<const std::byte*, Range> by_address;
};
Ranges& ranges() {
  static auto* const all = new Ranges;
  return *all;
}

struct Registered {
  std::mutex mutex;
  std::map<std::byte*, std::size_t> ranges;
};
Registered& registered() {
  static auto* const all = new Registered;
  return *all;
}

std::array<std::atomic<std::size_t>, 64> in_use{};

std::size_t memory_of_device() {
  const char* const text = std::getenv("FAKE_CUDA_MEMORY");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : std::size_t{64} << 20;
}

/// The contents of a legacy handle.
struct Legacy {
  std::int32_t process;
  std::int32_t descriptor;
  std::uint64_t size;
  std::int32_t device;
};
static_assert(sizeof(Legacy) <= sizeof(cuda::LegacyHandle));

using Held = std::shared_ptr<Bytes>;

Held* held(cuda::Allocation allocation) {
  return reinterpret_cast<Held*>(static_cast<std::uintptr_t>(allocation));
}
cuda::Allocation hold(const Held& bytes) {
  return reinterpret_cast<std::uintptr_t>(new Held(bytes));
}
std::byte* at(cuda::DeviceAddress address) {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

/// Maps the bytes as memory of the current context.
cuda::Result map_new(cuda::DeviceAddress* memory, const Held& bytes, Range::Sort sort) {
  if (bytes == nullptr) return out_of_memory;
  // The processor reaches managed memory.
  std::byte* const address =
      sort == Range::Sort::managed ? bytes->view : reserve(bytes->size, 4096);
  if (address == nullptr) return out_of_memory;
  Range range;
  range.bytes = bytes;
  range.size = bytes->size;
  // Memory of a pool is of no context.
  if (sort != Range::Sort::of_pool) range.context = current();
  range.sort = sort;
  add_range(address, range);
  *memory = reinterpret_cast<std::uintptr_t>(address);
  return cuda::success;
}

cuda::Result free_range(cuda::DeviceAddress memory) {
  std::byte* begin = nullptr;
  const Range range = find_range(at(memory), begin);
  if (range.bytes == nullptr || begin != at(memory)) return invalid_value;
  remove_range(begin);
  if (range.sort != Range::Sort::managed) unreserve(begin, range.size);
  return cuda::success;
}

}  // namespace

std::shared_ptr<Bytes> Bytes::of(int descriptor, std::size_t size, int device, bool counted) {
  std::shared_ptr<Bytes> made(new Bytes(descriptor, size, device, counted));
  void* const view = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (view == MAP_FAILED) return nullptr;
  made->view = static_cast<std::byte*>(view);
  return made;
}

Bytes::~Bytes() {
  if (view != nullptr) munmap(view, size);
  close(descriptor);
  if (counted_) in_use[static_cast<std::size_t>(device)] -= size;
}

std::shared_ptr<Bytes> allocate(std::size_t size, int device) {
  std::atomic<std::size_t>& used = in_use[static_cast<std::size_t>(device)];
  if (used.fetch_add(size) + size > memory_of_device()) {
    used -= size;
    return nullptr;
  }
  const int descriptor = memfd_create("fake_cuda", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(size)) != 0) return nullptr;
  return Bytes::of(descriptor, size, device, /*counted=*/true);
}

std::byte* reserve(std::size_t size, std::size_t alignment) {
  void* const memory = mmap(nullptr, size + alignment, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t aligned = (begin + alignment - 1) / alignment * alignment;
  if (aligned != begin) munmap(memory, aligned - begin);
  if (aligned != begin + alignment)
    munmap(reinterpret_cast<void*>(aligned + size), begin + alignment - aligned);
  return reinterpret_cast<std::byte*>(aligned);
}

void unreserve(std::byte* address, std::size_t size) {
  munmap(address, size);
}

void add_range(const void* address, const Range& range) {
  const std::lock_guard lock(ranges().mutex);
  ranges().by_address[static_cast<const std::byte*>(address)] = range;
}

void remove_range(const void* address) {
  const std::lock_guard lock(ranges().mutex);
  ranges().by_address.erase(static_cast<const std::byte*>(address));
}

Range find_range(const void* address, std::byte*& begin) {
  const auto* const byte = static_cast<const std::byte*>(address);
  const std::lock_guard lock(ranges().mutex);
  auto behind = ranges().by_address.upper_bound(byte);
  if (behind == ranges().by_address.begin()) return {};
  --behind;
  if (static_cast<std::size_t>(byte - behind->first) >= behind->second.size) return {};
  begin = const_cast<std::byte*>(behind->first);
  return behind->second;
}

std::byte* reach(const void* address, std::size_t bytes) {
  std::byte* begin = nullptr;
  const Range range = find_range(address, begin);
  auto* const byte = static_cast<std::byte*>(const_cast<void*>(address));
  if (range.size == 0) return byte;
  const auto offset = static_cast<std::size_t>(byte - begin);
  if (range.bytes == nullptr || !range.accessible || bytes > range.size - offset) return nullptr;
  return range.bytes->view + range.offset + offset;
}

bool is_copied_at_once(const void* address, std::size_t bytes) {
  std::byte* device = nullptr;
  if (find_range(address, device).size != 0) return true;
  const auto* const begin = static_cast<const std::byte*>(address);
  const std::lock_guard lock(registered().mutex);
  for (const auto& [start, size] : registered().ranges) {
    if (start >= begin + bytes || begin >= start + size) continue;
    return begin >= start && begin + bytes <= start + size;
  }
  return !has_variable("FAKE_CUDA_PINNED") || bytes < (std::size_t{1} << 20);
}

}  // namespace fake_cuda

using namespace fake_cuda;
using cuda::Allocation;
using cuda::DeviceAddress;
using cuda::Result;

extern "C" {

/// For a network that is simulated beside it: where the processor reaches bytes of a device.
std::byte* fake_cuda_reach(const void* address, std::size_t bytes) {
  return reach(address, bytes);
}

Result cuMemAlloc_v2(DeviceAddress* memory, std::size_t bytes) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (bytes == 0) return invalid_value;
  return map_new(memory, allocate(bytes, device_of(current())), Range::Sort::plain);
}

Result cuMemAllocAsync(DeviceAddress* memory, std::size_t bytes, cuda::Stream) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (bytes == 0) return invalid_value;
  return map_new(memory, allocate(bytes, device_of(current())), Range::Sort::of_pool);
}

Result cuMemAllocManaged(DeviceAddress* memory, std::size_t bytes, unsigned) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  if (bytes == 0) return invalid_value;
  return map_new(memory, allocate(bytes, device_of(current())), Range::Sort::managed);
}

Result cuMemFree_v2(DeviceAddress memory) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  return free_range(memory);
}

Result cuPointerGetAttribute(void* value, cuda::PointerAttribute attribute, DeviceAddress address) {
  FAKE_CUDA_ENTER;
  std::byte* begin = nullptr;
  const Range range = find_range(at(address), begin);
  if (range.bytes == nullptr) return invalid_value;
  if (attribute == cuda::attribute_memory_type) {
    const unsigned type = cuda::device_memory_type;
    std::memcpy(value, &type, sizeof type);
  } else if (attribute == cuda::attribute_device) {
    std::memcpy(value, &range.bytes->device, sizeof range.bytes->device);
  } else if (attribute == cuda::attribute_context) {
    std::memcpy(value, &range.context, sizeof range.context);
  } else if (attribute == cuda::attribute_legacy_capable) {
    const int capable = range.sort == Range::Sort::plain ? 1 : 0;
    std::memcpy(value, &capable, sizeof capable);
  } else if (attribute == cuda::attribute_is_managed) {
    const unsigned managed = range.sort == Range::Sort::managed ? 1 : 0;
    std::memcpy(value, &managed, sizeof managed);
  } else {
    return invalid_value;
  }
  return cuda::success;
}

Result cuMemGetAddressRange_v2(DeviceAddress* start, std::size_t* bytes, DeviceAddress address) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  std::byte* begin = nullptr;
  const Range range = find_range(at(address), begin);
  if (range.bytes == nullptr) return invalid_value;
  *start = reinterpret_cast<std::uintptr_t>(begin);
  *bytes = range.size;
  return cuda::success;
}

Result cuMemGetHandleForAddressRange(void* handle, DeviceAddress address, std::size_t bytes,
                                     cuda::RangeHandleType type, unsigned long long) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  std::byte* begin = nullptr;
  const Range range = find_range(at(address), begin);
  if (range.bytes == nullptr || type != cuda::dma_buf_descriptor || address % 4096 != 0 ||
      bytes % 4096 != 0 || has_variable("FAKE_CUDA_NO_DMABUF"))
    return invalid_value;
  const int descriptor = fcntl(range.bytes->descriptor, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return invalid_value;
  std::memcpy(handle, &descriptor, sizeof descriptor);
  return cuda::success;
}

Result cuIpcGetMemHandle(cuda::LegacyHandle* handle, DeviceAddress memory) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  std::byte* begin = nullptr;
  const Range range = find_range(at(memory), begin);
  if (range.bytes == nullptr || range.sort != Range::Sort::plain) return invalid_value;
  const Legacy legacy{getpid(), range.bytes->descriptor, range.size, range.bytes->device};
  std::memcpy(handle, &legacy, sizeof legacy);
  return cuda::success;
}

Result cuIpcOpenMemHandle_v2(DeviceAddress* memory, cuda::LegacyHandle handle, unsigned) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  Legacy legacy;
  std::memcpy(&legacy, &handle, sizeof legacy);
  // The driver opens no memory of the own process.
  if (legacy.process == getpid()) return invalid_context;
  const std::string path =
      "/proc/" + std::to_string(legacy.process) + "/fd/" + std::to_string(legacy.descriptor);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return invalid_value;
  return map_new(memory, Bytes::of(descriptor, legacy.size, legacy.device, false),
                 Range::Sort::opened);
}

Result cuIpcCloseMemHandle(DeviceAddress memory) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  return free_range(memory);
}

// Registered memory is as any other here, but it is registered once.
Result cuMemHostRegister_v2(void* memory, std::size_t bytes, unsigned) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  std::byte* begin = nullptr;
  if (find_range(memory, begin).size != 0 || bytes == 0) return invalid_value;
  const std::lock_guard lock(registered().mutex);
  const bool is_new = registered().ranges.emplace(static_cast<std::byte*>(memory), bytes).second;
  if (!is_new) return cuda::error_already_registered;
  return cuda::success;
}

Result cuMemHostUnregister(void* memory) {
  FAKE_CUDA_ENTER_WITH_CONTEXT;
  const std::lock_guard lock(registered().mutex);
  if (registered().ranges.erase(static_cast<std::byte*>(memory)) == 0) return invalid_value;
  return cuda::success;
}

Result cuMemGetAllocationGranularity(std::size_t* bytes, const cuda::AllocationProperties*,
                                     unsigned) {
  FAKE_CUDA_ENTER;
  *bytes = granularity_bytes;
  return cuda::success;
}

Result cuMemCreate(Allocation* allocation, std::size_t bytes,
                   const cuda::AllocationProperties* properties, unsigned long long) {
  FAKE_CUDA_ENTER;
  if (bytes == 0 || bytes % granularity_bytes != 0) return invalid_value;
  if (properties->location.number >= device_count()) return invalid_device;
  const Held bytes_of_it = allocate(bytes, properties->location.number);
  if (bytes_of_it == nullptr) return out_of_memory;
  *allocation = hold(bytes_of_it);
  return cuda::success;
}

Result cuMemRelease(Allocation allocation) {
  FAKE_CUDA_ENTER;
  delete held(allocation);
  return cuda::success;
}

Result cuMemRetainAllocationHandle(Allocation* allocation, void* address) {
  FAKE_CUDA_ENTER;
  std::byte* begin = nullptr;
  const Range range = find_range(address, begin);
  if (range.bytes == nullptr || range.sort != Range::Sort::mapped) return invalid_value;
  *allocation = hold(range.bytes);
  return cuda::success;
}

Result cuMemAddressReserve(DeviceAddress* address, std::size_t bytes, std::size_t alignment,
                           DeviceAddress, unsigned long long) {
  FAKE_CUDA_ENTER;
  if (bytes == 0 || bytes % granularity_bytes != 0) return invalid_value;
  std::byte* const reserved = reserve(bytes, alignment != 0 ? alignment : granularity_bytes);
  if (reserved == nullptr) return out_of_memory;
  *address = reinterpret_cast<std::uintptr_t>(reserved);
  return cuda::success;
}

Result cuMemAddressFree(DeviceAddress address, std::size_t bytes) {
  FAKE_CUDA_ENTER;
  std::byte* begin = nullptr;
  if (find_range(at(address), begin).size != 0) return invalid_value;
  unreserve(at(address), bytes);
  return cuda::success;
}

Result cuMemMap(DeviceAddress address, std::size_t bytes, std::size_t offset, Allocation allocation,
                unsigned long long) {
  FAKE_CUDA_ENTER;
  Range range;
  range.bytes = *held(allocation);
  range.size = bytes;
  range.offset = offset;
  range.accessible = false;
  if (offset + bytes > range.bytes->size) return invalid_value;
  add_range(at(address), range);
  return cuda::success;
}

Result cuMemUnmap(DeviceAddress address, std::size_t) {
  FAKE_CUDA_ENTER;
  std::byte* begin = nullptr;
  if (find_range(at(address), begin).bytes == nullptr || begin != at(address)) return invalid_value;
  remove_range(begin);
  return cuda::success;
}

Result cuMemSetAccess(DeviceAddress address, std::size_t, const cuda::AccessDescription* access,
                      std::size_t count) {
  FAKE_CUDA_ENTER;
  std::byte* begin = nullptr;
  Range range = find_range(at(address), begin);
  if (range.bytes == nullptr || begin != at(address) || count == 0) return invalid_value;
  range.accessible = access[0].flags == cuda::access_read_write;
  add_range(begin, range);
  return cuda::success;
}

Result cuMemExportToShareableHandle(void* handle, Allocation allocation, unsigned type,
                                    unsigned long long) {
  FAKE_CUDA_ENTER;
  if (type != cuda::posix_descriptor || has_variable("FAKE_CUDA_NO_VMM")) return invalid_value;
  const int descriptor = fcntl((*held(allocation))->descriptor, F_DUPFD_CLOEXEC, 0);
  if (descriptor < 0) return invalid_value;
  std::memcpy(handle, &descriptor, sizeof descriptor);
  return cuda::success;
}

Result cuMemImportFromShareableHandle(Allocation* allocation, void* handle, unsigned type) {
  FAKE_CUDA_ENTER;
  struct stat facts;
  const int given = static_cast<int>(reinterpret_cast<std::intptr_t>(handle));
  if (type != cuda::posix_descriptor || fstat(given, &facts) != 0) return invalid_value;
  const int descriptor = fcntl(given, F_DUPFD_CLOEXEC, 0);
  const Held bytes = Bytes::of(descriptor, static_cast<std::size_t>(facts.st_size), 0, false);
  if (bytes == nullptr) return out_of_memory;
  *allocation = hold(bytes);
  return cuda::success;
}

}  // extern "C"
