// One wrong use of the active-message interface, named on the command line. Rank 0 commits it, with
// rank 1 as its peer; the other ranks wait. The library must end the job with one line.
//
//   misuse_am CASE

#include <gasnetex.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

gex_Client_t client;
gex_EP_t endpoint;
gex_TM_t team;
gex_Segment_t segment;
std::byte* peer_segment;
char payload[64];
gex_HSL_t lock = GEX_HSL_INITIALIZER;
gex_Token_t stale_token;

/// The actions of the next request handler, chosen by its argument.
enum Act : gex_AM_Arg_t {
  reply_twice,
  reply_so_that_reply_replies,
  remember_token,
  reply_to_medium_handler,
  reply_to_request_handler,
  reply_with_too_many_arguments,
  reply_above_limit,
  reply_with_group,
  send_request,
  poll,
  wait_for_event,
  prepare_request,
  start_barrier,
  reply_holding_lock,
  return_holding_lock,
  leave_reply_open,
  prepare_two_replies,
  commit_reply_holding_lock,
  reply_while_one_is_prepared,
  reply_short_below_base,
  reply_medium_below_base,
  reply_long_below_base,
  reply_with_null,
  act_count
};

enum Index : gex_AM_Index_t {
  act_in = 200,
  reply_in,
  reply_that_replies_in,
  medium_reply_in,
  medium_in,
  long_in,
  two_in,
  unregistered = 250
};

std::size_t above_limit() {
  return gex_AM_MaxReplyMedium(team, 0, GEX_EVENT_NOW, 0, 0) + 1;
}

void act(gex_Token_t token, gex_AM_Arg_t what) {
  static const std::vector<char> large(above_limit());
  switch (what) {
    case reply_twice:
      gex_AM_ReplyShort0(token, reply_in, 0);
      gex_AM_ReplyShort0(token, reply_in, 0);
      break;
    case reply_so_that_reply_replies:
      gex_AM_ReplyShort0(token, reply_that_replies_in, 0);
      break;
    case remember_token:
      stale_token = token;
      break;
    case reply_to_medium_handler:
      gex_AM_ReplyShort0(token, medium_reply_in, 0);
      break;
    case reply_to_request_handler:
      gex_AM_ReplyShort1(token, act_in, 0, 0);
      break;
    case reply_with_too_many_arguments:
      gex_AM_ReplyShort2(token, reply_in, 0, 1, 2);
      break;
    case reply_above_limit:
      gex_AM_ReplyMedium0(token, medium_reply_in, large.data(), large.size(), GEX_EVENT_NOW, 0);
      break;
    case reply_with_group:
      gex_AM_ReplyMedium0(token, medium_reply_in, payload, 8, GEX_EVENT_GROUP, 0);
      break;
    case send_request:
      gex_AM_RequestShort1(team, 0, act_in, 0, act_count);
      break;
    case poll:
      gasnet_AMPoll();
      break;
    case wait_for_event:
      gex_NBI_Wait(GEX_EC_ALL, 0);
      break;
    case prepare_request:
      gex_AM_PrepareRequestMedium(team, 0, nullptr, 8, 8, nullptr, 0, 0);
      break;
    case start_barrier:
      gex_Coll_BarrierNB(team, 0);
      break;
    case reply_holding_lock:
      gex_HSL_Lock(&lock);
      gex_AM_ReplyShort0(token, reply_in, 0);
      break;
    case return_holding_lock:
      gex_HSL_Lock(&lock);
      break;
    case leave_reply_open:
      gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0);
      break;
    case prepare_two_replies:
      gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0);
      gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0);
      break;
    case commit_reply_holding_lock: {
      gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0);
      gex_HSL_Lock(&lock);
      gex_AM_CommitReplyMedium0(sd, medium_reply_in, 8);
      break;
    }
    case reply_while_one_is_prepared: {
      gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, nullptr, 8, 8, nullptr, 0, 0);
      gex_AM_ReplyShort0(token, reply_in, 0);
      gex_AM_CommitReplyMedium0(sd, medium_reply_in, 8);
      break;
    }
    case reply_short_below_base:
      gex_AM_ReplyShort0(token, 3, 0);
      break;
    case reply_medium_below_base:
      gex_AM_ReplyMedium0(token, 3, payload, 8, GEX_EVENT_NOW, 0);
      break;
    case reply_long_below_base:
      gex_AM_ReplyLong0(token, 3, payload, 8, peer_segment, GEX_EVENT_NOW, 0);
      break;
    case reply_with_null:
      gex_AM_ReplyMedium0(token, medium_reply_in, nullptr, 8, GEX_EVENT_NOW, 0);
      break;
    default:
      break;
  }
}
void reply(gex_Token_t) {
}
void reply_that_replies(gex_Token_t token) {
  gex_AM_ReplyShort0(token, reply_in, 0);
}
void with_payload(gex_Token_t, void*, std::size_t) {
}
void two(gex_Token_t, gex_AM_Arg_t, gex_AM_Arg_t) {
}

template <typename F>
gex_AM_Fn_t function(F* handler) {
  return reinterpret_cast<gex_AM_Fn_t>(handler);
}

void start(int* argc, char*** argv) {
  gex_Client_Init(&client, &endpoint, &team, "MISUSE", argc, argv, 0);
  gex_AM_Entry_t table[] = {
      {act_in, function(act), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, nullptr, "act"},
      {reply_in, function(reply), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr, "reply"},
      {reply_that_replies_in, function(reply_that_replies), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY,
       0, nullptr, "reply_that_replies"},
      {medium_reply_in, function(with_payload), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, nullptr,
       "medium_reply"},
      {medium_in, function(with_payload), GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, nullptr,
       "medium"},
      {long_in, function(with_payload), GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, nullptr, "long"},
      {two_in, function(two), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, nullptr, "two"},
  };
  gex_EP_RegisterHandlers(endpoint, table, sizeof table / sizeof *table);
  gex_Segment_Attach(&segment, team, 64 * GASNET_PAGESIZE);
  void* address = nullptr;
  uintptr_t bytes = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1, &address, nullptr, &bytes, 0));
  peer_segment = static_cast<std::byte*>(address);
}

void ask(Act what) {
  gex_AM_RequestShort1(team, 1, act_in, 0, what);
}
gex_AM_SrcDesc_t prepared(std::size_t bytes = 32) {
  return gex_AM_PrepareRequestMedium(team, 1, nullptr, bytes, bytes, nullptr, 0, 0);
}
gex_AM_SrcDesc_t prepared_long(void* destination) {
  return gex_AM_PrepareRequestLong(team, 1, nullptr, 32, 32, destination, nullptr, 0, 0);
}
void medium_with(gex_Event_t* completion) {
  gex_AM_RequestMedium0(team, 1, medium_in, payload, 8, completion, 0);
}

void register_one(gex_AM_Entry_t entry) {
  gex_EP_RegisterHandlers(endpoint, &entry, 1);
}
constexpr gex_Flags_t short_request = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;

/// The end of a job in which nothing was refused.
void end_together() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}

const std::map<std::string, void (*)()> cases{
    {"reply_twice", [] { ask(reply_twice); }},
    {"reply_from_reply", [] { ask(reply_so_that_reply_replies); }},
    {"reply_after_return",
     [] {
       gex_AM_RequestShort1(team, 0, act_in, 0, remember_token);
       GASNET_BLOCKUNTIL(stale_token != nullptr);
       gex_AM_ReplyShort0(stale_token, reply_in, 0);
     }},
    {"reply_of_wrong_category", [] { ask(reply_to_medium_handler); }},
    {"reply_to_request_handler", [] { ask(reply_to_request_handler); }},
    {"reply_with_wrong_argument_count", [] { ask(reply_with_too_many_arguments); }},
    {"reply_above_limit", [] { ask(reply_above_limit); }},
    {"reply_with_group", [] { ask(reply_with_group); }},
    {"reply_holding_lock", [] { ask(reply_holding_lock); }},
    {"reply_left_open", [] { ask(leave_reply_open); }},
    {"reply_committed_holding_lock", [] { ask(commit_reply_holding_lock); }},
    {"reply_between_prepare_and_commit", [] { ask(reply_while_one_is_prepared); }},
    {"reply_short_below_base", [] { ask(reply_short_below_base); }},
    {"reply_medium_below_base", [] { ask(reply_medium_below_base); }},
    {"reply_long_below_base", [] { ask(reply_long_below_base); }},
    {"reply_with_null", [] { ask(reply_with_null); }},
    {"medium_with_null",
     [] { gex_AM_RequestMedium0(team, 1, medium_in, nullptr, 8, GEX_EVENT_NOW, 0); }},
    {"long_with_null",
     [] { gex_AM_RequestLong0(team, 1, long_in, nullptr, 8, peer_segment, GEX_EVENT_NOW, 0); }},
    {"reply_prepared_twice", [] { ask(prepare_two_replies); }},

    {"handler_sends_request", [] { ask(send_request); }},
    {"handler_polls", [] { ask(poll); }},
    {"handler_waits", [] { ask(wait_for_event); }},
    {"handler_prepares_request", [] { ask(prepare_request); }},
    {"handler_starts_barrier", [] { ask(start_barrier); }},
    {"handler_returns_holding_lock", [] { ask(return_holding_lock); }},

    {"request_to_unregistered_index", [] { gex_AM_RequestShort0(team, 1, unregistered, 0); }},
    {"request_to_index_below_base", [] { gex_AM_RequestShort0(team, 1, 5, 0); }},
    {"request_of_wrong_category", [] { gex_AM_RequestShort0(team, 1, medium_in, 0); }},
    {"request_to_reply_handler", [] { gex_AM_RequestShort0(team, 1, reply_in, 0); }},
    {"request_with_too_few_arguments", [] { gex_AM_RequestShort1(team, 1, two_in, 0, 1); }},
    {"request_with_too_many_arguments", [] { gex_AM_RequestShort3(team, 1, two_in, 0, 1, 2, 3); }},
    {"medium_above_limit",
     [] {
       const std::vector<char> large(above_limit());
       gex_AM_RequestMedium0(team, 1, medium_in, large.data(), large.size(), GEX_EVENT_NOW, 0);
     }},
    {"long_above_limit",
     [] {
       const std::size_t bytes = gex_AM_MaxRequestLong(team, 1, GEX_EVENT_NOW, 0, 0) + 1;
       gex_AM_RequestLong0(team, 1, long_in, payload, bytes, peer_segment, GEX_EVENT_NOW, 0);
     }},
    {"long_outside_segment",
     [] {
       gex_AM_RequestLong0(team, 1, long_in, payload, 64, peer_segment + 64 * GASNET_PAGESIZE - 63,
                           GEX_EVENT_NOW, 0);
     }},
    {"rank_out_of_range", [] { gex_AM_RequestShort1(team, 77, act_in, 0, act_count); }},
    {"completion_null", [] { medium_with(nullptr); }},
    {"completion_deferred", [] { medium_with(GEX_EVENT_DEFER); }},

    {"lock_held_at_request",
     [] {
       gex_HSL_Lock(&lock);
       ask(act_count);
     }},
    {"lock_held_at_poll",
     [] {
       gex_HSL_Lock(&lock);
       gasnet_AMPoll();
     }},
    {"lock_taken_twice",
     [] {
       gex_HSL_Lock(&lock);
       gex_HSL_Lock(&lock);
     }},
    {"lock_tried_twice",
     [] {
       gex_HSL_Lock(&lock);
       gex_HSL_Trylock(&lock);
     }},
    {"lock_released_free", [] { gex_HSL_Unlock(&lock); }},
    {"lock_released_by_another_thread",
     [] {
       gex_HSL_Lock(&lock);
       std::thread([] { gex_HSL_Unlock(&lock); }).join();
     }},
    {"lock_destroyed_held",
     [] {
       gex_HSL_Lock(&lock);
       gex_HSL_Destroy(&lock);
     }},

    {"prepared_then_request",
     [] {
       prepared();
       ask(act_count);
     }},
    {"prepared_then_poll",
     [] {
       prepared();
       gasnet_AMPoll();
     }},
    {"prepared_twice",
     [] {
       prepared();
       prepared();
     }},
    {"prepare_above_limit", [] { prepared(above_limit()); }},
    {"prepare_most_below_least",
     [] { gex_AM_PrepareRequestMedium(team, 1, nullptr, 32, 16, nullptr, 0, 0); }},
    {"prepare_completion_without_buffer",
     [] {
       gex_AM_CancelRequestMedium(
           gex_AM_PrepareRequestMedium(team, 1, nullptr, 32, 32, GEX_EVENT_NOW, 0, 0), 0);
       end_together();
     }},
    {"prepare_too_many_arguments",
     [] { gex_AM_PrepareRequestMedium(team, 1, nullptr, 32, 32, nullptr, 0, 17); }},
    {"commit_more_than_prepared", [] { gex_AM_CommitRequestMedium0(prepared(), medium_in, 33); }},
    {"commit_other_argument_count",
     [] { gex_AM_CommitRequestMedium1(prepared(), medium_in, 32, 7); }},
    {"commit_as_reply", [] { gex_AM_CommitReplyMedium0(prepared(), medium_in, 32); }},
    {"commit_as_long", [] { gex_AM_CommitRequestLong0(prepared(), long_in, 32, peer_segment); }},
    {"commit_to_other_destination",
     [] {
       gex_AM_CommitRequestLong0(prepared_long(peer_segment), long_in, 32, peer_segment + 64);
     }},
    {"commit_twice",
     [] {
       gex_AM_SrcDesc_t sd = prepared();
       gex_AM_CommitRequestMedium0(sd, medium_in, 32);
       gex_AM_CommitRequestMedium0(sd, medium_in, 32);
     }},
    {"commit_holding_lock",
     [] {
       gex_AM_SrcDesc_t sd = prepared();
       gex_HSL_Lock(&lock);
       gex_AM_CommitRequestMedium0(sd, medium_in, 32);
     }},
    {"commit_of_no_op", [] { gex_AM_CommitRequestMedium0(GEX_AM_SRCDESC_NO_OP, medium_in, 0); }},
    {"commit_on_another_thread",
     [] {
       gex_AM_SrcDesc_t sd = prepared();
       std::thread([sd] { gex_AM_CommitRequestMedium0(sd, medium_in, 32); }).join();
     }},
    {"cancel_twice",
     [] {
       gex_AM_SrcDesc_t sd = prepared();
       gex_AM_CancelRequestMedium(sd, 0);
       gex_AM_CancelRequestMedium(sd, 0);
     }},
    {"cancel_as_reply", [] { gex_AM_CancelReplyMedium(prepared(), 0); }},
    {"query_of_no_op", [] { gex_AM_SrcDescSize(GEX_AM_SRCDESC_NO_OP); }},

    {"register_below_base",
     [] {
       register_one({127, function(reply), short_request, 0, nullptr, "low"});
     }},
    {"register_taken",
     [] {
       register_one({act_in, function(reply), short_request, 0, nullptr, "second"});
     }},
    {"register_too_many_arguments",
     [] {
       register_one({0, function(reply), short_request, 17, nullptr, "wide"});
     }},
    {"register_without_category",
     [] {
       register_one({0, function(reply), GEX_FLAG_AM_REQUEST, 0, nullptr, "shapeless"});
     }},
    {"register_without_direction",
     [] {
       register_one({0, function(reply), GEX_FLAG_AM_SHORT, 0, nullptr, "aimless"});
     }},
    {"register_null",
     [] {
       register_one({0, nullptr, short_request, 0, nullptr, "absent"});
     }},
    {"register_too_many",
     [] {
       std::vector<gex_AM_Entry_t> table(129,
                                         {0, function(reply), short_request, 0, nullptr, "many"});
       gex_EP_RegisterHandlers(endpoint, table.data(), table.size());
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto found = argc == 2 ? cases.find(argv[1]) : cases.end();
  if (found == cases.end()) {
    std::fputs("usage: misuse_am CASE\n", stderr);
    return 125;
  }
  start(&argc, &argv);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (gex_TM_QueryRank(team) == 0) found->second();
  // The others poll, until the library ends the job or rank 0 does.
  if (gex_TM_QueryRank(team) != 0) end_together();
  for (int i = 0; i < 2000; ++i) {
    gasnet_AMPoll();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::fputs("misuse_am: no rank noticed\n", stdout);
  gasnet_exit(0);
}
