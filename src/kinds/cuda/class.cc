#include "kinds/cuda/class.h"

#include <string>

#include "kinds/cuda/device.h"
#include "kinds/cuda/driver.h"
#include "kinds/cuda/pinned_memory.h"
#include "kinds/cuda/sharing.h"

namespace gex::kinds::cuda {

namespace {

const MemoryKind* find_device(const gex_MK_Create_args_t& args, std::string& why, bool& invalid) {
  return Device::find(args.gex_args.gex_class_cuda_uva.gex_CUdevice, why, invalid);
}

bool poll_devices() noexcept {
  const bool copied = Device::poll_all();
  return receive_descriptors() || copied;
}

}  // namespace

constinit const DeviceClass device_class{
    .memory = {.memory_class = own_class,
               .name = "CUDA",
               .entry = "cuda",
               .sharing = &sharing,
               .describe_unknown = describe_unknown,
               .unpin = unpin},
    .may_exist = may_have_driver,
    .find = find_device,
    .poll = poll_devices,
    .devices = list_devices,
    .driver = describe_driver,
};

}  // namespace gex::kinds::cuda
