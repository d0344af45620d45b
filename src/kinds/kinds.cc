#include "kinds/kinds.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/immortal.h"
#include "core/objects.h"
#include "core/progress.h"
#include "kinds/cuda/device.h"
#include "kinds/cuda/driver.h"
#include "kinds/cuda/sharing.h"

namespace gex::kinds {

namespace {

struct Kinds {
  std::mutex mutex;
  std::vector<gex_MK_t> all;
};
Immortal<Kinds> the_kinds;

/// The device that a client names, or null with the reason. `invalid`: the arguments are wrong;
/// else something is missing.
const MemoryKind* find_device(const gex_MK_Create_args_t& args, std::string& why, bool& invalid) {
  switch (kind_of(args.gex_class)) {
    case net::cuda_memory:
      return cuda::Device::find(args.gex_args.gex_class_cuda_uva.gex_CUdevice, why, invalid);
    case net::hip_memory:
    case net::level_zero_memory:
    case net::host_memory:
      break;
  }
  invalid = true;
  why = std::string("this library has no memory of class ") +
        (args.gex_class == GEX_MK_CLASS_HIP ? "GEX_MK_CLASS_HIP" : "GEX_MK_CLASS_ZE") +
        ", only GEX_MK_CLASS_CUDA_UVA";
  return nullptr;
}

}  // namespace

net::MemoryKind kind_of(gex_MK_Class_t kind_class) noexcept {
  switch (kind_class) {
    case GEX_MK_CLASS_CUDA_UVA:
      return net::cuda_memory;
    case GEX_MK_CLASS_HIP:
      return net::hip_memory;
    case GEX_MK_CLASS_ZE:
      return net::level_zero_memory;
    case GEX_MK_CLASS_HOST:
      break;
  }
  return net::host_memory;
}

std::vector<DeviceFacts> devices(std::string& why) {
  std::vector<DeviceFacts> found;
  for (const cuda::DeviceFacts& device : cuda::list_devices(why))
    found.push_back({"CUDA", static_cast<std::uint32_t>(found.size()), device.name, device.bytes,
                     device.shared_by, device.has_dma_buf});
  return found;
}

std::string driver() {
  return cuda::describe_driver();
}

void expect() {
  if (cuda::may_have_driver()) expect_kinds(std::uint64_t{1} << net::cuda_memory);
}

void start() {
  register_poller([]() noexcept {
    const bool copied = cuda::Device::poll_all();
    return cuda::receive_descriptors() || copied;
  });
  register_memory_sharing(cuda::sharing);
  register_unknown_memory(cuda::describe_unknown);
}

int create(gex_MK_t& made, gex_Client_t client, const gex_MK_Create_args_t& args,
           std::string& why) {
  bool invalid = false;
  const MemoryKind* const kind = find_device(args, why, invalid);
  if (kind == nullptr) return invalid ? GASNET_ERR_BAD_ARG : GASNET_ERR_RESOURCE;
  Kinds& kinds = the_kinds.get();
  const std::lock_guard lock(kinds.mutex);
  made = new _gex_MK{client, kind};
  kinds.all.push_back(made);
  return GASNET_OK;
}

bool exists(gex_MK_t kind) noexcept {
  Kinds& kinds = the_kinds.get();
  const std::lock_guard lock(kinds.mutex);
  return std::find(kinds.all.begin(), kinds.all.end(), kind) != kinds.all.end();
}

void destroy(gex_MK_t kind) noexcept {
  Kinds& kinds = the_kinds.get();
  const std::lock_guard lock(kinds.mutex);
  std::erase(kinds.all, kind);
  delete kind;
}

}  // namespace gex::kinds
