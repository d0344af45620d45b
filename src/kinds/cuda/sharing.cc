#include "kinds/cuda/sharing.h"

#include <sched.h>
#include <sys/random.h>

#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/immortal.h"
#include "base/os_descriptor_post.h"
#include "core/objects.h"
#include "core/progress.h"
#include "kinds/cuda/device.h"
#include "kinds/cuda/mapped_memory.h"
#include "kinds/cuda/sharing_policy.h"

namespace gex::kinds::cuda {

namespace {

enum class How : std::uint64_t { descriptor = 1, legacy = 2 };

/// The details of an ExportedMemory.
struct Exported {
  std::uint64_t how;
  std::uint64_t number;  ///< of the descriptor, as it is sent
  std::uint64_t offset;  ///< of the segment in what is opened
  std::uint64_t bytes;   ///< of what is opened
  Uuid device;
  LegacyHandle handle;
};
static_assert(sizeof(Exported) == sizeof ExportedMemory::details);

/// Memory of another process that is open here, and how often.
struct Opening {
  MappedMemory mapped;
  bool by_descriptor = false;
  unsigned uses = 0;
};

struct State {
  std::mutex mutex;
  os::DescriptorPost post;
  std::uint64_t name = 0;  ///< of the post; 0: none
  std::map<std::uint64_t, os::FileDescriptor> received;
  std::map<std::uint64_t, os::FileDescriptor> exported;  ///< until all have sent
  std::map<std::string, Opening> openings;               ///< by legacy handle, or number
  std::map<std::byte*, std::string> opened;              ///< by address: its opening
};
Immortal<State> the_state;
State& state() noexcept {
  return the_state.get();
}
/// Descriptors are expected. Relaxed: polls that miss it are followed by others.
std::atomic<bool> receives{false};

/// A number that other users' processes do not guess; 0 if the system has none.
std::uint64_t random_number() noexcept {
  std::uint64_t value = 0;
  return getrandom(&value, sizeof value, 0) == sizeof value ? value | 1 : 0;
}

std::string post_name(std::uint64_t number) {
  char text[40];
  std::snprintf(text, sizeof text, "gex-kinds-%016" PRIx64, number);
  return text;
}

bool receive_some() noexcept {
  bool any = false;
  while (auto received = state().post.receive()) {
    state().received[received->number] = std::move(received->descriptor);
    any = true;
  }
  return any;
}

ExportedMemory export_segment(const _gex_Segment& segment) {
  ExportedMemory result;
  const Device* const found = Device::of(*segment.kind);
  if (found == nullptr) return result;
  const Device& device = *found;
  const Driver& driver = device.driver();
  const CurrentContext current(driver, device.context());
  const SharingPolicy policy = sharing_policy();
  Exported details{};
  DeviceAddress start = 0;
  std::size_t bytes = 0;
  const DeviceAddress address = address_of(segment.address);
  if (driver.device_uuid(&details.device, static_cast<DeviceNumber>(device.device)) != success ||
      driver.address_range(&start, &bytes, address) != success)
    return result;
  details.offset = address - start;
  details.bytes = bytes;
  details.number = random_number();
  const int descriptor =
      policy.by_descriptor && details.number != 0 ? descriptor_of(driver, address) : -1;
  if (descriptor >= 0) {
    details.how = static_cast<std::uint64_t>(How::descriptor);
    result.needs_descriptor = 1;
    const std::lock_guard lock(state().mutex);
    state().exported[details.number] = os::FileDescriptor(descriptor);
  } else if (policy.by_legacy_handle && driver.export_legacy(&details.handle, start) == success) {
    details.how = static_cast<std::uint64_t>(How::legacy);
  } else {
    return result;
  }
  result.exported = 1;
  std::memcpy(result.details, &details, sizeof details);
  return result;
}

std::uint64_t begin_receiving() {
  if (Device::first() == nullptr) return 0;
  const std::lock_guard lock(state().mutex);
  if (state().name == 0) {
    const std::uint64_t name = random_number();
    if (name == 0 || !state().post.open(post_name(name))) return 0;
    state().name = name;
  }
  // Entries of an earlier publication may be left, whose segments could not be opened.
  state().received.clear();
  receives.store(true, std::memory_order_relaxed);
  want_polls();
  return state().name;
}

void send(const ExportedMemory& own, std::uint64_t post) {
  Exported details;
  std::memcpy(&details, own.details, sizeof details);
  const std::string name = post_name(post);
  for (;;) {
    {
      const std::lock_guard lock(state().mutex);
      const int descriptor = state().exported[details.number].get();
      // One that cannot be sent is missed by the other, which uses messages.
      if (state().post.send(name, details.number, descriptor) != os::DescriptorPost::Sent::no_room)
        return;
      receive_some();
    }
    sched_yield();
  }
}

void end_receiving() {
  const std::lock_guard lock(state().mutex);
  receive_some();
  state().exported.clear();
  if (receives.exchange(false, std::memory_order_relaxed)) unwant_polls();
}

/// Opens memory on that device; returns why not, or nothing.
std::string open_on(const Device& device, const Exported& details, Opening& opening) {
  const Driver& driver = device.driver();
  const CurrentContext current(driver, device.context());
  if (current.error() != success) return describe(driver, "cuCtxPushCurrent", current.error());
  if (details.how == static_cast<std::uint64_t>(How::legacy)) {
    opening.mapped.bytes = details.bytes;
    const Result error =
        driver.open_legacy(&opening.mapped.address, details.handle, lazy_peer_access);
    return error == success ? "" : describe(driver, "cuIpcOpenMemHandle", error);
  }
  const auto received = state().received.find(details.number);
  if (received == state().received.end()) return "no descriptor of it has come";
  const char* function = "";
  const Result error =
      map_descriptor(driver, static_cast<DeviceNumber>(device.device), received->second.get(),
                     details.bytes, opening.mapped, function);
  state().received.erase(received);
  opening.by_descriptor = true;
  return error == success ? "" : describe(driver, function, error);
}

/// Why the owner's memory is not exported. All processes of a host have one policy as a rule.
std::string why_not_exported() {
  const SharingPolicy policy = sharing_policy();
  return policy.by_descriptor || policy.by_legacy_handle
             ? "its owner's driver hands over no memory of that sort, as of pools, or "
               "GEX_CUDA_SHARE "
               "forbids it"
             : "switched off by GEX_CUDA_SHARE";
}

OpenedMemory open(const ExportedMemory& exported, std::size_t bytes) {
  const auto refused = [](std::string why) {
    OpenedMemory result;
    result.why = std::move(why);
    return result;
  };
  Exported details;
  std::memcpy(&details, exported.details, sizeof details);
  const Device* const device = Device::with_uuid(details.device);
  if (device == nullptr) return refused("this process has made no memory kind");
  if (exported.exported == 0) return refused(why_not_exported());
  if (details.offset > details.bytes || bytes > details.bytes - details.offset)
    return refused("it is not in the memory that its owner exports");
  const bool by_descriptor = details.how == static_cast<std::uint64_t>(How::descriptor);
  const std::string key = by_descriptor
                              ? std::to_string(details.number)
                              : std::string(details.handle.bytes, sizeof details.handle.bytes);
  const std::lock_guard lock(state().mutex);
  Opening& opening = state().openings[key];
  if (opening.uses == 0) {
    if (const std::string why = open_on(*device, details, opening); !why.empty()) {
      state().openings.erase(key);
      return refused(why);
    }
  }
  ++opening.uses;
  auto* const reached = reinterpret_cast<std::byte*>(opening.mapped.address + details.offset);
  state().opened[reached] = key;
  add_memory(reached, bytes, *device);
  return {reached, device, by_descriptor ? "ipc descriptor" : "ipc handle", ""};
}

void close(const OpenedMemory& opened) {
  const auto& device = static_cast<const Device&>(*opened.by);
  const std::lock_guard lock(state().mutex);
  const auto found = state().opened.find(opened.reached);
  if (found == state().opened.end()) return;
  remove_memory(opened.reached);
  const auto opening = state().openings.find(found->second);
  state().opened.erase(found);
  if (--opening->second.uses != 0) return;
  const CurrentContext current(device.driver(), device.context());
  const MappedMemory& mapped = opening->second.mapped;
  const char* function = "cuIpcCloseMemHandle";
  const Result error = opening->second.by_descriptor ? unmap(device.driver(), mapped, function)
                                                     : device.driver().close_legacy(mapped.address);
  state().openings.erase(opening);
  if (error != success && error != error_deinitialized)
    warn("memory kinds: memory of another rank's CUDA device stays open: %s",
         describe(device.driver(), function, error).c_str());
}

}  // namespace

const MemorySharing sharing{export_segment, begin_receiving, send, end_receiving, open, close};

bool receive_descriptors() noexcept {
  if (!receives.load(std::memory_order_relaxed)) return false;
  const std::unique_lock lock(state().mutex, std::try_to_lock);
  return lock.owns_lock() && receive_some();
}

}  // namespace gex::kinds::cuda
