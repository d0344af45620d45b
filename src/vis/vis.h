#pragma once
// Non-contiguous put and get: vector, indexed and strided.
//
// With a mapped peer it is a copy by packers, done within the call. Any other peer is reached by
// the network's own puts and gets (native.h) or by messages of the library (messages.h), in which
// the payload of a put has been copied when its call returns.

#include <gasnetex.h>

#include <cstddef>

#include "core/initiate.h"
#include "observe/restricted.h"
#include "vis/region.h"

namespace gex::vis {

enum class Direction { put, get };

/// A call requests this, besides the data.
struct VisRequest {
  gex_TM_t tm;
  gex_Rank_t rank;
  Direction direction;
  Form form;
  gex_Flags_t flags;
  Call call;
};

/// One end of a strided transfer as the client gives it.
struct StridedEnd {
  void* address;
  const std::ptrdiff_t* strides;
};

Initiated move_strided(const VisRequest& operation, const StridedEnd& peer, const StridedEnd& own,
                       std::size_t element, const std::size_t* count, std::size_t levels) noexcept;
Initiated move_lists(const VisRequest& operation, const BlockList& peer,
                     const BlockList& own) noexcept;

/// Start-up only.
void start();

}  // namespace gex::vis
