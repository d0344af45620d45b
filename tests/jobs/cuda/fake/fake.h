#pragma once
// A driver of CUDA that is not there: libcuda-fake.so, which GEX_CUDA_LIBRARY names in tests.
//
// It exports what libgex calls (src/kinds/cuda/driver_functions.def) and what tests call instead of
// a toolkit. Memory of its devices faults on the processor's loads and stores. Copies are made by a
// thread of its own, late, and out of order between streams, as a seed has it. Handles of memory
// are opened by other processes that load it. These variables of the environment change it:
//
//   FAKE_CUDA_DEVICES   how many devices there are; unset: 2
//   FAKE_CUDA_MEMORY    bytes of each; unset: 64 MiB
//   FAKE_CUDA_SEED      of the order in which streams proceed; unset: 1
//   FAKE_CUDA_FAIL      NAME:N: the Nth call of that function fails with CUDA_ERROR_UNKNOWN
//   FAKE_CUDA_SHOW_FAILURE 1: that call prints a line
//   FAKE_CUDA_NO_VMM    1: devices export no descriptors
//   FAKE_CUDA_NO_DMABUF 1: devices export no dma-bufs
//   FAKE_CUDA_PINNED    1: large copies take registered memory of the host only
//   FAKE_CUDA_NO_UVA    1: devices have no unified addressing

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kinds/cuda/driver.h"

namespace fake_cuda {

namespace cuda = gex::kinds::cuda;

enum : cuda::Result {
  invalid_value = 1,
  out_of_memory = cuda::error_out_of_memory,
  invalid_device = 101,
  invalid_context = 201,
  invalid_handle = 400,
  illegal_address = 700,
  unknown = 999,
};

/// Bytes of a device: a file in memory, mapped where they can be reached.
class Bytes {
 public:
  /// Takes the descriptor. Null if it cannot be mapped.
  static std::shared_ptr<Bytes> of(int descriptor, std::size_t size, int device, bool counted);
  ~Bytes();
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  int descriptor;
  std::size_t size;
  int device;
  std::byte* view = nullptr;

 private:
  Bytes(int its_descriptor, std::size_t its_size, int its_device, bool counted)
      : descriptor(its_descriptor), size(its_size), device(its_device), counted_(counted) {}
  bool counted_;  ///< as memory of the device's that is in use
};

/// New bytes of a device; null if it has no more memory.
std::shared_ptr<Bytes> allocate(std::size_t size, int device);

/// A range of addresses of a device.
struct Range {
  std::shared_ptr<Bytes> bytes;  ///< null: reserved, nothing is mapped there
  std::size_t size = 0;
  std::size_t offset = 0;  ///< of the bytes
  cuda::Context context = nullptr;
  bool accessible = true;
  enum class Sort { mapped, plain, opened, of_pool, managed };
  /// `plain` is memory of cuMemAlloc, which legacy handles can name.
  Sort sort = Sort::mapped;
};

/// Reserves addresses, which fault.
std::byte* reserve(std::size_t size, std::size_t alignment);
void unreserve(std::byte* address, std::size_t size);

void add_range(const void* address, const Range& range);
void remove_range(const void* address);
/// The range in which an address lies, and where it begins; a range of size 0: none.
Range find_range(const void* address, std::byte*& begin);

/// Where bytes that a copy names can be reached; null: they are a device's, and cannot.
std::byte* reach(const void* address, std::size_t bytes);

/// Returns true if the driver takes these bytes of the host's memory in one copy: none or all are
/// in one registered range. With FAKE_CUDA_PINNED a megabyte and more must be.
bool is_copied_at_once(const void* address, std::size_t bytes);

/// The current context of the calling thread, or null.
cuda::Context current();
int device_of(cuda::Context context);
cuda::Context primary_context(int device);

int device_count();
bool has_variable(const char* name);
/// The process is at its end, and the library's destructors have run.
bool has_ended();
/// Returns true if this call of the function is the one that FAKE_CUDA_FAIL names.
bool fails(const char* function);

}  // namespace fake_cuda

struct gex::kinds::cuda::ContextOfDriver {
  int device;
};

/// The beginning of an exported function.
#define FAKE_CUDA_ENTER                                                    \
  if (fake_cuda::has_ended()) return fake_cuda::cuda::error_deinitialized; \
  if (fake_cuda::fails(__func__)) return fake_cuda::unknown
#define FAKE_CUDA_ENTER_WITH_CONTEXT \
  FAKE_CUDA_ENTER;                   \
  if (fake_cuda::current() == nullptr) return fake_cuda::invalid_context
