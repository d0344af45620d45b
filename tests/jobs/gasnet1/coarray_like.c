/* A small coarray runtime on GASNet-1, in the manner of those that compilers call: images, coarrays
 * in the segment, sections of arrays by strided and vector transfers, sync images by counted
 * messages, events, collective sums by medium messages, notified puts by long messages, critical
 * sections.
 */
#include "program.h"

enum { rows = 24, columns = 40, segment_bytes = 32 * GASNET_PAGESIZE };

static int image; /* from 0 */
static int images;

/* The coarrays: at these offsets of every image's segment. */
enum { matrix_at = 0, landing_at = 65536, event_at = 100000 };
static void* remote(int of, size_t offset) {
  return (char*)segments[of].addr + offset;
}
static double* matrix(void) {
  return (double*)remote(image, matrix_at);
}

static struct program_handler handlers[6];
enum { sync_images, partial_sum, put_notice, put_done, lock_request, lock_answer };

/* sync images: a count for each other image of how often it has arrived. */
static gasnet_hsl_t state = GASNET_HSL_INITIALIZER;
static volatile int* arrivals;
static int* expected;

static void on_sync(gasnet_token_t token) {
  gasnet_node_t from;
  REQUIRE(gasnet_AMGetMsgSource(token, &from) == GASNET_OK);
  gasnet_hsl_lock(&state);
  ++arrivals[from];
  gasnet_hsl_unlock(&state);
}
static void sync_with(const int* others, int count) {
  int i;
  gasnet_wait_syncnbi_all();
  for (i = 0; i < count; ++i)
    REQUIRE(gasnet_AMRequestShort0((gasnet_node_t)others[i], handlers[sync_images].index) ==
            GASNET_OK);
  for (i = 0; i < count; ++i) {
    ++expected[others[i]];
    GASNET_BLOCKUNTIL(arrivals[others[i]] >= expected[others[i]]);
  }
}
static void sync_all(void) {
  gasnet_wait_syncnbi_all();
  gasnet_barrier_notify(image, GASNET_BARRIERFLAG_ANONYMOUS);
  REQUIRE(gasnet_barrier_wait(image, GASNET_BARRIERFLAG_ANONYMOUS) == GASNET_OK);
}

/* co_sum to image 0: contributions are added by the handler, and the result is got. */
enum { sum_length = 16 };
static double sum[sum_length];
static volatile int contributions;

static void on_partial_sum(gasnet_token_t token, void* buffer, size_t bytes,
                           gasnet_handlerarg_t length) {
  double values[sum_length];
  int i;
  (void)token;
  REQUIRE(length == sum_length && bytes == sizeof values);
  memcpy(values, buffer, bytes);
  gasnet_hsl_lock(&state);
  for (i = 0; i < sum_length; ++i) sum[i] += values[i];
  ++contributions;
  gasnet_hsl_unlock(&state);
}

/* A put that notifies its target, and then its source that the payload may be changed. */
static volatile int notices;
static volatile int puts_done;
static void on_put_notice(gasnet_token_t token, void* buffer, size_t bytes,
                          gasnet_handlerarg_t from) {
  gasnet_node_t source;
  size_t i;
  REQUIRE(gasnet_AMGetMsgSource(token, &source) == GASNET_OK && (int)source == from);
  REQUIRE(buffer == remote(image, landing_at + 2048u * (unsigned)from));
  for (i = 0; i < bytes; ++i) REQUIRE(((unsigned char*)buffer)[i] == (unsigned char)(from + 1));
  ++notices;
  REQUIRE(gasnet_AMReplyShort1(token, handlers[put_done].index, (gasnet_handlerarg_t)bytes) ==
          GASNET_OK);
}
static void on_put_done(gasnet_token_t token, gasnet_handlerarg_t bytes) {
  (void)token;
  REQUIRE(bytes > 0);
  ++puts_done;
}

/* A lock at image 0: the handler takes it or reports that it is taken. */
static int lock_holder = -1;
static volatile int lock_result;
static void on_lock_request(gasnet_token_t token, gasnet_handlerarg_t wanted) {
  gasnet_node_t from;
  int result;
  REQUIRE(gasnet_AMGetMsgSource(token, &from) == GASNET_OK);
  if (gasnet_hsl_trylock(&state) != GASNET_OK) gasnet_hsl_lock(&state);
  if (wanted) {
    result = lock_holder == -1;
    if (result) lock_holder = (int)from;
  } else {
    REQUIRE(lock_holder == (int)from);
    lock_holder = -1;
    result = 1;
  }
  gasnet_hsl_unlock(&state);
  REQUIRE(gasnet_AMReplyShort1(token, handlers[lock_answer].index, result ? 1 : 2) == GASNET_OK);
}
static void on_lock_answer(gasnet_token_t token, gasnet_handlerarg_t result) {
  (void)token;
  lock_result = result;
}
static int ask_lock(int wanted) {
  lock_result = 0;
  REQUIRE(gasnet_AMRequestShort1(0, handlers[lock_request].index, wanted) == GASNET_OK);
  GASNET_BLOCKUNTIL(lock_result != 0);
  return lock_result == 1;
}

static double value(int of, int row, int column) {
  return of * 10000.0 + row * 100.0 + column;
}
static void fill_matrix(void) {
  int row;
  int column;
  for (row = 0; row < rows; ++row)
    for (column = 0; column < columns; ++column)
      matrix()[row * columns + column] = value(image, row, column);
}

/* a(:) = b(3:22:2, 5:36:3)[to], and the other way round. */
static void test_sections(void) {
  enum { first_row = 3, row_step = 2, row_count = 10 };
  enum { first_column = 5, column_step = 3, column_count = 11 };
  const int to = (image + 1) % images;
  const size_t remote_strides[] = {column_step * sizeof(double),
                                   row_step * columns * sizeof(double)};
  const size_t local_strides[] = {sizeof(double), column_count * sizeof(double)};
  const size_t count[] = {sizeof(double), column_count, row_count};
  double section[row_count * column_count];
  void* start = remote(to, matrix_at + (first_row * columns + first_column) * sizeof(double));
  int row;
  int column;
  fill_matrix();
  sync_all();
  gasnet_gets_bulk(section, local_strides, (gasnet_node_t)to, start, remote_strides, count, 2);
  for (row = 0; row < row_count; ++row)
    for (column = 0; column < column_count; ++column)
      REQUIRE(section[row * column_count + column] ==
              value(to, first_row + row * row_step, first_column + column * column_step));
  sync_all();
  for (row = 0; row < row_count * column_count; ++row) section[row] = -section[row];
  gasnet_puts_nbi_bulk((gasnet_node_t)to, start, remote_strides, section, local_strides, count, 2);
  sync_all();
  for (row = 0; row < rows; ++row)
    for (column = 0; column < columns; ++column) {
      const int in_rows = row >= first_row && row < first_row + row_count * row_step &&
                          (row - first_row) % row_step == 0;
      const int in_columns = column >= first_column &&
                             column < first_column + column_count * column_step &&
                             (column - first_column) % column_step == 0;
      const double was = value(image, row, column);
      REQUIRE(matrix()[row * columns + column] == (in_rows && in_columns ? -was : was));
    }
  sync_all();
}

/* The diagonal, as a list of elements on one side and one vector on the other. */
static void test_vector(void) {
  const int to = (image + 2) % images;
  gasnet_memvec_t remote_list[rows];
  gasnet_memvec_t local;
  double diagonal[rows];
  gasnet_handle_t handle;
  int i;
  fill_matrix();
  sync_all();
  for (i = 0; i < rows; ++i) {
    remote_list[i].addr = remote(to, matrix_at + (size_t)(i * columns + i) * sizeof(double));
    remote_list[i].len = sizeof(double);
  }
  local.addr = diagonal;
  local.len = sizeof diagonal;
  gasnet_getv_bulk(1, &local, (gasnet_node_t)to, rows, remote_list);
  for (i = 0; i < rows; ++i) REQUIRE(diagonal[i] == value(to, i, i));
  sync_all();
  for (i = 0; i < rows; ++i) diagonal[i] = i + 0.5;
  handle = gasnet_putv_nb_bulk((gasnet_node_t)to, rows, remote_list, 1, &local);
  gasnet_wait_syncnb(handle);
  sync_all();
  for (i = 0; i < rows; ++i) REQUIRE(matrix()[i * columns + i] == i + 0.5);
  sync_all();
}

static void test_sync_images(void) {
  int others[2];
  int round;
  others[0] = (image + 1) % images;
  others[1] = (image + images - 1) % images;
  for (round = 0; round < 20; ++round) {
    gasnet_put_nbi_val((gasnet_node_t)others[0], remote(others[0], event_at), (unsigned)round, 4);
    sync_with(others, images > 2 ? 2 : 1);
    REQUIRE(*(volatile uint32_t*)remote(image, event_at) == (uint32_t)round);
    sync_with(others, images > 2 ? 2 : 1);
  }
  sync_all();
}

static void test_co_sum(void) {
  double mine[sum_length];
  int i;
  for (i = 0; i < sum_length; ++i) mine[i] = image + i * 0.25;
  /* Not a signal-safe function: what a handler could be inside of must not be interrupted. */
  gasnet_hold_interrupts();
  free(malloc(100));
  gasnet_resume_interrupts();
  REQUIRE(gasnet_AMRequestMedium1(0, handlers[partial_sum].index, mine, sizeof mine, sum_length) ==
          GASNET_OK);
  if (image == 0) {
    GASNET_BLOCKUNTIL(contributions == images);
    memcpy(remote(0, landing_at), sum, sizeof sum);
  }
  sync_all();
  gasnet_get(mine, 0, remote(0, landing_at), sizeof mine);
  for (i = 0; i < sum_length; ++i)
    REQUIRE(mine[i] == images * (images - 1) / 2.0 + images * i * 0.25);
  sync_all();
}

static void test_notified_puts(void) {
  static unsigned char payload[1500];
  int to;
  memset(payload, image + 1, sizeof payload);
  for (to = 0; to < images; ++to)
    REQUIRE(gasnet_AMRequestLongAsync1(
                (gasnet_node_t)to, handlers[put_notice].index, payload, sizeof payload - (size_t)to,
                remote(to, landing_at + 2048u * (unsigned)image), image) == GASNET_OK);
  GASNET_BLOCKUNTIL(puts_done == images);
  memset(payload, 0, sizeof payload);
  GASNET_BLOCKUNTIL(notices == images);
  sync_all();
}

static void test_critical(void) {
  int round;
  if (image == 0) memset(remote(0, event_at), 0, 8);
  sync_all();
  for (round = 0; round < 10; ++round) {
    uint64_t count;
    while (!ask_lock(1)) gasnet_AMPoll();
    gasnet_get(&count, 0, remote(0, event_at), sizeof count);
    ++count;
    gasnet_put(0, remote(0, event_at), &count, sizeof count);
    REQUIRE(ask_lock(0));
  }
  sync_all();
  REQUIRE(gasnet_get_val(0, remote(0, event_at), 8) == (gasnet_register_value_t)(10 * images));
  sync_all();
}

static void add(int which, void (*function)(), gex_Flags_t flags, unsigned arguments) {
  handlers[which].index = 0;
  handlers[which].function = function;
  handlers[which].flags = flags;
  handlers[which].arguments = arguments;
}

int main(int argc, char** argv) {
  add(sync_images, HANDLER(on_sync), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0);
  add(partial_sum, HANDLER(on_partial_sum), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1);
  add(put_notice, HANDLER(on_put_notice), GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1);
  add(put_done, HANDLER(on_put_done), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1);
  add(lock_request, HANDLER(on_lock_request), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1);
  add(lock_answer, HANDLER(on_lock_answer), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1);
  start(&argc, &argv, handlers, 6, segment_bytes);
  image = (int)gasnet_mynode();
  images = (int)gasnet_nodes();
  arrivals = (volatile int*)calloc((size_t)images, sizeof(int));
  expected = (int*)calloc((size_t)images, sizeof(int));
  sync_all();
  test_sections();
  test_vector();
  test_sync_images();
  test_co_sum();
  test_notified_puts();
  test_critical();
  free((void*)(uintptr_t)arrivals);
  free(expected);
  finish();
  return 0;
}
