/* A client labelled with a network that scripts look for, whether libgex has it or not: it is not
 * taken for one of shared memory. */
#define GASNET_SEQ 1
#define GASNET_CONDUIT_ARIES 1
#include <gasnetex.h>

#ifdef GASNET_CONDUIT_SMP
#error "one label"
#endif
_Static_assert(sizeof GASNET_CONDUIT_NAME_STR == sizeof "ARIES", "label");
