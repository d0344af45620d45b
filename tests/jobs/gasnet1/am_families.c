/* Every call of GASNet-1's active messages with every number of arguments: requests short, medium,
 * long and long asynchronous, each answered in a category of its own. A handler is one for all
 * numbers of arguments of a table's index, so each number has its own here.
 */
#include "program.h"

enum { payload = 40 };
enum { brief, medium, lengthy, lengthy_async, categories };

static volatile int requests_seen;
static volatile int replies_seen;
static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;

static void count(volatile int* counter) {
  gasnet_hsl_lock(&lock);
  ++*counter;
  gasnet_hsl_unlock(&lock);
}

/* Argument i of n, all bits in use; payload byte i. */
static gasnet_handlerarg_t argument(unsigned n, unsigned i) {
  return (gasnet_handlerarg_t)(0x9e3779b9u * (n * 31 + i + 1));
}
static unsigned char byte_of(unsigned n, unsigned i) {
  return (unsigned char)(n * 7 + i * 3 + 1);
}
static void fill(unsigned char* bytes, unsigned n) {
  unsigned i;
  for (i = 0; i < payload; ++i) bytes[i] = byte_of(n, i);
}
static void check_payload(const void* buffer, size_t bytes, unsigned n) {
  unsigned i;
  REQUIRE(bytes == payload);
  for (i = 0; i < payload; ++i) REQUIRE(((const unsigned char*)buffer)[i] == byte_of(n, i));
}
static void check_arguments(const gasnet_handlerarg_t* arguments, unsigned n) {
  unsigned i;
  for (i = 0; i < n; ++i) REQUIRE(arguments[i] == argument(n, i));
}

/* Where long messages of n arguments go: requests and replies of each category have a place of
 * their own. */
static void* landing(gasnet_node_t node, unsigned n, unsigned category, int reply) {
  return (char*)segments[node].addr + ((n * categories + category) * 2 + (unsigned)reply) * 64;
}

static gasnet_node_t next(void) {
  return (gasnet_mynode() + 1) % gasnet_nodes();
}
static gasnet_node_t source_of(gasnet_token_t token) {
  gasnet_node_t node = GEX_RANK_INVALID;
  REQUIRE(gasnet_AMGetMsgSource(token, &node) == GASNET_OK);
  return node;
}
static void check_request(gasnet_token_t token) {
  REQUIRE(source_of(token) == (gasnet_mynode() + gasnet_nodes() - 1) % gasnet_nodes());
  count(&requests_seen);
}
static void check_reply(gasnet_token_t token) {
  REQUIRE(source_of(token) == next());
  count(&replies_seen);
}

/* Parameters, the array of them, and them as arguments, by their number. */
#define PARAMETERS_0
#define PARAMETERS_1 , gasnet_handlerarg_t p0
#define PARAMETERS_2 PARAMETERS_1, gasnet_handlerarg_t p1
#define PARAMETERS_3 PARAMETERS_2, gasnet_handlerarg_t p2
#define PARAMETERS_4 PARAMETERS_3, gasnet_handlerarg_t p3
#define PARAMETERS_5 PARAMETERS_4, gasnet_handlerarg_t p4
#define PARAMETERS_6 PARAMETERS_5, gasnet_handlerarg_t p5
#define PARAMETERS_7 PARAMETERS_6, gasnet_handlerarg_t p6
#define PARAMETERS_8 PARAMETERS_7, gasnet_handlerarg_t p7
#define PARAMETERS_9 PARAMETERS_8, gasnet_handlerarg_t p8
#define PARAMETERS_10 PARAMETERS_9, gasnet_handlerarg_t p9
#define PARAMETERS_11 PARAMETERS_10, gasnet_handlerarg_t p10
#define PARAMETERS_12 PARAMETERS_11, gasnet_handlerarg_t p11
#define PARAMETERS_13 PARAMETERS_12, gasnet_handlerarg_t p12
#define PARAMETERS_14 PARAMETERS_13, gasnet_handlerarg_t p13
#define PARAMETERS_15 PARAMETERS_14, gasnet_handlerarg_t p14
#define PARAMETERS_16 PARAMETERS_15, gasnet_handlerarg_t p15
#define VALUES_0
#define VALUES_1 , p0
#define VALUES_2 VALUES_1, p1
#define VALUES_3 VALUES_2, p2
#define VALUES_4 VALUES_3, p3
#define VALUES_5 VALUES_4, p4
#define VALUES_6 VALUES_5, p5
#define VALUES_7 VALUES_6, p6
#define VALUES_8 VALUES_7, p7
#define VALUES_9 VALUES_8, p8
#define VALUES_10 VALUES_9, p9
#define VALUES_11 VALUES_10, p10
#define VALUES_12 VALUES_11, p11
#define VALUES_13 VALUES_12, p12
#define VALUES_14 VALUES_13, p13
#define VALUES_15 VALUES_14, p14
#define VALUES_16 VALUES_15, p15
#define FRESH_0
#define FRESH_1 , argument(n, 0)
#define FRESH_2 FRESH_1, argument(n, 1)
#define FRESH_3 FRESH_2, argument(n, 2)
#define FRESH_4 FRESH_3, argument(n, 3)
#define FRESH_5 FRESH_4, argument(n, 4)
#define FRESH_6 FRESH_5, argument(n, 5)
#define FRESH_7 FRESH_6, argument(n, 6)
#define FRESH_8 FRESH_7, argument(n, 7)
#define FRESH_9 FRESH_8, argument(n, 8)
#define FRESH_10 FRESH_9, argument(n, 9)
#define FRESH_11 FRESH_10, argument(n, 10)
#define FRESH_12 FRESH_11, argument(n, 11)
#define FRESH_13 FRESH_12, argument(n, 12)
#define FRESH_14 FRESH_13, argument(n, 13)
#define FRESH_15 FRESH_14, argument(n, 14)
#define FRESH_16 FRESH_15, argument(n, 15)

#define FOR_ALL(each)                                                                      \
  each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9) each(10) \
      each(11) each(12) each(13) each(14) each(15) each(16)

enum { handlers_each = 6 };
static struct program_handler handlers[17 * handlers_each];
enum { short_request, payload_request, long_request, short_reply, medium_reply, long_reply };
static gasnet_handler_t index_of(unsigned n, unsigned which) {
  return handlers[n * handlers_each + which].index;
}

/* A short request is answered by a medium reply, a medium by a long one, a long one of either kind
 * by a short one. */
#define FAMILY(M)                                                                                 \
  static void on_short_request_##M(gasnet_token_t token PARAMETERS_##M) {                         \
    const gasnet_handlerarg_t arguments[] = {0 VALUES_##M};                                       \
    unsigned char bytes[payload];                                                                 \
    check_arguments(arguments + 1, M);                                                            \
    check_request(token);                                                                         \
    fill(bytes, M);                                                                               \
    REQUIRE(gasnet_AMReplyMedium##M(token, index_of(M, medium_reply), bytes,                      \
                                    payload VALUES_##M) == GASNET_OK);                            \
    memset(bytes, 0, sizeof bytes);                                                               \
  }                                                                                               \
  static void on_payload_request_##M(gasnet_token_t token, void* buffer,                          \
                                     size_t nbytes PARAMETERS_##M) {                              \
    const gasnet_handlerarg_t arguments[] = {0 VALUES_##M};                                       \
    REQUIRE((uintptr_t)buffer % 8 == 0);                                                          \
    check_payload(buffer, nbytes, M);                                                             \
    check_arguments(arguments + 1, M);                                                            \
    check_request(token);                                                                         \
    REQUIRE(gasnet_AMReplyLong##M(token, index_of(M, long_reply), buffer, nbytes,                 \
                                  landing(source_of(token), M, medium, 1)                         \
                                      VALUES_##M) == GASNET_OK);                                  \
  }                                                                                               \
  static void on_long_request_##M(gasnet_token_t token, void* buffer,                             \
                                  size_t nbytes PARAMETERS_##M) {                                 \
    const gasnet_handlerarg_t arguments[] = {0 VALUES_##M};                                       \
    REQUIRE(buffer == landing(gasnet_mynode(), M, lengthy, 0) ||                                  \
            buffer == landing(gasnet_mynode(), M, lengthy_async, 0));                             \
    check_payload(buffer, nbytes, M);                                                             \
    check_arguments(arguments + 1, M);                                                            \
    check_request(token);                                                                         \
    REQUIRE(gasnet_AMReplyShort##M(token, index_of(M, short_reply) VALUES_##M) == GASNET_OK);     \
  }                                                                                               \
  static void on_short_reply_##M(gasnet_token_t token PARAMETERS_##M) {                           \
    const gasnet_handlerarg_t arguments[] = {0 VALUES_##M};                                       \
    check_arguments(arguments + 1, M);                                                            \
    check_reply(token);                                                                           \
  }                                                                                               \
  static void on_medium_reply_##M(gasnet_token_t token, void* buffer,                             \
                                  size_t nbytes PARAMETERS_##M) {                                 \
    const gasnet_handlerarg_t arguments[] = {0 VALUES_##M};                                       \
    check_payload(buffer, nbytes, M);                                                             \
    check_arguments(arguments + 1, M);                                                            \
    check_reply(token);                                                                           \
  }                                                                                               \
  static void on_long_reply_##M(gasnet_token_t token, void* buffer,                               \
                                size_t nbytes PARAMETERS_##M) {                                   \
    const gasnet_handlerarg_t arguments[] = {0 VALUES_##M};                                       \
    REQUIRE(buffer == landing(gasnet_mynode(), M, medium, 1));                                    \
    check_payload(buffer, nbytes, M);                                                             \
    check_arguments(arguments + 1, M);                                                            \
    check_reply(token);                                                                           \
  }                                                                                               \
  static void send_##M(void) {                                                                    \
    static unsigned char async_bytes[payload];                                                    \
    const unsigned n = M;                                                                         \
    unsigned char bytes[payload];                                                                 \
    fill(async_bytes, n);                                                                         \
    fill(bytes, n);                                                                               \
    REQUIRE(gasnet_AMRequestShort##M(next(), index_of(n, short_request) FRESH_##M) == GASNET_OK); \
    REQUIRE(gasnet_AMRequestMedium##M(next(), index_of(n, payload_request), bytes,                \
                                      payload FRESH_##M) == GASNET_OK);                           \
    REQUIRE(gasnet_AMRequestLong##M(next(), index_of(n, long_request), bytes, payload,            \
                                    landing(next(), n, lengthy, 0) FRESH_##M) == GASNET_OK);      \
    REQUIRE(gasnet_AMRequestLongAsync##M(next(), index_of(n, long_request), async_bytes, payload, \
                                         landing(next(), n, lengthy_async, 0)                     \
                                             FRESH_##M) == GASNET_OK);                            \
    memset(bytes, 0, sizeof bytes);                                                               \
  }
FOR_ALL(FAMILY)

static void add(unsigned n, unsigned which, void (*function)(), gex_Flags_t flags) {
  struct program_handler* handler = &handlers[n * handlers_each + which];
  handler->index = 0;
  handler->function = function;
  handler->flags = flags;
  handler->arguments = n;
}
#define ADD(M)                                                                                   \
  add(M, short_request, HANDLER(on_short_request_##M), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST); \
  add(M, payload_request, HANDLER(on_payload_request_##M),                                       \
      GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST);                                                 \
  add(M, long_request, HANDLER(on_long_request_##M), GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST);    \
  add(M, short_reply, HANDLER(on_short_reply_##M), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY);       \
  add(M, medium_reply, HANDLER(on_medium_reply_##M), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY);    \
  add(M, long_reply, HANDLER(on_long_reply_##M), GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY);
#define SEND(M) send_##M();

int main(int argc, char** argv) {
  const int expected = 17 * 4;
  int round;
  FOR_ALL(ADD)
  start(&argc, &argv, handlers, 17 * handlers_each, 4 * GASNET_PAGESIZE);
  for (round = 1; round <= 3; ++round) {
    FOR_ALL(SEND)
    GASNET_BLOCKUNTIL(replies_seen == round * expected);
    GASNET_BLOCKUNTIL(requests_seen == round * expected);
    barrier_all();
  }
  finish();
  return 0;
}
