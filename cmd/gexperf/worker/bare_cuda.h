#pragma once
// CUDA's driver without libgex: the limits of the rows of `cuda`.
//
// What libgex declares of the driver's interface is declared in kinds/cuda/driver.h alone; this is
// another caller of it, which has no other part of libgex.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "answering_kernel.h"
#include "kinds/cuda/driver.h"
#include "sampling.h"

namespace gexperf {

/// Device 0 and the driver, as reports name them.
struct CudaFacts {
  std::string device;   ///< "NVIDIA H200"
  std::string driver;   ///< "libcuda.so.1 of CUDA 13.0"
  bool is_fake;         ///< a driver for tests, with figures of no device
  std::string trouble;  ///< not empty: why there is no device
};
/// Opens the driver of GEX_CUDA_LIBRARY, or the system's.
CudaFacts find_cuda();

/// Copies by the driver alone, in a stream of its own on device 0, between memory of its own. Only
/// rank 0 copies.
class BareCuda {
 public:
  /// With buffers of so many bytes. Ends the job where there is no device or no memory.
  BareCuda(const Job& job, std::size_t bytes);
  BareCuda(const BareCuda&) = delete;
  BareCuda& operator=(const BareCuda&) = delete;

  /// Each copy is waited for before the next, in the faster of two ways: by a number in host memory
  /// that the device writes behind the copy, or by the driver. Collective.
  Repeated one_by_one(bool to_device, bool from_device, std::size_t bytes);
  /// Puts of 8 bytes of the host's, each waited for, by a kernel that runs from this call on for as
  /// long as this object is there.
  Repeated by_kernel();
  /// So many at a time, in the order of the stream, with one wait for them.
  Repeated together(bool to_device, bool from_device, std::size_t bytes, unsigned at_a_time);
  /// Rows of which each lies `step` bytes behind the one before, at both ends.
  Repeated rows(bool to_device, bool from_device, std::size_t row_bytes, std::size_t step,
                std::size_t count);

 private:
  using Address = gex::kinds::cuda::DeviceAddress;

  Address target(bool is_device) const { return is_device ? devices_[1] : host_[1]; }
  Address source(bool is_device) const { return is_device ? devices_[0] : host_[0]; }
  void check(gex::kinds::cuda::Result error, const char* call) const;
  void wait_by_flag();
  void wait_by_driver();
  /// Rank 0's part, with the device's context current.
  template <class Copies>
  Repeated by_root(Copies copies);

  void* allocate_host(std::size_t bytes) const;

  const Job& job_;
  void* library_ = nullptr;
  gex::kinds::cuda::Driver driver_{};
  gex::kinds::cuda::Context context_ = nullptr;
  gex::kinds::cuda::Stream stream_ = nullptr;
  Address devices_[2] = {};
  Address host_[2] = {};
  volatile std::uint32_t* flag_ = nullptr;
  std::uint32_t last_number_ = 0;
  AnsweringKernel kernel_;
};

}  // namespace gexperf
