# Put and get, events, implicit operations, teams, barriers, segments, restricted context: what the
# checking library says of each misuse.

gex_client(misuse_rma MODE PAR SOURCES misuse_rma.cc)

# Where there is no checking library beside this one, this one checks on request.
set(checked ENV GEX_CHECK=1)

# misuse(<case> <expression> [SHARED]): refused, with a line that matches; through shared memory and,
# unless SHARED says that it is misuse only there, through a network.
function(misuse case expression)
  gex_job_test(NAME misuse.${case} COMMAND misuse_rma ${case} RANKS 2 CHECKED ${checked}
    LABELS misuse FAILS "^gex: rank [01]: ${expression}")
  if(NOT ARGN)
    gex_job_test(NAME misuse.emu.${case} COMMAND misuse_rma ${case} RANKS 2 CHECKED ${checked}
      GASNET_SUPERNODE_MAXSIZE=1 GEX_EMU_SEED=3 CONDUIT emu EXHAUSTIVE LABELS misuse
      FAILS "^gex: rank [01]: ${expression}")
  endif()
endfunction()

# misuse_warned(<case> <expression>): goes on, with a warning that matches.
function(misuse_warned case expression)
  gex_job_test(NAME misuse.${case} COMMAND misuse_rma ${case} RANKS 2 CHECKED ${checked} LABELS misuse)
  gex_job_test(NAME misuse.${case}.warning COMMAND misuse_rma ${case} RANKS 2 CHECKED ${checked} LABELS misuse)
  set_tests_properties(job.misuse.${case}.warning PROPERTIES
    PASS_REGULAR_EXPRESSION "gex: rank [01]: warning: ${expression}")
endfunction()

# misuse_allowed(<case>): no misuse at all, and nothing is said.
function(misuse_allowed case)
  gex_job_test(NAME misuse.${case} COMMAND misuse_rma ${case} RANKS 2 CHECKED ${checked} LABELS misuse)
  set_tests_properties(job.misuse.${case} PROPERTIES FAIL_REGULAR_EXPRESSION "gex: ")
endfunction()

set(outside "bytes at 0x[0-9a-f]+ are not in the bound segment of rank")
misuse(put_past_the_end "gex_RMA_PutBlocking: 8 ${outside}")
misuse(put_before_the_start "gex_RMA_PutNBI: 1 ${outside}")
misuse(get_past_the_end "gex_RMA_GetBlocking: 1 ${outside}")
misuse(get_of_a_wrapping_size "gex_RMA_GetNB: 18446744073709551615 ${outside}")
misuse(put_offset_past_the_end "gex_RMA_PutBlocking: 1 ${outside}")
misuse(value_past_the_end "gex_RMA_PutBlockingVal: 2 ${outside}")
misuse(value_of_no_bytes "gex_RMA_GetBlockingVal: 0 bytes are not 1 to 8")
misuse(put_value_of_no_bytes "gex_RMA_PutBlockingVal: 0 bytes are not 1 to 8")
misuse(put_value_of_nine_bytes "gex_RMA_PutNBIVal: 9 bytes are not 1 to 8")
misuse(put_nb_value_of_many_bytes "gex_RMA_PutNBVal: 4096 bytes are not 1 to 8")
misuse(rank_out_of_range "gex_RMA_PutBlocking: rank 77 is not below the team's size 2")
misuse(rank_far_out_of_range "gex_RMA_PutNBI: rank 4294967295 is not below the team's size 2")
misuse(get_rank_far_out_of_range
  "gex_RMA_GetBlocking: rank 2000000000 is not below the team's size 2")
misuse(value_rank_far_out_of_range
  "gex_RMA_GetBlockingVal: rank 2000000000 is not below the team's size 2")
misuse(put_of_no_team "gex_RMA_PutBlocking: the team is GEX_TM_INVALID")
misuse(put_nbi_of_no_team "gex_RMA_PutNBI: the team is GEX_TM_INVALID")
misuse(get_nb_of_no_team "gex_RMA_GetNB: the team is GEX_TM_INVALID")
misuse(value_of_no_team "gex_RMA_GetBlockingVal: the team is GEX_TM_INVALID")
misuse(put_of_a_destroyed_team "gex_RMA_PutBlocking: the team 0x[0-9a-f]+ was destroyed, or is none")
misuse(put_from_null "gex_RMA_PutBlocking: the local address is null")
misuse(get_into_null "gex_RMA_GetNBI: the local address is null")
misuse(put_with_flags_of_teams "gex_RMA_PutBlocking: unknown flags 0x200000")
misuse(pair_with_no_such_endpoint "gex_RMA_PutBlocking: the TM-pair names an endpoint that does not")
misuse(never_self_false "gex_RMA_PutBlocking: GEX_FLAG_PEER_NEVER_SELF, but the peer is this process")
misuse(never_self_false_get
  "gex_RMA_GetBlocking: GEX_FLAG_PEER_NEVER_SELF, but the peer is this process")
misuse(never_neighborhood_false
  "gex_RMA_PutBlocking: GEX_FLAG_PEER_NEVER_NBRHD, but rank [01] is in this process's neighborhood"
  SHARED)
misuse(two_peer_dispositions "gex_RMA_PutBlocking: more than one PEER_SEG flag")
misuse(two_self_dispositions "gex_RMA_PutBlocking: more than one SELF_SEG flag")
misuse(self_bound_false "gex_RMA_PutBlocking: a SELF_SEG flag, but 8 bytes at 0x")
misuse(implicit_put_with_a_variable "gex_RMA_PutNBI: lc_opt must be GEX_EVENT_NOW, DEFER or GROUP")
misuse(explicit_put_with_group "gex_RMA_PutNB: lc_opt must be GEX_EVENT_NOW, DEFER or a variable")
misuse(put_with_null_completion "gex_RMA_PutNB: lc_opt is null")

misuse(test_of_no_op "gex_Event_Test: GEX_EVENT_NO_OP is no event")
misuse(wait_of_no_op "gex_Event_Wait: GEX_EVENT_NO_OP is no event")
set(no_op "is GEX_EVENT_NO_OP, which is no event to test or wait for")
misuse(array_with_no_op "gex_Event_WaitAll: event 1 ${no_op}")
misuse(test_some_with_no_op "gex_Event_TestSome: event 0 ${no_op}")
misuse(test_all_with_no_op "gex_Event_TestAll: event 0 ${no_op}")
misuse(wait_some_with_no_op "gex_Event_WaitSome: event 0 ${no_op}")
misuse(wait_all_of_a_null_array "gex_Event_WaitAll: the array of events is null")
misuse(test_all_with_flags "gex_Event_TestAll: unknown flags 0x1")
misuse(implicit_wait_for_no_category "gex_NBI_Wait: 0x20 are no event categories")
misuse(implicit_test_with_flags "gex_NBI_Test: unknown flags 0x2")
misuse(region_with_flags "gex_NBI_BeginAccessRegion: unknown flags 0x1")
misuse(leaf_of_no_op "gex_Event_QueryLeaf: GEX_EVENT_NO_OP is no event")
misuse(wait_twice "gex_Event_Wait: the event was already synchronised")
misuse(leaf_of_two_categories "gex_Event_QueryLeaf: 0x3 is not one event category")
misuse(leaf_that_was_not_asked_for "gex_Event_QueryLeaf: the operation has no leaf of category 0x4")
misuse(nested_regions "gex_NBI_BeginAccessRegion: an access region is already open in this thread")
misuse(region_ended_twice "gex_NBI_EndAccessRegion: no access region is open in this thread")
misuse(implicit_wait_inside_a_region "gex_NBI_Wait: not between gex_NBI_BeginAccessRegion and")

misuse(split_with_a_negative_color "gex_TM_Split: the color -1 is negative")
misuse(split_with_no_scratch_size "gex_TM_Split: scratch_size is 0 without GEX_FLAG_TM_NO_SCRATCH")
misuse(split_with_scratch_elsewhere
  "gex_TM_Split: 1024 bytes of scratch at 0x[0-9a-f]+ are not in the bound segment")
misuse(split_of_a_pair "gex_TM_Split: a TM-pair is no team for collective calls")
misuse(create_with_a_member_twice "gex_TM_Create: members 0 and 1 are the same endpoint")
misuse(create_with_no_such_rank "gex_TM_Create: member 1 names rank 99 of 2")
misuse(create_with_no_such_endpoint "gex_TM_Create: member 1 names endpoint 7 of 1")
misuse(create_without_a_scratch_flag "gex_TM_Create: exactly one of the SYMMETRIC, LOCAL, GLOBAL and")
misuse(create_with_two_scratch_flags "gex_TM_Create: exactly one of the SYMMETRIC, LOCAL, GLOBAL and")
misuse(create_with_the_wrong_number_of_local_members
  "gex_TM_Create: 1 member.s. of the list are endpoints of this process, but num_new_tms is 2")
misuse(destroy_of_the_primordial_team "gex_TM_Destroy: the primordial team cannot be destroyed")
misuse(destroy_of_a_pair "gex_TM_Destroy: a TM-pair is no team for collective calls")
misuse(destroy_twice "gex_TM_Destroy: the team 0x[0-9a-f]+ was destroyed, or is none")
misuse(destroy_with_flags "gex_TM_Destroy: unknown flags 0x1")
misuse(size_of_no_team "gex_TM_QuerySize: the team is GEX_TM_INVALID")
misuse(endpoint_of_no_team "gex_TM_QueryEP: the team is GEX_TM_INVALID")
misuse(pair_of_no_endpoint "gex_TM_Pair: the endpoint is GEX_EP_INVALID")
misuse(translate_of_no_team "gex_TM_TranslateJobrankToRank: the team is GEX_TM_INVALID")
misuse(location_with_flags "gex_TM_TranslateRankToEP: unknown flags 0x1")
misuse(translate_no_such_rank "gex_TM_TranslateRankToJobrank: rank 55 is not below the team's size")
misuse(translate_no_such_jobrank
  "gex_TM_TranslateJobrankToRank: jobrank 55 is not below the job's size")
misuse(location_of_no_such_rank "gex_TM_TranslateRankToEP: rank 55 is not below the team's size")

misuse(barrier_of_a_pair "gex_Coll_BarrierNB: a TM-pair is no team for collective calls")
misuse(barrier_with_flags "gex_Coll_BarrierNB: unknown flags 0x1")
misuse(barrier_of_no_team "gex_Coll_BarrierNB: the team is GEX_TM_INVALID")
misuse(notify_with_unknown_flags "gasnet_barrier_notify: unknown flags 0x4000")
misuse(result_into_null "gasnet_barrier_result: the output pointer is null")
misuse(notify_twice "gasnet_barrier_notify: called twice without a gasnet_barrier_wait or")
misuse(wait_without_notify "gasnet_barrier_wait: no gasnet_barrier_notify before it")
misuse(try_without_notify "gasnet_barrier_try: no gasnet_barrier_notify before it")

misuse(attach_twice "gex_Segment_Attach: the endpoint has a segment already")
misuse(publish_with_flags "gex_EP_PublishBoundSegment: unknown flags 0x1")
misuse(publish_a_null_array "gex_EP_PublishBoundSegment: the array of endpoints is null")
misuse(publish_no_endpoint "gex_EP_PublishBoundSegment: endpoint 0 is GEX_EP_INVALID")
misuse(publish_an_endpoint_twice
  "gex_EP_PublishBoundSegment: endpoint 1 stands twice in the array")
misuse(register_for_no_endpoint "gex_EP_RegisterHandlers: the endpoint is GEX_EP_INVALID")
misuse(register_a_null_table "gex_EP_RegisterHandlers: the table is null")
misuse(size_of_no_segment "gex_Segment_QuerySize: the segment is GEX_SEGMENT_INVALID")
misuse(data_of_no_client "gex_Client_SetCData: the client is GEX_CLIENT_INVALID")
misuse(segment_of_no_endpoint "gex_EP_QuerySegment: the endpoint is GEX_EP_INVALID")
misuse(threads_of_no_client "gex_System_QueryProgressThreads: the client is GEX_CLIENT_INVALID")
misuse(token_of_no_message "gex_Token_Info: the token is null")
misuse(lock_of_nothing "gex_HSL_Lock: the lock is null")
misuse(bound_segment_with_flags "gex_EP_QueryBoundSegmentNB: unknown flags 0x2")
misuse(bound_segment_of_no_such_rank
  "gex_EP_QueryBoundSegmentNB: rank 55 is not below the team's size 2")

set(handler "not allowed in an active message handler")
misuse(put_in_a_handler "gex_RMA_PutBlocking: ${handler}")
misuse(get_in_a_handler "gex_RMA_GetNBI: ${handler}")
misuse(value_in_a_handler "gex_RMA_GetBlockingVal: ${handler}")
misuse(wait_in_a_handler "gex_Event_Wait: ${handler}")
misuse(test_in_a_handler "gex_Event_Test: ${handler}")
misuse(implicit_wait_in_a_handler "gex_NBI_Wait: ${handler}")
misuse(region_in_a_handler "gex_NBI_BeginAccessRegion: ${handler}")
misuse(poll_in_a_handler "gasnet_AMPoll: ${handler}")
misuse(barrier_in_a_handler "gex_Coll_BarrierNB: ${handler}")
misuse(notify_in_a_handler "gasnet_barrier_notify: ${handler}")
misuse(split_in_a_handler "gex_TM_Split: ${handler}")
misuse(put_holding_a_lock "gex_RMA_PutNBI: not allowed while holding a handler-safe lock")
misuse(poll_holding_a_lock "gasnet_AMPoll: not allowed while holding a handler-safe lock")
misuse(barrier_holding_a_lock "gex_Coll_BarrierNB: not allowed while holding a handler-safe lock")
misuse(put_between_prepare_and_commit
  "gex_RMA_PutBlocking: not allowed between Prepare and Commit or Cancel")

misuse_warned(translate_in_a_handler "gex_TM_TranslateRankToJobrank: not portable in an active")
misuse_warned(bound_segment_in_a_handler "gex_EP_QueryBoundSegmentNB: not portable in an active")
misuse_warned(minimum_scratch "gex_TM_Split: GEX_FLAG_TM_SCRATCH_SIZE_MIN is deprecated")
misuse_allowed(immediate_bound_segment_in_a_handler)
misuse_allowed(queries_in_a_handler)
