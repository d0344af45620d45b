#pragma once
// CUDA's driver, which is opened when it is first needed: libgex is built without CUDA and runs
// without it. What is declared here is what the driver's binary interface has.
//
//   const Driver* driver = open_driver(why);
//   if (driver == nullptr) ...   // `why`: "libcuda.so.1: cannot open shared object file: ..."
//
// Thread rules: any.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace gex::kinds::cuda {

using Result = int;
using DeviceNumber = int;
using DeviceAddress = unsigned long long;
using Allocation = unsigned long long;
using Context = struct ContextOfDriver*;
using Stream = struct StreamOfDriver*;
using Event = struct EventOfDriver*;

enum : Result {
  success = 0,
  error_out_of_memory = 2,
  error_deinitialized = 4,
  error_no_device = 100,
  error_already_registered = 712,
};

enum DeviceAttribute : int {
  unified_addressing = 41,
  virtual_memory_management_supported = 102,
  posix_descriptors_supported = 103,
  dma_buf_supported = 124,
};

enum PointerAttribute : int {
  attribute_context = 1,
  attribute_memory_type = 2,
  attribute_is_managed = 8,
  attribute_device = 9,
  attribute_legacy_capable = 10,
};
/// Values of attribute_memory_type, and of copies of rows, where `unified` leaves it to the
/// address.
enum MemoryType : unsigned {
  host_memory_type = 1,
  device_memory_type = 2,
  unified_memory_type = 4
};

enum RangeHandleType : int { dma_buf_descriptor = 1 };

inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned host_memory_portable = 1;
inline constexpr unsigned lazy_peer_access = 1;
inline constexpr unsigned posix_descriptor = 1;  ///< type of a shareable handle

inline constexpr unsigned wait_until_at_least = 0;  ///< of a value in memory

struct Uuid {
  char bytes[16];
};
struct LegacyHandle {
  char bytes[64];
};
struct Location {
  int type;  ///< 1: a device
  int number;
};
inline constexpr int on_device = 1;
struct AllocationProperties {
  int type = 1;  ///< pinned
  unsigned handle_types = 0;
  Location location{on_device, 0};
  void* win32_metadata = nullptr;
  unsigned char compression = 0;
  unsigned char gpu_direct_rdma_capable = 0;
  unsigned short usage = 0;
  unsigned char reserved[4] = {};
};
static_assert(sizeof(AllocationProperties) == 32);
struct AccessDescription {
  Location location;
  unsigned flags;
};
inline constexpr unsigned access_read_write = 3;

/// A copy of planes, each of which begins `step_rows` rows behind the one before, and each row
/// `step` bytes behind the one before.
struct PlanesCopy {
  template <class Host>
  struct End {
    std::size_t x = 0;
    std::size_t y = 0;
    std::size_t z = 0;
    std::size_t level = 0;
    unsigned memory_type = unified_memory_type;
    Host host = nullptr;
    DeviceAddress address = 0;
    void* array = nullptr;
    void* reserved = nullptr;
    std::size_t step = 0;
    std::size_t step_rows = 0;
  };
  End<const void*> from;
  End<void*> to;
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
  std::size_t planes = 0;
};
static_assert(sizeof(PlanesCopy) == 200);

/// How the copies of a batch are made.
struct BatchAttributes {
  int source_order = 1;  ///< sources are read when the stream comes to the batch
  Location source_hint{};
  Location target_hint{};
  unsigned flags = 0;
};
static_assert(sizeof(BatchAttributes) == 24);

/// A copy of rows, each of which begins `step` bytes behind the one before.
struct RowsCopy {
  template <class Host>
  struct End {
    std::size_t x = 0;
    std::size_t y = 0;
    unsigned memory_type = unified_memory_type;
    Host host = nullptr;
    DeviceAddress address = 0;
    void* array = nullptr;
    std::size_t step = 0;
  };
  End<const void*> from;
  End<void*> to;
  std::size_t row_bytes = 0;
  std::size_t rows = 0;
};
static_assert(sizeof(RowsCopy) == 128);

struct Driver {
#define GEX_CUDA_FUNCTION(member, name, parameters) std::add_pointer_t<Result parameters> member;
#include "kinds/cuda/driver_functions.def"
#undef GEX_CUDA_FUNCTION

  /// cuMemcpyBatchAsync, in drivers since CUDA 12.8; null: the driver has none, or it is not to be
  /// used (GEX_CUDA_BATCH). Not the function of that name in headers since CUDA 13, which is
  /// another symbol. The copies of a batch may be done in any order.
  Result (*copy_batch)(const DeviceAddress* to, const DeviceAddress* from, const std::size_t* bytes,
                       std::size_t count, const BatchAttributes* attributes,
                       const std::size_t* first_of_attributes, std::size_t attributes_count,
                       std::size_t* failed, Stream stream);
};

/// Returns true if this machine may have a driver; looks for files, and opens nothing.
bool may_have_driver();

/// The driver, initialised and with a device at least, or null with the reason. It stays open.
const Driver* open_driver(std::string& why);

inline DeviceAddress address_of(const volatile void* memory) noexcept {
  return reinterpret_cast<std::uintptr_t>(memory);
}

/// "cuMemcpyAsync: CUDA_ERROR_ILLEGAL_ADDRESS (700)"
std::string describe(const Driver& driver, const char* function, Result error);

/// While one exists, the calling thread's current context is that one; before and afterwards it is
/// the client's.
class CurrentContext {
 public:
  CurrentContext(const Driver& driver, Context context) noexcept;
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  /// The driver's error; after one every other call fails as well.
  Result error() const noexcept { return error_; }

 private:
  const Driver& driver_;
  Result error_;
};

}  // namespace gex::kinds::cuda
