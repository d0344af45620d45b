// libgex as this layer uses it. The layer's objects are compiled once, for clients with one thread
// and with many.
#ifndef UPCXX_SRC_GEX_H_
#define UPCXX_SRC_GEX_H_

#define GASNET_PAR 1
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <gex/annotations.h>

#undef MIN
#undef MAX

#endif
