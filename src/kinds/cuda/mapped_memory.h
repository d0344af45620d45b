#pragma once
// Memory of a device that is made apart from its addresses: allocated, or opened from a descriptor
// of another process's, then mapped and made accessible to all devices of this process.
//
// Thread rules: any. Errors are values of the driver's, with the function that failed in
// `function`.

#include <cstddef>

#include "kinds/cuda/driver.h"

namespace gex::kinds::cuda {

struct MappedMemory {
  DeviceAddress address = 0;
  std::size_t bytes = 0;  ///< a multiple of the device's granularity
};

/// Allocates and maps memory that can be handed over by descriptor.
Result map_new(const Driver& driver, DeviceNumber device, std::size_t bytes, MappedMemory& mapped,
               const char*& function) noexcept;

/// Maps the memory that a descriptor stands for, on that device.
Result map_descriptor(const Driver& driver, DeviceNumber device, int descriptor, std::size_t bytes,
                      MappedMemory& mapped, const char*& function) noexcept;

Result unmap(const Driver& driver, const MappedMemory& mapped, const char*& function) noexcept;

/// A descriptor for the memory mapped at `address`, or -1: it has none.
int descriptor_of(const Driver& driver, DeviceAddress address) noexcept;

}  // namespace gex::kinds::cuda
