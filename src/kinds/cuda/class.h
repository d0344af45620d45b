#pragma once
// CUDA's class of memory kinds.

#include "kinds/device_class.h"

namespace gex::kinds::cuda {

extern constinit const DeviceClass device_class;

}  // namespace gex::kinds::cuda
