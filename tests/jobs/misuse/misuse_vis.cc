// Calls of gasnet_vis.h that the checking library must refuse, in one line that names the call and
// the argument: misuse_vis CASE. A case that comes through exits with status 0.

#include <gasnet_vis.h>

#include <cstdint>

#include "misuse.h"

namespace {

using namespace misuse;

char local[32768];

/// 1024 elements of 8 bytes, at every second place: 16376 bytes from the first to the last.
constexpr std::size_t count[] = {32, 32};
constexpr std::ptrdiff_t spread[] = {16, 512};
constexpr std::ptrdiff_t dense[] = {8, 256};

void put(char* to, gex_Flags_t flags = 0) {
  gex_Event_Wait(gex_VIS_StridedPutNB(team, peer, to, spread, local, dense, 8, count, 2, flags));
}

/// Arms a handler, and lets a put go by whose peer cannot run it.
void notify(gex_AM_Index_t handler) {
  gex_VIS_SetPeerCompletionHandler(handler, nullptr, 0, 0);
  put(peers);
  // Until the peer, which is polled here as well, has reported it.
  for (;;) gasnet_AMPoll();
}

const Cases& cases() {
  static const Cases table = {
      {"strides_past_the_end",
       [] {
         const std::size_t one_more[] = {32, 32, 2};
         const std::ptrdiff_t there[] = {16, 512, 16};
         const std::ptrdiff_t here[] = {8, 256, 8192};
         put(peers);
         gex_VIS_StridedPutNB(team, peer, peers, there, local, here, 8, one_more, 3, 0);
       }},
      {"strides_before_the_start",
       [] {
         const std::size_t eleven[] = {11};
         const std::ptrdiff_t down[] = {-16};
         gex_VIS_StridedGetNBI(team, local, dense, peer, peers + 8, down, 8, eleven, 1, 0);
       }},
      {"strides_beyond_the_address_space",
       [] {
         const std::size_t five[] = {5};
         const std::ptrdiff_t far[] = {PTRDIFF_MAX / 2};
         gex_VIS_StridedPutBlocking(team, peer, peers, far, local, dense, 8, five, 1, 0);
       }},
      {"more_bytes_than_can_be",
       [] {
         const std::size_t many[] = {std::size_t{1} << 40, std::size_t{1} << 40};
         gex_VIS_StridedGetBlocking(team, local, dense, peer, peers, spread, 8, many, 2, 0);
       }},
      {"strided_of_no_such_rank",
       [] { gex_VIS_StridedPutBlocking(team, 77, peers, spread, local, dense, 8, count, 2, 0); }},
      {"strided_of_no_team",
       [] {
         gex_VIS_StridedGetNB(GEX_TM_INVALID, local, dense, peer, peers, spread, 8, count, 2, 0);
       }},
      {"strided_without_strides",
       [] { gex_VIS_StridedPutNBI(team, peer, peers, nullptr, local, dense, 8, count, 2, 0); }},
      {"strided_without_counts",
       [] { gex_VIS_StridedGetNB(team, local, dense, peer, peers, spread, 8, nullptr, 2, 0); }},
      {"strided_from_null",
       [] {
         gex_VIS_StridedPutBlocking(team, peer, peers, spread, nullptr, dense, 8, count, 2, 0);
       }},
      {"strided_in_a_handler",
       [] {
         in_handler(
             [] { gex_VIS_StridedPutNB(team, peer, peers, spread, local, dense, 8, count, 2, 0); });
       }},

      {"vector_entry_past_the_end",
       [] {
         const gex_Memvec_t to[] = {{peers, 7}, {peers + segment_bytes - 8, 9}};
         const gex_Memvec_t from[] = {{local, 16}};
         gex_VIS_VectorPutNB(team, peer, 2, to, 1, from, 0);
       }},
      {"vector_of_mismatched_totals",
       [] {
         const gex_Memvec_t to[] = {{local, 16}};
         const gex_Memvec_t from[] = {{peers, 12}, {peers + 64, 12}};
         gex_VIS_VectorGetBlocking(team, 1, to, peer, 2, from, 0);
       }},
      {"vector_without_a_list",
       [] {
         const gex_Memvec_t to[] = {{peers, 16}};
         gex_VIS_VectorPutNBI(team, peer, 1, to, 3, nullptr, 0);
       }},
      {"vector_with_a_null_entry",
       [] {
         const gex_Memvec_t to[] = {{local, 8}, {nullptr, 8}};
         const gex_Memvec_t from[] = {{peers, 16}};
         gex_VIS_VectorGetNB(team, 2, to, peer, 1, from, 0);
       }},
      {"vector_of_no_such_rank",
       [] {
         const gex_Memvec_t block{local, 8};
         gex_VIS_VectorPutBlocking(team, 77, 1, &block, 1, &block, 0);
       }},
      {"indexed_entry_past_the_end",
       [] {
         void* const to[] = {local};
         void* const from[] = {peers, peers + segment_bytes - 7};
         gex_VIS_IndexedGetNBI(team, 1, to, 16, peer, 2, from, 8, 0);
       }},
      {"indexed_of_mismatched_totals",
       [] {
         void* const to[] = {peers, peers + 8};
         void* const from[] = {local};
         gex_VIS_IndexedPutBlocking(team, peer, 2, to, 8, 1, from, 8, 0);
       }},
      {"indexed_without_a_list",
       [] {
         void* const from[] = {peers, peers + 8};
         gex_VIS_IndexedGetBlocking(team, 2, nullptr, 8, peer, 2, from, 8, 0);
       }},

      {"vis_with_flags_of_rma", [] { put(peers, GEX_FLAG_PEER_SEG_OFFSET); }},
      {"vis_get_with_a_leaf",
       [] {
         gex_VIS_StridedGetNB(team, local, dense, peer, peers, spread, 8, count, 2,
                              GEX_FLAG_ENABLE_LEAF_LC);
       }},
      {"vis_blocking_put_with_a_leaf",
       [] {
         void* const to[] = {peers};
         void* const from[] = {local};
         gex_VIS_IndexedPutBlocking(team, peer, 1, to, 8, 1, from, 8, GEX_FLAG_ENABLE_LEAF_LC);
       }},
      {"leaf_of_a_put_without_one",
       [] {
         gex_Event_QueryLeaf(
             gex_VIS_StridedPutNB(team, peer, peers, spread, local, dense, 8, count, 2, 0),
             GEX_EC_LC);
       }},

      {"peer_completion_below_the_base",
       [] { gex_VIS_SetPeerCompletionHandler(5, nullptr, 0, 0); }},
      {"peer_completion_too_large",
       [] { gex_VIS_SetPeerCompletionHandler(200, local, GEX_VIS_MAX_PEERCOMPLETION + 1, 0); }},
      {"peer_completion_from_null", [] { gex_VIS_SetPeerCompletionHandler(200, nullptr, 1, 0); }},
      {"peer_completion_with_flags", [] { gex_VIS_SetPeerCompletionHandler(200, local, 1, 1); }},
      {"peer_completion_of_a_get",
       [] {
         gex_VIS_SetPeerCompletionHandler(200, nullptr, 0, 0);
         gex_VIS_StridedGetBlocking(team, local, dense, peer, peers, spread, 8, count, 2, 0);
       }},
      {"peer_completion_of_an_immediate_put",
       [] {
         gex_VIS_SetPeerCompletionHandler(200, nullptr, 0, 0);
         put(peers, GEX_FLAG_IMMEDIATE);
       }},
      {"peer_completion_by_an_unregistered_handler", [] { notify(201); }},
      {"peer_completion_by_a_request_handler", [] { notify(200); }},
  };
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  return misuse::run(argc, argv, "misuse_vis", cases());
}
