#pragma once
// A class of devices with memory, as each folder of this room defines one.

#include <gasnet_mk.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory.h"
#include "core/memory_class.h"

namespace gex::kinds {

/// A device, for reports.
struct DeviceFacts {
  std::uint32_t number;
  std::string name;
  std::uint64_t bytes;
  std::string shared_by;  ///< how other processes of the host open its memory: "descriptor, handle"
  bool has_dma_buf;       ///< networks can be given its memory
  gex_MK_Create_args_t arguments;  ///< make a kind of it
};

/// No pointer is null.
struct DeviceClass {
  MemoryClassInfo memory;  ///< the part that other rooms use, which is registered

  /// Returns true if this machine may have such devices. Opens nothing; start-up only.
  bool (*may_exist)();
  /// The device that a client names, or null with the reason. `invalid`: the arguments are wrong;
  /// else something is missing.
  const MemoryKind* (*find)(const gex_MK_Create_args_t& args, std::string& why, bool& invalid);
  /// Makes progress with copies and with what other processes send; true: there was some. Called
  /// while anything wants polls, also if this class does not, and cheap then. A class that needs
  /// polls must want them, as MemoryKind and MemorySharing state.
  bool (*poll)() noexcept;

  /// The devices of this machine; none, with the reason in `why`. Opens the driver.
  std::vector<DeviceFacts> (*devices)(std::string& why);
  /// The driver of those devices: "libcuda.so.1 of CUDA 13.0"; empty: there is none.
  std::string (*driver)();
};

}  // namespace gex::kinds
