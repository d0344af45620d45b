# Active messages and handler-safe locks: what the checking library prints of each misuse. Rank 0
# sends what is wrong to rank 1, or does it without a peer.

set(rank 0)

misuse(reply_twice "gex_AM_ReplyShort: the request was already replied to" RANK 1 UNCHECKED BOTH)
misuse(reply_from_reply "gex_AM_ReplyShort: a reply handler cannot reply" UNCHECKED BOTH)
misuse(reply_after_return "gex_AM_ReplyShort: not in a request handler" BOTH)
misuse(reply_of_wrong_category
  "rank 1 sent a short reply to handler medium_reply .index 203., which is not registered for that"
  BOTH)
misuse(reply_to_request_handler
  "rank 1 sent a short reply to handler act \\(index 200\\), which is not registered for that" BOTH)
misuse(reply_with_wrong_argument_count
  "rank 1 sent 2 argument\\(s\\) to handler reply \\(index 201\\), which takes 0" BOTH)
misuse(reply_above_limit
  "gex_AM_ReplyMedium: a payload of [0-9]+ bytes is above the limit of [0-9]+"
  RANK 1 UNCHECKED BOTH)
misuse(reply_with_group "gex_AM_ReplyMedium: GEX_EVENT_GROUP is not for replies" RANK 1 BOTH)
misuse(reply_holding_lock
  "gex_AM_ReplyShort: not allowed while holding a handler-safe lock" RANK 1 BOTH)
misuse(reply_left_open "handler 200 returned with a prepared reply" RANK 1 BOTH)
misuse(reply_committed_holding_lock
  "gex_AM_CommitReplyMedium: not allowed while holding a handler-safe lock" RANK 1 BOTH)
misuse(reply_between_prepare_and_commit
  "(gex_AM_ReplyShort: not allowed between|.*replied to meanwhile)" RANK 1 UNCHECKED BOTH)
misuse(reply_short_below_base
  "gex_AM_ReplyShort: handler index 3 is below GEX_AM_INDEX_BASE" RANK 1 BOTH)
misuse(reply_medium_below_base
  "gex_AM_ReplyMedium: handler index 3 is below GEX_AM_INDEX_BASE" RANK 1 BOTH)
misuse(reply_long_below_base
  "gex_AM_ReplyLong: handler index 3 is below GEX_AM_INDEX_BASE" RANK 1 BOTH)
misuse(reply_with_null "gex_AM_ReplyMedium: source_addr is null, and nbytes is 8" RANK 1 BOTH)
misuse(medium_with_null "gex_AM_RequestMedium: source_addr is null, and nbytes is 8")
misuse(long_with_null "gex_AM_RequestLong: source_addr is null, and nbytes is 8" BOTH)
misuse(reply_prepared_twice "a second reply is prepared" RANK 1 BOTH)

misuse(handler_sends_request "gex_AM_RequestShort: not allowed in an active message handler" RANK 1)
misuse(handler_polls "gasnet_AMPoll: not allowed in an active message handler" RANK 1)
misuse(handler_waits "gex_NBI_Wait: not allowed in an active message handler" RANK 1)
misuse(handler_prepares_request
  "gex_AM_PrepareRequestMedium: not allowed in an active message handler" RANK 1)
misuse(handler_starts_barrier "gex_Coll_BarrierNB: not allowed in an active message handler" RANK 1)
misuse(handler_returns_holding_lock "handler 200 returned holding a handler-safe lock" RANK 1)

misuse(request_to_unregistered_index
  "rank 0 sent a short request to handler index 250, which is not registered" RANK 1 UNCHECKED BOTH)
misuse(request_to_index_below_base
  "gex_AM_RequestShort: handler index 5 is below GEX_AM_INDEX_BASE" BOTH)
misuse(request_of_wrong_category
  "rank 0 sent a short request to handler medium \\(index 204\\), which is not registered for that"
  RANK 1 BOTH)
misuse(request_to_reply_handler
  "rank 0 sent a short request to handler reply \\(index 201\\), which is not registered for that"
  RANK 1 BOTH)
misuse(request_with_too_few_arguments
  "rank 0 sent 1 argument\\(s\\) to handler two \\(index 206\\), which takes 2" RANK 1 BOTH)
misuse(request_with_too_many_arguments
  "rank 0 sent 3 argument\\(s\\) to handler two \\(index 206\\), which takes 2" RANK 1 BOTH)
misuse(medium_above_limit
  "gex_AM_RequestMedium: a payload of [0-9]+ bytes is above the limit of [0-9]+" UNCHECKED)
misuse(long_above_limit
  "gex_AM_RequestLong: a payload of [0-9]+ bytes is above the limit of [0-9]+" UNCHECKED BOTH)
misuse(long_outside_segment
  "a long message of 64 bytes .*does not lie in the bound segment" RANK "[01]" UNCHECKED BOTH)
misuse(rank_out_of_range "gex_AM_RequestShort: .*77")
misuse(completion_null "gex_AM_RequestMedium: lc_opt is null")
misuse(completion_deferred "gex_AM_RequestMedium: GEX_EVENT_DEFER is not for active messages")

misuse(lock_held_at_request "gex_AM_RequestShort: not allowed while holding a handler-safe lock")
misuse(lock_held_at_poll "gasnet_AMPoll: not allowed while holding a handler-safe lock")
misuse(lock_taken_twice "gex_HSL_Lock: this thread holds the lock already")
misuse(lock_tried_twice "gex_HSL_Trylock: this thread holds the lock already")
misuse(lock_released_free "gex_HSL_Unlock: the lock is not held")
misuse(lock_released_by_another_thread "gex_HSL_Unlock: another thread holds the lock")
misuse(lock_destroyed_held "gex_HSL_Destroy: the lock is held")

misuse(prepared_then_request "gex_AM_RequestShort: not allowed between")
misuse(prepared_then_poll "gasnet_AMPoll: not allowed between")
misuse(prepared_twice
  "(gex_AM_PrepareRequestMedium: not allowed between|a second request is prepared)")
misuse(prepare_above_limit
  "gex_AM_PrepareRequestMedium: least_payload [0-9]+ is above the limit of [0-9]+" UNCHECKED)
misuse(prepare_most_below_least
  "gex_AM_PrepareRequestMedium: most_payload 16 is below least_payload 32")
misuse_warned(prepare_completion_without_buffer
  "gex_AM_PrepareRequestMedium: lc_opt is to be null without a client buffer")
misuse(prepare_too_many_arguments
  "gex_AM_PrepareRequestMedium: 17 arguments are more than gex_AM_MaxArgs")
misuse(commit_more_than_prepared
  "gex_AM_CommitRequestMedium: 33 bytes are more than the 32 prepared" UNCHECKED)
misuse(commit_other_argument_count
  "gex_AM_CommitRequestMedium: 1 arguments, but 0 were announced to Prepare")
misuse(commit_as_reply "gex_AM_CommitReplyMedium: the descriptor is of the other direction")
misuse(commit_as_long "gex_AM_CommitRequestLong: the descriptor is of the other category")
misuse(commit_to_other_destination
  "gex_AM_CommitRequestLong: the destination .* is not the one given to Prepare")
misuse(commit_twice "gex_AM_CommitRequestMedium: the descriptor is not open")
misuse(commit_holding_lock
  "gex_AM_CommitRequestMedium: not allowed while holding a handler-safe lock")
misuse(commit_of_no_op "gex_AM_CommitRequestMedium: the descriptor is GEX_AM_SRCDESC_NO_OP")
misuse(commit_on_another_thread
  "gex_AM_CommitRequestMedium: the descriptor is of the other direction or of another thread")
misuse(cancel_twice "gex_AM_CancelRequestMedium: the descriptor is not open")
misuse(cancel_as_reply "gex_AM_CancelReplyMedium: the descriptor is of the other direction")
misuse(query_of_no_op "gex_AM_SrcDescSize: the descriptor is GEX_AM_SRCDESC_NO_OP")

misuse(register_below_base
  "gex_EP_RegisterHandlers: entry 0 \\(low, index 127\\): the index is below GEX_AM_INDEX_BASE")
misuse(register_taken
  "gex_EP_RegisterHandlers: entry 0 \\(second, index 200\\): the index is already taken")
misuse(register_too_many_arguments
  "gex_EP_RegisterHandlers: entry 0 \\(wide, index 0\\): more arguments than gex_AM_MaxArgs")
misuse(register_without_category
  "gex_EP_RegisterHandlers: entry 0 \\(shapeless, index 0\\): the flags name no category")
misuse(register_without_direction
  "gex_EP_RegisterHandlers: entry 0 \\(aimless, index 0\\): the flags name no direction")
misuse(register_null "gex_EP_RegisterHandlers: entry 0 \\(absent, index 0\\): the function is null")
misuse(register_too_many
  "gex_EP_RegisterHandlers: entry 121 \\(many, index 0\\): more handlers than indices")
