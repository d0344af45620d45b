#pragma once
// Non-contiguous put and get by the copies of a kind of memory, where a kind of this process's
// reaches both sides (rma/by_kind.h): a copy of rows for the innermost loop of a strided transfer,
// a copy for each piece of what lists name. None is waited for; those that begin together are
// completed together.

#include <cstddef>

#include "core/initiate.h"
#include "core/memory.h"
#include "vis/region.h"
#include "vis/shape.h"

namespace gex::vis {

/// `to` and `from`: the first elements, where the kind reaches them.
Injected copy_strided_by_kind(const MemoryKind& kind, const Shape& shape, End to_end, std::byte* to,
                              const std::byte* from, const Targets& targets) noexcept;

/// The shifts are added to the addresses.
Injected copy_lists_by_kind(const MemoryKind& kind, const BlockList& to, std::ptrdiff_t to_shift,
                            const BlockList& from, std::ptrdiff_t from_shift,
                            const Targets& targets) noexcept;

}  // namespace gex::vis
