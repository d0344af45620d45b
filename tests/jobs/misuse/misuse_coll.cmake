# Collectives: what the checking library prints of each misuse.

set(left "1 event.s. of collective calls over the team were not synchronised")
misuse(team_destroyed_with_a_barrier "gex_TM_Destroy: ${left}")
misuse(team_destroyed_with_a_reduction "gex_TM_Destroy: ${left}")
misuse(broadcast_of_no_team "gex_Coll_BroadcastNB: the team is GEX_TM_INVALID")
misuse(broadcast_of_a_pair "gex_Coll_BroadcastNB: a TM-pair cannot make collective calls")
misuse(broadcast_from_outside "gex_Coll_BroadcastNB: root 2 is not below the team's size 2")
misuse(broadcast_with_flags "gex_Coll_BroadcastNB: unknown flags 0x1")
misuse(broadcast_into_null "gex_Coll_BroadcastNB: dst is null")
misuse(broadcast_from_null "gex_Coll_BroadcastNB: src is null")
misuse(broadcast_in_a_handler "gex_Coll_BroadcastNB: not allowed in an active message handler")
misuse(reduction_in_a_handler "gex_Coll_ReduceToAllNB: not allowed in an active message handler")
misuse(reduction_to_outside "gex_Coll_ReduceToOneNB: root 77 is not below the team's size 2")
misuse(reduction_of_no_type "gex_Coll_ReduceToAllNB: dt 0x0 is not one data type")
misuse(reduction_of_two_types "gex_Coll_ReduceToAllNB: dt 0xc is not one data type")
misuse(reduction_of_a_wrong_size
  "gex_Coll_ReduceToAllNB: dt_sz is 4, but GEX_DT_U64 has 8 bytes")
misuse(reduction_of_no_size "gex_Coll_ReduceToAllNB: dt_sz is 0")
misuse(reduction_of_too_many
  "gex_Coll_ReduceToAllNB: [0-9]+ elements of 8 bytes exceed the address space")
misuse(reduction_by_no_operation "gex_Coll_ReduceToAllNB: op 0x0 is not one operation")
misuse(reduction_by_two_operations "gex_Coll_ReduceToAllNB: op 0x48 is not one operation")
misuse(reduction_by_subtraction
  "gex_Coll_ReduceToAllNB: GEX_OP_SUB is not a reduction of GEX_DT_U64")
misuse(reduction_of_floats_by_bits
  "gex_Coll_ReduceToOneNB: GEX_OP_XOR is not a reduction of GEX_DT_DBL")
misuse(reduction_of_a_user_type_by_sum
  "gex_Coll_ReduceToAllNB: GEX_OP_ADD is not a reduction of GEX_DT_USER")
misuse(reduction_by_a_null_operator
  "gex_Coll_ReduceToAllNB: user_op is null, and op is GEX_OP_USER$")
misuse(reduction_by_a_null_ordered_operator
  "gex_Coll_ReduceToOneNB: user_op is null, and op is GEX_OP_USER_NC")
misuse(reduction_from_null "gex_Coll_ReduceToAllNB: src is null")
misuse(reduction_into_null "gex_Coll_ReduceToOneNB: dst is null")
misuse(poll_in_an_operator "gasnet_AMPoll: not allowed in a reduction operator")

# Rank 0 of the team finds what differs, whichever rank came first.
set(differ " in rank [01] of the team, and")
misuse(different_roots "gex_Coll_BroadcastNB: root is [01]${differ} [01] in rank [01]")
misuse(different_nbytes "gex_Coll_BroadcastNB: nbytes is [89]${differ} [89] in rank [01]" BOTH)
misuse(different_nbytes_one_none "gex_Coll_BroadcastNB: nbytes is [08]${differ} [08] in rank [01]")
misuse(different_nbytes_large "gex_Coll_BroadcastNB: nbytes is (400|8)${differ}")
set(order "collective calls are made in one order")
misuse(different_collectives
  "gex_Coll_[A-Za-z]+ in rank [01] of the team meets gex_Coll_[A-Za-z]+ in rank [01]: ${order}"
  BOTH)
misuse(different_reductions
  "gex_Coll_ReduceTo[A-Za-z]+ in rank [01] of the team meets gex_Coll_ReduceTo[A-Za-z]+ in rank")
misuse(barrier_meets_broadcast
  "gex_Coll_[A-Za-z]+ in rank [01] of the team meets gex_Coll_[A-Za-z]+ in rank [01]: ${order}")
misuse(different_types "gex_Coll_ReduceToAllNB: dt is GEX_DT_[UI]64${differ} GEX_DT_[UI]64")
misuse(different_sizes "gex_Coll_ReduceToAllNB: dt_sz is [89]${differ} [89]")
misuse(different_counts "gex_Coll_ReduceToOneNB: dt_cnt is [12]${differ} [12]")
misuse(different_operations "gex_Coll_ReduceToAllNB: op is GEX_OP_[ADMX]+${differ} GEX_OP_[ADMX]+")
misuse(different_in_the_second_call "gex_Coll_BroadcastNB: nbytes is [89]${differ} [89]")
misuse_allowed(queries_in_an_operator)
misuse_allowed(different_operators)

# GASNet-1.
misuse(gather_to_outside "gasnet_coll_gather: image 2 is not below the team's size 2")
misuse(gather_of_no_team "gasnet_coll_gather: the team is GEX_TM_INVALID")
misuse(gather_without_a_scope
  "gasnet_coll_gather: not exactly one GASNET_COLL_LOCAL or SINGLE flag in 0x12")
misuse(gather_without_input_sync "gasnet_coll_gather: not exactly one GASNET_COLL_IN flag in 0x90")
misuse(gather_with_two_output_syncs
  "gasnet_coll_gather: not exactly one GASNET_COLL_OUT flag in 0xb2")
misuse(gather_with_unknown_flags "gasnet_coll_gather: unknown flags 0x100000")
misuse(gather_not_in_the_segment
  "gasnet_coll_gather: 8 bytes of src at 0x[0-9a-f]+ are not in the bound segment")
misuse(gather_into_null "gasnet_coll_gather_all: dst is null")
misuse(gather_in_a_handler "gasnet_coll_gather: not allowed in an active message handler")
misuse(team_barrier_notified_twice "gasnet_coll_barrier_notify: called twice without")
misuse(team_barrier_not_notified
  "gasnet_coll_barrier_wait: no gasnet_coll_barrier_notify before it")
misuse(team_barrier_with_flags "gasnet_coll_barrier_notify: unknown flags 0x40")
misuse(different_images "gasnet_coll_gather: root is [01]${differ} [01] in rank [01]")
misuse(different_flags "gasnet_coll_gather: flags are 0x[0-9a-f]+${differ} 0x")
misuse(gather_meets_exchange
  "gasnet_coll_[a-z]+ in rank [01] of the team meets gasnet_coll_[a-z]+ in rank [01]: ${order}")

# Without checks: what costs nothing to see is not passed over.
if(NOT GEX_CHECKS)
  gex_job_test(NAME misuse.coll.different_nbytes_large.smp.release
    COMMAND misuse_coll different_nbytes_large RANKS 2 CONDUIT smp LABELS misuse
    FAILS "^gex: rank [01]: .*the members' calls differ")
endif()
