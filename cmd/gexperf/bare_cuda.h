#pragma once
// The device of the rows of `cuda`. Their limits are copies by its driver, which a rank of each job
// makes in turn with libgex's (worker/bare_cuda.h).

#include <string>

#include "measure.h"

namespace gexperf {

struct CudaDevice {
  std::string trouble;  ///< not empty: why there is none
  std::string name;     ///< of the device: "NVIDIA H200"
  std::string driver;   ///< "libcuda.so.1 of CUDA 13.0"
  bool is_fake = false;
};

/// As a worker finds it, the first time; this program does not open the driver.
const CudaDevice& cuda_device(const Plan& plan);

}  // namespace gexperf
