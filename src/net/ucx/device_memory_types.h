#pragma once
// The classes of devices whose memory UCX has a type for. A further one is a row.

#include <gex/plugin/conduit.h>
#include <ucp/api/ucp.h>

namespace gex::net::ucx {

struct DeviceMemoryType {
  MemoryClass memory_class;
  ucs_memory_type_t type;
};

inline constexpr DeviceMemoryType device_memory_types[] = {
    {cuda_memory, UCS_MEMORY_TYPE_CUDA},
    {hip_memory, UCS_MEMORY_TYPE_ROCM},
#if UCP_API_VERSION >= UCP_VERSION(1, 18)
    {level_zero_memory, UCS_MEMORY_TYPE_ZE_DEVICE},
#endif
};

}  // namespace gex::net::ucx
