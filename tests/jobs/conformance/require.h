#pragma once
// For the programs of this folder that are not of the suite: what must hold, or the rank prints
// where it does not and ends the job.

#include <gasnetex.h>

#include <cstdio>

#define REQUIRE(condition)                                                                        \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      std::fprintf(stderr, "rank %u: line %d: not so: %s\n", gex_System_QueryJobRank(), __LINE__, \
                   #condition);                                                                   \
      gasnet_exit(1);                                                                             \
    }                                                                                             \
  } while (0)
