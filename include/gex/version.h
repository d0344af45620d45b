/** @file
 * The version of libgex. Part of gasnetex.h and gasnet_tools.h.
 */
#ifndef GEX_VERSION_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_VERSION_H_

#include <gasnet_config.h>

/** The version of libgex itself, as text.
 * @see GASNET_RELEASE_VERSION_MAJOR
 */
#define GEX_LIBRARY_VERSION "0.1.0"

#endif
