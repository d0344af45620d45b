#pragma once
// Memory of the host that is registered with CUDA's driver, so that copies run at the speed of the
// bus and do not go through memory of the driver's own.
//
// Registering takes a page for each page, and some time; so it is done for pieces of a segment when
// a copy that is worth it first touches them. A copy may not reach from one registered piece to the
// next. GEX_CUDA_PIN=0 leaves all as it is.
//
// Thread rules: any.

#include <cstddef>

#include "core/memory.h"
#include "kinds/cuda/driver.h"

namespace gex::kinds::cuda {

/// Registers the pieces of a segment that these bytes touch, if they are worth it.
void pin(const Driver& driver, Context context, const HostRange& range, const void* address,
         std::size_t bytes) noexcept;

/// The bytes from `address` on, at most so many, that one copy may have.
std::size_t pinned_alike(const void* address, std::size_t bytes) noexcept;

/// For the class (core/memory_class.h).
void unpin(const void* begin);

}  // namespace gex::kinds::cuda
