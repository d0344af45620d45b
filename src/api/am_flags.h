#pragma once
// The flags that calls of active messages take.

#include <gasnetex.h>

namespace gex {

// Flags of a call's category. Prepare ignores those of the limit queries.
inline constexpr gex_Flags_t short_flags = GEX_FLAG_IMMEDIATE;
inline constexpr gex_Flags_t medium_flags =
    short_flags | GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO | GEX_FLAG_SELF_SEG_UNKNOWN |
    GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET;
inline constexpr gex_Flags_t long_flags = medium_flags | GEX_FLAG_PEER_SEG_UNKNOWN |
                                          GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND |
                                          GEX_FLAG_PEER_SEG_OFFSET;
inline constexpr gex_Flags_t limit_flags =
    GEX_FLAG_AM_PREPARE_LEAST_CLIENT | GEX_FLAG_AM_PREPARE_LEAST_ALLOC;

}  // namespace gex
