/* The heat equation on a plate whose rows are divided among ranks, each of which has its part in
 * the memory of a CUDA device. After every step the ranks put their outermost rows into the memory
 * of their neighbors' devices. Build it as the other examples, and run it with:
 *
 *   gexrun -n 2 ./heat
 *
 * The driver compiles the kernel below, so that no toolkit is needed. With a driver that loads no
 * kernels the host computes, and copies every part from and to its device; rank 0 prints which.
 */
#include <dlfcn.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnetex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows and columns of a part; a row of a neighbor's, or of the plate's edge, is above and below it.
 */
enum { rows = 48, columns = 96, steps = 40, block_size = 128 };
enum { row_bytes = columns * sizeof(double), part_bytes = (rows + 2) * row_bytes };
static const double flow = 0.2;

/* Cell (i, j) of `to` follows from that of `from` and its four neighbors; the first and the last
 * column stay. */
static const char kernel[] =
    ".version 6.0\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry step(.param .u64 from, .param .u64 to, .param .u32 rows,\n"
    "                     .param .u32 columns, .param .f64 flow)\n"
    "{\n"
    "  .reg .pred %p<2>;\n"
    "  .reg .u32 %r<11>;\n"
    "  .reg .u64 %a<9>;\n"
    "  .reg .f64 %d<13>;\n"
    "  mov.u32 %r1, %ctaid.x;\n"
    "  mov.u32 %r2, %ntid.x;\n"
    "  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3;\n" /* number of the cell */
    "  ld.param.u32 %r5, [rows];\n"
    "  ld.param.u32 %r6, [columns];\n"
    "  mul.lo.u32 %r7, %r5, %r6;\n"
    "  setp.ge.u32 %p1, %r4, %r7;\n"
    "  @%p1 bra done;\n"
    "  rem.u32 %r8, %r4, %r6;\n" /* its column */
    "  setp.eq.u32 %p1, %r8, 0;\n"
    "  @%p1 bra done;\n"
    "  add.u32 %r8, %r8, 1;\n"
    "  setp.eq.u32 %p1, %r8, %r6;\n"
    "  @%p1 bra done;\n"
    "  add.u32 %r9, %r4, %r6;\n" /* one row further down, behind the neighbor's */
    "  mul.wide.u32 %a1, %r9, 8;\n"
    "  mul.wide.u32 %a2, %r6, 8;\n"
    "  ld.param.u64 %a3, [from];\n"
    "  ld.param.u64 %a4, [to];\n"
    "  cvta.to.global.u64 %a3, %a3;\n"
    "  cvta.to.global.u64 %a4, %a4;\n"
    "  add.u64 %a5, %a3, %a1;\n"
    "  add.u64 %a6, %a4, %a1;\n"
    "  sub.u64 %a7, %a5, %a2;\n"
    "  add.u64 %a8, %a5, %a2;\n"
    "  ld.global.f64 %d1, [%a5];\n"
    "  ld.global.f64 %d2, [%a5+-8];\n"
    "  ld.global.f64 %d3, [%a5+8];\n"
    "  ld.global.f64 %d4, [%a7];\n"
    "  ld.global.f64 %d5, [%a8];\n"
    "  ld.param.f64 %d6, [flow];\n"
    "  add.rn.f64 %d7, %d2, %d3;\n"
    "  add.rn.f64 %d8, %d7, %d4;\n"
    "  add.rn.f64 %d9, %d8, %d5;\n"
    "  fma.rn.f64 %d10, %d1, 0dC010000000000000, %d9;\n" /* -4 */
    "  fma.rn.f64 %d11, %d10, %d6, %d1;\n"
    "  st.global.f64 [%a6], %d11;\n"
    "done:\n"
    "  ret;\n"
    "}\n";

static void step_on_host(const double* from, double* to, int count) {
  for (int i = 1; i <= count; ++i)
    for (int j = 1; j < columns - 1; ++j) {
      const double* cell = from + i * columns + j;
      to[i * columns + j] =
          cell[0] + flow * (cell[-1] + cell[1] + cell[-columns] + cell[columns] - 4 * cell[0]);
    }
}

/* What launches the kernel; a program that has CUDA's toolkit includes cuda.h and links libcuda. */
static struct {
  int (*retain_primary_context)(void** context, int device);
  int (*push_context)(void* context);
  int (*pop_context)(void** context);
  int (*load_module)(void** module, const void* image);
  int (*find_function)(void** function, void* module, const char* name);
  int (*launch)(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                unsigned shared_bytes, void* stream, void** parameters, void** extra);
  int (*synchronize)(void);
} driver;
static void *context, *function;

static int load_kernel(void) {
  const char* name = getenv("GEX_CUDA_LIBRARY");
  void* library = dlopen(name != NULL ? name : "libcuda.so.1", RTLD_NOW);
  if (library == NULL) return 0;
  const struct {
    void* place;
    const char* name;
  } functions[] = {{&driver.retain_primary_context, "cuDevicePrimaryCtxRetain"},
                   {&driver.push_context, "cuCtxPushCurrent_v2"},
                   {&driver.pop_context, "cuCtxPopCurrent_v2"},
                   {&driver.load_module, "cuModuleLoadData"},
                   {&driver.find_function, "cuModuleGetFunction"},
                   {&driver.launch, "cuLaunchKernel"},
                   {&driver.synchronize, "cuCtxSynchronize"}};
  for (unsigned i = 0; i < sizeof functions / sizeof functions[0]; ++i) {
    void* found = dlsym(library, functions[i].name);
    if (found == NULL) return 0;
    memcpy(functions[i].place, &found, sizeof found);
  }
  void *module = NULL, *popped = NULL;
  if (driver.retain_primary_context(&context, 0) != 0 || driver.push_context(context) != 0)
    return 0;
  const int loaded = driver.load_module(&module, kernel) == 0 &&
                     driver.find_function(&function, module, "step") == 0;
  driver.pop_context(&popped);
  return loaded;
}

static int step_on_device(char* from, char* to) {
  uint64_t addresses[] = {(uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)to};
  uint32_t sizes[] = {rows, columns};
  double factor = flow;
  void* parameters[] = {&addresses[0], &addresses[1], &sizes[0], &sizes[1], &factor};
  void* popped = NULL;
  if (driver.push_context(context) != 0) return 0;
  /* Puts of libgex wait for no stream of the program's: the kernel must have ended. */
  const unsigned blocks = (rows * columns + block_size - 1) / block_size;
  const int ended =
      driver.launch(function, blocks, 1, 1, block_size, 1, 1, 0, NULL, parameters, NULL) == 0 &&
      driver.synchronize() == 0;
  driver.pop_context(&popped);
  return ended;
}

/* The plate at the beginning: warm at its edges, the more the further down and right. */
static double initial(int row, int column, int all_rows) {
  if (row == 0 || row == all_rows + 1 || column == 0 || column == columns - 1)
    return 1.0 + row + 0.5 * column;
  return 0;
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t primordial, endpoint;
  gex_TM_t team;
  gex_Client_Init(&client, &primordial, &team, "HEAT", &argc, &argv, 0);
  const int rank = (int)gex_TM_QueryRank(team), ranks = (int)gex_TM_QuerySize(team);

  /* Two parts, of which each step reads one and writes the other. */
  gex_MK_t kind;
  gex_MK_Create_args_t args;
  gex_Segment_t segment;
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_CUDA_UVA;
  if (gex_MK_Create(&kind, client, &args, 0) != GASNET_OK ||
      gex_Segment_Create(&segment, client, NULL, 2 * part_bytes, kind, 0) != GASNET_OK) {
    fprintf(stderr, "rank %d has no memory of a CUDA device\n", rank);
    gasnet_exit(1);
  }
  gex_EP_Create(&endpoint, client, GEX_EP_CAPABILITY_RMA, 0);
  gex_EP_BindSegment(endpoint, segment, 0);
  gex_EP_PublishBoundSegment(team, &endpoint, 1, 0);
  const gex_TM_t devices = gex_TM_Pair(endpoint, gex_EP_QueryIndex(endpoint));
  const gex_TM_t from_host = gex_TM_Pair(primordial, gex_EP_QueryIndex(endpoint));
  char* own = gex_Segment_QueryAddr(segment);

  static double part[(rows + 2) * columns], next[(rows + 2) * columns];
  for (int i = 0; i < rows + 2; ++i)
    for (int j = 0; j < columns; ++j)
      part[i * columns + j] = initial(rank * rows + i, j, ranks * rows);
  for (int buffer = 0; buffer < 2; ++buffer)
    gex_RMA_PutBlocking(from_host, rank, own + buffer * part_bytes, part, part_bytes, 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));

  const int has_kernel = load_kernel();
  if (rank == 0)
    printf("each step is computed %s\n", has_kernel ? "by a kernel on the device" : "on the host");
  for (int step = 0; step < steps; ++step) {
    const size_t from = step % 2 * (size_t)part_bytes, to = (step + 1) % 2 * (size_t)part_bytes;
    if (!has_kernel) {
      gex_RMA_GetBlocking(from_host, part, rank, own + from, part_bytes, 0);
      memcpy(next, part, part_bytes);
      step_on_host(part, next, rows);
      gex_RMA_PutBlocking(from_host, rank, own + to + row_bytes, next + columns, rows * row_bytes,
                          0);
    } else if (!step_on_device(own + from, own + to)) {
      fprintf(stderr, "rank %d: the kernel failed\n", rank);
      gasnet_exit(1);
    }
    /* From one device's memory to another's. */
    for (int side = -1; side <= 1; side += 2) {
      if (rank + side < 0 || rank + side >= ranks) continue;
      const size_t source = (side < 0 ? 1 : rows) * (size_t)row_bytes;
      const size_t target = (side < 0 ? rows + 1 : 0) * (size_t)row_bytes;
      gex_RMA_PutNBI(devices, (gex_Rank_t)(rank + side), (void*)(uintptr_t)(to + target),
                     own + to + source, row_bytes, GEX_EVENT_DEFER, GEX_FLAG_PEER_SEG_OFFSET);
    }
    gex_NBI_Wait(GEX_EC_PUT, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  }

  /* Rank 0 fetches all parts and compares them with the whole plate, computed by itself. */
  int wrong = 0;
  if (rank == 0) {
    const int all_rows = ranks * rows;
    double* plate[2];
    for (int buffer = 0; buffer < 2; ++buffer) {
      plate[buffer] = malloc((all_rows + 2) * (size_t)row_bytes);
      for (int i = 0; i < all_rows + 2; ++i)
        for (int j = 0; j < columns; ++j) plate[buffer][i * columns + j] = initial(i, j, all_rows);
    }
    for (int step = 0; step < steps; ++step)
      step_on_host(plate[step % 2], plate[(step + 1) % 2], all_rows);
    double largest = 0;
    for (int owner = 0; owner < ranks; ++owner) {
      gex_RMA_GetBlocking(from_host, part, (gex_Rank_t)owner,
                          (void*)(uintptr_t)(steps % 2 * part_bytes), part_bytes,
                          GEX_FLAG_PEER_SEG_OFFSET);
      for (int i = columns; i < (rows + 1) * columns; ++i) {
        const double right = plate[steps % 2][owner * rows * columns + i];
        if (!(fabs(part[i] - right) <= 1e-9 * (1 + fabs(right)))) ++wrong;
        largest = fmax(largest, part[i]);
      }
    }
    printf("after %d steps on %d ranks %d of %d cells are wrong, the warmest has %g\n", steps,
           ranks, wrong, all_rows * columns, largest);
    fflush(stdout);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(wrong != 0);
}
