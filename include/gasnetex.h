/** @file
 * The GASNet-EX interface (spec 0.19), as libgex provides it.
 *
 * A client defines exactly one of GASNET_SEQ (one thread), GASNET_PARSYNC (many threads, one at a
 * time inside the library) and GASNET_PAR (many threads at once), includes this header, and links
 * libgex: the same library in all three modes and on every network.
 *
 * C11 and C++11 clean. The pieces are in gex/, each documented where it is declared:
 * - system.h: job, neighborhoods, hosts
 * - objects.h: clients, endpoints, segments, teams
 * - am.h: active messages; am_families.h: those that send, by argument count
 * - rma.h: put and get
 * - event.h: events, implicit operations, access regions
 * - hsl.h: handler-safe locks
 * - barrier.h: barriers
 * - gasnet1_core.h: what carries over from GASNet-1
 * - mode.h: how the client was compiled
 * - compat.h: names beyond the specifications that existing clients use
 * - standard.h: the standard headers that existing clients take from this one
 *
 * Restricted context: in a handler, between Prepare and Commit, and while holding an HSL, only the
 * calls that are documented so may be made.
 */
#ifndef _INCLUDED_GASNETEX_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _INCLUDED_GASNETEX_H

#if defined(_INCLUDED_GASNET_TOOLS_H) && !defined(GASNETT_LITE_MODE)
#error "include gasnetex.h before gasnet_tools.h"
#endif

#include <gasnet_fwd.h>
#include <gex/mode.h>
#include <gex/platform.h>
#include <gex/standard.h>

/** Bytes of a page, a preprocessor integer. Where the kernel chooses among sizes, the largest: what
 * is aligned to it is aligned to any.
 * @see gex_Segment_Attach, GASNETT_PAGESIZE
 */
#define GASNET_PAGESIZE GEX_PAGESIZE_

#include <gex/am.h>
#include <gex/am_families.h>
#include <gex/barrier.h>
#include <gex/compat.h>
#include <gex/event.h>
#include <gex/gasnet1_core.h>
#include <gex/hsl.h>
#include <gex/objects.h>
#include <gex/rma.h>
#include <gex/system.h>
#ifdef GEX_DECLARATIONS_
#include <gex/functions_gasnetex.h>
#endif

#endif
