#pragma once
// gexinfo --pairs: how the ranks of this job reach the memory of one another's devices, and why not
// in a better way.

#include <gasnetex.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gexinfo {

/// Ranks that reach devices of other ranks in one way, for one reason.
struct DeviceRoute {
  std::string kind;    ///< of the devices: "CUDA"
  std::string way;     ///< "ipc descriptor", "ipc handle", "native ofi", "messages"
  std::string reason;  ///< empty: there is no better way
  std::vector<std::uint32_t> from;
  std::vector<std::uint32_t> to;  ///< ranks whose devices are reached so from any of `from`
};

/// Makes a small segment of each device at every rank and publishes it, which shows how the library
/// reaches it. Collective over the job. Empty: no rank has a device. The result is rank 0's.
std::vector<DeviceRoute> gather_device_routes(gex_Client_t client, gex_TM_t team);

}  // namespace gexinfo
