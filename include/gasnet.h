/** @file
 * GASNet-1 (spec 1.8) beside GASNet-EX, which implements it: all of gasnetex.h, gasnet_vis.h and
 * gasnet_tools.h, and the pieces
 * - gex/gasnet1_job.h: types, gasnet_init and gasnet_attach, locks, the EX objects
 * - gex/gasnet1_am.h: active messages
 * - gex/gasnet1_rma.h: put, get, memset, values, synchronisation
 * - gex/gasnet1_vis.h: non-contiguous put and get
 *
 * Collectives of GASNet-1 are in gasnet_coll.h. A program may mix calls of both interfaces as it
 * likes. A diagnosis of the checking library names the EX call that a GASNet-1 call is made of,
 * and most often both.
 */
#ifndef _INCLUDED_GASNET_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _INCLUDED_GASNET_H

#include <gasnetex.h>

#if !defined(GEX_FUNCTIONS) || defined(GEX_TWINS_)
#include <gasnet_tools.h>
#endif
#include <gasnet_vis.h>
#include <gex/gasnet1_am.h>
#include <gex/gasnet1_job.h>
#include <gex/gasnet1_rma.h>
#include <gex/gasnet1_vis.h>
#ifdef GEX_DECLARATIONS_
#include <gex/functions_gasnet1.h>
#endif

#endif
