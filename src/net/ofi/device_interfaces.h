#pragma once
// The classes of devices whose memory libfabric has an interface for. A further one is a row.

#include <gex/plugin/conduit.h>
#include <rdma/fi_domain.h>

#include <cstdint>

namespace gex::net::ofi {

struct DeviceInterface {
  MemoryClass memory_class;
  fi_hmem_iface number;
  /// Names the device, by the number of the class's own interface; null: libfabric asks for none.
  void (*set_device)(fi_mr_attr& attributes, int device);
};

inline constexpr DeviceInterface device_interfaces[] = {
    {cuda_memory, FI_HMEM_CUDA, [](fi_mr_attr& to, int device) { to.device.cuda = device; }},
    {hip_memory, FI_HMEM_ROCR, nullptr},
    {level_zero_memory, FI_HMEM_ZE, [](fi_mr_attr& to, int device) { to.device.ze = device; }},
};

}  // namespace gex::net::ofi
