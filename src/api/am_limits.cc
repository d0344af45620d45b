// Entry points: how much an active message carries.

#include <gasnetex.h>

#include <cstddef>

#include "am/limits.h"
#include "am/token.h"
#include "api/am_flags.h"
#include "api/require.h"
#include "base/error.h"

using gex::checked;
using gex::fatal;

namespace {

void check_limit_query(const char* call, gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags,
                       unsigned numargs) {
  if (!checked()) return;
  gex::require_flags(flags, gex::long_flags | gex::limit_flags, call);
  gex::require_peer(tm, rank == GEX_RANK_INVALID ? 0 : rank, call);
  if (numargs > gex_AM_MaxArgs())
    fatal("%s: %u arguments are more than gex_AM_MaxArgs()", call, numargs);
}

}  // namespace

extern "C" {

unsigned int gex_AM_MaxArgs(void) {
  return gex::max_args;
}

size_t gex_AM_MaxRequestLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t*,
                             gex_Flags_t flags, unsigned int numargs) {
  check_limit_query("gex_AM_MaxRequestLong", tm, other_rank, flags, numargs);
  return gex::am::max_long(tm, other_rank, /*is_reply=*/false, flags);
}
size_t gex_AM_MaxReplyLong(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t*,
                           gex_Flags_t flags, unsigned int numargs) {
  check_limit_query("gex_AM_MaxReplyLong", tm, other_rank, flags, numargs);
  return gex::am::max_long(tm, other_rank, /*is_reply=*/true, flags);
}
size_t gex_AM_MaxRequestMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t*,
                               gex_Flags_t flags, unsigned int numargs) {
  check_limit_query("gex_AM_MaxRequestMedium", tm, other_rank, flags, numargs);
  return gex::am::max_medium(tm, other_rank);
}
size_t gex_AM_MaxReplyMedium(gex_TM_t tm, gex_Rank_t other_rank, const gex_Event_t*,
                             gex_Flags_t flags, unsigned int numargs) {
  check_limit_query("gex_AM_MaxReplyMedium", tm, other_rank, flags, numargs);
  return gex::am::max_medium(tm, other_rank);
}
size_t gex_Token_MaxReplyLong(gex_Token_t token, const gex_Event_t*, gex_Flags_t flags,
                              unsigned int) {
  return gex::am::max_long(gex::require(token, __func__)->header.source, /*is_reply=*/true, flags);
}
size_t gex_Token_MaxReplyMedium(gex_Token_t token, const gex_Event_t*, gex_Flags_t, unsigned int) {
  return gex::am::max_medium(gex::require(token, __func__)->header.source);
}
size_t gex_AM_LUBRequestLong(void) {
  return gex::am::least_max_long(/*is_reply=*/false);
}
size_t gex_AM_LUBReplyLong(void) {
  return gex::am::least_max_long(/*is_reply=*/true);
}
size_t gex_AM_LUBRequestMedium(void) {
  return gex::am::least_max_medium();
}
size_t gex_AM_LUBReplyMedium(void) {
  return gex::am::least_max_medium();
}

}  // extern "C"
