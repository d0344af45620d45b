// The declarations that libgex has of CUDA's driver, against the toolkit's header where there is
// one. All of it is checked by the compiler.

#include <cstddef>
#include <cstdio>
#include <type_traits>

#include "kinds/cuda/driver.h"

#if __has_include(<cuda.h>)
#include <cuda.h>

namespace cuda = gex::kinds::cuda;

namespace {

/// Both are passed alike.
template <class Ours, class Theirs>
constexpr bool is_alike =
    sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs) &&
    std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>&& std::is_class_v<Ours> ==
        std::is_class_v<Theirs>;

template <class Ours, class Theirs>
struct Alike : std::false_type {};
template <class... Ours, class... Theirs>
requires(sizeof...(Ours) ==
         sizeof...(Theirs)) struct Alike<cuda::Result (*)(Ours...), CUresult (*)(Theirs...)>
    : std::bool_constant<(is_alike<Ours, Theirs> && ...)> {
};

static_assert(sizeof(CUresult) == sizeof(cuda::Result));
#define GEX_CUDA_FUNCTION(member, name, parameters) \
  static_assert(Alike<decltype(cuda::Driver::member), decltype(&::name)>::value);
#include "kinds/cuda/driver_functions.def"
#undef GEX_CUDA_FUNCTION

#define SAME(ours, theirs) static_assert(static_cast<unsigned>(cuda::ours) == (theirs))
SAME(success, CUDA_SUCCESS);
SAME(error_out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(error_deinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(error_no_device, CUDA_ERROR_NO_DEVICE);
SAME(error_already_registered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
SAME(unified_addressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
SAME(virtual_memory_management_supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
SAME(posix_descriptors_supported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
SAME(attribute_context, CU_POINTER_ATTRIBUTE_CONTEXT);
SAME(attribute_memory_type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(attribute_is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME(attribute_device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(attribute_legacy_capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
SAME(host_memory_type, CU_MEMORYTYPE_HOST);
SAME(device_memory_type, CU_MEMORYTYPE_DEVICE);
SAME(unified_memory_type, CU_MEMORYTYPE_UNIFIED);
SAME(dma_buf_descriptor, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
SAME(stream_non_blocking, CU_STREAM_NON_BLOCKING);
SAME(host_memory_portable, CU_MEMHOSTALLOC_PORTABLE);
SAME(host_memory_portable, CU_MEMHOSTREGISTER_PORTABLE);
SAME(lazy_peer_access, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME(posix_descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
SAME(on_device, CU_MEM_LOCATION_TYPE_DEVICE);
SAME(access_read_write, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
SAME(wait_until_at_least, CU_STREAM_WAIT_VALUE_GEQ);
static_assert(cuda::AllocationProperties{}.type == CU_MEM_ALLOCATION_TYPE_PINNED);

#define SAME_PLACE(ours, member, theirs, their_member)  \
  static_assert(sizeof(cuda::ours) == sizeof(theirs) && \
                offsetof(cuda::ours, member) == offsetof(theirs, their_member))
SAME_PLACE(Uuid, bytes, CUuuid, bytes);
SAME_PLACE(LegacyHandle, bytes, CUipcMemHandle, reserved);
SAME_PLACE(Location, number, CUmemLocation, id);
SAME_PLACE(AllocationProperties, handle_types, CUmemAllocationProp, requestedHandleTypes);
SAME_PLACE(AllocationProperties, location, CUmemAllocationProp, location);
SAME_PLACE(AllocationProperties, win32_metadata, CUmemAllocationProp, win32HandleMetaData);
SAME_PLACE(AllocationProperties, compression, CUmemAllocationProp, allocFlags);
SAME_PLACE(AccessDescription, flags, CUmemAccessDesc, flags);
SAME_PLACE(RowsCopy, from.y, CUDA_MEMCPY2D, srcY);
SAME_PLACE(RowsCopy, from.memory_type, CUDA_MEMCPY2D, srcMemoryType);
SAME_PLACE(RowsCopy, from.host, CUDA_MEMCPY2D, srcHost);
SAME_PLACE(RowsCopy, from.address, CUDA_MEMCPY2D, srcDevice);
SAME_PLACE(RowsCopy, from.step, CUDA_MEMCPY2D, srcPitch);
SAME_PLACE(RowsCopy, to.memory_type, CUDA_MEMCPY2D, dstMemoryType);
SAME_PLACE(RowsCopy, to.host, CUDA_MEMCPY2D, dstHost);
SAME_PLACE(RowsCopy, to.address, CUDA_MEMCPY2D, dstDevice);
SAME_PLACE(RowsCopy, to.step, CUDA_MEMCPY2D, dstPitch);
SAME_PLACE(RowsCopy, row_bytes, CUDA_MEMCPY2D, WidthInBytes);
SAME_PLACE(RowsCopy, rows, CUDA_MEMCPY2D, Height);
SAME_PLACE(PlanesCopy, from.memory_type, CUDA_MEMCPY3D, srcMemoryType);
SAME_PLACE(PlanesCopy, from.host, CUDA_MEMCPY3D, srcHost);
SAME_PLACE(PlanesCopy, from.address, CUDA_MEMCPY3D, srcDevice);
SAME_PLACE(PlanesCopy, from.reserved, CUDA_MEMCPY3D, reserved0);
SAME_PLACE(PlanesCopy, from.step, CUDA_MEMCPY3D, srcPitch);
SAME_PLACE(PlanesCopy, from.step_rows, CUDA_MEMCPY3D, srcHeight);
SAME_PLACE(PlanesCopy, to.memory_type, CUDA_MEMCPY3D, dstMemoryType);
SAME_PLACE(PlanesCopy, to.host, CUDA_MEMCPY3D, dstHost);
SAME_PLACE(PlanesCopy, to.address, CUDA_MEMCPY3D, dstDevice);
SAME_PLACE(PlanesCopy, to.reserved, CUDA_MEMCPY3D, reserved1);
SAME_PLACE(PlanesCopy, to.step, CUDA_MEMCPY3D, dstPitch);
SAME_PLACE(PlanesCopy, to.step_rows, CUDA_MEMCPY3D, dstHeight);
SAME_PLACE(PlanesCopy, row_bytes, CUDA_MEMCPY3D, WidthInBytes);
SAME_PLACE(PlanesCopy, rows, CUDA_MEMCPY3D, Height);
SAME_PLACE(PlanesCopy, planes, CUDA_MEMCPY3D, Depth);

#if CUDA_VERSION >= 12080
static_assert(cuda::BatchAttributes{}.source_order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
SAME_PLACE(BatchAttributes, source_hint, CUmemcpyAttributes, srcLocHint);
SAME_PLACE(BatchAttributes, target_hint, CUmemcpyAttributes, dstLocHint);
SAME_PLACE(BatchAttributes, flags, CUmemcpyAttributes, flags);
#endif

}  // namespace

int main() {
  std::printf("checked against CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
}

#else

int main() {
  std::puts("SKIPPED: there is no cuda.h on this machine (CUDA's toolkit has it)");
}

#endif
