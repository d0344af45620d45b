#pragma once
// CUDA's class of memory.

#include "kinds/device_class.h"

namespace gex::kinds::cuda {

extern constinit const DeviceClass device_class;

}  // namespace gex::kinds::cuda
