/** @file
 * What configure scripts read from an installed tree, some of them without a compiler: one number a
 * line. Preprocessor only; part of every header that needs a number of it.
 */
#ifndef _INCLUDED_GASNET_CONFIG_H
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define _INCLUDED_GASNET_CONFIG_H

/** @name Versions
 * The release whose interface this is, which clients test for, and the specifications that are
 * implemented: GASNet-EX, GASNet-1, GASNet-Tools.
 * @see GEX_LIBRARY_VERSION, gasnett_release_version
 */
/**@{*/
#define GASNET_RELEASE_VERSION_MAJOR 2025
#define GASNET_RELEASE_VERSION_MINOR 8
#define GASNET_RELEASE_VERSION_PATCH 0

#define GEX_SPEC_VERSION_MAJOR 0
#define GEX_SPEC_VERSION_MINOR 19
#define GASNET_SPEC_VERSION_MAJOR 1
#define GASNET_SPEC_VERSION_MINOR 8
#define GASNETT_SPEC_VERSION_MAJOR 1
#define GASNETT_SPEC_VERSION_MINOR 20
/**@}*/

/** @name The build
 * What configure scripts read about a build: the options of a reference of the same abilities; as
 * installed, of the networks that clients can be labelled with, and of the processor.
 */
/**@{*/
#define GASNETI_RELEASE_VERSION 2025.8.0
#define GASNETI_BUILD_ID "libgex"
/* clang-format off */
#define GASNETI_CONFIGURE_ARGS "--enable-smp --enable-seq --enable-parsync --enable-par --enable-pshm --enable-segment-fast"
/* clang-format on */
#define GASNETI_EX_SPEC_VERSION_MAJOR 0
#define GASNETI_EX_SPEC_VERSION_MINOR 19
#define GASNETI_CONDUITS "smp"
#define GASNETI_SYSTEM_TUPLE "x86_64-unknown-linux-gnu"
#define GASNETI_SYSTEM_NAME "linux"
/**@}*/

/** 1: POSIX threads are here. */
#ifndef HAVE_PTHREAD_H
#define HAVE_PTHREAD_H 1
#endif

/** @name Bytes of C's basic types
 * Under the names that configure scripts define for themselves.
 */
/**@{*/
#define SIZEOF_CHAR 1
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG_LONG 8
#if defined(__LP64__)
#define SIZEOF_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_PTRDIFF_T 8
#else
#define SIZEOF_LONG 4
#define SIZEOF_VOID_P 4
#define SIZEOF_SIZE_T 4
#define SIZEOF_PTRDIFF_T 4
#endif
/**@}*/

#endif
