#include "kinds/cuda/device.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <iterator>
#include <memory>

#include "base/env.h"
#include "base/error.h"
#include "base/immortal.h"
#include "kinds/cuda/pinned_memory.h"
#include "kinds/cuda/sharing_policy.h"

namespace gex::kinds::cuda {

namespace {

constexpr DeviceNumber max_devices = 64;
/// Words of the streams' flags lie this far apart, so that a write of one leaves the others alone.
constexpr std::size_t flag_stride = 16;

struct Devices {
  std::mutex mutex;
  std::array<std::unique_ptr<Device>, max_devices> owned;
};
Immortal<Devices> the_devices;
/// The open devices, by number, as polls read them; null: not open.
constinit std::array<std::atomic<Device*>, max_devices> open_devices{};

/// Memory of cuMemAllocManaged, or of a variable that is managed.
bool is_managed(const Driver& driver, DeviceAddress at) noexcept {
  unsigned managed = 0;
  return driver.pointer_attribute(&managed, attribute_is_managed, at) == success && managed != 0;
}

/// Begins to copy contiguous bytes, in parts if the ends are not registered alike. In the stream
/// the last is done last.
Result begin_parts(CopyStream& stream, std::byte* to, const std::byte* from, std::size_t bytes,
                   CompletionTarget done, CompletionTarget local_done) noexcept {
  Result error = success;
  for (std::size_t left = bytes; error == success && left != 0;) {
    const std::size_t part = pinned_alike(from, pinned_alike(to, left));
    left -= part;
    error =
        stream.begin(to, from, part, left == 0 ? done : nullptr, left == 0 ? local_done : nullptr);
    to += part;
    from += part;
  }
  return error;
}

/// The first rows at an end, of `count`, that one copy may have; 0: not even the whole of one.
std::size_t rows_alike(const std::byte* at, std::size_t stride, std::size_t width,
                       std::size_t count) noexcept {
  const std::size_t extent = (count - 1) * stride + width;
  const std::size_t alike = pinned_alike(at, extent);
  if (alike == extent) return count;
  return alike < width ? 0 : (alike - width) / stride + 1;
}

/// Returns true if all planes may be one copy.
bool is_one_copy(const Rows& rows) noexcept {
  const auto is_alike = [&](const std::byte* at, std::size_t plane, std::size_t stride) {
    const std::size_t extent = (rows.planes - 1) * plane + (rows.count - 1) * stride + rows.width;
    return pinned_alike(at, extent) == extent;
  };
  return is_alike(rows.to, rows.to_plane, rows.to_stride) &&
         is_alike(rows.from, rows.from_plane, rows.from_stride);
}

/// RowsCopy, of the first plane, or PlanesCopy.
template <class Copy>
Copy copy_of(const Rows& rows) noexcept {
  Copy copy;
  const auto set = [](auto& end, auto* at, std::size_t stride, std::size_t plane) {
    if (kind_at(at) != nullptr) {
      end.memory_type = device_memory_type;
      end.address = address_of(at);
    } else {
      end.memory_type = host_memory_type;
      end.host = at;
    }
    end.step = stride;
    if constexpr (requires { end.step_rows; }) end.step_rows = plane / stride;
  };
  set(copy.from, rows.from, rows.from_stride, rows.from_plane);
  set(copy.to, rows.to, rows.to_stride, rows.to_plane);
  copy.row_bytes = rows.width;
  copy.rows = rows.count;
  if constexpr (requires { copy.planes; }) copy.planes = rows.planes;
  return copy;
}

/// Begins to copy the first plane, in parts if its ends are not registered alike. In the stream the
/// last is done last.
Result begin_plane(CopyStream& stream, Rows rows, CompletionTarget done,
                   CompletionTarget local_done) noexcept {
  for (std::size_t left = rows.count; left != 0;) {
    rows.count = std::min(rows_alike(rows.to, rows.to_stride, rows.width, left),
                          rows_alike(rows.from, rows.from_stride, rows.width, left));
    const bool is_last = std::max<std::size_t>(rows.count, 1) == left;
    const CompletionTarget all_done = is_last ? done : nullptr;
    const CompletionTarget all_local = is_last ? local_done : nullptr;
    const Result error =
        rows.count != 0 ? stream.begin_rows(copy_of<RowsCopy>(rows), all_done, all_local)
                        : begin_parts(stream, rows.to, rows.from, rows.width, all_done, all_local);
    if (error != success) return error;
    const std::size_t begun = std::max<std::size_t>(rows.count, 1);
    left -= begun;
    rows.to += begun * rows.to_stride;
    rows.from += begun * rows.from_stride;
  }
  return success;
}

}  // namespace

Device::Device(const Driver& driver, DeviceNumber number) noexcept
    : MemoryKind(own_class, static_cast<std::uint32_t>(number)), driver_(&driver) {
}

const Device* Device::find(DeviceNumber number, std::string& why, bool& invalid) {
  invalid = false;
  const Driver* const driver = open_driver(why);
  if (driver == nullptr) return nullptr;
  int count = 0;
  if (const Result error = driver->device_count(&count)) {
    why = describe(*driver, "cuDeviceGetCount", error);
    return nullptr;
  }
  if (number < 0 || number >= std::min(count, max_devices)) {
    invalid = true;
    why = "there is no CUDA device " + std::to_string(number) + ", but " + std::to_string(count) +
          ", counted from 0";
    return nullptr;
  }
  const auto place = static_cast<std::size_t>(number);
  Devices& devices = the_devices.get();
  const std::lock_guard lock(devices.mutex);
  if (devices.owned[place] != nullptr) return devices.owned[place].get();
  int unified = 0;
  if (const Result error = driver->device_attribute(&unified, unified_addressing, number)) {
    why = describe(*driver, "cuDeviceGetAttribute", error);
    return nullptr;
  }
  if (unified == 0) {
    invalid = true;
    why = "CUDA device " + std::to_string(number) + " has no unified addressing";
    return nullptr;
  }
  std::unique_ptr<Device> made(new Device(*driver, number));
  why = made->open();
  if (!why.empty()) return nullptr;
  devices.owned[place] = std::move(made);
  // Release: a poll that finds the device finds its streams.
  open_devices[place].store(devices.owned[place].get(), std::memory_order_release);
  return devices.owned[place].get();
}

std::string Device::open() {
  const auto number = static_cast<DeviceNumber>(device);
  if (const Result error = driver_->retain_primary_context(&context_, number))
    return describe(*driver_, "cuDevicePrimaryCtxRetain", error);
  if (const Result error = driver_->device_uuid(&uuid_, number))
    return describe(*driver_, "cuDeviceGetUuid", error);
  int maps = 0, hands_over = 0;
  maps_ =
      driver_->device_attribute(&maps, virtual_memory_management_supported, number) == success &&
      driver_->device_attribute(&hands_over, posix_descriptors_supported, number) == success &&
      maps != 0 && hands_over != 0;
  const CurrentContext current(*driver_, context_);
  if (current.error() != success) return describe(*driver_, "cuCtxPushCurrent", current.error());
  CopyStream* const streams[] = {&to_device_, &from_device_, &between_, &waited_for_};
  void* memory = nullptr;
  if (const Result error = driver_->allocate_host(
          &memory, std::size(streams) * flag_stride * sizeof(std::uint32_t), host_memory_portable))
    return describe(*driver_, "cuMemHostAlloc", error);
  auto* flag = static_cast<std::uint32_t*>(memory);
  for (CopyStream* stream : streams) {
    if (const Result error = stream->open(*driver_, flag))
      return describe(*driver_, "cuStreamCreate", error);
    flag += flag_stride;
  }
  return {};
}

const Device* Device::first() noexcept {
  for (const std::atomic<Device*>& place : open_devices)
    if (const Device* const device = place.load(std::memory_order_acquire)) return device;
  return nullptr;
}

const Device* Device::of(const MemoryKind& kind) noexcept {
  for (const std::atomic<Device*>& place : open_devices) {
    const Device* const device = place.load(std::memory_order_acquire);
    if (device == &kind) return device;
  }
  return nullptr;
}

const Device* Device::with_uuid(const Uuid& uuid) noexcept {
  for (const std::atomic<Device*>& place : open_devices) {
    const Device* const device = place.load(std::memory_order_acquire);
    if (device != nullptr && std::memcmp(&device->uuid_, &uuid, sizeof uuid) == 0) return device;
  }
  return first();
}

bool Device::poll_all() noexcept {
  bool progressed = false;
  for (const std::atomic<Device*>& place : open_devices) {
    // Acquire: pairs with the release of `find`.
    Device* const device = place.load(std::memory_order_acquire);
    if (device == nullptr) continue;
    const char* function = "cuStreamWriteValue32";
    Result error = device->order_.poll(device->context_, progressed);
    for (CopyStream* stream : {&device->to_device_, &device->from_device_, &device->between_}) {
      if (error != success) break;
      error = stream->poll(device->context_, progressed);
      function = stream->failed_function();
    }
    // At the end of the process the driver may have ended first.
    if (error != success && error != error_deinitialized)
      fatal("memory kinds: CUDA device %u: %s", device->device,
            describe(*device->driver_, function, error).c_str());
  }
  return progressed;
}

CopyStream& Device::stream_for(const void* to, const void* from) const noexcept {
  if (kind_at(to) == nullptr) return from_device_;
  return kind_at(from) == nullptr ? to_device_ : between_;
}

void Device::require_begun(Result error, const CurrentContext& current, const CopyStream& stream,
                           const void* to, const void* from, std::size_t bytes) const noexcept {
  if (error == success) [[likely]]
    return;
  const char* const function =
      current.error() != success ? "cuCtxPushCurrent" : stream.failed_function();
  fatal("memory kinds: CUDA device %u: a copy of %zu bytes from %p to %p: %s", device, bytes, from,
        to, describe(*driver_, function, error).c_str());
}

void Device::copy(void* to, const void* from, std::size_t bytes) const noexcept {
  const CurrentContext current(*driver_, context_);
  const Result error =
      current.error() != success ? current.error() : waited_for_.copy(to, from, bytes);
  require_begun(error, current, waited_for_, to, from, bytes);
}

void Device::begin_copy(void* to, const void* from, std::size_t bytes, CompletionTarget done,
                        CompletionTarget local_done) const noexcept {
  const CurrentContext current(*driver_, context_);
  CopyStream& stream = stream_for(to, from);
  const Result error = current.error() != success ? current.error()
                                                  : begin_parts(stream, static_cast<std::byte*>(to),
                                                                static_cast<const std::byte*>(from),
                                                                bytes, done, local_done);
  require_begun(error, current, stream, to, from, bytes);
}

void Device::begin_copy_rows(const Rows& rows, CompletionTarget done,
                             CompletionTarget local_done) const noexcept {
  const CurrentContext current(*driver_, context_);
  CopyStream& stream = stream_for(rows.to, rows.from);
  Result error = current.error();
  if (error == success && rows.planes > 1 && is_one_copy(rows)) {
    const auto planes = copy_of<PlanesCopy>(rows);
    error = stream.begin_planes(planes, done, local_done);
  } else {
    Rows left = rows;
    for (std::size_t plane = 1; error == success && plane <= rows.planes; ++plane) {
      const bool is_last = plane == rows.planes;
      error = begin_plane(stream, left, is_last ? done : nullptr, is_last ? local_done : nullptr);
      left.to += rows.to_plane;
      left.from += rows.from_plane;
    }
  }
  require_begun(error, current, stream, rows.to, rows.from, rows.planes * rows.count * rows.width);
}

void Device::pin(const HostRange& range, const void* address, std::size_t bytes) const noexcept {
  cuda::pin(*driver_, context_, range, address, bytes);
}

std::string Device::follow_event(void* event, CompletionTarget happened) const {
  const CurrentContext current(*driver_, context_);
  if (current.error() != success) return describe(*driver_, "cuCtxPushCurrent", current.error());
  const char* function = "";
  const Result error = order_.follow(*driver_, static_cast<Event>(event), happened, function);
  return error == success ? "" : describe(*driver_, function, error);
}

std::atomic<std::uint32_t>* Device::hold_stream(void* stream, std::string& why) const {
  const CurrentContext current(*driver_, context_);
  const char* function = "cuCtxPushCurrent";
  std::atomic<std::uint32_t>* gate = nullptr;
  const Result error = current.error() != success
                           ? current.error()
                           : order_.hold(*driver_, static_cast<Stream>(stream), gate, function);
  if (error != success) why = describe(*driver_, function, error);
  return gate;
}

void* Device::allocate(std::size_t bytes, std::string& why) const {
  const CurrentContext current(*driver_, context_);
  if (current.error() != success) {
    why = describe(*driver_, "cuCtxPushCurrent", current.error());
    return nullptr;
  }
  if (maps_ && sharing_policy().by_descriptor) {
    MappedMemory mapped;
    const char* function = "";
    if (const Result error =
            map_new(*driver_, static_cast<DeviceNumber>(device), bytes, mapped, function)) {
      why = describe(*driver_, function, error);
      return nullptr;
    }
    void* const memory = reinterpret_cast<void*>(mapped.address);
    const std::lock_guard lock(allocations_mutex_);
    allocations_[memory] = mapped;
    return memory;
  }
  DeviceAddress memory = 0;
  if (const Result error = driver_->allocate(&memory, bytes)) {
    why = describe(*driver_, "cuMemAlloc", error);
    return nullptr;
  }
  return reinterpret_cast<void*>(memory);
}

void Device::release(void* memory, std::size_t) const noexcept {
  const CurrentContext current(*driver_, context_);
  const char* function = "cuMemFree";
  Result error = current.error();
  if (error == success) {
    const std::lock_guard lock(allocations_mutex_);
    const auto mapped = allocations_.extract(memory);
    error =
        mapped ? unmap(*driver_, mapped.mapped(), function) : driver_->release(address_of(memory));
  }
  if (error != success && error != error_deinitialized)
    warn("memory kinds: CUDA device %u: memory of a segment cannot be freed: %s", device,
         describe(*driver_, function, error).c_str());
}

void* Device::allocate_host(std::size_t bytes) const noexcept {
  const CurrentContext current(*driver_, context_);
  void* memory = nullptr;
  return current.error() == success &&
                 driver_->allocate_host(&memory, bytes, host_memory_portable) == success
             ? memory
             : nullptr;
}

int Device::export_descriptor(const void* address, std::size_t bytes,
                              std::uint64_t& offset) const noexcept {
  const CurrentContext current(*driver_, context_);
  DeviceAddress start = 0;
  std::size_t all = 0;
  int descriptor = -1;
  // Whole pages only; an allocation is that.
  if (current.error() != success ||
      driver_->address_range(&start, &all, address_of(address)) != success ||
      bytes > all - (address_of(address) - start) ||
      driver_->range_handle(&descriptor, start, all, dma_buf_descriptor, 0) != success)
    return -1;
  offset = address_of(address) - start;
  return descriptor;
}

std::optional<std::string> Device::refuses(const void* address, std::size_t bytes) const {
  const DeviceAddress at = address_of(address);
  unsigned type = 0;
  const CurrentContext current(*driver_, context_);
  if (current.error() != success) return describe(*driver_, "cuCtxPushCurrent", current.error());
  // All devices and contexts, and the processor, reach managed memory.
  if (is_managed(*driver_, at)) return std::nullopt;
  if (driver_->pointer_attribute(&type, attribute_memory_type, at) != success ||
      type != device_memory_type)
    return "the address is not memory of a CUDA device";
  int number = -1;
  if (driver_->pointer_attribute(&number, attribute_device, at) == success &&
      number != static_cast<int>(device))
    return "the address is memory of CUDA device " + std::to_string(number) +
           ", the memory kind is of device " + std::to_string(device);
  // Memory that was mapped, or is of a pool, is of no context.
  Context context = nullptr;
  if (driver_->pointer_attribute(&context, attribute_context, at) == success &&
      context != nullptr && context != context_)
    return "the address is memory of another context than the device's primary one";
  // A range of mapped memory may consist of several allocations, one of cuMemAlloc does not.
  int of_one_allocation = 0;
  DeviceAddress start = 0;
  std::size_t all = 0;
  if (driver_->pointer_attribute(&of_one_allocation, attribute_legacy_capable, at) == success &&
      of_one_allocation != 0 && driver_->address_range(&start, &all, at) == success &&
      bytes > all - (at - start))
    return "the range is longer than what is allocated there, " +
           std::to_string(all - (at - start)) + " bytes";
  return std::nullopt;
}

std::vector<DeviceFacts> list_devices(std::string& why) {
  std::vector<DeviceFacts> found;
  const Driver* const driver = open_driver(why);
  int count = 0;
  if (driver == nullptr || driver->device_count(&count) != success) return found;
  for (DeviceNumber number = 0; number < count; ++number) {
    char name[256] = "unknown";
    std::size_t bytes = 0;
    static_cast<void>(driver->device_name(name, sizeof name, number));
    static_cast<void>(driver->device_memory(&bytes, number));
    const auto has = [&](DeviceAttribute attribute) {
      int value = 0;
      return driver->device_attribute(&value, attribute, number) == success && value != 0;
    };
    const SharingPolicy policy = sharing_policy();
    std::string shared_by;
    if (policy.by_descriptor && has(virtual_memory_management_supported) &&
        has(posix_descriptors_supported))
      shared_by = "descriptor";
    if (policy.by_legacy_handle) shared_by += shared_by.empty() ? "handle" : ", handle";
    gex_MK_Create_args_t arguments{};
    arguments.gex_class = GEX_MK_CLASS_CUDA_UVA;
    arguments.gex_args.gex_class_cuda_uva.gex_CUdevice = number;
    found.push_back({static_cast<std::uint32_t>(number), name, bytes,
                     shared_by.empty() ? "nothing" : shared_by, has(dma_buf_supported), arguments});
  }
  return found;
}

std::string describe_driver() {
  std::string why;
  const Driver* const driver = open_driver(why);
  int version = 0;
  if (driver == nullptr || driver->driver_version(&version) != success) return {};
  return env::text(env::Variable::cuda_library) + " of CUDA " + std::to_string(version / 1000) +
         "." + std::to_string(version % 1000 / 10);
}

std::string describe_unknown(const void* address) {
  const Device* const device = Device::first();
  if (device == nullptr) return {};
  const Driver& driver = device->driver();
  const DeviceAddress at = address_of(address);
  const CurrentContext current(driver, device->context());
  unsigned type = 0;
  int number = -1;
  if (current.error() != success || is_managed(driver, at) ||
      driver.pointer_attribute(&type, attribute_memory_type, at) != success ||
      type != device_memory_type ||
      driver.pointer_attribute(&number, attribute_device, at) != success)
    return {};
  Context context = nullptr, primary = nullptr;
  const bool is_of_another =
      driver.pointer_attribute(&context, attribute_context, at) == success && context != nullptr &&
      driver.retain_primary_context(&primary, number) == success && context != primary;
  return "memory of CUDA device " + std::to_string(number) +
         (is_of_another ? ", of another context than the device's primary one" : ", of no segment");
}

}  // namespace gex::kinds::cuda
