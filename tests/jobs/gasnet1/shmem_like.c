/* A small SHMEM on GASNet-1, in the manner of the runtimes that are built so: a symmetric heap in
 * the segments, remote addresses by translation, put, get, single elements, fences out of implicit
 * handles, atomics as active messages under a lock, barriers, broadcast and collect.
 *
 * Exactly one of the segment configurations must be defined, as such runtimes insist.
 */
#include "program.h"

#if defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) + \
        defined(GASNET_SEGMENT_EVERYTHING) !=                      \
    1
#error "no segment configuration"
#endif

enum { heap_bytes = 64 * GASNET_PAGESIZE };

/* Symmetric memory: allocated in the same order by every rank, so at the same offset. */
static size_t heap_used;

static void* shmem_malloc(size_t bytes) {
  void* result = (char*)segments[gasnet_mynode()].addr + heap_used;
  heap_used += (bytes + 15) / 16 * 16;
  REQUIRE(heap_used <= heap_bytes);
  barrier_all();
  return result;
}

static void* translate(const void* address, int pe) {
  const char* own = (const char*)segments[gasnet_mynode()].addr;
  return (char*)segments[pe].addr + ((const char*)address - own);
}

static void shmem_putmem(void* to, const void* from, size_t bytes, int pe) {
  gasnet_put_bulk((gasnet_node_t)pe, translate(to, pe), (void*)(uintptr_t)from, bytes);
}
static void shmem_putmem_nbi(void* to, const void* from, size_t bytes, int pe) {
  gasnet_put_nbi_bulk((gasnet_node_t)pe, translate(to, pe), (void*)(uintptr_t)from, bytes);
}
static void shmem_getmem(void* to, const void* from, size_t bytes, int pe) {
  gasnet_get_bulk(to, (gasnet_node_t)pe, translate(from, pe), bytes);
}
static void shmem_long_p(long* to, long value, int pe) {
  gasnet_put_val((gasnet_node_t)pe, translate(to, pe), (gasnet_register_value_t)value,
                 sizeof value);
}
static long shmem_long_g(const long* from, int pe) {
  return (long)gasnet_get_val((gasnet_node_t)pe, translate(from, pe), sizeof(long));
}
static void shmem_quiet(void) {
  gasnet_wait_syncnbi_puts();
}
static void shmem_long_wait_until(volatile long* at, long value) {
  /* The value is put, not written by a handler, so nothing but polling can be waited with. */
  while (__atomic_load_n(at, __ATOMIC_ACQUIRE) != value) gasnet_AMPoll();
}
static void shmem_barrier_all(void) {
  shmem_quiet();
  barrier_all();
}

/* Atomics: the owner performs them, one at a time. */
static gasnet_hsl_t atomics = GASNET_HSL_INITIALIZER;
struct answer {
  volatile long value;
  volatile int done;
};
static struct program_handler handlers[4];
enum { fetch_add, swap_if, add_only, answered };

static uint64_t word(gasnet_handlerarg_t high, gasnet_handlerarg_t low) {
  return GASNETI_MAKEWORD(high, low);
}
#define HALVES(value)                                      \
  (gasnet_handlerarg_t) GASNETI_HIWORD((uint64_t)(value)), \
      (gasnet_handlerarg_t)GASNETI_LOWORD((uint64_t)(value))

static void on_answer(gasnet_token_t token, gasnet_handlerarg_t answer_high,
                      gasnet_handlerarg_t answer_low, gasnet_handlerarg_t high,
                      gasnet_handlerarg_t low) {
  struct answer* answer = (struct answer*)(uintptr_t)word(answer_high, answer_low);
  (void)token;
  answer->value = (long)word(high, low);
  gasnett_local_wmb();
  answer->done = 1;
}
static void on_fetch_add(gasnet_token_t token, gasnet_handlerarg_t at_high,
                         gasnet_handlerarg_t at_low, gasnet_handlerarg_t high,
                         gasnet_handlerarg_t low, gasnet_handlerarg_t answer_high,
                         gasnet_handlerarg_t answer_low) {
  long* at = (long*)(uintptr_t)word(at_high, at_low);
  long old;
  gasnet_hsl_lock(&atomics);
  old = *at;
  *at = old + (long)word(high, low);
  gasnet_hsl_unlock(&atomics);
  REQUIRE(gasnet_AMReplyShort4(token, handlers[answered].index, answer_high, answer_low,
                               HALVES(old)) == GASNET_OK);
}
static void on_swap_if(gasnet_token_t token, void* operands, size_t bytes,
                       gasnet_handlerarg_t at_high, gasnet_handlerarg_t at_low,
                       gasnet_handlerarg_t answer_high, gasnet_handlerarg_t answer_low) {
  long* at = (long*)(uintptr_t)word(at_high, at_low);
  const long* pair = (const long*)operands;
  long old;
  REQUIRE(bytes == 2 * sizeof(long));
  gasnet_hsl_lock(&atomics);
  old = *at;
  if (old == pair[0]) *at = pair[1];
  gasnet_hsl_unlock(&atomics);
  REQUIRE(gasnet_AMReplyShort4(token, handlers[answered].index, answer_high, answer_low,
                               HALVES(old)) == GASNET_OK);
}
/* Without a notification. */
static void on_add(gasnet_token_t token, gasnet_handlerarg_t at_high, gasnet_handlerarg_t at_low) {
  (void)token;
  gasnet_hsl_lock(&atomics);
  ++*(long*)(uintptr_t)word(at_high, at_low);
  gasnet_hsl_unlock(&atomics);
}

static long shmem_long_fadd(long* at, long value, int pe) {
  struct answer answer = {0, 0};
  REQUIRE(gasnet_AMRequestShort6((gasnet_node_t)pe, handlers[fetch_add].index,
                                 HALVES((uintptr_t)translate(at, pe)), HALVES(value),
                                 HALVES((uintptr_t)&answer)) == GASNET_OK);
  GASNET_BLOCKUNTIL(answer.done);
  return answer.value;
}
static long shmem_long_cswap(long* at, long expected, long value, int pe) {
  struct answer answer = {0, 0};
  long pair[2];
  pair[0] = expected;
  pair[1] = value;
  REQUIRE(gasnet_AMRequestMedium4((gasnet_node_t)pe, handlers[swap_if].index, pair, sizeof pair,
                                  HALVES((uintptr_t)translate(at, pe)),
                                  HALVES((uintptr_t)&answer)) == GASNET_OK);
  GASNET_BLOCKUNTIL(answer.done);
  return answer.value;
}
static void shmem_long_inc(long* at, int pe) {
  REQUIRE(gasnet_AMRequestShort2((gasnet_node_t)pe, handlers[add_only].index,
                                 HALVES((uintptr_t)translate(at, pe))) == GASNET_OK);
}

static int me;
static int pes;

static void test_put_and_get(void) {
  enum { count = 5000 };
  long* area = (long*)shmem_malloc(count * sizeof(long));
  long* local = (long*)calloc(count, sizeof(long));
  const int to = (me + 1) % pes;
  const int from = (me + pes - 1) % pes;
  int i;
  for (i = 0; i < count; ++i) local[i] = me * 100000L + i;
  shmem_putmem(area, local, count * sizeof(long), to);
  shmem_barrier_all();
  for (i = 0; i < count; ++i) REQUIRE(area[i] == from * 100000L + i);
  memset(local, 0, count * sizeof(long));
  shmem_getmem(local, area, count * sizeof(long), to);
  for (i = 0; i < count; ++i) REQUIRE(local[i] == me * 100000L + i);
  shmem_barrier_all();
  /* Every element by itself, in flight at once. */
  for (i = 0; i < count; ++i) local[i] = -local[i];
  for (i = 0; i < count; ++i) shmem_putmem_nbi(area + i, local + i, sizeof(long), to);
  shmem_barrier_all();
  for (i = 0; i < count; ++i) REQUIRE(area[i] == -(from * 100000L + i));
  shmem_barrier_all();
  for (i = 0; i < count; i += 97) {
    REQUIRE(shmem_long_g(area + i, to) == local[i]);
    shmem_long_p(area + i, 3 * i, to);
    REQUIRE(shmem_long_g(area + i, to) == 3 * i);
  }
  shmem_barrier_all();
  free(local);
}

static void test_atomics(void) {
  enum { turns = 20 };
  long* counter = (long*)shmem_malloc(3 * sizeof(long));
  int i;
  counter[0] = counter[1] = counter[2] = 0;
  shmem_barrier_all();
  for (i = 0; i < turns; ++i) {
    const long old = shmem_long_fadd(counter, 2, 0);
    REQUIRE(old % 2 == 0 && old >= 2L * i && old < 2L * turns * pes);
    shmem_long_inc(counter + 1, (me + i) % pes);
    /* A spin lock at the last rank, held for nothing. */
    while (shmem_long_cswap(counter + 2, 0, me + 1, pes - 1) != 0) gasnet_AMPoll();
    REQUIRE(shmem_long_cswap(counter + 2, me + 1, 0, pes - 1) == me + 1);
  }
  shmem_barrier_all();
  if (me == 0) REQUIRE(counter[0] == 2L * turns * pes);
  /* Every rank got `turns` increments, though a barrier does not show that they have been handled.
   */
  GASNET_BLOCKUNTIL(__atomic_load_n(counter + 1, __ATOMIC_RELAXED) == turns);
  shmem_barrier_all();
}

static void test_flags(void) {
  /* A ring: each passes the notification on, after the data. */
  long* flag = (long*)shmem_malloc(sizeof(long));
  long* data = (long*)shmem_malloc(64 * sizeof(long));
  long round;
  *flag = 0;
  shmem_barrier_all();
  for (round = 1; round <= 5; ++round) {
    int i;
    if (me != 0 || pes == 1) {
      if (pes > 1) shmem_long_wait_until(flag, round);
      for (i = 0; pes > 1 && i < 64; ++i) REQUIRE(data[i] == round * 1000 + i + me - 1);
    }
    if (pes > 1) {
      long next[64];
      for (i = 0; i < 64; ++i) next[i] = round * 1000 + i + me;
      shmem_putmem_nbi(data, next, sizeof next, (me + 1) % pes);
      shmem_quiet();
      shmem_long_p(flag, round, (me + 1) % pes);
      if (me == 0) shmem_long_wait_until(flag, round);
    }
    shmem_barrier_all();
  }
}

static void test_collectives(void) {
  /* Broadcast from each in turn, by gets; collect by puts; a named barrier after each. */
  enum { count = 333 };
  long* area = (long*)shmem_malloc(count * sizeof(long));
  long* all = (long*)shmem_malloc((size_t)pes * sizeof(long));
  int root;
  for (root = 0; root < pes; ++root) {
    int i;
    if (me == root)
      for (i = 0; i < count; ++i) area[i] = root * 7000L + i;
    gasnet_barrier_notify(root, 0);
    all[me] = -1;
    REQUIRE(gasnet_barrier_wait(root, 0) == GASNET_OK);
    if (me != root) shmem_getmem(area, area, count * sizeof(long), root);
    for (i = 0; i < count; ++i) REQUIRE(area[i] == root * 7000L + i);
    REQUIRE(gasnet_barrier(1000 + root, 0) == GASNET_OK);
    for (i = 0; i < pes; ++i) shmem_long_p(all + me, root * 10L + me, i);
    gasnet_barrier_notify(2000 + root, 0);
    while ((i = gasnet_barrier_try(2000 + root, 0)) == GASNET_ERR_NOT_READY) {
    }
    REQUIRE(i == GASNET_OK);
    for (i = 0; i < pes; ++i) REQUIRE(all[i] == root * 10L + i);
    shmem_barrier_all();
  }
  /* A rank that disagrees is noticed by all. */
  if (pes > 1) REQUIRE(gasnet_barrier(me == 0 ? 1 : 2, 0) == GASNET_ERR_BARRIER_MISMATCH);
  REQUIRE(gasnet_barrier(me, GASNET_BARRIERFLAG_UNNAMED) == GASNET_OK);
}

static void add(int which, void (*function)(), gex_Flags_t flags, unsigned arguments) {
  handlers[which].index = (gasnet_handler_t)(130 + which);
  handlers[which].function = function;
  handlers[which].flags = flags;
  handlers[which].arguments = arguments;
}

int main(int argc, char** argv) {
  gasnet_nodeinfo_t* nodes;
  int i;
  add(fetch_add, HANDLER(on_fetch_add), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 6);
  add(swap_if, HANDLER(on_swap_if), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 4);
  add(add_only, HANDLER(on_add), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2);
  add(answered, HANDLER(on_answer), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 4);
  start(&argc, &argv, handlers, 4, heap_bytes);
  REQUIRE(handlers[fetch_add].index == 130 && handlers[answered].index == 133);
  me = (int)gasnet_mynode();
  pes = (int)gasnet_nodes();
  REQUIRE(gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK) == GASNET_OK);

  nodes = (gasnet_nodeinfo_t*)calloc((size_t)pes, sizeof(gasnet_nodeinfo_t));
  REQUIRE(gasnet_getNodeInfo(nodes, pes) == GASNET_OK);
  for (i = 0; i < pes; ++i) REQUIRE(nodes[i].host == nodes[me].host);
  free(nodes);

  test_put_and_get();
  test_atomics();
  test_flags();
  test_collectives();
  finish();
  return 0;
}
