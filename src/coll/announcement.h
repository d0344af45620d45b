#pragma once
// A collective call as its caller announces it to the team in checked mode (agreement.h).

#include <gasnetex.h>

#include <cstdint>

#include "coll/collective.h"
#include "observe/restricted.h"

namespace gex::coll {

/// These must be equal at all members. 0 where a call has no such argument.
struct Announcement {
  Call call = Call::barrier;
  gex_Rank_t root = 0;
  std::uint64_t bytes = 0;  ///< nbytes or dt_sz
  std::uint64_t count = 0;
  gex_DT_t type = 0;
  gex_OP_t operation = 0;
  gex_Flags_t flags = 0;
};

/// Announces the call that asks for an operation.
inline Announcement announcement_of(const Request& request) noexcept {
  const bool reduces = is_reduction(request.kind);
  return {.call = request.call,
          .root = request.root,
          .bytes = reduces ? request.reduction.element : request.bytes,
          .count = reduces ? request.bytes / request.reduction.element : 0,
          .type = request.type,
          .operation = request.operation,
          .flags = request.flags};
}

}  // namespace gex::coll
