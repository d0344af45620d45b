#pragma once
// A device of CUDA's as a kind of memory.
//
// Its copies run in streams of its own, which wait for no other and for which no other waits, in
// the device's primary context. A calling thread's current context is the same afterwards as
// before, and need not be any.
//
// Thread rules: any. A device that was found once stays for the life of the process.

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/memory.h"
#include "kinds/cuda/copy_stream.h"
#include "kinds/cuda/driver.h"
#include "kinds/cuda/mapped_memory.h"
#include "kinds/cuda/stream_order.h"
#include "kinds/device_class.h"

namespace gex::kinds::cuda {

/// The class of its kinds of memory.
inline constexpr net::MemoryClass own_class = net::cuda_memory;

class Device final : public MemoryKind {
 public:
  /// The device of that number, or null with the reason. `invalid`: there is
  /// no such device, or it cannot be used; else something is missing.
  static const Device* find(DeviceNumber number, std::string& why, bool& invalid);

  /// A device of this process's, or null: the first, the one that is this kind, the one with those
  /// identifying bytes or else the first.
  static const Device* first() noexcept;
  static const Device* of(const MemoryKind& kind) noexcept;
  static const Device* with_uuid(const Uuid& uuid) noexcept;

  /// Makes progress with the copies of all devices.
  static bool poll_all() noexcept;

  void copy(void* to, const void* from, std::size_t bytes) const noexcept override;
  void begin_copy(void* to, const void* from, std::size_t bytes, CompletionTarget done,
                  CompletionTarget local_done) const noexcept override;
  void begin_copy_rows(const Rows& rows, CompletionTarget done,
                       CompletionTarget local_done) const noexcept override;
  void pin(const HostRange& range, const void* address, std::size_t bytes) const noexcept override;
  std::string follow_event(void* event, CompletionTarget happened) const override;
  std::atomic<std::uint32_t>* hold_stream(void* stream, std::string& why) const override;
  void* allocate(std::size_t bytes, std::string& why) const override;
  void release(void* memory, std::size_t bytes) const noexcept override;
  void* allocate_host(std::size_t bytes) const noexcept override;
  int export_descriptor(const void* address, std::size_t bytes,
                        std::uint64_t& offset) const noexcept override;
  std::optional<std::string> refuses(const void* address, std::size_t bytes) const override;

  const Driver& driver() const noexcept { return *driver_; }
  Context context() const noexcept { return context_; }

 private:
  Device(const Driver& driver, DeviceNumber number) noexcept;
  std::string open();
  CopyStream& stream_for(const void* to, const void* from) const noexcept;
  /// Ends the job unless the copy was given to the stream.
  void require_begun(Result error, const CurrentContext& current, const CopyStream& stream,
                     const void* to, const void* from, std::size_t bytes) const noexcept;

  const Driver* driver_;
  Context context_ = nullptr;
  Uuid uuid_{};
  bool maps_ = false;  ///< memory is allocated apart from addresses, and can be handed over
  mutable CopyStream to_device_;
  mutable CopyStream from_device_;
  mutable CopyStream between_;
  mutable CopyStream waited_for_;  ///< copies that are done when their call returns
  mutable StreamOrder order_;
  mutable std::mutex allocations_mutex_;
  mutable std::map<void*, MappedMemory> allocations_;  ///< those that are mapped
};

// For the class (kinds/device_class.h).
std::vector<DeviceFacts> list_devices(std::string& why);
std::string describe_driver();
std::string describe_unknown(const void* address);

}  // namespace gex::kinds::cuda
