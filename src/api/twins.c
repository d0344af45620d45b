/* Exported twins of the interface's inline functions, for callers that cannot inline C: the same
 * text, compiled with external linkage. gex/functions.h declares each of them, and is included so
 * that the compiler compares. */
#define GEX_TWINS_ 1
#include <gex/functions.h>

int gasnetc_AMPoll(void) {
  return gasnet_AMPoll();
}
