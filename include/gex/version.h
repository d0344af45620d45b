/* Versions that the interface reports. */
#ifndef GEX_VERSION_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_VERSION_H_

#include <gasnet_config.h>

/* libgex itself. */
#define GEX_LIBRARY_VERSION "0.1.0"

#endif
