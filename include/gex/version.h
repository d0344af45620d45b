/* Versions that the interface reports. */
#ifndef GEX_VERSION_H_
#define GEX_VERSION_H_

/* Release whose interface this is (clients test for it). */
#define GASNET_RELEASE_VERSION_MAJOR 2025
#define GASNET_RELEASE_VERSION_MINOR 8
#define GASNET_RELEASE_VERSION_PATCH 0

/* Specifications implemented: GASNet-EX, GASNet-1, GASNet-Tools. */
#define GEX_SPEC_VERSION_MAJOR 0
#define GEX_SPEC_VERSION_MINOR 19
#define GASNET_SPEC_VERSION_MAJOR 1
#define GASNET_SPEC_VERSION_MINOR 8
#ifndef GASNETT_SPEC_VERSION_MAJOR
#define GASNETT_SPEC_VERSION_MAJOR 1
#define GASNETT_SPEC_VERSION_MINOR 20
#endif

/* libgex itself. */
#define GEX_LIBRARY_VERSION "0.1.0"

#endif
