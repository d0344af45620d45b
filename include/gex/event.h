/* Events, implicit operations, access regions. Spec: "Events", "Event test/wait operations",
 * "NBI Access regions", "QueryLeaf". Part of gasnetex.h.
 *
 * Any thread may test or wait on any event. Test never polls, Wait does. Test calls return 0 when
 * the condition holds and GASNET_ERR_NOT_READY otherwise. Success consumes a root event together
 * with its leaves. None of these calls is legal in handlers or while holding an HSL.
 */
#ifndef GEX_EVENT_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_EVENT_H_

#include <gex/layout.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Event categories; ORed they select for gex_NBI_Test and gex_NBI_Wait. */
typedef uint32_t gex_EC_t;
#define GEX_EC_GET (1u << 0)
#define GEX_EC_PUT (1u << 1)
#define GEX_EC_LC (1u << 2)
#define GEX_EC_AM (1u << 3)
#define GEX_EC_RMW (1u << 4)
#define GEX_EC_ALL 0x1fu

GEX_EXPORT_ int gex_event_test_(gex_Event_t event);
GEX_EXPORT_ void gex_event_wait_(gex_Event_t event);

#ifdef GEX_BODIES_
/** 0 once the operation is complete. */
GEX_INLINE_ int gex_Event_Test(gex_Event_t event) {
  return event == GEX_EVENT_INVALID ? 0 : gex_event_test_(event);
}
/** Polls until the operation is complete. */
GEX_INLINE_ void gex_Event_Wait(gex_Event_t event) {
  if (event != GEX_EVENT_INVALID) gex_event_wait_(event);
}
#endif

/* Arrays: GEX_EVENT_INVALID entries are ignored, completed ones are overwritten with it; an array
 * of nothing else is success. Some: at least one completed. Flags: 0. */
GEX_EXPORT_ int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
GEX_EXPORT_ void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
GEX_EXPORT_ int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
GEX_EXPORT_ void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);

/** The leaf of one category of a root event: GEX_EC_LC of a non-blocking put whose lc_opt was a
 * variable or, if it is not contiguous, that had GEX_FLAG_ENABLE_LEAF_LC, any category of an access
 * region. The same handle each time; GEX_EVENT_INVALID for GEX_EVENT_INVALID. */
GEX_EXPORT_ gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category);

/** Completion of the calling thread's implicit operations in the categories of `event_mask`.
 * Flags: 0. Not between Begin and EndAccessRegion. */
GEX_EXPORT_ int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags);
GEX_EXPORT_ void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags);

/** Implicit operations of the calling thread up to EndAccessRegion belong to the event which that
 * call returns. Regions do not nest. Flags: 0. */
GEX_EXPORT_ void gex_NBI_BeginAccessRegion(gex_Flags_t flags);
GEX_EXPORT_ gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags);

#ifdef __cplusplus
}
#endif
#endif
