/* Messages that reach a rank which is still in gasnet_attach: no handler runs there before that has
 * returned, because clients set up only then what handlers use. The last rank stays in its attach,
 * polling, until the others have sent all they can; their messages of every kind wait, the barriers
 * and puts of the library pass.
 */
#include "program.h"

enum { short_in = 200, medium_in, long_in, answer_in };
enum { each = 3, bytes = 3000 };

static volatile int ready;    /* gasnet_attach has returned, and its caller has set up */
static volatile int early;    /* handlers that ran before */
static volatile int seen;     /* requests */
static volatile int answered; /* answers to this rank's requests */
static volatile int intact = 1;

static void take(gasnet_token_t token) {
  if (!ready) ++early;
  ++seen;
  gasnet_AMReplyShort0(token, answer_in);
}
static void check(const void* payload, size_t size) {
  const unsigned char* at = (const unsigned char*)payload;
  size_t i;
  if (size != bytes) intact = 0;
  for (i = 0; i < size; ++i)
    if (at[i] != (unsigned char)(i * 7 + 1)) intact = 0;
}
static void on_short(gasnet_token_t token, gasnet_handlerarg_t a, gasnet_handlerarg_t b) {
  if (a != 17 || b != -18) intact = 0;
  take(token);
}
static void on_medium(gasnet_token_t token, void* payload, size_t size) {
  check(payload, size);
  take(token);
}
static void on_long(gasnet_token_t token, void* payload, size_t size) {
  check(payload, size);
  take(token);
}
static void on_answer(gasnet_token_t token) {
  (void)token;
  if (!ready) ++early;
  ++answered;
}

static int is_last(void) {
  return gasnet_mynode() == gasnet_nodes() - 1;
}

/* Still in gasnet_attach. A word of the segment shows whether the others have sent: they put
 * there: who polls here serves that. */
static void in_attach(void* address, uintptr_t size) {
  volatile uint64_t* announced = (volatile uint64_t*)address;
  const gasnet_node_t senders = gasnet_nodes() - 1;
  gasnet_node_t i, arrived = 0;
  int more;
  (void)size;
  if (!is_last()) return;
  while (arrived != senders) {
    gasnet_AMPoll();
    for (i = arrived = 0; i < senders; ++i) arrived += announced[i] != 0;
  }
  for (more = 0; more < 100000; ++more) gasnet_AMPoll();
}

int main(int argc, char** argv) {
  gasnet_handlerentry_t table[] = {{short_in, HANDLER(on_short)},
                                   {medium_in, HANDLER(on_medium)},
                                   {long_in, HANDLER(on_long)},
                                   {answer_in, HANDLER(on_answer)}};
  static unsigned char payload[bytes];
  gasnet_node_t last;
  int i;
  for (i = 0; i < bytes; ++i) payload[i] = (unsigned char)(i * 7 + 1);
  REQUIRE(gasnet_init(&argc, &argv) == GASNET_OK);
  gasnet_client_attach_hook = in_attach;
  REQUIRE(gasnet_attach(table, 4, 16 * GASNET_PAGESIZE, 0) == GASNET_OK);
  REQUIRE(early == 0);
  REQUIRE(seen == 0 && answered == 0);
  ready = 1;

  last = gasnet_nodes() - 1;
  segments = (gasnet_seginfo_t*)calloc(gasnet_nodes(), sizeof(gasnet_seginfo_t));
  REQUIRE(gasnet_getSegmentInfo(segments, (int)gasnet_nodes()) == GASNET_OK);
  if (!is_last()) {
    char* to = (char*)segments[last].addr + (1 + gasnet_mynode()) * GASNET_PAGESIZE;
    for (i = 0; i < each; ++i) {
      REQUIRE(gasnet_AMRequestShort2(last, short_in, 17, -18) == GASNET_OK);
      REQUIRE(gasnet_AMRequestMedium0(last, medium_in, payload, bytes) == GASNET_OK);
      REQUIRE(gasnet_AMRequestLong0(last, long_in, payload, bytes, to) == GASNET_OK);
    }
    gasnet_put_val(last, (char*)segments[last].addr + 8 * gasnet_mynode(), 1, 8);
    GASNET_BLOCKUNTIL(answered == 3 * each);
  } else {
    GASNET_BLOCKUNTIL(seen == 3 * each * (int)last);
  }
  barrier_all();
  REQUIRE(early == 0);
  REQUIRE(intact);
  REQUIRE(seen == (is_last() ? 3 * each * (int)last : 0));
  finish();
  return 0;
}
