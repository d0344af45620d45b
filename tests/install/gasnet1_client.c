/* The same client in terms of GASNet-1 alone, as programs without any notion of GASNet-EX have it.
 */
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) + \
        defined(GASNET_SEGMENT_EVERYTHING) !=                      \
    1
#error "exactly one kind of segment"
#endif

int main(int argc, char** argv) {
  gasnet_seginfo_t* segments;
  gasnet_node_t me, size, arrived;
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  if (gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) != GASNET_OK) return 1;
  me = gasnet_mynode();
  size = gasnet_nodes();
  segments = (gasnet_seginfo_t*)malloc(size * sizeof *segments);
  gasnet_getSegmentInfo(segments, (int)size);
  gasnet_put((me + 1) % size, segments[(me + 1) % size].addr, &me, sizeof me);
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  arrived = *(gasnet_node_t*)segments[me].addr;
  printf("rank %u of %u: %s GASNet-1, %s\n", (unsigned)me, (unsigned)size, GASNET_CONDUIT_NAME_STR,
         arrived == (me + size - 1) % size ? "right" : "wrong");
  free(segments);
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_exit(0);
}
