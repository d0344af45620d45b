#include "kinds/cuda/mapped_memory.h"

#include <algorithm>

namespace gex::kinds::cuda {

namespace {

/// Gives every device of the driver's access. Devices that cannot have it are left out, but
/// `device`.
Result give_access(const Driver& driver, DeviceNumber device, const MappedMemory& mapped) noexcept {
  const auto give = [&](DeviceNumber number) {
    const AccessDescription access{{on_device, number}, access_read_write};
    return driver.set_access(mapped.address, mapped.bytes, &access, 1);
  };
  int count = 0;
  if (driver.device_count(&count) != success) count = 0;
  for (DeviceNumber number = 0; number < count; ++number)
    if (number != device) static_cast<void>(give(number));
  return give(device);
}

/// Maps an allocation, and gives up the handle of it.
Result map_allocation(const Driver& driver, DeviceNumber device, Allocation allocation,
                      MappedMemory& mapped, const char*& function) noexcept {
  function = "cuMemAddressReserve";
  Result error = driver.reserve_addresses(&mapped.address, mapped.bytes, 0, 0, 0);
  if (error == success) {
    function = "cuMemMap";
    error = driver.map(mapped.address, mapped.bytes, 0, allocation, 0);
    if (error == success) {
      function = "cuMemSetAccess";
      error = give_access(driver, device, mapped);
      if (error != success) static_cast<void>(driver.unmap(mapped.address, mapped.bytes));
    }
    if (error != success) static_cast<void>(driver.free_addresses(mapped.address, mapped.bytes));
  }
  static_cast<void>(driver.release_allocation(allocation));
  return error;
}

}  // namespace

Result map_new(const Driver& driver, DeviceNumber device, std::size_t bytes, MappedMemory& mapped,
               const char*& function) noexcept {
  AllocationProperties properties;
  properties.handle_types = posix_descriptor;
  properties.location.number = device;
  std::size_t granularity = 0;
  function = "cuMemGetAllocationGranularity";
  if (const Result error = driver.granularity(&granularity, &properties, 0)) return error;
  granularity = std::max<std::size_t>(granularity, 1);
  mapped.bytes = (bytes + granularity - 1) / granularity * granularity;
  Allocation allocation = 0;
  function = "cuMemCreate";
  if (const Result error = driver.create_allocation(&allocation, mapped.bytes, &properties, 0))
    return error;
  return map_allocation(driver, device, allocation, mapped, function);
}

Result map_descriptor(const Driver& driver, DeviceNumber device, int descriptor, std::size_t bytes,
                      MappedMemory& mapped, const char*& function) noexcept {
  mapped.bytes = bytes;
  Allocation allocation = 0;
  function = "cuMemImportFromShareableHandle";
  // The driver takes the number in the place of a pointer.
  void* const handle = reinterpret_cast<void*>(static_cast<std::intptr_t>(descriptor));
  if (const Result error = driver.import_allocation(&allocation, handle, posix_descriptor))
    return error;
  return map_allocation(driver, device, allocation, mapped, function);
}

Result unmap(const Driver& driver, const MappedMemory& mapped, const char*& function) noexcept {
  function = "cuMemUnmap";
  if (const Result error = driver.unmap(mapped.address, mapped.bytes)) return error;
  function = "cuMemAddressFree";
  return driver.free_addresses(mapped.address, mapped.bytes);
}

int descriptor_of(const Driver& driver, DeviceAddress address) noexcept {
  Allocation allocation = 0;
  if (driver.retain_allocation(&allocation, reinterpret_cast<void*>(address)) != success) return -1;
  int descriptor = -1;
  if (driver.export_allocation(&descriptor, allocation, posix_descriptor, 0) != success)
    descriptor = -1;
  static_cast<void>(driver.release_allocation(allocation));
  return descriptor;
}

}  // namespace gex::kinds::cuda
