/* Copies between the memory of the host and of two CUDA devices, in all nine combinations, from
 * each rank to the next. Build it as the other examples, and run it with:
 *
 *   gexrun -n 2 ./memory_kinds
 */
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnetex.h>
#include <stdio.h>
#include <string.h>

enum { bytes = 1 << 16, memories = 3 };

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t primordial;
  gex_TM_t team;
  gex_Client_Init(&client, &primordial, &team, "KINDS", &argc, &argv, 0);
  const gex_Rank_t rank = gex_TM_QueryRank(team);
  const gex_Rank_t next = (rank + 1) % gex_TM_QuerySize(team);

  /* Memory 0 is the host's, 1 and 2 are of devices, which may be one and the same. */
  gex_EP_t endpoints[memories];
  char* own[memories];
  for (int m = 0; m < memories; ++m) {
    gex_MK_t kind = GEX_MK_HOST;
    gex_MK_Create_args_t args;
    memset(&args, 0, sizeof args);
    args.gex_class = GEX_MK_CLASS_CUDA_UVA;
    args.gex_args.gex_class_cuda_uva.gex_CUdevice = m - 1;
    if (m > 0 && gex_MK_Create(&kind, client, &args, 0) != GASNET_OK) {
      args.gex_args.gex_class_cuda_uva.gex_CUdevice = 0;
      if (gex_MK_Create(&kind, client, &args, 0) != GASNET_OK) {
        fprintf(stderr, "rank %u has no CUDA device\n", (unsigned)rank);
        gasnet_exit(1);
      }
    }
    gex_Segment_t segment;
    if (gex_Segment_Create(&segment, client, NULL, 2 * bytes, kind, 0) != GASNET_OK) gasnet_exit(1);
    own[m] = gex_Segment_QueryAddr(segment);
    gex_EP_Create(&endpoints[m], client, GEX_EP_CAPABILITY_RMA, 0);
    gex_EP_BindSegment(endpoints[m], segment, 0);
  }
  gex_EP_PublishBoundSegment(team, endpoints, memories, 0);

  unsigned char values[bytes], found[bytes];
  unsigned wrong = 0;
  for (int from = 0; from < memories; ++from)
    for (int to = 0; to < memories; ++to) {
      /* Each segment has two halves: the lower is a source, the upper a target. */
      const gex_TM_t pair = gex_TM_Pair(endpoints[from], gex_EP_QueryIndex(endpoints[to]));
      const gex_TM_t from_host = gex_TM_Pair(endpoints[0], gex_EP_QueryIndex(endpoints[from]));
      const gex_TM_t to_host = gex_TM_Pair(endpoints[0], gex_EP_QueryIndex(endpoints[to]));
      void* there;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, next, &there, NULL, NULL, 0));
      for (int i = 0; i < bytes; ++i)
        values[i] = (unsigned char)(i * 7 + from * 3 + to + (int)rank);
      gex_RMA_PutBlocking(from_host, rank, own[from], values, bytes, 0);
      gex_Event_Wait(
          gex_RMA_PutNB(pair, next, (char*)there + bytes, own[from], bytes, GEX_EVENT_DEFER, 0));
      gex_RMA_GetBlocking(to_host, found, next, (char*)there + bytes, bytes, 0);
      if (memcmp(values, found, bytes) != 0) ++wrong;
      gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    }
  printf("rank %u: %u of %d copies are wrong\n", (unsigned)rank, wrong, memories * memories);
  fflush(stdout);
  gasnet_exit(wrong != 0);
}
