/** @file
 * Names beyond the specifications that existing clients use; offered exactly, and nothing more of
 * that kind. Part of gasnetex.h.
 */
#ifndef GEX_COMPAT_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_COMPAT_H_

#include <gex/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/** This process's rank, where an old client reads it as a variable.
 * @see gex_System_QueryJobRank
 */
#define gasneti_mynode (gex_proc_.jobrank)

/** @name Halves of a word
 * Split a 64-bit value into two handler arguments, and put it together again.
 *
 * @param value  The 64-bit value; its LOWORD and HIWORD are uint32_t.
 * @param high   What HIWORD gave, of any integer type.
 * @param low    What LOWORD gave.
 * @par Example
 * @code
 * gex_AM_RequestShort(tm, peer, HANDLER, 0, (gex_AM_Arg_t)GASNETI_HIWORD(where),
 *                     (gex_AM_Arg_t)GASNETI_LOWORD(where));
 * @endcode
 */
/**@{*/
#define GASNETI_LOWORD(value) ((uint32_t)((uint64_t)(value)&0xffffffffu))
#define GASNETI_HIWORD(value) ((uint32_t)((uint64_t)(value) >> 32))
#define GASNETI_MAKEWORD(high, low) (((uint64_t)(uint32_t)(high) << 32) | (uint32_t)(low))
/**@}*/

/** @name Older names of tools
 * Names that clients have for helpers of gasnet_tools.h, which must be included beside this.
 *
 * @param ticks  An interval.
 * @see gasnett_gethostname, gasnett_ticks_now, gasnett_ticks_to_ns
 */
/**@{*/
#define gasneti_gethostname() gasnett_gethostname()
#define gasneti_tick_t gasnett_tick_t
#define gasneti_ticks_now() gasnett_ticks_now()
#define gasneti_ticks_to_ns(ticks) gasnett_ticks_to_ns(ticks)
/**@}*/

/** Polls, under a name that some configure scripts look for.
 * @return GASNET_OK.
 * @see gasnet_AMPoll
 */
GEX_EXPORT_ int gasnetc_AMPoll(void);

/** A function of the client's that is called after each gex_Segment_Attach and gasnet_attach with
 * this process's segment.
 *
 * Its arguments are address and bytes, NULL and 0 if there is none. The client sets the variable
 * before those calls; it is NULL at first.
 */
extern GEX_EXPORT_ void (*gasnet_client_attach_hook)(void*, uintptr_t);

#ifdef __cplusplus
}
#endif
#endif
