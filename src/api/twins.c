/* Exported twins of the interface's inline functions, for callers that cannot inline C: the same
 * text, compiled with external linkage. */
#define GEX_TWINS_ 1
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
