/* Names beyond the specifications that existing clients use; offered exactly, and nothing more of
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

/** This process's rank, where an old client reads it as a variable. */
#define gasneti_mynode (gex_proc_.jobrank)

/* Halves of a 64-bit value as two handler arguments, and back. */
#define GASNETI_LOWORD(value) ((uint32_t)((uint64_t)(value)&0xffffffffu))
#define GASNETI_HIWORD(value) ((uint32_t)((uint64_t)(value) >> 32))
#define GASNETI_MAKEWORD(high, low) (((uint64_t)(uint32_t)(high) << 32) | (uint32_t)(low))

/* Helpers of gasnet_tools.h, which is included beside this, under older names. */
#define gasneti_gethostname() gasnett_gethostname()
#define gasneti_tick_t gasnett_tick_t
#define gasneti_ticks_now() gasnett_ticks_now()
#define gasneti_ticks_to_ns(ticks) gasnett_ticks_to_ns(ticks)

/** A poll, under a name that some configure scripts look for. */
GEX_EXPORT_ int gasnetc_AMPoll(void);

/** If set by the client before gex_Segment_Attach or gasnet_attach, called after each such call
 * with this process's segment: address and bytes, NULL and 0 if it has none. */
extern GEX_EXPORT_ void (*gasnet_client_attach_hook)(void*, uintptr_t);

#ifdef __cplusplus
}
#endif
#endif
