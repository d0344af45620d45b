/* What the programs of this folder share: clients of GASNet-1 as its users write them, C that is
 * C++ as well. PROGRAM gasnet1|ex starts by gasnet_init and gasnet_attach, or by gex_Client_Init. A
 * program that finds something wrong reports where and ends the job with status 1.
 */
#ifndef GASNET1_PROGRAM_H
#define GASNET1_PROGRAM_H

#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                 \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "rank %u: %s:%d: not so: %s\n", (unsigned)gasnet_mynode(), __FILE__, \
              __LINE__, #condition);                                                       \
      gasnet_exit(1);                                                                      \
    }                                                                                      \
  } while (0)

/* C takes any function here, and its programs rely on it; C++ needs a cast. */
#ifdef __cplusplus
#define HANDLER(function) ((void (*)())(function))
#else
#define HANDLER(function) (function)
#endif

/* A handler, and how gex_EP_RegisterHandlers must be given it. */
struct program_handler {
  gasnet_handler_t index;
  void (*function)();
  gex_Flags_t flags;
  unsigned arguments;
};

static gasnet_seginfo_t* segments; /* by rank */

static inline void barrier_all(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  REQUIRE(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_OK);
}

/* Joins the job with `bytes` of segment and the handlers, whose indices are filled in. */
static inline void start(int* argc, char*** argv, struct program_handler* handlers, int count,
                         uintptr_t bytes) {
  const int ex = *argc > 1 && strcmp((*argv)[1], "ex") == 0;
  int i;
  if (ex) {
    gex_Client_t client;
    gex_EP_t endpoint;
    gex_TM_t team;
    gex_Segment_t segment;
    REQUIRE(gex_Client_Init(&client, &endpoint, &team, "PROGRAM", argc, argv,
                            GEX_FLAG_USES_GASNET1) == GASNET_OK);
    for (i = 0; i < count; ++i) {
      gex_AM_Entry_t entry;
      memset(&entry, 0, sizeof entry);
      entry.gex_index = handlers[i].index;
      entry.gex_fnptr = handlers[i].function;
      entry.gex_flags = handlers[i].flags;
      entry.gex_nargs = handlers[i].arguments;
      REQUIRE(gex_EP_RegisterHandlers(endpoint, &entry, 1) == GASNET_OK);
      handlers[i].index = entry.gex_index;
    }
    REQUIRE(gex_Segment_Attach(&segment, team, bytes) == GASNET_OK);
  } else {
    gasnet_handlerentry_t* table =
        (gasnet_handlerentry_t*)calloc((size_t)count + 1, sizeof(gasnet_handlerentry_t));
    REQUIRE(gasnet_init(argc, argv) == GASNET_OK);
    for (i = 0; i < count; ++i) {
      table[i].index = handlers[i].index;
      table[i].fnptr = handlers[i].function;
    }
    REQUIRE(gasnet_attach(table, count, bytes, 0) == GASNET_OK);
    for (i = 0; i < count; ++i) handlers[i].index = table[i].index;
    free(table);
  }
  segments = (gasnet_seginfo_t*)calloc(gasnet_nodes(), sizeof(gasnet_seginfo_t));
  REQUIRE(gasnet_getSegmentInfo(segments, (int)gasnet_nodes()) == GASNET_OK);
  for (i = 0; i < (int)gasnet_nodes(); ++i) REQUIRE(segments[i].size == bytes);
  /* No rank's handlers run before it has found where everything is. */
  barrier_all();
}

/* The end of main. */
static inline void finish(void) {
  barrier_all();
  free(segments);
  gasnet_exit(0);
}

#endif
