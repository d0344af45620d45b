/** @file
 * Events, implicit operations, access regions. Part of gasnetex.h.
 *
 * A non-blocking call leaves its operation under way. An NB call returns the operation's root
 * event; parts that complete earlier, local completion above all, can have leaf events. An NBI call
 * returns none: the thread's implicit operations are counted by category and waited for together.
 * Completion makes what the operation wrote here visible to the thread that has tested or waited.
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

/** @name Event categories
 * What an implicit operation, or a leaf of an event, counts as.
 *
 * ORed they select for gex_NBI_Test and gex_NBI_Wait; one of them names a leaf in
 * gex_Event_QueryLeaf.
 * @par Specification
 * GASNet-EX, "Event test/wait operations".
 * @see gex_NBI_Wait, gex_Event_QueryLeaf
 */
/**@{*/
/** An OR of GEX_EC_... */
typedef uint32_t gex_EC_t;
/** Gets: of memory, values, non-contiguous and atomic (GEX_OP_GET). */
#define GEX_EC_GET (1u << 0)
/** Puts: of memory, values, non-contiguous and atomic (GEX_OP_SET). */
#define GEX_EC_PUT (1u << 1)
/** Local completion of puts and messages, where the call had #GEX_EVENT_GROUP for it. */
#define GEX_EC_LC (1u << 2)
/** Sending of messages. */
#define GEX_EC_AM (1u << 3)
/** Atomic operations that both read and write. */
#define GEX_EC_RMW (1u << 4)
/** All of them. */
#define GEX_EC_ALL 0x1fu
/**@}*/

GEX_EXPORT_ int gex_event_test_(gex_Event_t event);
GEX_EXPORT_ void gex_event_wait_(gex_Event_t event);

#ifdef GEX_BODIES_
/** @name Test and wait for an event
 * Finds out, or waits, whether the operation of an event is complete.
 *
 * @param event  A root event or a leaf of one. #GEX_EVENT_INVALID is complete. #GEX_EVENT_NO_OP
 *               must not be given.
 * @return Test: GASNET_OK if the operation is complete, else GASNET_ERR_NOT_READY.
 * @par Completion
 * Success on a root event ends the handle and those of its leaves: none may be used again. Success
 * on a leaf ends the leaf only. A root event must be tested or waited for until it is complete,
 * once; a leaf need not.
 * @par Ordering and visibility
 * What the operation wrote to memory of this process can be read after success.
 * @par Errors
 * None is returned. The checking library ends the job with one line for #GEX_EVENT_NO_OP and for a
 * handle that has ended.
 * @par Context
 * Any thread, whichever started the operation; one at a time for an event. Not in handlers, not
 * while holding an HSL.
 * @par Example
 * @code
 * gex_Event_t event = gex_RMA_GetNB(tm, here, peer, there, nbytes, 0);
 * while (gex_Event_Test(event) == GASNET_ERR_NOT_READY) {
 *   compute_a_little();
 *   gasnet_AMPoll();  // Test does not poll
 * }
 * @endcode
 * @par Specification
 * GASNet-EX, "Event test/wait operations".
 * @see gex_Event_WaitAll, gex_NBI_Wait, gex_Event_QueryLeaf
 */
/**@{*/
/** Looks once, and does not poll. */
GEX_INLINE_ int gex_Event_Test(gex_Event_t event) {
  return event == GEX_EVENT_INVALID ? 0 : gex_event_test_(event);
}
/** Polls until the operation is complete. */
GEX_INLINE_ void gex_Event_Wait(gex_Event_t event) {
  if (event != GEX_EVENT_INVALID) gex_event_wait_(event);
}
#endif
/**@}*/

/** @name Test and wait for several events
 * Tests or waits for some or all events of an array.
 *
 * @param pevent     Events, roots and leaves in any order, those of one operation among them.
 *                   Entries that are complete are overwritten with #GEX_EVENT_INVALID; such entries
 *                   are ignored. The array is the caller's, and is not read after the call.
 * @param numevents  Entries of the array. With 0, or nothing but #GEX_EVENT_INVALID, calls succeed.
 * @param flags      0.
 * @return Test calls: GASNET_OK if the condition holds, else GASNET_ERR_NOT_READY. Either way what
 *         is complete has been overwritten.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL. Test calls do not poll, Wait calls do.
 * @par Example
 * @code
 * gex_Event_t events[NEIGHBORS];
 * for (int i = 0; i < NEIGHBORS; ++i)
 *   events[i] = gex_RMA_PutNB(tm, neighbor[i], ghost[i], edge[i], bytes, GEX_EVENT_DEFER, 0);
 * gex_Event_WaitAll(events, NEIGHBORS, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Event test/wait operations".
 * @see gex_Event_Wait
 */
/**@{*/
/** Condition: at least one event of the array has completed. */
GEX_EXPORT_ int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
/** Polls until at least one event of the array has completed. */
GEX_EXPORT_ void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
/** Condition: all have completed. */
GEX_EXPORT_ int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
/** Polls until all have completed. */
GEX_EXPORT_ void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags);
/**@}*/

/** Returns the leaf of one category of a root event.
 *
 * @param root            A root event that has not been tested or waited for with success: that of
 *                        gex_RMA_PutNB whose `lc_opt` was a variable, of a non-contiguous NB put
 *                        with #GEX_FLAG_ENABLE_LEAF_LC, or of an access region
 *                        (gex_NBI_EndAccessRegion). For #GEX_EVENT_INVALID the answer is
 *                        #GEX_EVENT_INVALID.
 * @param event_category  One GEX_EC_... value: #GEX_EC_LC for puts, any for access regions.
 * @return The leaf, the same handle each time; #GEX_EVENT_INVALID if that part is complete already.
 * @par Errors
 * None is returned. A root without such a leaf ends the job in the checking library.
 * @par Context
 * Any thread; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * gex_NBI_BeginAccessRegion(0);
 * send_blocks();  // NBI puts with GEX_EVENT_GROUP
 * gex_Event_t all = gex_NBI_EndAccessRegion(0);
 * gex_Event_Wait(gex_Event_QueryLeaf(all, GEX_EC_LC));  // the blocks may be written to again
 * refill_blocks();
 * gex_Event_Wait(all);
 * @endcode
 * @par Specification
 * GASNet-EX, "QueryLeaf".
 * @see gex_Event_Wait, gex_NBI_EndAccessRegion
 */
GEX_EXPORT_ gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category);

/** @name Test and wait for implicit operations
 * Tests or waits for all implicit operations of the calling thread in some categories.
 *
 * Only what the thread itself has started by NBI calls counts, outside access regions.
 *
 * @param event_mask  An OR of GEX_EC_... values.
 * @param flags       0.
 * @return gex_NBI_Test: GASNET_OK if all are complete, else GASNET_ERR_NOT_READY.
 * @par Completion
 * After success in #GEX_EC_PUT the puts are at their peers, in #GEX_EC_LC their sources may be
 * written to, in #GEX_EC_GET and #GEX_EC_RMW what was fetched may be read.
 * @par Context
 * Any thread, for its own operations; not between gex_NBI_BeginAccessRegion and
 * gex_NBI_EndAccessRegion, not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * for (int i = 0; i < NEIGHBORS; ++i)
 *   gex_RMA_PutNBI(tm, neighbor[i], ghost[i], edge[i], bytes, GEX_EVENT_DEFER, 0);
 * gex_NBI_Wait(GEX_EC_PUT, 0);
 * @endcode
 * @par Specification
 * GASNet-EX, "Event test/wait operations".
 * @see gex_RMA_PutNBI, gex_Event_Wait, gex_NBI_BeginAccessRegion
 */
/**@{*/
/** Looks once, and does not poll. */
GEX_EXPORT_ int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags);
/** Polls until all are complete. */
GEX_EXPORT_ void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags);
/**@}*/

/** @name Access regions
 * Give one event to all implicit operations that a thread starts between two calls.
 *
 * Regions do not nest. Within one, gex_NBI_Test and gex_NBI_Wait must not be called.
 *
 * @param flags  0.
 * @return EndAccessRegion: the root event, complete when all operations of the region are;
 *         #GEX_EVENT_INVALID if they are so already. It has a leaf in every category
 *         (gex_Event_QueryLeaf).
 * @par Context
 * Any thread, for its own operations; not in handlers, not while holding an HSL.
 * @par Example
 * @code
 * gex_NBI_BeginAccessRegion(0);
 * for (int i = 0; i < NEIGHBORS; ++i)
 *   gex_RMA_GetNBI(tm, ghost[i], neighbor[i], edge[i], bytes, 0);
 * gex_Event_t region = gex_NBI_EndAccessRegion(0);
 * compute();
 * gex_Event_Wait(region);
 * @endcode
 * @par Specification
 * GASNet-EX, "NBI Access regions".
 * @see gex_Event_QueryLeaf, gex_NBI_Wait
 */
/**@{*/
/** Begins a region of the calling thread. */
GEX_EXPORT_ void gex_NBI_BeginAccessRegion(gex_Flags_t flags);
/** Ends the region. */
GEX_EXPORT_ gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags);
/**@}*/

#ifdef __cplusplus
}
#endif
#endif
