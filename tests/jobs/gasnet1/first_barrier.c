/* A rank that is through its first barrier may stay away from the library for as long as it likes,
 * as MPI_Init does: the others must get through the same barrier meanwhile. The ranks meet in a
 * file, PROGRAM FILE, without another call. A rank that holds others back waits for ever.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program.h"

static void meet(int file) {
  struct stat state;
  REQUIRE(write(file, "x", 1) == 1);
  do {
    sched_yield();
    REQUIRE(fstat(file, &state) == 0);
  } while (state.st_size < (off_t)gasnet_nodes());
}

int main(int argc, char** argv) {
  int file;
  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  unlink(argv[1]); /* of a run that failed: all ranks do before gasnet_init returns in one */
  REQUIRE(gasnet_init(&argc, &argv) == GASNET_OK);
  file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600);
  REQUIRE(file >= 0);
  REQUIRE(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) == GASNET_OK);
  barrier_all();
  meet(file);
  unlink(argv[1]);
  barrier_all();
  gasnet_exit(0);
  return 0;
}
