/** @file
 * Which threads a source that includes gasnet_tools.h has to expect. Part of gasnet_tools.h.
 *
 * Internal names: GEX_TOOLS_THREADS_ is 1 or 0: are there threads; GEX_TOOLS_LOCKS_ is 1 or 0: are
 * locks real; GASNETT_USE_TRUE_MUTEXES=1 makes them so without threads.
 */
#ifndef GEX_TOOLS_MODE_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_MODE_H_

#if defined(GASNETT_THREAD_SAFE) && defined(GASNETT_THREAD_SINGLE)
#error "gasnet_tools.h: GASNETT_THREAD_SAFE and GASNETT_THREAD_SINGLE are both defined"
#endif

#if !defined(_INCLUDED_GASNETEX_H) && !defined(GASNETT_THREAD_SAFE) && \
    !defined(GASNETT_THREAD_SINGLE) && !defined(GASNETT_LITE_MODE) &&  \
    (defined(GASNET_SEQ) || defined(GASNET_PARSYNC) || defined(GASNET_PAR))
#error "include gasnetex.h before gasnet_tools.h, or define GASNETT_LITE_MODE"
#endif

/** @name Thread mode of the tools
 * Which threads a source has to expect that includes gasnet_tools.h.
 *
 * After gasnetex.h the threading mode of that header decides: GASNET_PAR and GASNET_PARSYNC have
 * threads, GASNET_SEQ has none. Without it the source defines one of these, or none of them and
 * gets the safe form of everything:
 * - GASNETT_THREAD_SAFE: several threads;
 * - GASNETT_THREAD_SINGLE: one thread: the atomics that are not "strong" are plain memory accesses,
 *   and locks are no-ops;
 * - GASNETT_LITE_MODE: a source that must not depend on the mode of the rest of the program. It
 *   gets the safe form of everything.
 *
 * No type and no exported function depends on the choice. After the header one of the first two is
 * 1.
 * @par Further names
 * GASNETT_THREAD_SINGLE, GASNETT_LITE_MODE
 */
/**@{*/
#if defined(GASNETT_THREAD_SINGLE) || \
    (defined(_INCLUDED_GASNETEX_H) && defined(GASNET_SEQ) && !defined(GASNETT_THREAD_SAFE))
#undef GASNETT_THREAD_SINGLE
#define GASNETT_THREAD_SINGLE 1
#define GEX_TOOLS_THREADS_ 0
#else
#undef GASNETT_THREAD_SAFE
#define GASNETT_THREAD_SAFE 1
#define GEX_TOOLS_THREADS_ 1
#endif
/**@}*/

#if defined(_INCLUDED_GASNETEX_H) && (defined(GASNET_PAR) || defined(GASNET_PARSYNC)) && \
    !GEX_TOOLS_THREADS_
#error "gasnet_tools.h: GASNETT_THREAD_SINGLE contradicts GASNET_PAR and GASNET_PARSYNC"
#endif

#if GEX_TOOLS_THREADS_ || (defined(GASNETT_USE_TRUE_MUTEXES) && GASNETT_USE_TRUE_MUTEXES)
#define GEX_TOOLS_LOCKS_ 1
#else
#define GEX_TOOLS_LOCKS_ 0
#endif

#endif
