#pragma once
// How processes of a host may reach one another's memory of devices: GEX_CUDA_SHARE. Any thread.

namespace gex::kinds::cuda {

struct SharingPolicy {
  bool by_descriptor;
  bool by_legacy_handle;
};
/// Ends the job if the variable has no such value.
SharingPolicy sharing_policy();

}  // namespace gex::kinds::cuda
