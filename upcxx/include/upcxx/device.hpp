/// @file
/// Memory of devices. Part of upcxx/upcxx.hpp.
///
/// All classes are there in every program. Where a machine has no device of a class, or no driver,
/// device_n() is 0 and objects are inactive.
#ifndef UPCXX_DEVICE_HPP_
#define UPCXX_DEVICE_HPP_

#include <new>
#include <string>

#include <upcxx/global_ptr.hpp>
#include <upcxx/team.hpp>

namespace upcxx {

/// A device has no room.
struct UPCXXI_EXPORT bad_segment_alloc : std::bad_alloc {
  explicit bad_segment_alloc(memory_kind kind = memory_kind::host, std::size_t size = 0) noexcept;
  const char* what() const noexcept override { return text_; }

 private:
  char text_[192];
};

namespace detail {

UPCXXI_EXPORT int device_count(memory_kind kind);
UPCXXI_EXPORT std::string device_uuid(memory_kind kind, int id);
UPCXXI_EXPORT std::string describe_kind(memory_kind kind);
/// The device that make_gpu_allocator takes next; -1: there is none.
UPCXXI_EXPORT int next_device(memory_kind kind);

/// Memory of one device, of the object that `tag` names; never freed, but has no memory after its
/// end.
struct DeviceHeap;
UPCXXI_EXPORT std::uint64_t new_device_tag();
/// Ends the heaps of a device. Collective over all ranks.
UPCXXI_EXPORT void end_device(std::uint64_t tag, entry_barrier how);
/// `base`: memory of the device, or nullptr. Collective over all ranks; throws on all if one has no
/// room. nullptr where `id` is invalid.
UPCXXI_EXPORT DeviceHeap* make_heap(std::uint64_t tag, memory_kind kind, int id, std::size_t bytes,
                                    void* base);
/// Collective over all ranks, where there is a heap and where there is none.
UPCXXI_EXPORT void end_heap(DeviceHeap* heap, entry_barrier how);
UPCXXI_EXPORT bool has_memory(const DeviceHeap* heap);
/// Null if there is no room.
UPCXXI_EXPORT PointerParts allocate_of(DeviceHeap* heap, std::size_t bytes, std::size_t alignment);
UPCXXI_EXPORT void deallocate_of(DeviceHeap* heap, const PointerParts& block);
/// Null if the address is not in the heap.
UPCXXI_EXPORT PointerParts find_in(const DeviceHeap* heap, const void* address);
UPCXXI_EXPORT int device_of(const PointerParts& parts);
UPCXXI_EXPORT std::size_t size_of(const DeviceHeap* heap);
UPCXXI_EXPORT std::size_t used_of(DeviceHeap* heap);

}  // namespace detail

/// A device of any class.
class gpu_device {
 public:
  using id_type = int;
  static constexpr id_type invalid_device_id = -1;
  static constexpr id_type auto_device_id = -2;

  gpu_device(const gpu_device&) = delete;
  gpu_device& operator=(const gpu_device&) = delete;
  virtual ~gpu_device() = default;

  memory_kind kind() const { return kind_; }
  id_type device_id() const { return id_; }
  bool is_active() const { return id_ != invalid_device_id; }
  /// Ends it and its allocators. Collective over all ranks.
  void destroy(entry_barrier how = entry_barrier::user) {
    detail::end_device(tag_, how);
    id_ = invalid_device_id;
  }
  std::string kind_info() const { return detail::describe_kind(kind_); }
  /// For the headers: its name, which the object that it is moved to has then.
  std::uint64_t tag() const { return tag_; }

 protected:
  explicit gpu_device(memory_kind kind) : kind_(kind) {}
  gpu_device(memory_kind kind, id_type id) : kind_(kind), id_(id), tag_(detail::new_device_tag()) {
    if (id != invalid_device_id && (id < 0 || id >= detail::device_count(kind))) {
      fatal_error("there is no such device on this machine; device_n() is how many there are",
                  "upcxx::gpu_device");
    }
  }
  void take(gpu_device& other) {
    id_ = std::exchange(other.id_, int(invalid_device_id));
    tag_ = other.tag_;
  }

 private:
  memory_kind kind_;
  id_type id_ = invalid_device_id;
  std::uint64_t tag_ = 0;
};

namespace detail {

template <memory_kind Kind>
class DeviceOf final : public gpu_device {
 public:
  template <class T>
  using pointer = T*;
  static constexpr memory_kind kind = Kind;

  template <class T>
  static constexpr pointer<T> null_pointer() {
    return nullptr;
  }
  template <class T>
  static constexpr std::size_t default_alignment() {
    return alignof(T) > 256 ? alignof(T) : 256;
  }
  /// Devices that this rank can use.
  static id_type device_n() { return device_count(Kind); }
  static std::string kind_info() { return describe_kind(Kind); }
  static std::string uuid(id_type id) { return device_uuid(Kind, id); }

  /// No device.
  DeviceOf() : gpu_device(Kind) {}
  /// Collective over all ranks, of which some may have invalid_device_id.
  explicit DeviceOf(id_type id) : gpu_device(Kind, id) {}
  DeviceOf(DeviceOf&& other) noexcept : gpu_device(Kind) { take(other); }
  DeviceOf& operator=(DeviceOf&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
};

}  // namespace detail

using cuda_device = detail::DeviceOf<memory_kind::cuda_device>;
using hip_device = detail::DeviceOf<memory_kind::hip_device>;
using ze_device = detail::DeviceOf<memory_kind::ze_device>;

#if defined(UPCXX_GPU_DEFAULT_DEVICE_HIP)
using gpu_default_device = hip_device;
#elif defined(UPCXX_GPU_DEFAULT_DEVICE_ZE)
using gpu_default_device = ze_device;
#else
using gpu_default_device = cuda_device;
#endif

/// Memory of a device of any class, from which objects are taken.
class heap_allocator {
 public:
  heap_allocator(const heap_allocator&) = delete;
  heap_allocator& operator=(const heap_allocator&) = delete;
  virtual ~heap_allocator() = default;

  memory_kind kind() const { return kind_; }
  bool is_active() const { return detail::has_memory(heap_); }
  /// Ends it. Collective over all ranks.
  void destroy(entry_barrier how = entry_barrier::user) {
    detail::end_heap(std::exchange(heap_, nullptr), how);
    if (owns_device_) device_id_ = gpu_device::invalid_device_id;
  }
  /// Room for `count` objects; null if there is none.
  template <class T>
  global_ptr<T, memory_kind::any> allocate(std::size_t count = 1, std::size_t alignment = 256) {
    return detail::PointerAccess::make<global_ptr<T, memory_kind::any>>(
        detail::allocate_of(heap_, count * sizeof(T), alignment));
  }
  template <class T, memory_kind Kind>
  void deallocate(const global_ptr<T, Kind>& pointer) {
    detail::deallocate_of(heap_, detail::PointerAccess::parts(pointer));
  }
  std::int64_t segment_size() const { return std::int64_t(detail::size_of(heap_)); }
  std::int64_t segment_used() const { return std::int64_t(detail::used_of(heap_)); }

 protected:
  explicit heap_allocator(memory_kind kind) : kind_(kind) {}
  heap_allocator(memory_kind kind, int device, detail::DeviceHeap* heap, bool owns_device)
      : kind_(kind), device_id_(device), heap_(heap), owns_device_(owns_device) {}
  void take(heap_allocator& other) {
    device_id_ = std::exchange(other.device_id_, int(gpu_device::invalid_device_id));
    heap_ = std::exchange(other.heap_, nullptr);
    owns_device_ = other.owns_device_;
  }

  memory_kind kind_;
  int device_id_ = gpu_device::invalid_device_id;
  detail::DeviceHeap* heap_ = nullptr;
  bool owns_device_ = false;
};

template <class Device>
class device_allocator final : public heap_allocator {
 public:
  using device_type = Device;
  static constexpr memory_kind kind = Device::kind;
  template <class T>
  using pointer = typename Device::template pointer<T>;

  /// No memory.
  device_allocator() : heap_allocator(Device::kind) {}
  /// Memory that is allocated, or `base`, which is the program's. Collective over all ranks. Throws
  /// bad_segment_alloc on all ranks if one has no room.
  device_allocator(Device& device, std::size_t bytes) : device_allocator(device, bytes, nullptr) {}
  device_allocator(Device& device, std::size_t bytes, pointer<void> base)
      : device_allocator(device, bytes, base, false) {}
  /// The older order.
  device_allocator(Device& device, pointer<void> base, std::size_t bytes)
      : device_allocator(device, bytes, base) {}
  device_allocator(device_allocator&& other) noexcept : heap_allocator(Device::kind) {
    take(other);
  }
  device_allocator& operator=(device_allocator&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }

  typename Device::id_type device_id() const { return device_id_; }
  template <class T>
  global_ptr<T, Device::kind> allocate(
      std::size_t count = 1, std::size_t alignment = Device::template default_alignment<T>()) {
    return static_kind_cast<Device::kind>(heap_allocator::allocate<T>(count, alignment));
  }
  template <class T>
  global_ptr<T, Device::kind> to_global_ptr(pointer<T> address) const {
    const detail::PointerParts parts = detail::find_in(heap_, address);
    if (address != nullptr && parts.address == 0) {
      fatal_error("the address is not in the allocator's memory",
                  "device_allocator::to_global_ptr");
    }
    return detail::PointerAccess::make<global_ptr<T, Device::kind>>(parts);
  }
  /// The address on the device, for the rank that has it.
  template <class T>
  static pointer<T> local(const global_ptr<T, Device::kind>& of) {
    UPCXXI_CHECK(of.is_null() || of.where() == rank_me(),
                 "device_allocator::local: the memory is of another rank's device");
    return reinterpret_cast<T*>(detail::PointerAccess::parts(of).address);
  }
  template <class T>
  static typename Device::id_type device_id(const global_ptr<T, Device::kind>& of) {
    return detail::device_of(detail::PointerAccess::parts(of));
  }

 private:
  template <class D>
  friend device_allocator<D> make_gpu_allocator(std::size_t bytes, int id, void* base);
  device_allocator(Device& device, std::size_t bytes, void* base, bool owns_device)
      : heap_allocator(
            Device::kind, device.device_id(),
            detail::make_heap(device.tag(), Device::kind, device.device_id(), bytes, base),
            owns_device) {}
};

using gpu_heap_allocator = device_allocator<gpu_default_device>;

/// Memory of a device of the caller's choice, or of the next of this host's; inactive where there
/// is none. Collective over all ranks.
template <class Device = gpu_default_device>
device_allocator<Device> make_gpu_allocator(std::size_t bytes, int id = Device::auto_device_id,
                                            void* base = nullptr) {
  if (id == Device::auto_device_id) {
    if (base != nullptr) {
      fatal_error("memory of the program's needs the device that it is of",
                  "upcxx::make_gpu_allocator");
    }
    id = detail::next_device(Device::kind);
  }
  Device device(id);
  return device_allocator<Device>(device, bytes, base, true);
}

}  // namespace upcxx

#endif
