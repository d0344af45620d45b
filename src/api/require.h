#pragma once
// Argument checks that many entry points share. `call` is the entry point's name: __func__, where
// clients call the function by that name.

#include <gasnetex.h>

#include "base/error.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/refuse.h"
#include "core/team.h"
#include "observe/restricted.h"

namespace gex {

inline const char* invalid_text(gex_Client_t) noexcept {
  return "the client is GEX_CLIENT_INVALID";
}
inline const char* invalid_text(gex_EP_t) noexcept {
  return "the endpoint is GEX_EP_INVALID";
}
inline const char* invalid_text(gex_Segment_t) noexcept {
  return "the segment is GEX_SEGMENT_INVALID";
}
inline const char* invalid_text(gex_Token_t) noexcept {
  return "the token is null";
}
inline const char* invalid_text(gex_HSL_t*) noexcept {
  return "the lock is null";
}

/// The object itself, which the call is about to read.
template <class Handle>
Handle require(Handle handle, const char* call) noexcept {
  if (handle == nullptr) [[unlikely]]
    fatal("%s: %s", call, invalid_text(handle));
  return handle;
}

/// Returns true if there is an object that a call with an error code is about to read; else the
/// call is to answer GASNET_ERR_BAD_ARG (core/refuse.h).
template <class Handle>
bool is_object(Handle handle, const char* call) noexcept {
  if (handle != nullptr) [[likely]]
    return true;
  refuse(GASNET_ERR_BAD_ARG, call, invalid_text(handle));
  return false;
}

/// Checked mode: no flags but these.
inline void require_flags(gex_Flags_t flags, gex_Flags_t allowed, const char* call) noexcept {
  if (!checked()) return;
  if ((flags & ~allowed) != 0) fatal("%s: unknown flags 0x%x", call, flags & ~allowed);
  constexpr gex_Flags_t copy = GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO;
  if ((allowed & copy) == copy && (flags & copy) == copy)
    fatal("%s: GEX_FLAG_LC_COPY_YES and GEX_FLAG_LC_COPY_NO exclude one another", call);
}

/// Always: more bytes would be read or written beside the value.
inline void require_value_size(std::size_t nbytes, const char* call) noexcept {
  if (nbytes == 0 || nbytes > sizeof(gex_RMA_Value_t)) [[unlikely]]
    fatal("%s: %zu bytes are not 1 to 8", call, nbytes);
}

/// Checked mode: the endpoint was made for that kind of communication.
inline void require_capability(gex_EP_t endpoint, gex_EP_Capabilities_t capability,
                               const char* call) noexcept {
  if (!checked() || (endpoint->capabilities & capability) != 0) return;
  const char* const names[] = {"RMA", "AM", "VIS", "COLL", "AD"};
  fatal("%s: endpoint %u was created without GEX_EP_CAPABILITY_%s", call, unsigned{endpoint->index},
        names[__builtin_ctz(capability)]);
}

/// Returns the team of a collective call of GASNet-EX, checked; these take no flags.
inline Team& require_collective_team(Call call, gex_TM_t tm, gex_Flags_t flags) noexcept {
  // A handle that inline code may look behind is a team's, and in checked mode none is such.
  if (GEX_IS_READABLE_TEAM_(tm)) [[likely]]
    return Team::from(tm);
  const char* name = name_of(call);
  require_flags(flags, 0, name);
  Team& team = require_team(tm, name);
  require_capability(team.endpoint, GEX_EP_CAPABILITY_COLL, name);
  return team;
}

}  // namespace gex
