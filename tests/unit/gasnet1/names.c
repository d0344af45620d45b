/* Uses every name of GASNet-1, and what clients take from gasnet.h beyond the specification, by the
 * types that the specification gives them. Compiled as C and as C++ in every mode, and run as a job
 * of one rank: beside compiling, what can be had without effort is checked.
 *
 * With NAMES_AFTER_GASNETEX defined gasnetex.h comes first.
 */
#ifdef NAMES_AFTER_GASNETEX
#include <gasnetex.h>
#endif
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_INCLUDED_GASNET_H) || !defined(_INCLUDED_GASNETEX_H) || \
    !defined(_INCLUDED_GASNET_TOOLS_H)
#error "gasnet.h is all three"
#endif
#if defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR) != 1
#error "one mode"
#endif
#if (defined(GASNET_SEQ) && GASNET_SEQ != 1) || \
    (defined(GASNET_PARSYNC) && GASNET_PARSYNC != 1) || (defined(GASNET_PAR) && GASNET_PAR != 1)
#error "the mode is normalised to 1"
#endif
#if defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) + \
        defined(GASNET_SEGMENT_EVERYTHING) !=                      \
    1
#error "one segment configuration"
#endif
#if GASNET_SPEC_VERSION_MAJOR != 1 || GASNET_SPEC_VERSION_MINOR < 8 || GASNET_VERSION != 1 || \
    GASNET_RELEASE_VERSION_MAJOR < 2021 || GASNET_RELEASE_VERSION_MINOR < 0 ||                \
    GASNET_RELEASE_VERSION_PATCH < 0
#error "versions"
#endif
#if SIZEOF_GASNET_REGISTER_VALUE_T != 8 || GASNET_PAGESIZE < 4096 || GASNET_MAXNODES < 1024 || \
    GASNET_ALIGNED_SEGMENTS < 0 || GASNET_MAXEPS < 1 || GASNETI_MAX_THREADS < 1 ||             \
    GASNETT_MAX_THREADS < 1 || GASNET_HIDDEN_AM_CONCURRENCY_LEVEL != 0
#error "numbers for the preprocessor"
#endif
#if !GASNET_CONDUIT_SMP || !GASNET_PSHM || !HAVE_PTHREAD_H || !PLATFORM_ARCH_64
#error "guards of clients"
#endif
#if defined(GASNET_DEBUG) + defined(GASNET_NDEBUG) != 1
#error "debug or not"
#endif
#if !defined(GASNET_BLOCKUNTIL) || !defined(GASNET_BEGIN_FUNCTION) || \
    !defined(GASNET_GET_THREADINFO) || !defined(GASNET_POST_THREADINFO)
#error "macros"
#endif

static int failures = 0;
#define CHECK(condition) \
  ((condition) ? (void)0 : (void)(++failures, fprintf(stderr, "%d: %s\n", __LINE__, #condition)))

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static volatile int handled = 0;
static void handle(gasnet_token_t token, const void* buffer, size_t nbytes) {
  gasnet_node_t source = 1;
  CHECK(gasnet_AMGetMsgSource(token, &source) == GASNET_OK && source == 0);
  CHECK(nbytes == 0 || *(const char*)buffer == 'x');
  gasnet_hsl_lock(&lock);
  handled = handled + 1;
  gasnet_hsl_unlock(&lock);
}

#define ARG gasnet_handlerarg_t
#define P0
#define P1 , ARG a0
#define P2 P1, ARG a1
#define P3 P2, ARG a2
#define P4 P3, ARG a3
#define P5 P4, ARG a4
#define P6 P5, ARG a5
#define P7 P6, ARG a6
#define P8 P7, ARG a7
#define P9 P8, ARG a8
#define P10 P9, ARG a9
#define P11 P10, ARG a10
#define P12 P11, ARG a11
#define P13 P12, ARG a12
#define P14 P13, ARG a13
#define P15 P14, ARG a14
#define P16 P15, ARG a15
#define A0
#define A1 , a0
#define A2 A1, a1
#define A3 A2, a2
#define A4 A3, a3
#define A5 A4, a4
#define A6 A5, a5
#define A7 A6, a6
#define A8 A7, a7
#define A9 A8, a8
#define A10 A9, a9
#define A11 A10, a10
#define A12 A11, a11
#define A13 A12, a12
#define A14 A13, a13
#define A15 A14, a14
#define A16 A15, a15
#define V0
#define V1 , 1
#define V2 V1, 2
#define V3 V2, 3
#define V4 V3, 4
#define V5 V4, 5
#define V6 V5, 6
#define V7 V6, 7
#define V8 V7, 8
#define V9 V8, 9
#define V10 V9, 10
#define V11 V10, 11
#define V12 V11, 12
#define V13 V12, 13
#define V14 V13, 14
#define V15 V14, 15
#define V16 V15, 16
#define ALL(each)                                                                          \
  each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9) each(10) \
      each(11) each(12) each(13) each(14) each(15) each(16)

/* Indices: short replies, payload replies, and the requests that they answer. */
enum { short_reply = 128, payload_reply = 145, short_request = 162, medium_request = 179 };
enum { long_request = 196, tables = 85 };
static void* segment;

#define HANDLERS(M)                                                                           \
  static void short_reply_##M(gasnet_token_t token P##M) {                                    \
    const ARG sum[] = {0 A##M};                                                               \
    CHECK(sum[M] == M);                                                                       \
    handle(token, NULL, 0);                                                                   \
  }                                                                                           \
  static void payload_reply_##M(gasnet_token_t token, void* buffer, size_t nbytes P##M) {     \
    const ARG sum[] = {0 A##M};                                                               \
    CHECK(sum[M] == M);                                                                       \
    handle(token, buffer, nbytes);                                                            \
  }                                                                                           \
  static void short_request_##M(gasnet_token_t token P##M) {                                  \
    int result = gasnet_AMReplyShort##M(token, short_reply + M A##M);                         \
    CHECK(result == GASNET_OK);                                                               \
    handle(token, NULL, 0);                                                                   \
  }                                                                                           \
  static void medium_request_##M(gasnet_token_t token, void* buffer, size_t nbytes P##M) {    \
    int result = gasnet_AMReplyMedium##M(token, payload_reply + M, buffer, nbytes A##M);      \
    CHECK(result == GASNET_OK);                                                               \
    handle(token, buffer, nbytes);                                                            \
  }                                                                                           \
  static void long_request_##M(gasnet_token_t token, void* buffer, size_t nbytes P##M) {      \
    void* other = (char*)segment + 64;                                                        \
    int result = gasnet_AMReplyLong##M(token, payload_reply + M, buffer, nbytes, other A##M); \
    CHECK(result == GASNET_OK);                                                               \
    handle(token, buffer, nbytes);                                                            \
  }
ALL(HANDLERS)

#define ENTRY(M)                                            \
  {short_reply + M, (void (*)())short_reply_##M},           \
      {payload_reply + M, (void (*)())payload_reply_##M},   \
      {short_request + M, (void (*)())short_request_##M},   \
      {medium_request + M, (void (*)())medium_request_##M}, \
      {long_request + M, (void (*)())long_request_##M},

static void join(int* argc, char*** argv) {
  gasnet_handlerentry_t table[tables + 1] = {ALL(ENTRY){0, (void (*)())short_reply_0}};
  const uintptr_t bytes = 16 * GASNET_PAGESIZE;
  const uintptr_t heap_offset = 0;
  int result = gasnet_init(argc, argv);
  gasnet_node_t node = gasnet_mynode();
  gasnet_node_t nodes = gasnet_nodes();
  uintptr_t local_limit = gasnet_getMaxLocalSegmentSize();
  uintptr_t global_limit = gasnet_getMaxGlobalSegmentSize();
  char* path = gasnet_getenv("PATH");
  gasnet_seginfo_t info;
  gasnet_nodeinfo_t where;
  CHECK(result == GASNET_OK && node == 0 && nodes == 1);
  CHECK(local_limit >= global_limit && global_limit >= bytes && path != NULL);
  result = gasnet_attach(table, tables + 1, bytes, heap_offset);
  CHECK(result == GASNET_OK && table[tables].index >= 128);
  result = gasnet_getSegmentInfo(&info, 1);
  CHECK(result == GASNET_OK && info.addr != NULL && info.size == bytes);
  segment = info.addr;
  result = gasnet_getNodeInfo(&where, 1);
  CHECK(result == GASNET_OK && where.host == 0 && where.supernode == 0 && where.offset == 0);
}

static void messages(void) {
  char x = 'x';
  void* from = &x;
  size_t args = gasnet_AMMaxArgs();
  size_t medium = gasnet_AMMaxMedium();
  size_t long_out = gasnet_AMMaxLongRequest();
  size_t long_back = gasnet_AMMaxLongReply();
  int result;
  CHECK(args == 16 && medium >= 512 && long_out >= 512 && long_back >= 512);
#define SEND(M)                                                                      \
  handled = 0;                                                                       \
  result = gasnet_AMRequestShort##M(0, short_request + M V##M);                      \
  CHECK(result == GASNET_OK);                                                        \
  result = gasnet_AMRequestMedium##M(0, medium_request + M, from, 1 V##M);           \
  CHECK(result == GASNET_OK);                                                        \
  result = gasnet_AMRequestLong##M(0, long_request + M, from, 1, segment V##M);      \
  CHECK(result == GASNET_OK);                                                        \
  GASNET_BLOCKUNTIL(handled == 6);                                                   \
  result = gasnet_AMRequestLongAsync##M(0, long_request + M, from, 1, segment V##M); \
  CHECK(result == GASNET_OK);                                                        \
  while (handled != 8) CHECK(gasnet_AMPoll() == GASNET_OK);
  ALL(SEND)
}

static void transfers(void) {
  GASNET_BEGIN_FUNCTION();
  gasnet_node_t node = 0;
  void* there = segment;
  char memory[16] = "abcdefghijklmno";
  void* here = memory;
  size_t bytes = 8;
  gasnet_handle_t handles[6];
  gasnet_handle_t region;
  gasnet_valget_handle_t fetched;
  gasnet_register_value_t value = 0x6162636465666768;
  int ready;
  gasnet_put(node, there, here, bytes);
  gasnet_put_bulk(node, there, here, bytes);
  gasnet_get(here, node, there, bytes);
  gasnet_get_bulk(here, node, there, bytes);
  gasnet_memset(node, there, 'x', bytes);
  handles[0] = gasnet_put_nb(node, there, here, bytes);
  handles[1] = gasnet_put_nb_bulk(node, there, here, bytes);
  handles[2] = gasnet_get_nb(here, node, there, bytes);
  handles[3] = gasnet_get_nb_bulk(here, node, there, bytes);
  handles[4] = gasnet_memset_nb(node, there, 'x', bytes);
  handles[5] = gasnet_put_nb_val(node, there, value, bytes);
  gasnet_wait_syncnb(handles[0]);
  handles[0] = GASNET_INVALID_HANDLE;
  do ready = gasnet_try_syncnb(handles[1]);
  while (ready == GASNET_ERR_NOT_READY);
  CHECK(ready == GASNET_OK);
  handles[1] = GASNET_INVALID_HANDLE;
  gasnet_wait_syncnb_some(handles, 6);
  ready = gasnet_try_syncnb_some(handles, 6);
  ready = gasnet_try_syncnb_all(handles, 6);
  gasnet_wait_syncnb_all(handles, 6);
  gasnet_put_nbi(node, there, here, bytes);
  gasnet_put_nbi_bulk(node, there, here, bytes);
  gasnet_get_nbi(here, node, there, bytes);
  gasnet_get_nbi_bulk(here, node, there, bytes);
  gasnet_memset_nbi(node, there, 'x', bytes);
  gasnet_put_nbi_val(node, there, value, bytes);
  ready = gasnet_try_syncnbi_gets();
  ready = gasnet_try_syncnbi_puts();
  ready = gasnet_try_syncnbi_all();
  gasnet_wait_syncnbi_gets();
  gasnet_wait_syncnbi_puts();
  gasnet_wait_syncnbi_all();
  gasnet_begin_nbi_accessregion();
  region = gasnet_end_nbi_accessregion();
  gasnet_wait_syncnb(region);
  gasnet_put_val(node, there, value, bytes);
  value = gasnet_get_val(node, there, bytes);
  fetched = gasnet_get_nb_val(node, there, bytes);
  CHECK(gasnet_wait_syncnb_valget(fetched) == value && value == 0x6162636465666768);
}

static void pieces(void) {
  char memory[64] = "";
  gasnet_memvec_t here;
  gasnet_memvec_t there;
  void* here_list[1];
  void* there_list[1];
  const size_t strides[] = {8};
  const size_t count[] = {4, 2};
  here.addr = memory;
  there.addr = segment;
  here.len = there.len = 12;
  here_list[0] = memory;
  there_list[0] = segment;
  gasnet_putv_bulk(0, 1, &there, 1, &here);
  gasnet_getv_bulk(1, &here, 0, 1, &there);
  gasnet_putv_nbi_bulk(0, 1, &there, 1, &here);
  gasnet_getv_nbi_bulk(1, &here, 0, 1, &there);
  gasnet_wait_syncnb(gasnet_putv_nb_bulk(0, 1, &there, 1, &here));
  gasnet_wait_syncnb(gasnet_getv_nb_bulk(1, &here, 0, 1, &there));
  gasnet_puti_bulk(0, 1, there_list, 12, 1, here_list, 12);
  gasnet_geti_bulk(1, here_list, 12, 0, 1, there_list, 12);
  gasnet_puti_nbi_bulk(0, 1, there_list, 12, 1, here_list, 12);
  gasnet_geti_nbi_bulk(1, here_list, 12, 0, 1, there_list, 12);
  gasnet_wait_syncnb(gasnet_puti_nb_bulk(0, 1, there_list, 12, 1, here_list, 12));
  gasnet_wait_syncnb(gasnet_geti_nb_bulk(1, here_list, 12, 0, 1, there_list, 12));
  gasnet_puts_bulk(0, segment, strides, memory, strides, count, 1);
  gasnet_gets_bulk(memory, strides, 0, segment, strides, count, 1);
  gasnet_puts_nbi_bulk(0, segment, strides, memory, strides, count, 1);
  gasnet_gets_nbi_bulk(memory, strides, 0, segment, strides, count, 1);
  gasnet_wait_syncnb(gasnet_puts_nb_bulk(0, segment, strides, memory, strides, count, 1));
  gasnet_wait_syncnb(gasnet_gets_nb_bulk(memory, strides, 0, segment, strides, count, 1));
  gasnet_wait_syncnbi_all();
}

static void barriers(void) {
  int id = 5;
  int result;
  gasnet_barrier_notify(id, 0);
  result = gasnet_barrier_wait(id, 0);
  CHECK(result == GASNET_OK);
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  do result = gasnet_barrier_try(0, GASNET_BARRIERFLAG_ANONYMOUS);
  while (result == GASNET_ERR_NOT_READY);
  CHECK(result == GASNET_OK);
  result = gasnet_barrier(id, GASNET_BARRIERFLAG_MISMATCH);
  CHECK(result == GASNET_ERR_BARRIER_MISMATCH);
  CHECK(gasnet_barrier(7, 0) == GASNET_OK);
  CHECK(gasnet_barrier_result(&id) == 0 && id == 7);
  CHECK(gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED) == GASNET_OK);
}

static void atomicity(void) {
  gasnet_hsl_t fresh;
  int result;
  gasnet_hsl_init(&fresh);
  result = gasnet_hsl_trylock(&fresh);
  CHECK(result == GASNET_OK);
  gasnet_hsl_unlock(&fresh);
  gasnet_hsl_destroy(&fresh);
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
}

static void environment(void) {
  char* name = gasnet_ErrorName(GASNET_ERR_RESOURCE);
  char* description = gasnet_ErrorDesc(GASNET_ERR_BAD_ARG);
  gasnet_threadinfo_t info = GASNET_GET_THREADINFO();
  GASNET_POST_THREADINFO(info);
  CHECK(strcmp(name, "GASNET_ERR_RESOURCE") == 0 && strlen(description) > 0);
  CHECK(strcmp(gasnet_ErrorName(GASNET_ERR_NOT_INIT), "GASNET_ERR_NOT_INIT") == 0);
  CHECK(gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK) == GASNET_OK);
  CHECK(gasnet_set_waitmode(GASNET_WAIT_BLOCK) == GASNET_OK);
  CHECK(gasnet_set_waitmode(GASNET_WAIT_SPIN) == GASNET_OK);
  CHECK(strncmp(GASNET_CONFIG_STRING, "RELEASE=", 8) == 0);
  CHECK(strcmp(GASNET_CONDUIT_NAME_STR, _STRINGIFY(GASNET_CONDUIT_NAME)) == 0);
  CHECK(strlen(_STRINGIFY(GASNET_CORE_NAME) _STRINGIFY(GASNET_CORE_VERSION)) > 0);
}

/* What clients take beyond the specification, and from the other headers. */
static void beyond(void) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Segment_t bound;
  gasneti_tick_t start = gasneti_ticks_now();
  const void* looked_up[2];
  char text[32];
  gasnet_QueryGexObjects(&client, &endpoint, &team, &bound);
  CHECK(gex_TM_QuerySize(team) == gasnet_nodes() && gex_Segment_QueryAddr(bound) == segment);
  CHECK(gex_EP_QueryClient(endpoint) == client);
  CHECK(gasneti_mynode == gasnet_mynode());
  CHECK(GASNETI_MAKEWORD(GASNETI_HIWORD(0x100000002), GASNETI_LOWORD(0x100000002)) == 0x100000002);
  CHECK(strcmp(gasneti_gethostname(), gasnett_gethostname()) == 0);
  CHECK(gasneti_ticks_to_ns(gasneti_ticks_now() - start) < 1000000000000u);
  gex_Coll_BarrierBlocking(team, 0);
  CHECK(gasnet_client_attach_hook == NULL);
  looked_up[0] = (const void*)(uintptr_t)_gasneti_threadkey_init;
  looked_up[1] = (const void*)(uintptr_t)_gasnett_trace_printf_noop;
  CHECK(looked_up[0] != looked_up[1]);
  if_pf(failures < 0) CHECK(0);
  if_pt(failures >= 0) snprintf(text, sizeof text, "%" PRIuSZ " %" PRIuPTR, sizeof text, start);
  gasnett_local_mb();
  gasnett_local_wmb();
  gasnett_local_rmb();
}

int main(int argc, char** argv) {
  join(&argc, &argv);
  messages();
  transfers();
  pieces();
  barriers();
  atomicity();
  environment();
  beyond();
  gasnet_exit(failures == 0 ? 0 : 1);
  return 0;
}
