/** @file
 * Memory kinds in the order of a device's streams: calls of libgex's own, which no specification
 * has. Included by itself.
 *
 * Operations of gasnetex.h are in no order with what a device does. These put a transfer behind
 * work of a stream's, and work of a stream's behind a transfer, without the host waiting for
 * either.
 */
#ifndef GEX_MK_STREAMS_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_MK_STREAMS_H_

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Starts a put once an event of the device's has happened.
 *
 * The source is read, and the destination written, after that: a kernel that was launched before
 * the event was recorded has written the source. Puts do not wait for one another.
 *
 * @param tm            Team or TM-pair, as of gex_RMA_PutNB.
 * @param rank          The peer.
 * @param dest          Destination at the peer.
 * @param src           Source. Not to be written until the put is complete.
 * @param nbytes        Bytes.
 * @param kind          Memory kind of the event's device.
 * @param device_event  The event, a CUevent or cudaEvent_t that was recorded: what was recorded
 *                      last at the call counts. It may be recorded anew, or destroyed, afterwards.
 * @param flags         As of gex_RMA_PutNB; GEX_FLAG_IMMEDIATE has no meaning.
 * @return The put's event.
 * @par Context
 * Any thread; not in handlers. Polls of this process start the put.
 * @par Example
 * @code
 * cuEventRecord(computed, stream);
 * gex_Event_t put = gex_MK_PutAfterNB(tm, peer, there, here, nbytes, kind, computed, 0);
 * @endcode
 * @par Specification
 * None: libgex's own.
 * @see gex_MK_StreamWait
 */
GEX_EXPORT_ gex_Event_t gex_MK_PutAfterNB(gex_TM_t tm, gex_Rank_t rank, void* dest, void* src,
                                          size_t nbytes, gex_MK_t kind, void* device_event,
                                          gex_Flags_t flags);

/** Has later work of a device's stream wait for an event of libgex's.
 *
 * @param kind    Memory kind of the stream's device.
 * @param stream  The stream, a CUstream or cudaStream_t. It lives until the wait is over.
 * @param event   The event of a get, a put or any other operation. This call takes it: it is not
 *                to be waited for or tested any more.
 * @param flags   0.
 * @par Context
 * Any thread; not in handlers. The stream goes on after polls of this process have found the event
 * complete: the host does not block in the device's calls before it has polled, unless
 * GEX_PROGRESS_THREAD=1 (GASNET_PAR) has a thread poll beside it.
 * @par Example
 * @code
 * gex_MK_StreamWait(kind, stream, gex_RMA_GetNB(tm, here, peer, there, nbytes, 0), 0);
 * @endcode
 * @par Specification
 * None: libgex's own.
 * @see gex_MK_PutAfterNB
 */
GEX_EXPORT_ void gex_MK_StreamWait(gex_MK_t kind, void* stream, gex_Event_t event,
                                   gex_Flags_t flags);

/** Where kernels of this process reach a peer's segment of a device's memory.
 *
 * @param tm    Team or TM-pair whose remote endpoint the segment is bound to; it was published.
 * @param rank  The peer: this process, or one of this host.
 * @return The address of the segment's first byte, valid until the segment is published anew or the
 *         job ends; null if the segment is the host's, or is reached by messages or the network
 *         only (GEX_VERBOSE=1 prints why).
 * @par Context
 * Any thread.
 * @par Example
 * @code
 * double* theirs = gex_MK_QueryPeerPointer(tm, peer);
 * @endcode
 * @par Specification
 * None: libgex's own.
 * @see gex_EP_QueryBoundSegmentNB
 */
GEX_EXPORT_ void* gex_MK_QueryPeerPointer(gex_TM_t tm, gex_Rank_t rank);

#ifdef __cplusplus
}
#endif
#endif
