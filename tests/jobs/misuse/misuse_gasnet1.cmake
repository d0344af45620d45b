# GASNet-1: what the checking library prints of each misuse. A call that GASNet-EX has as well goes by
# both names.

set(outside "bytes at 0x[0-9a-f]+ are not in the bound segment of rank")
set(handler "not allowed in an active message handler")

misuse(legacy_put_past_the_end "gex_RMA_PutBlocking .gasnet_put.: 8 ${outside}" BOTH)
misuse(legacy_get_past_the_end "gex_RMA_GetNB .gasnet_get_nb.: 1 ${outside}")
misuse(legacy_put_to_no_such_node
  "gex_RMA_PutNBI .gasnet_put_nbi.: rank 77 is not below the team's size 2")
misuse(memset_past_the_end "gasnet_memset: 9 ${outside}")
misuse(memset_of_no_such_node "gasnet_memset_nb: rank 77 is not below the team's size 2")
misuse(memset_in_a_handler "gasnet_memset_nbi: ${handler}")
misuse(legacy_value_of_nine_bytes
  "gex_RMA_PutBlockingVal .gasnet_put_val.: 9 bytes are not 1 to 8")
misuse(value_get_of_no_bytes "gasnet_get_nb_val: 0 bytes are not 1 to 8")
misuse(value_get_past_the_end "gasnet_get_nb_val: 2 ${outside}")
misuse(value_get_of_no_such_node "gasnet_get_nb_val: rank 77 is not below the team's size 2")
misuse(value_get_twice "gasnet_wait_syncnb_valget: the handle was already synchronised")
misuse(value_get_of_null "gasnet_wait_syncnb_valget: the handle is null")

misuse(try_of_a_null_array "gasnet_try_syncnb_all: the array of handles is null")
misuse(try_some_of_a_null_array "gasnet_try_syncnb_some: the array of handles is null")
misuse(try_of_no_op "gex_Event_Test: GEX_EVENT_NO_OP cannot be tested")
misuse(try_in_a_handler "gasnet_try_syncnb_all: ${handler}")
misuse(try_implicit_in_a_handler "gasnet_try_syncnbi: ${handler}")
misuse(handle_synchronised_twice "gex_Event_Wait: the event was already synchronised" NETWORK)
misuse(implicit_wait_in_a_region "gex_NBI_Wait: not between gex_NBI_BeginAccessRegion and")
misuse(implicit_try_in_a_region "gex_NBI_Test: not between gex_NBI_BeginAccessRegion and")
misuse(legacy_region_in_a_region "gex_NBI_BeginAccessRegion: an access region is already open")

misuse(hold_twice "gasnet_hold_interrupts: this thread is in a no-interrupt section already" SHARED)
misuse(resume_without_hold
  "gasnet_resume_interrupts: this thread is not in a no-interrupt section" SHARED)
misuse(legacy_lock_destroyed_held "gex_HSL_Destroy: the lock is held" SHARED)
set(section "not allowed in a no-interrupt section")
misuse(put_in_a_no_interrupt_section "gex_RMA_PutBlocking .gasnet_put.: ${section}")
misuse(poll_in_a_no_interrupt_section "gasnet_AMPoll: ${section}" SHARED)
misuse(request_in_a_no_interrupt_section
  "gex_AM_RequestMedium .gasnet_AMRequestMedium.: ${section}")
misuse_allowed(allowed_in_a_no_interrupt_section)

misuse(legacy_request_in_a_handler "gex_AM_RequestShort .gasnet_AMRequestShort.: ${handler}")
misuse(legacy_request_to_a_low_index
  "gex_AM_RequestShort .gasnet_AMRequestShort.: handler index 5 is below GEX_AM_INDEX_BASE")
misuse(legacy_request_to_no_such_node
  "gex_AM_RequestLong .gasnet_AMRequestLong.: rank 77 is not below the team's size 2")
misuse(legacy_medium_above_the_limit
  "gex_AM_RequestMedium .gasnet_AMRequestMedium.: a payload of [0-9]+ bytes is above the limit")
misuse(legacy_reply_twice
  "gex_AM_ReplyShort .gasnet_AMReplyShort.: the request was already replied to" BOTH)
misuse(legacy_reply_above_the_limit
  "gex_AM_ReplyMedium .gasnet_AMReplyMedium.: a payload of [0-9]+ bytes is above the limit")
misuse(legacy_strides_past_the_end "gex_VIS_StridedPutBlocking .gasnet_puts_bulk.: ")
misuse(legacy_vector_of_mismatched_totals
  "gex_VIS_VectorGetBlocking .gasnet_getv_bulk.: the remote list holds 24 bytes, the local one 16")

# No rank yet.
gex_job_test(NAME misuse.gasnet1.attach_before_init.smp COMMAND misuse_gasnet1 attach_before_init
  RANKS 1 CONDUIT smp ${checked} LABELS misuse
  FAILS "^gex: gasnet_attach: gasnet_init was not called")
misuse(init_twice "gasnet_init: a client uses GASNet-1 already" SHARED)
misuse(legacy_attach_twice "gasnet_attach: already attached, or the client was made by gex_Client_Init")
misuse(attach_of_an_odd_size "gasnet_attach: segsize is not a multiple of GASNET_PAGESIZE")
misuse(attach_of_too_much "gasnet_attach: segsize is above gasnet_getMaxLocalSegmentSize")
misuse(attach_of_a_null_table "gasnet_attach: the table is null, but has entries")
misuse(attach_of_an_index_twice
  "gasnet_attach: entry 1 .unnamed, index 200.: the index is already taken")
misuse(attach_of_differing_heap_offsets
  "gasnet_attach: minheapoffset is not the same on all ranks")
set(too_early "called between gasnet_init and gasnet_attach")
misuse(put_before_attach "gex_RMA_PutBlocking .gasnet_put.: ${too_early}")
misuse(poll_before_attach "gasnet_AMPoll: ${too_early}" SHARED)
misuse(barrier_before_attach "gasnet_barrier_notify: ${too_early}" SHARED)
misuse(request_before_attach "gex_AM_RequestShort .gasnet_AMRequestShort.: ${too_early}")
misuse(objects_without_gasnet1 "gasnet_QueryGexObjects: neither gasnet_init nor gex_Client_Init" SHARED)
