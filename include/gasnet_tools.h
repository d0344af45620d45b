/** @file
 * Portable helpers, usable with GASNet or without any job.
 *
 * A source that uses GASNet includes gasnetex.h first. Another one defines GASNETT_THREAD_SAFE,
 * GASNETT_THREAD_SINGLE or GASNETT_LITE_MODE and links libgex; it need not call gex_Client_Init.
 * Documented as GASNet tools, specification 1.20. C11 and C++11 clean. Any name may be a macro: no
 * address may be taken and no name undefined. The pieces are in gex/, each documented where it is
 * declared:
 * - tools_mode.h: what the choice above means
 * - tools_compiler.h: annotations, branch hints
 * - tools_atomics.h: fences, atomic integers
 * - tools_threads.h: locks, conditions, thread-local pointers
 * - tools_ticks.h: timers, sleep
 * - tools_env.h: environment, numbers as text
 * - tools_error.h: fatal errors, backtraces, debuggers, signals
 * - tools_system.h: the machine, the process, the library's version
 * - tools_memory.h: checksums, counting zeros, a heap that watches itself
 * - tools_trace.h: trace and statistics: nothing in this release
 * - tools_format.h: values of the GASNet-EX interface as text
 *
 * Beside them: PLATFORM_... (gasnet_portable_platform.h), if_pf and if_pt (gex/platform.h), and the
 * standard headers of gex/standard.h.
 */
#ifndef _INCLUDED_GASNET_TOOLS_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _INCLUDED_GASNET_TOOLS_H

#include <gex/platform.h>
#include <gex/standard.h>
#include <gex/tools_atomics.h>
#include <gex/tools_compiler.h>
#include <gex/tools_env.h>
#include <gex/tools_error.h>
#include <gex/tools_format.h>
#include <gex/tools_memory.h>
#include <gex/tools_mode.h>
#include <gex/tools_system.h>
#include <gex/tools_threads.h>
#include <gex/tools_ticks.h>
#include <gex/tools_trace.h>
#include <gex/version.h>

#endif
