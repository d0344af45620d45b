/* MPI and libgex in one program: mpi_probe before|after chooses which is started first.
   A second argument states how it ends without finalizing MPI:
     end              all ranks call gasnet_exit(0)
     end-without-one  one does not, and goes on for ever
     end-in-handler   one does in a signal handler */

#include <gasnetex.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void fail(const char* what) {
  printf("wrong: %s\n", what);
  fflush(stdout);
  gasnet_exit(99);
}

static gex_TM_t start_libgex(int* count, char*** arguments) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t segment;
  gex_Client_Init(&client, &endpoint, &team, "MPI", count, arguments, 0);
  gex_Segment_Attach(&segment, team, 1 << 16);
  return team;
}

/* What MPI_Finalize does first. */
static int print_finalized(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  fprintf(stderr, "finalized\n");
  return MPI_SUCCESS;
}

static void end_with_success(int signal) {
  (void)signal;
  gasnet_exit(0);
}

/* Does not return. */
static void end(const char* how, int rank) {
  if (strcmp(how, "end") != 0) {
    int key = MPI_KEYVAL_INVALID;
    /* Rank 1 is ended, or ends where streams cannot be flushed. */
    fflush(stdout);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, print_finalized, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
  }
  if (rank == 1 && strcmp(how, "end-without-one") == 0) {
    for (;;) pause();
  }
  if (rank == 1 && strcmp(how, "end-in-handler") == 0) {
    signal(SIGUSR1, end_with_success);
    raise(SIGUSR1);
  }
  gasnet_exit(0);
}

int main(int count, char** arguments) {
  gex_TM_t team = GEX_TM_INVALID;
  const int mpi_first = count > 1 && strcmp(arguments[1], "before") == 0;
  if (!mpi_first) team = start_libgex(&count, &arguments);
  MPI_Init(&count, &arguments);
  if (mpi_first) team = start_libgex(&count, &arguments);

  int rank = -1;
  int size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (gex_TM_QueryRank(team) != (gex_Rank_t)rank || gex_TM_QuerySize(team) != (gex_Rank_t)size) {
    fail("MPI and libgex number the ranks differently");
  }
  for (int round = 0; round < 3; ++round) {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) fail("MPI's sum");
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  }
  if (count > 2) {
    printf("both agree on rank %d of %d\n", rank, size);
    end(arguments[2], rank);
  }
  MPI_Finalize();
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  printf("both agree on rank %d of %d\n", rank, size);
  return 0;
}
