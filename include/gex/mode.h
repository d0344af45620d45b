/** @file
 * How this translation unit was compiled: threading mode, conduit label; the record of it that
 * start-up checks (gex/abi.h); and strings that scripts look for in executables. Part of
 * gasnetex.h.
 */
#ifndef GEX_MODE_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_MODE_H_

#include <gex/abi.h>
#include <gex/version.h>

/* Declarations alone serve every mode, and leave no record: a program that has none runs in
 * GASNET_PAR. */
#if defined(GEX_FUNCTIONS) && !defined(GASNET_SEQ) && !defined(GASNET_PARSYNC)
#undef GASNET_PAR
#define GASNET_PAR 1
#endif

#if defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR) != 1
#error "define exactly one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR to include a GASNet header"
#endif

/** @name Threading mode
 * Of which kind a client's threads are; the client defines exactly one before it includes a header.
 *
 * GASNET_SEQ: one thread. GASNET_PARSYNC: many threads, one at a time inside the library.
 * GASNET_PAR: many threads at once. All sources of a program that include gasnetex.h have one mode,
 * which start-up checks. GASNETI_MAX_THREADS is the largest number of threads that the mode allows
 * at once, unless GASNET_MAX_THREADS in the environment states one.
 * @par Further names
 * GASNET_SEQ, GASNET_PARSYNC
 * @par Specification
 * GASNet-1, "Configuration of GASNet".
 * @see gex_System_QueryMaxThreads
 */
/**@{*/
#if defined(GASNET_SEQ)
#undef GASNET_SEQ
#define GASNET_SEQ 1
#define GEX_MODE_ GEX_MODE_SEQ_
#define GEX_MODE_NAME_ "SEQ"
#define GASNETI_MAX_THREADS 1
#elif defined(GASNET_PARSYNC)
#undef GASNET_PARSYNC
#define GASNET_PARSYNC 1
#define GEX_MODE_ GEX_MODE_PARSYNC_
#define GEX_MODE_NAME_ "PARSYNC"
#define GASNETI_MAX_THREADS 256
#else
#undef GASNET_PAR
#define GASNET_PAR 1
#define GEX_MODE_ GEX_MODE_PAR_
#define GEX_MODE_NAME_ "PAR"
#define GASNETI_MAX_THREADS 256
#endif
/**@}*/

/** @name Conduit label
 * The network that a client is meant for, and its names.
 *
 * The client may define one GASNET_CONDUIT_<NAME> to 1: a label, and the network on which it runs
 * unless GEX_CONDUIT in the environment or `gexrun --conduit` name another. The label smp lets a
 * client assume, as it is compiled, that all ranks share memory; a job in which they do not starts
 * with a warning. Without a label, clients see that of shared memory.
 *
 * GASNET_CONDUIT_NAME is the name as a bare token, the ..._STR form as a string. The core and
 * extended names and versions are those of the reference's two layers, which are one here.
 * @par Further names
 * GASNET_CONDUIT_OFI, GASNET_CONDUIT_UCX, GASNET_CONDUIT_MPI, GASNET_CONDUIT_UDP,
 * GASNET_CONDUIT_IBV, GASNET_CONDUIT_ARIES, GASNET_CONDUIT_EMU
 * @see GASNET_CONFIG_STRING
 */
/**@{*/
#if defined(GASNET_CONDUIT_OFI)
#define GASNET_CONDUIT_NAME OFI
#define GEX_CONDUIT_NAME_ "ofi"
#elif defined(GASNET_CONDUIT_UCX)
#define GASNET_CONDUIT_NAME UCX
#define GEX_CONDUIT_NAME_ "ucx"
#elif defined(GASNET_CONDUIT_MPI)
#define GASNET_CONDUIT_NAME MPI
#define GEX_CONDUIT_NAME_ "mpi"
#elif defined(GASNET_CONDUIT_UDP)
#define GASNET_CONDUIT_NAME UDP
#define GEX_CONDUIT_NAME_ "udp"
#elif defined(GASNET_CONDUIT_IBV)
#define GASNET_CONDUIT_NAME IBV
#define GEX_CONDUIT_NAME_ "ibv"
#elif defined(GASNET_CONDUIT_ARIES)
#define GASNET_CONDUIT_NAME ARIES
#define GEX_CONDUIT_NAME_ "aries"
#elif defined(GASNET_CONDUIT_GEMINI)
#define GASNET_CONDUIT_NAME GEMINI
#define GEX_CONDUIT_NAME_ "gemini"
#elif defined(GASNET_CONDUIT_PAMI)
#define GASNET_CONDUIT_NAME PAMI
#define GEX_CONDUIT_NAME_ "pami"
#elif defined(GASNET_CONDUIT_PSM)
#define GASNET_CONDUIT_NAME PSM
#define GEX_CONDUIT_NAME_ "psm"
#elif defined(GASNET_CONDUIT_MXM)
#define GASNET_CONDUIT_NAME MXM
#define GEX_CONDUIT_NAME_ "mxm"
#elif defined(GASNET_CONDUIT_PORTALS4)
#define GASNET_CONDUIT_NAME PORTALS4
#define GEX_CONDUIT_NAME_ "portals4"
#elif defined(GASNET_CONDUIT_SMP)
#define GASNET_CONDUIT_NAME SMP
#define GEX_CONDUIT_NAME_ "smp"
#elif defined(__has_include)
/* Networks whose names are libgex's own. */
#if __has_include(<gex/declared_labels.h>)
#include <gex/declared_labels.h>
#endif
#endif
#ifndef GASNET_CONDUIT_NAME
/* No label. Clients see that of shared memory; in the record it is empty. */
#define GASNET_CONDUIT_SMP 1
#define GASNET_CONDUIT_NAME SMP
#define GEX_CONDUIT_NAME_ ""
#endif
#define GASNET_CONDUIT_NAME_STR _STRINGIFY(GASNET_CONDUIT_NAME)
#define GASNET_CORE_NAME GASNET_CONDUIT_NAME
#define GASNET_CORE_NAME_STR GASNET_CONDUIT_NAME_STR
#define GASNET_CORE_VERSION 1.0
#define GASNET_CORE_VERSION_STR _STRINGIFY(GASNET_CORE_VERSION)
#define GASNET_EXTENDED_NAME GASNET_CONDUIT_NAME
#define GASNET_EXTENDED_VERSION 1.0
/**@}*/

#if defined(GASNET_SEGMENT_EVERYTHING)
#error \
    "GASNET_SEGMENT_EVERYTHING: in libgex put, get and long messages reach segments alone (GASNET_SEGMENT_FAST)"
#endif
/** @name Configuration
 * What this library is in the terms that clients test: remote memory is that of segments
 * (GASNET_SEGMENT_FAST), processes of a host share memory (GASNET_PSHM), no thread of the library
 * runs handlers (GASNET_HIDDEN_AM_CONCURRENCY_LEVEL), and the client is compiled with its checks
 * (GASNET_DEBUG, which it may define) or without (GASNET_NDEBUG). What the library itself checks is
 * chosen when a program starts: by GEX_CHECK=1, or by the checking library.
 * @par Further names
 * GASNET_DEBUG
 * @see gex_System_QueryHiddenAMConcurrencyLevel
 */
/**@{*/
#define GASNET_SEGMENT_FAST 1
#define GASNET_PSHM 1
#define GASNET_HIDDEN_AM_CONCURRENCY_LEVEL 0
#if defined(GASNET_DEBUG)
#undef GASNET_DEBUG
#define GASNET_DEBUG 1
#define GEX_DEBUG_TEXT_ "debug"
#else
#undef GASNET_NDEBUG
#define GASNET_NDEBUG 1
#define GEX_DEBUG_TEXT_ "nodebug"
#endif
/**@}*/

/** How library and client are configured, as text in the reference's form:
 * "RELEASE=2025.8.0,SPEC=0.19,CONDUIT=...".
 * @see GASNETT_CONFIG_STRING
 */
#define GASNET_CONFIG_STRING \
  "RELEASE=" _STRINGIFY(GASNET_RELEASE_VERSION_MAJOR) "." _STRINGIFY(                    \
      GASNET_RELEASE_VERSION_MINOR) "." _STRINGIFY(GASNET_RELEASE_VERSION_PATCH) ",SPEC=" \
  _STRINGIFY(GEX_SPEC_VERSION_MAJOR) "." _STRINGIFY(GEX_SPEC_VERSION_MINOR) ",CONDUIT="  \
  GASNET_CONDUIT_NAME_STR "(" GASNET_CONDUIT_NAME_STR "-" GASNET_CORE_VERSION_STR "/"    \
  GASNET_CONDUIT_NAME_STR "-" GASNET_CORE_VERSION_STR "),THREADMODEL=" GEX_MODE_NAME_    \
  ",SEGMENT=FAST,PTR=64bit,CACHE_LINE_BYTES=64,noalign,pshm," GEX_DEBUG_TEXT_            \
  ",notrace,nostats,nodebugmalloc,nosrclines,timers_native,membars_native,"              \
  "atomics_native,atomic32_native,atomic64_native"

#if !defined(GEX_LIBRARY_) && !defined(GEX_FUNCTIONS) /* the library itself is no client */
static const struct gex_ClientNote_ gex_client_note_ __attribute__((
    section(".note.gex.client"), used, aligned(4))) = {4,
                                                       sizeof(struct gex_ClientNote_) - 16,
                                                       GEX_NOTE_TYPE_CLIENT_,
                                                       GEX_NOTE_NAME_,
                                                       GEX_ABI_VERSION_,
                                                       GEX_MODE_,
                                                       GEX_CONDUIT_NAME_};
GEX_IDENT_("ConduitName", GASNET_CONDUIT_NAME_STR)
GEX_IDENT_("ThreadModel", "GASNET_" GEX_MODE_NAME_)
GEX_IDENT_("Config", "(libgasnet.a) " GASNET_CONFIG_STRING)
GEX_IDENT_("CoreLibraryName", GASNET_CORE_NAME_STR)
GEX_IDENT_("CoreLibraryVersion", GASNET_CORE_VERSION_STR)
GEX_IDENT_("APIVersion", _STRINGIFY(GASNET_SPEC_VERSION_MAJOR))
GEX_IDENT_("EXAPIVersion",
           _STRINGIFY(GEX_SPEC_VERSION_MAJOR) "." _STRINGIFY(GEX_SPEC_VERSION_MINOR))
GEX_IDENT_("Segment", "GASNET_SEGMENT_FAST")
GEX_IDENT_("PSHM", _STRINGIFY(GASNET_PSHM))
GEX_IDENT_("DefaultMaxSegsizeStr", "0.85/H")
GEX_IDENT_("FORKSpawner", "1")
GEX_IDENT_("MPISpawner", "0")
/* What the launcher that is named for the label can do. */
#if defined(GASNET_CONDUIT_SMP) || defined(GEX_LABEL_OF_ONE_MACHINE_)
GEX_IDENT_("SSHSpawner", "0")
#else
GEX_IDENT_("SSHSpawner", "1")
#endif
#endif

#endif
