# Clients, endpoints, segments, memory kinds: what the checking library prints of each misuse.

set(handler "not allowed in an active message handler")

misuse(client_of_a_name_in_use "gex_Client_Init: this process has a client of that name already")
misuse_warned(client_of_a_name_in_lower_case
  "gex_Client_Init: the client name .upcxx. does not match")
misuse(client_of_gasnet1_twice
  "gex_Client_Init: another client has GEX_FLAG_USES_GASNET1 already")
misuse(client_of_different_names
  "gex_Client_Init: rank [01] gave another name than \\\"(ONE|TWO)\\\", or other flags")
misuse(client_of_different_flags
  "gex_Client_Init: rank [01] gave another name than \\\"ANOTHER\\\", or other flags")
misuse(client_in_a_handler "gex_Client_Init: ${handler}")
misuse(seventeen_clients "gex_Client_Init: this process has 16 clients already")
misuse(threads_in_a_handler "gex_System_QueryProgressThreads: ${handler}")

misuse(endpoint_of_no_client "gex_EP_Create: the client is GEX_CLIENT_INVALID")
misuse(endpoint_into_null "gex_EP_Create: ep_p is null")
misuse(endpoint_without_capabilities "gex_EP_Create: no capability is given")
misuse(endpoint_of_unknown_capabilities "gex_EP_Create: there is no such capability")
misuse_warned(endpoint_with_flags "gex_EP_Create: ignores unknown flags")
misuse(endpoints_beyond_the_limit "gex_EP_Create: the client has GASNET_MAXEPS endpoints already")
misuse(endpoint_in_a_handler "gex_EP_Create: ${handler}")
set(without "endpoint 1 was created without GEX_EP_CAPABILITY")
misuse(handlers_without_the_capability "gex_EP_RegisterHandlers: ${without}_AM")
misuse(put_without_the_capability "gex_RMA_PutBlocking: ${without}_RMA")
misuse(message_without_the_capability "gex_AM_RequestShort: ${without}_AM")
misuse(prepare_without_the_capability "gex_AM_PrepareRequestMedium: ${without}_AM")
misuse(strided_put_without_the_capability "gex_VIS_StridedPutBlocking: ${without}_VIS")
misuse(barrier_without_the_capability "gex_Coll_BarrierNB: ${without}_COLL")
misuse(domain_without_the_capability "gex_AD_Create: ${without}_AD")
misuse(message_to_no_endpoint
  "a message from rank [01] names an endpoint that does not exist here \\(client 0, index 9\\)"
  BOTH)

misuse(segment_of_no_client "gex_Segment_Create: the client is GEX_CLIENT_INVALID")
misuse(segment_into_null "gex_Segment_Create: segment_p is null")
misuse(segment_of_nothing "gex_Segment_Create: the length is 0")
misuse(segment_beyond_the_address_space
  "gex_Segment_Create: the segment reaches beyond the address space")
misuse(segment_of_no_kind "gex_Segment_Create: there is no such memory kind")
misuse(segment_of_an_unknown_kind "gex_Segment_Create: there is no such memory kind")
misuse_warned(segment_with_flags "gex_Segment_Create: ignores unknown flags")
misuse(segment_in_a_handler "gex_Segment_Create: ${handler}")
misuse(destroy_of_no_segment "gex_Segment_Destroy: the segment is GEX_SEGMENT_INVALID")
misuse(destroy_of_a_bound_segment "gex_Segment_Destroy: the segment is bound to 1 endpoint")
misuse_warned(segment_destroyed_with_flags "gex_Segment_Destroy: ignores unknown flags 0x2")
misuse(segment_destroyed_twice
  "gex_Segment_Destroy: invalid or destroyed segment handle 0x[0-9a-f]+")
misuse(bind_of_a_destroyed_segment
  "gex_EP_BindSegment: invalid or destroyed segment handle 0x[0-9a-f]+")
misuse(destroy_in_a_handler "gex_Segment_Destroy: ${handler}")
misuse(bind_to_no_endpoint "gex_EP_BindSegment: the endpoint is GEX_EP_INVALID")
misuse(bind_twice "gex_EP_BindSegment: the endpoint has a segment already")
misuse(unbind_of_nothing "gex_EP_BindSegment: the endpoint has no segment to give up")
misuse(bind_of_another_clients "gex_EP_BindSegment: the segment is another client's")
misuse(bind_with_flags "gex_EP_BindSegment: there are no such flags")
misuse(bind_in_a_handler "gex_EP_BindSegment: ${handler}")
misuse(publish_of_another_clients
  "gex_EP_PublishBoundSegment: endpoint 0 is of another client than the team")
misuse(put_to_an_unpublished_segment
  "gex_RMA_PutBlocking: 8 bytes at 0x[0-9a-f]+ are not in the bound segment of rank" BOTH)
misuse(put_past_a_created_segment
  "gex_RMA_PutBlocking: 100000 bytes at 0x1 are not in the bound segment of rank")
misuse(long_past_a_created_segment
  "a long message of 100 bytes .*does not lie in the bound segment")

misuse(kind_into_null "gex_MK_Create: memkind_p is null")
misuse(kind_without_arguments "gex_MK_Create: args is null")
misuse_warned(kind_with_flags "gex_MK_Create: ignores unknown flags")
misuse_warned(kind_with_flags_in_arguments "gex_MK_Create: ignores unknown flags")
misuse(kind_in_a_handler "gex_MK_Create: ${handler}")
misuse_warned(kind_that_is_absent
  "gex_MK_Create: this library has no memory of class GEX_MK_CLASS_HIP, only GEX_MK_CLASS_CUDA_UVA")
misuse_allowed(kind_that_is_absent_quietly)
misuse(no_kind_destroyed "gex_MK_Destroy: the memory kind is GEX_MK_INVALID")
misuse(unknown_kind_destroyed "gex_MK_Destroy: there is no such memory kind")
misuse_warned(kind_destroyed_with_flags "gex_MK_Destroy: ignores unknown flags 0x1")
misuse(kind_destroyed_in_a_handler "gex_MK_Destroy: ${handler}")

misuse(team_of_no_endpoint
  "gex_TM_Create: member [01] is endpoint 5 of this process, which was not created")
misuse(team_of_different_lists
  "gex_TM_Create: jobrank [01], which has member [01] of the list, is not a member of the parent")
misuse_warned(team_with_flags "gex_TM_Create: ignores unknown flags 0x1")
misuse(team_of_both_queries "gex_TM_Create: both size queries at once")
misuse_warned(split_with_flags "gex_TM_Split: ignores unknown flags 0x400000")
misuse(split_of_different_scratch
  "gex_TM_Split: members of color 0 give (64 and 128|128 and 64) bytes of scratch")

misuse(short_with_flags "gex_AM_RequestShort: unknown flags 0x400")
misuse(medium_with_flags "gex_AM_RequestMedium: unknown flags 0x2000")
misuse(long_with_flags "gex_AM_RequestLong: unknown flags 0x800")
misuse(prepare_with_flags "gex_AM_PrepareRequestLong: unknown flags 0x8000")
misuse(commit_with_flags "gex_AM_CommitRequestMedium: unknown flags 0x2")
misuse(reply_with_flags "gex_AM_ReplyShort: unknown flags 0x40")
misuse(limit_with_flags "gex_AM_MaxRequestMedium: unknown flags 0x40000")
