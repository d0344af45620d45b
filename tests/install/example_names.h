/* The names that the examples in the public headers use without declaring them. */
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gex/annotations.h>
#include <gex/mk_streams.h>

enum { NEIGHBORS = 4, WIDTH = 8, ADD = 128, ADDED, COLUMN_ARRIVED, HANDLER, ITEMS, PONG, SQUARED };
struct parameters {
  int value;
};
struct item {
  double value;
};
struct message {
  int payload, ready;
};

extern gex_Client_t client;
extern gex_EP_t endpoint;
extern gex_TM_t tm, team;
extern gex_MK_t kind;
extern gex_AD_t counters;
extern gex_Token_t token;
extern gex_Token_Info_t info;
extern gex_Segment_t segment;
extern gex_AM_Entry_t entries[1];
extern gex_AM_SrcDesc_t sd;
extern gex_Rank_t peer, jobrank, neighbor[NEIGHBORS];
extern gasnet_handlerentry_t table[1];
extern gasnett_mutex_t mutex;
extern gasnett_cond_t changed;
extern gasnett_rwlock_t shared;
extern struct message* message;
extern char** argv;
extern char *there, *here, *a, *b, *c;
extern void *ghost[NEIGHBORS], *edge[NEIGHBORS];
extern void *computed, *stream; /* a device's */
extern void *remote_row, *remote_flag, *remote, *next, *all;
extern double block[8], values[8], matrix[100][1000];
extern uint64_t where;
extern size_t nbytes, bytes, needed, length;
extern ptrdiff_t column[1], row[1];
extern gex_AM_Arg_t first;
extern int argc, device, error, expected, finished, handlers, mine, number, ready, total, amount,
    state;
extern int received[8], value;

void add_values(void* payload, size_t nbytes, gex_AM_Arg_t first);
void compute(void);
int cuEventRecord(void* event, void* stream);
void compute_a_little(void);
void fill(void* payload, ...);
void give_back(void* scratch, size_t bytes);
double local_residual(void);
void* new_state(void);
void prepare_next_step(void);
void read_parameters(struct parameters* p);
void refill_blocks(void);
void report(int error);
void send_blocks(void);
void share_memory_with(gex_Rank_t jobrank);
void use_other_indices(void);
void work_a_little(void);
