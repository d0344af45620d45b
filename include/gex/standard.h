/** @file
 * The standard headers that existing clients take from any GASNet header, with what these define:
 * INT_MAX, MIN and MAX among it. Part of gasnetex.h and gasnet_tools.h; gasnet_fwd.h stays without.
 */
#ifndef GEX_STANDARD_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_STANDARD_H_

/* Declarations alone need none of them, and not every generator of bindings understands them all.
 */
#if !defined(GEX_FUNCTIONS) || defined(GEX_TWINS_)
#include <alloca.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/types.h>
#include <unistd.h>
#endif

#endif
