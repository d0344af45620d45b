#pragma once
// Device memory of one process that others of its host copy to and from.
//
// Memory that was mapped, as the library allocates it, is handed over by a descriptor of the
// driver's, through a socket (base/os_descriptor_post.h), so processes need neither see one another
// nor have privileges. Memory of cuMemAlloc has a handle of the older interface instead.
// GEX_CUDA_SHARE chooses.
//
// Thread rules: one publication at a time in a process.

#include "core/memory_sharing.h"

namespace gex::kinds::cuda {

/// For the class (core/memory_class.h).
extern const MemorySharing sharing;

/// Takes descriptors that others have sent; whether there were any. For polls.
bool receive_descriptors() noexcept;

}  // namespace gex::kinds::cuda
