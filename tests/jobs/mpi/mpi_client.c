/* MPI and libgex in one program, where libgex's network is mpi.
 *
 *   mpi_client STEP...
 *
 * - mpi-init: initializes MPI, as a library does that may be called in either case, unless it is
 * - gex-init: joins the job
 * - talk: by MPI and by libgex, in turn
 * - mpi-finalize: finalizes MPI
 * - gex-exit: gasnet_exit(0)
 * - hang: rank 0 does not come back from MPI_Finalize, whichever rank calls it
 * - fail: rank 0 calls exit(3) in MPI_Finalize, as MPICH does when it fails there
 * - late: rank 0 moves MPI on for a while at the beginning of MPI_Finalize
 * - mpi-abort: the last rank calls MPI_Abort with 5, and the others wait for it
 *
 * After the last step it returns 0. A line on standard output shows which of them finalizes MPI. */

#include <gasnetex.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gex_TM_t team;
static gex_Segment_t segment;
static int watched;

static void print(const char* text) {
  char line[128];
  const int length = snprintf(line, sizeof line, "%s\n", text);
  /* In one piece, whichever other process prints. */
  if (write(STDOUT_FILENO, line, (size_t)length) != length) exit(98);
}

static void fail(const char* what) {
  fprintf(stderr, "mpi_client: %s\n", what);
  gasnet_exit(99);
}

static int is_initialized(void) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  return initialized;
}

/* What MPI_Finalize does first. */
static int print_finalized(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  print("finalized");
  return MPI_SUCCESS;
}

static int wait_for_ever(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  for (;;) pause();
}

static int fail_in_finalization(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  exit(3);
}

/* A rank that does not wait for this one has ended long before that returns. */
static int come_late(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  for (const double begin = MPI_Wtime(); MPI_Wtime() < begin + 0.3; usleep(1000)) {
    int found = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }
  return MPI_SUCCESS;
}

static void let_rank_0_finalize(MPI_Comm_delete_attr_function* first) {
  int key = MPI_KEYVAL_INVALID;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, first, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

static void abort_by_the_last(void) {
  if (gex_TM_QueryRank(team) == gex_TM_QuerySize(team) - 1) MPI_Abort(MPI_COMM_WORLD, 5);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

static void watch_finalization(void) {
  int key = MPI_KEYVAL_INVALID;
  if (watched || !is_initialized()) return;
  watched = 1;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, print_finalized, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

static void start_mpi(int* count, char*** arguments) {
  if (is_initialized())
    print("found initialized");
  else
    MPI_Init(count, arguments);
}

static void start_libgex(int* count, char*** arguments) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Client_Init(&client, &endpoint, &team, "MPI", count, arguments, 0);
  gex_Segment_Attach(&segment, team, 1 << 16);
}

static void talk(void) {
  const int rank = (int)gex_TM_QueryRank(team);
  const int size = (int)gex_TM_QuerySize(team);
  const gex_Rank_t next = (gex_Rank_t)((rank + 1) % size);
  void* there = NULL;
  void* here = gex_Segment_QueryAddr(segment);
  int mpi_rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank);
  if (mpi_rank != rank) fail("MPI and libgex number the ranks differently");
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, next, &there, NULL, NULL, 0));
  for (int round = 1; round <= 20; ++round) {
    int sum = 0;
    int got = -1;
    const int mine = rank + round;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) fail("MPI's sum");
    gex_RMA_PutBlocking(team, next, there, &mine, sizeof mine, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    memcpy(&got, here, sizeof got);
    if (got != (rank + size - 1) % size + round) fail("the neighbor's put");
    /* Messages of the program's that wait meanwhile are the program's own. */
    MPI_Sendrecv(&mine, 1, MPI_INT, (int)next, 0, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != (rank + size - 1) % size + round) fail("the neighbor's message");
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  }
  /* About as many bytes as MPIs send at once, and the conduit in one message. */
  for (size_t bytes = 3990; bytes <= 4100; bytes += 10) {
    static char mine[4100];
    memset(mine, rank + (int)bytes, bytes);
    gex_RMA_PutBlocking(team, next, there, mine, bytes, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    memset(mine, (rank + size - 1) % size + (int)bytes, bytes);
    if (memcmp(mine, here, bytes) != 0) fail("the neighbor's large put");
    gex_RMA_GetBlocking(team, mine, next, there, bytes, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    for (size_t i = 0; i < bytes; ++i)
      if (mine[i] != (char)(rank + (int)bytes)) fail("what was put and fetched");
  }
  print("talked");
}

int main(int count, char** arguments) {
  const int steps = count;
  for (int step = 1; step < steps; ++step) {
    const char* word = arguments[step];
    if (strcmp(word, "mpi-init") == 0)
      start_mpi(&count, &arguments);
    else if (strcmp(word, "gex-init") == 0)
      start_libgex(&count, &arguments);
    else if (strcmp(word, "talk") == 0)
      talk();
    else if (strcmp(word, "mpi-finalize") == 0)
      MPI_Finalize();
    else if (strcmp(word, "gex-exit") == 0)
      gasnet_exit(0);
    else if (strcmp(word, "hang") == 0)
      let_rank_0_finalize(wait_for_ever);
    else if (strcmp(word, "fail") == 0)
      let_rank_0_finalize(fail_in_finalization);
    else if (strcmp(word, "late") == 0)
      let_rank_0_finalize(come_late);
    else if (strcmp(word, "mpi-abort") == 0)
      abort_by_the_last();
    else
      fail(word);
    if (strcmp(word, "mpi-finalize") != 0) watch_finalization();
  }
  return 0;
}
