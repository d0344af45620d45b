#include <upcxx/device.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <upcxx/collective.hpp>

#include "first_fit.h"
#include "process.h"

namespace upcxx {
namespace detail {

struct DeviceHeap {
  memory_kind kind;
  int device;
  std::uint64_t tag;
  std::uint16_t index;
  std::uintptr_t base;
  gex_MK_t made_kind;
  gex_Segment_t segment;
  // Null after the end.
  std::unique_ptr<FirstFit> blocks;
};

namespace {

/// CUDA's driver, of which libgex uses the rest.
class Cuda {
 public:
  static Cuda& get() {
    static Cuda made;
    return made;
  }
  int devices() const { return devices_; }
  std::string uuid(int id) const {
    struct {
      unsigned char bytes[16];
    } uuid;
    int device = 0;
    if (get_ == nullptr || uuid_ == nullptr || get_(&device, id) != 0 ||
        uuid_(&uuid, device) != 0) {
      return "";
    }
    std::string text;
    for (int i = 0; i < 16; ++i) {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%02x", unsigned(uuid.bytes[i]));
      if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
      text += digits;
    }
    return text;
  }

 private:
  Cuda() {
    const char* const is_on = gasnet_getenv("GEX_CUDA");
    if (is_on != nullptr && std::strcmp(is_on, "0") == 0) return;
    const char* const name = gasnet_getenv("GEX_CUDA_LIBRARY");
    void* const driver = dlopen(name == nullptr ? "libcuda.so.1" : name, RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) return;
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto count = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
    get_ = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
    uuid_ = reinterpret_cast<int (*)(void*, int)>(dlsym(driver, "cuDeviceGetUuid"));
    if (init == nullptr || count == nullptr || init(0) != 0 || count(&devices_) != 0) devices_ = 0;
  }

  int devices_ = 0;
  int (*get_)(int*, int) = nullptr;
  int (*uuid_)(void*, int) = nullptr;
};

const char* name_of(memory_kind kind) {
  switch (kind) {
    case memory_kind::cuda_device:
      return "CUDA";
    case memory_kind::hip_device:
      return "HIP";
    case memory_kind::ze_device:
      return "Level Zero";
    default:
      return "host";
  }
}

std::vector<DeviceHeap*>& heaps() {
  static auto* const made = new std::vector<DeviceHeap*>;
  return *made;
}

/// Endpoints of heaps that have ended, which later ones use again.
std::vector<gex_EP_t>& unused_endpoints() {
  static auto* const made = new std::vector<gex_EP_t>;
  return *made;
}

/// Its memory, without an endpoint; nullptr: there is no room.
std::unique_ptr<DeviceHeap> make_memory(memory_kind kind, int id, std::size_t bytes, void* base) {
  auto heap = std::make_unique<DeviceHeap>();
  heap->kind = kind;
  heap->device = id;
  gex_MK_Create_args_t arguments = {};
  arguments.gex_class = GEX_MK_CLASS_CUDA_UVA;
  arguments.gex_args.gex_class_cuda_uva.gex_CUdevice = id;
  if (kind != memory_kind::cuda_device ||
      gex_MK_Create(&heap->made_kind, process().client, &arguments, 0) != GASNET_OK) {
    return nullptr;
  }
  if (gex_Segment_Create(&heap->segment, process().client, base, bytes, heap->made_kind, 0) !=
      GASNET_OK) {
    gex_MK_Destroy(heap->made_kind, 0);
    return nullptr;
  }
  heap->base = reinterpret_cast<std::uintptr_t>(gex_Segment_QueryAddr(heap->segment));
  heap->blocks = std::make_unique<FirstFit>(heap->base, bytes);
  return heap;
}

void end_memory(DeviceHeap* heap) {
  if (heap == nullptr || heap->blocks == nullptr) return;
  gex_EP_t& endpoint = process().endpoints[heap->index];
  gex_EP_BindSegment(endpoint, GEX_SEGMENT_INVALID, 0);
  unused_endpoints().push_back(std::exchange(endpoint, nullptr));
  gex_Segment_Destroy(heap->segment, 0);
  gex_MK_Destroy(heap->made_kind, 0);
  heap->blocks = nullptr;
}

PointerParts parts_in(const DeviceHeap& heap, std::uintptr_t address) {
  PointerParts parts;
  parts.rank = job.rank_me;
  parts.kind = heap.kind;
  parts.device = heap.index;
  parts.address = address;
  return parts;
}

/// Returns true if it is true on all ranks.
bool is_true_on_all(bool here) {
  return reduce_all(int(here), op_fast_min).wait() != 0;
}

}  // namespace

int device_count(memory_kind kind) {
  return kind == memory_kind::cuda_device ? Cuda::get().devices() : 0;
}

std::string device_uuid(memory_kind kind, int id) {
  return kind == memory_kind::cuda_device ? Cuda::get().uuid(id) : "";
}

std::string describe_kind(memory_kind kind) {
  const int count = device_count(kind);
  std::string text = std::string(name_of(kind)) + ": " + std::to_string(count) + " devices";
  for (int id = 0; id < count; ++id) {
    text += "\n  " + std::to_string(id) + ": " + device_uuid(kind, id);
  }
  return text;
}

int next_device(memory_kind kind) {
  const int count = device_count(kind);
  if (count == 0) return gpu_device::invalid_device_id;
  // Ranks of one host begin as far from each other as the devices allow.
  static int calls = 0;
  const int ranks = local_team().rank_n();
  const int share = (count + ranks - 1) / ranks;
  return (local_team().rank_me() * share + calls++) % count;
}

std::uint64_t new_device_tag() {
  static std::uint64_t tags = 0;
  return ++tags;
}

void end_device(std::uint64_t tag, entry_barrier how) {
  enter(world(), how, "upcxx::gpu_device::destroy");
  for (DeviceHeap* heap : heaps()) {
    if (heap->tag == tag) end_memory(heap);
  }
}

DeviceHeap* make_heap(std::uint64_t tag, memory_kind kind, int id, std::size_t bytes, void* base) {
  require_unrestricted("upcxx::device_allocator");
  std::unique_ptr<DeviceHeap> heap;
  gex_EP_t endpoint = nullptr;
  if (id != gpu_device::invalid_device_id) {
    heap = make_memory(kind, id, bytes, base);
    if (heap != nullptr) {
      heap->tag = tag;
      if (!unused_endpoints().empty()) {
        endpoint = unused_endpoints().back();
        unused_endpoints().pop_back();
      } else {
        gex_EP_Create(&endpoint, process().client, GEX_EP_CAPABILITY_RMA, 0);
      }
      heap->index = std::uint16_t(gex_EP_QueryIndex(endpoint));
      std::vector<gex_EP_t>& endpoints = process().endpoints;
      if (endpoints.size() <= heap->index) endpoints.resize(heap->index + 1U);
      endpoints[heap->index] = endpoint;
      gex_EP_BindSegment(endpoint, heap->segment, 0);
    }
  }
  if (!is_true_on_all(id == gpu_device::invalid_device_id || heap != nullptr)) {
    end_memory(heap.get());
    throw bad_segment_alloc(kind, bytes);
  }
  gex_EP_PublishBoundSegment(process().world, &endpoint, heap == nullptr ? 0 : 1, 0);
  if (heap == nullptr) return nullptr;
  heaps().push_back(heap.get());
  return heap.release();
}

void end_heap(DeviceHeap* heap, entry_barrier how) {
  enter(world(), how, "upcxx::device_allocator::destroy");
  end_memory(heap);
}

bool has_memory(const DeviceHeap* heap) {
  return heap != nullptr && heap->blocks != nullptr;
}

PointerParts allocate_of(DeviceHeap* heap, std::size_t bytes, std::size_t alignment) {
  if (!has_memory(heap)) fatal_error("the allocator is not active", "device_allocator::allocate");
  const std::uintptr_t block = heap->blocks->allocate(bytes, alignment);
  return block == 0 ? PointerParts() : parts_in(*heap, block);
}

void deallocate_of(DeviceHeap* heap, const PointerParts& block) {
  if (block.address == 0) return;
  if (!has_memory(heap) || block.rank != job.rank_me || !heap->blocks->deallocate(block.address)) {
    fatal_error("the memory is not from this allocator, or was freed before",
                "device_allocator::deallocate");
  }
}

PointerParts find_in(const DeviceHeap* heap, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!has_memory(heap) || at - heap->base >= heap->blocks->size()) return PointerParts();
  return parts_in(*heap, at);
}

int device_of(const PointerParts& parts) {
  for (const DeviceHeap* heap : heaps()) {
    if (has_memory(heap) && heap->index == parts.device && parts.rank == job.rank_me) {
      return heap->device;
    }
  }
  return gpu_device::invalid_device_id;
}

std::size_t size_of(const DeviceHeap* heap) {
  return has_memory(heap) ? heap->blocks->size() : 0;
}
std::size_t used_of(DeviceHeap* heap) {
  return has_memory(heap) ? heap->blocks->used() : 0;
}

}  // namespace detail

bad_segment_alloc::bad_segment_alloc(memory_kind kind, std::size_t size) noexcept {
  std::snprintf(text_, sizeof text_,
                "rank %d: a rank found no %zu bytes of %s memory for a device_allocator",
                detail::job.rank_me, size, detail::name_of(kind));
}

}  // namespace upcxx
