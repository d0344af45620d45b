# Non-contiguous put and get: what the checking library prints of each misuse.

set(outside "bytes at 0x[0-9a-f]+ are not in the bound segment of rank")
misuse(strides_past_the_end "gex_VIS_StridedPutNB: 16392 ${outside}" BOTH)
misuse(strides_before_the_start "gex_VIS_StridedGetNBI: 168 ${outside}")
misuse(strides_beyond_the_address_space
  "gex_VIS_StridedPutBlocking: the strides reach beyond the address space")
misuse(more_bytes_than_can_be
  "gex_VIS_StridedGetBlocking: elemsz and count exceed the address space")
misuse(strided_of_no_such_rank "gex_VIS_StridedPutBlocking: rank 77 is not below the team's size 2")
misuse(strided_of_no_team "gex_VIS_StridedGetNB: the team is GEX_TM_INVALID")
misuse(strided_without_strides "gex_VIS_StridedPutNBI: dststrides is null, but has 2 entries")
misuse(strided_without_counts "gex_VIS_StridedGetNB: count is null, but has 2 entries")
misuse(strided_from_null "gex_VIS_StridedPutBlocking: the local address is null")
misuse(strided_in_a_handler "gex_VIS_StridedPutNB: not allowed in an active message handler")

misuse(vector_entry_past_the_end "gex_VIS_VectorPutNB: 9 ${outside}")
misuse(vector_of_mismatched_totals
  "gex_VIS_VectorGetBlocking: the remote list holds 24 bytes, the local one 16")
misuse(vector_without_a_list "gex_VIS_VectorPutNBI: srclist is null, but has 3 entries")
misuse(vector_with_a_null_entry "gex_VIS_VectorGetNB: address 1 of the local list is null")
misuse(vector_of_no_such_rank "gex_VIS_VectorPutBlocking: rank 77 is not below the team's size 2")
misuse(indexed_entry_past_the_end "gex_VIS_IndexedGetNBI: 8 ${outside}")
misuse(indexed_of_mismatched_totals
  "gex_VIS_IndexedPutBlocking: the remote list holds 16 bytes, the local one 8")
misuse(indexed_without_a_list "gex_VIS_IndexedGetBlocking: dstlist is null, but has 2 entries")

misuse(vis_with_flags_of_rma "gex_VIS_StridedPutNB: unknown flags 0x400")
misuse(vis_get_with_a_leaf "gex_VIS_StridedGetNB: unknown flags 0x8000")
misuse(vis_blocking_put_with_a_leaf "gex_VIS_IndexedPutBlocking: unknown flags 0x8000")
misuse(leaf_of_a_put_without_one
  "gex_Event_QueryLeaf: the operation has no leaf of category 0x4" NETWORK)

misuse(peer_completion_below_the_base
  "gex_VIS_SetPeerCompletionHandler: the handler index 5 is below GEX_AM_INDEX_BASE")
misuse(peer_completion_too_large
  "gex_VIS_SetPeerCompletionHandler: 128 bytes are more than GEX_VIS_MAX_PEERCOMPLETION")
misuse(peer_completion_from_null "gex_VIS_SetPeerCompletionHandler: source_addr is null")
misuse(peer_completion_with_flags "gex_VIS_SetPeerCompletionHandler: unknown flags 0x1")
misuse(peer_completion_of_a_get "gex_VIS_StridedGetBlocking: a peer completion handler is armed")
misuse(peer_completion_of_an_immediate_put
  "gex_VIS_StridedPutNB: GEX_FLAG_IMMEDIATE, but a peer completion handler is armed")
misuse(peer_completion_by_an_unregistered_handler
  "rank [01] sent a medium reply to handler index 201, which is not registered" BOTH)
misuse(peer_completion_by_a_request_handler
  "rank [01] sent a medium reply to handler on_request .index 200., which is not registered for")
