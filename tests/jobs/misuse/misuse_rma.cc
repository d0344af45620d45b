// Calls that the checking library must refuse, in one line that names the call and the argument:
// misuse_rma CASE. Groups: put and get, events, implicit operations, teams, barriers, segments,
// restricted context. A case that comes through exits with status 0.

#include <gasnetex.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "misuse.h"

namespace {

using namespace misuse;

char local[4096];

void holding_a_lock(const std::function<void()>& call) {
  static gex_HSL_t lock = GEX_HSL_INITIALIZER;
  gex_HSL_Lock(&lock);
  call();
  gex_HSL_Unlock(&lock);
}

gex_TM_t split(gex_TM_t parent, int color, void* scratch, std::size_t bytes, gex_Flags_t flags) {
  gex_TM_t made = GEX_TM_INVALID;
  gex_TM_Split(&made, parent, color, 0, scratch, bytes, flags);
  return made;
}

const Cases& cases() {
  static const Cases table = {
      // Put and get
      {"put_past_the_end",
       [] { gex_RMA_PutBlocking(team, peer, peers + segment_bytes - 4, local, 8, 0); }},
      {"put_before_the_start",
       [] { gex_RMA_PutNBI(team, peer, peers - 1, local, 1, GEX_EVENT_NOW, 0); }},
      {"get_past_the_end",
       [] { gex_RMA_GetBlocking(team, local, peer, peers + segment_bytes, 1, 0); }},
      {"put_outside_all_segments",
       [] {
         // As clients of GASNET_SEGMENT_EVERYTHING do.
         *reinterpret_cast<char**>(own) = local;
         barrier();
         char* peers_local = nullptr;
         gex_RMA_GetBlocking(team, &peers_local, peer, peers, sizeof peers_local, 0);
         barrier();
         gex_RMA_PutBlocking(team, peer, peers_local, local, 8, 0);
         barrier();
       }},
      {"get_of_a_wrapping_size",
       [] {
         // Not a constant that a compiler would warn about.
         const volatile std::size_t bytes = ~std::size_t{0};
         gex_Event_Wait(gex_RMA_GetNB(team, local, peer, peers, bytes, 0));
       }},
      {"put_offset_past_the_end",
       [] {
         gex_RMA_PutBlocking(team, peer, reinterpret_cast<void*>(segment_bytes), local, 1,
                             GEX_FLAG_PEER_SEG_OFFSET);
       }},
      {"value_past_the_end",
       [] { gex_RMA_PutBlockingVal(team, peer, peers + segment_bytes - 1, 1, 2, 0); }},
      {"value_of_no_bytes",
       [] { static_cast<void>(gex_RMA_GetBlockingVal(team, peer, peers, 0, 0)); }},
      {"rank_out_of_range", [] { gex_RMA_PutBlocking(team, 77, peers, local, 8, 0); }},
      {"rank_far_out_of_range",
       [] { gex_RMA_PutNBI(team, GEX_RANK_INVALID, peers, local, 8, GEX_EVENT_NOW, 0); }},
      {"get_rank_far_out_of_range",
       [] { gex_RMA_GetBlocking(team, local, 2000000000, peers, 8, 0); }},
      {"value_rank_far_out_of_range",
       [] { static_cast<void>(gex_RMA_GetBlockingVal(team, 2000000000, peers, 8, 0)); }},
      {"put_of_no_team", [] { gex_RMA_PutBlocking(GEX_TM_INVALID, peer, peers, local, 8, 0); }},
      {"put_nbi_of_no_team",
       [] { gex_RMA_PutNBI(GEX_TM_INVALID, peer, peers, local, 8, GEX_EVENT_NOW, 0); }},
      {"get_nb_of_no_team",
       [] { gex_Event_Wait(gex_RMA_GetNB(GEX_TM_INVALID, local, peer, peers, 8, 0)); }},
      {"value_of_no_team",
       [] { static_cast<void>(gex_RMA_GetBlockingVal(GEX_TM_INVALID, peer, peers, 8, 0)); }},
      {"put_of_a_destroyed_team",
       [] {
         const gex_TM_t gone = split(team, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
         gex_TM_Destroy(gone, nullptr, 0);
         gex_RMA_PutBlocking(gone, peer, peers, local, 8, 0);
       }},
      {"put_from_null", [] { gex_RMA_PutBlocking(team, peer, peers, nullptr, 8, 0); }},
      {"get_into_null", [] { gex_RMA_GetNBI(team, nullptr, peer, peers, 8, 0); }},
      {"put_with_flags_of_teams",
       [] { gex_RMA_PutBlocking(team, peer, peers, local, 8, GEX_FLAG_TM_NO_SCRATCH); }},
      {"put_value_of_no_bytes", [] { gex_RMA_PutBlockingVal(team, peer, peers, 1, 0, 0); }},
      {"put_value_of_nine_bytes",
       [] {
         // Not a constant that a compiler would warn about.
         const volatile std::size_t bytes = 9;
         gex_RMA_PutNBIVal(team, peer, peers, 1, bytes, 0);
       }},
      {"put_nb_value_of_many_bytes",
       [] {
         const volatile std::size_t bytes = 4096;
         gex_Event_Wait(gex_RMA_PutNBVal(team, peer, peers, 1, bytes, 0));
       }},
      {"pair_with_no_such_endpoint",
       [] { gex_RMA_PutBlocking(gex_TM_Pair(endpoint, GASNET_MAXEPS), peer, peers, local, 8, 0); }},
      {"never_self_false",
       [] {
         gex_RMA_PutBlocking(team, gex_TM_QueryRank(team), own, local, 8, GEX_FLAG_PEER_NEVER_SELF);
       }},
      {"never_self_false_get",
       [] {
         gex_RMA_GetBlocking(team, local, gex_TM_QueryRank(team), own, 8, GEX_FLAG_PEER_NEVER_SELF);
       }},
      {"never_neighborhood_false",
       [] { gex_RMA_PutBlocking(team, peer, peers, local, 8, GEX_FLAG_PEER_NEVER_NBRHD); }},
      {"put_with_and_without_copy",
       [] {
         gex_RMA_PutNBI(team, peer, peers, local, 8, GEX_EVENT_NOW,
                        GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO);
       }},
      {"two_peer_dispositions",
       [] {
         gex_RMA_PutBlocking(team, peer, peers, local, 8,
                             GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_SOME);
       }},
      {"two_self_dispositions",
       [] {
         gex_RMA_PutBlocking(team, peer, peers, own, 8,
                             GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_UNKNOWN);
       }},
      {"self_bound_false",
       [] { gex_RMA_PutBlocking(team, peer, peers, local, 8, GEX_FLAG_SELF_SEG_BOUND); }},
      {"implicit_put_with_a_variable",
       [] {
         gex_Event_t leaf;
         gex_RMA_PutNBI(team, peer, peers, local, 8, &leaf, 0);
       }},
      {"explicit_put_with_group",
       [] { gex_Event_Wait(gex_RMA_PutNB(team, peer, peers, local, 8, GEX_EVENT_GROUP, 0)); }},
      {"put_with_null_completion",
       [] { gex_Event_Wait(gex_RMA_PutNB(team, peer, peers, local, 8, nullptr, 0)); }},

      // Events
      {"test_of_no_op", [] { gex_Event_Test(GEX_EVENT_NO_OP); }},
      {"wait_of_no_op", [] { gex_Event_Wait(GEX_EVENT_NO_OP); }},
      {"array_with_no_op",
       [] {
         gex_Event_t events[] = {GEX_EVENT_INVALID, GEX_EVENT_NO_OP};
         gex_Event_WaitAll(events, 2, 0);
       }},
      {"test_some_with_no_op",
       [] {
         gex_Event_t events[] = {GEX_EVENT_NO_OP, GEX_EVENT_INVALID};
         gex_Event_TestSome(events, 2, 0);
       }},
      {"test_all_with_no_op",
       [] {
         gex_Event_t event = GEX_EVENT_NO_OP;
         gex_Event_TestAll(&event, 1, 0);
       }},
      {"wait_some_with_no_op",
       [] {
         gex_Event_t event = GEX_EVENT_NO_OP;
         gex_Event_WaitSome(&event, 1, 0);
       }},
      {"wait_all_of_a_null_array", [] { gex_Event_WaitAll(nullptr, 3, 0); }},
      {"test_all_with_flags", [] { gex_Event_TestAll(nullptr, 0, GEX_FLAG_IMMEDIATE); }},
      {"implicit_wait_for_no_category", [] { gex_NBI_Wait(GEX_EC_ALL + 1, 0); }},
      {"implicit_test_with_flags", [] { gex_NBI_Test(GEX_EC_ALL, 2); }},
      {"region_with_flags", [] { gex_NBI_BeginAccessRegion(1); }},
      {"leaf_of_no_op", [] { gex_Event_QueryLeaf(GEX_EVENT_NO_OP, GEX_EC_LC); }},
      {"wait_twice",
       [] {
         const gex_Event_t event = gex_Coll_BarrierNB(team, 0);
         gex_Event_Wait(event);
         gex_Event_Wait(event);
       }},
      {"leaf_of_two_categories",
       [] {
         gex_NBI_BeginAccessRegion(0);
         gex_RMA_PutNBI(team, peer, peers, local, 8, GEX_EVENT_NOW, 0);
         gex_Event_QueryLeaf(gex_Coll_BarrierNB(team, 0), GEX_EC_PUT | GEX_EC_GET);
       }},
      {"leaf_that_was_not_asked_for",
       [] { gex_Event_QueryLeaf(gex_Coll_BarrierNB(team, 0), GEX_EC_LC); }},
      {"nested_regions",
       [] {
         gex_NBI_BeginAccessRegion(0);
         gex_NBI_BeginAccessRegion(0);
       }},
      {"region_ended_twice",
       [] {
         gex_NBI_BeginAccessRegion(0);
         gex_Event_Wait(gex_NBI_EndAccessRegion(0));
         gex_NBI_EndAccessRegion(0);
       }},
      {"implicit_wait_inside_a_region",
       [] {
         gex_NBI_BeginAccessRegion(0);
         gex_NBI_Wait(GEX_EC_ALL, 0);
       }},

      // Teams
      {"split_with_a_negative_color", [] { split(team, -1, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH); }},
      {"split_with_no_scratch_size", [] { split(team, 0, own, 0, 0); }},
      {"split_with_scratch_elsewhere", [] { split(team, 0, local, 1024, 0); }},
      {"split_of_a_pair",
       [] { split(gex_TM_Pair(endpoint, 0), 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH); }},
      {"create_with_a_member_twice",
       [] {
         gex_EP_Location_t list[] = {{0, 0}, {0, 0}};
         gex_TM_t made[2];
         gex_TM_Create(made, 2, team, list, 2, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"create_with_no_such_rank",
       [] {
         gex_EP_Location_t list[] = {{0, 0}, {99, 0}};
         gex_TM_t made;
         gex_TM_Create(&made, 1, team, list, 2, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"create_with_no_such_endpoint",
       [] {
         gex_EP_Location_t list[] = {{0, 0}, {1, GASNET_MAXEPS}};
         gex_TM_t made;
         gex_TM_Create(&made, 1, team, list, 2, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"create_without_a_scratch_flag",
       [] {
         gex_EP_Location_t list[] = {{0, 0}, {1, 0}};
         gex_TM_t made;
         gex_TM_Create(&made, 1, team, list, 2, nullptr, 0, 0);
       }},
      {"create_with_two_scratch_flags",
       [] {
         gex_EP_Location_t list[] = {{0, 0}, {1, 0}};
         gex_TM_t made;
         gex_TM_Create(&made, 1, team, list, 2, nullptr, 0,
                       GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH);
       }},
      {"create_with_the_wrong_number_of_local_members",
       [] {
         gex_EP_Location_t list[] = {{0, 0}, {1, 0}};
         gex_TM_t made[2];
         gex_TM_Create(made, 2, team, list, 2, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"destroy_of_the_primordial_team", [] { gex_TM_Destroy(team, nullptr, 0); }},
      {"destroy_of_a_pair", [] { gex_TM_Destroy(gex_TM_Pair(endpoint, 0), nullptr, 0); }},
      {"destroy_twice",
       [] {
         const gex_TM_t made = split(team, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
         gex_TM_Destroy(made, nullptr, 0);
         gex_TM_Destroy(made, nullptr, 0);
       }},
      {"destroy_with_flags",
       [] {
         gex_TM_Destroy(split(team, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH), nullptr,
                        GEX_FLAG_IMMEDIATE);
       }},
      {"size_of_no_team", [] { static_cast<void>(gex_TM_QuerySize(GEX_TM_INVALID)); }},
      {"endpoint_of_no_team", [] { gex_TM_QueryEP(GEX_TM_INVALID); }},
      {"pair_of_no_endpoint", [] { gex_TM_Pair(GEX_EP_INVALID, 0); }},
      {"translate_of_no_team", [] { gex_TM_TranslateJobrankToRank(GEX_TM_INVALID, 0); }},
      {"location_with_flags", [] { gex_TM_TranslateRankToEP(team, 0, 1); }},
      {"translate_no_such_rank", [] { gex_TM_TranslateRankToJobrank(team, 55); }},
      {"translate_no_such_jobrank", [] { gex_TM_TranslateJobrankToRank(team, 55); }},
      {"location_of_no_such_rank", [] { gex_TM_TranslateRankToEP(team, 55, 0); }},

      // Barriers
      {"barrier_of_a_pair", [] { gex_Coll_BarrierNB(gex_TM_Pair(endpoint, 0), 0); }},
      {"barrier_with_flags", [] { gex_Coll_BarrierNB(team, GEX_FLAG_IMMEDIATE); }},
      {"barrier_of_no_team", [] { gex_Coll_BarrierNB(GEX_TM_INVALID, 0); }},
      {"notify_with_unknown_flags", [] { gasnet_barrier_notify(1, 0x4000); }},
      {"result_into_null", [] { gasnet_barrier_result(nullptr); }},
      {"notify_twice",
       [] {
         gasnet_barrier_notify(1, 0);
         gasnet_barrier_notify(2, 0);
       }},
      {"wait_without_notify", [] { gasnet_barrier_wait(1, 0); }},
      {"try_without_notify", [] { gasnet_barrier_try(1, 0); }},

      // Segments, clients, threads
      {"attach_twice",
       [] {
         gex_Segment_t again;
         gex_Segment_Attach(&again, team, GASNET_PAGESIZE);
       }},
      {"publish_with_flags", [] { gex_EP_PublishBoundSegment(team, &endpoint, 1, 1); }},
      {"publish_a_null_array", [] { gex_EP_PublishBoundSegment(team, nullptr, 1, 0); }},
      {"publish_no_endpoint",
       [] {
         gex_EP_t none = GEX_EP_INVALID;
         gex_EP_PublishBoundSegment(team, &none, 1, 0);
       }},
      {"publish_an_endpoint_twice",
       [] {
         gex_EP_t twice[] = {endpoint, endpoint};
         gex_EP_PublishBoundSegment(team, twice, 2, 0);
       }},
      {"register_for_no_endpoint", [] { gex_EP_RegisterHandlers(GEX_EP_INVALID, nullptr, 0); }},
      {"register_a_null_table", [] { gex_EP_RegisterHandlers(endpoint, nullptr, 1); }},
      {"size_of_no_segment", [] { gex_Segment_QuerySize(GEX_SEGMENT_INVALID); }},
      {"data_of_no_client", [] { gex_Client_SetCData(GEX_CLIENT_INVALID, nullptr); }},
      {"segment_of_no_endpoint", [] { gex_EP_QuerySegment(GEX_EP_INVALID); }},
      {"threads_of_no_client",
       [] { gex_System_QueryProgressThreads(GEX_CLIENT_INVALID, nullptr, nullptr, 0); }},
      {"token_of_no_message", [] { gex_Token_Info(nullptr, nullptr, GEX_TI_ALL); }},
      {"lock_of_nothing", [] { gex_HSL_Lock(nullptr); }},
      {"bound_segment_with_flags",
       [] {
         gex_EP_QueryBoundSegmentNB(team, 0, nullptr, nullptr, nullptr, GEX_FLAG_LC_COPY_YES);
       }},
      {"bound_segment_of_no_such_rank",
       [] { gex_EP_QueryBoundSegmentNB(team, 55, nullptr, nullptr, nullptr, 0); }},

      // Restricted context
      {"put_in_a_handler",
       [] { in_handler([] { gex_RMA_PutBlocking(team, peer, peers, local, 8, 0); }); }},
      {"get_in_a_handler",
       [] { in_handler([] { gex_RMA_GetNBI(team, local, peer, peers, 8, 0); }); }},
      {"value_in_a_handler",
       [] { in_handler([] { gex_RMA_GetBlockingVal(team, peer, peers, 8, 0); }); }},
      {"wait_in_a_handler",
       [] {
         static gex_Event_t event = gex_Coll_BarrierNB(team, 0);
         in_handler([] { gex_Event_Wait(event); });
       }},
      {"test_in_a_handler",
       [] {
         static gex_Event_t event = gex_Coll_BarrierNB(team, 0);
         in_handler([] { gex_Event_Test(event); });
       }},
      {"implicit_wait_in_a_handler", [] { in_handler([] { gex_NBI_Wait(GEX_EC_ALL, 0); }); }},
      {"region_in_a_handler", [] { in_handler([] { gex_NBI_BeginAccessRegion(0); }); }},
      {"poll_in_a_handler", [] { in_handler([] { gasnet_AMPoll(); }); }},
      {"barrier_in_a_handler", [] { in_handler([] { gex_Coll_BarrierNB(team, 0); }); }},
      {"notify_in_a_handler", [] { in_handler([] { gasnet_barrier_notify(0, 0); }); }},
      {"split_in_a_handler",
       [] { in_handler([] { split(team, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH); }); }},
      {"put_holding_a_lock",
       [] {
         holding_a_lock([] { gex_RMA_PutNBI(team, peer, peers, local, 8, GEX_EVENT_NOW, 0); });
       }},
      {"poll_holding_a_lock", [] { holding_a_lock([] { gasnet_AMPoll(); }); }},
      {"barrier_holding_a_lock", [] { holding_a_lock([] { gex_Coll_BarrierNB(team, 0); }); }},
      {"put_between_prepare_and_commit",
       [] {
         gex_AM_PrepareRequestMedium(team, peer, nullptr, 8, 64, nullptr, 0, 0);
         gex_RMA_PutBlocking(team, peer, peers, local, 8, 0);
       }},
      // Warned about, not refused: this library answers from its own tables.
      {"translate_in_a_handler",
       [] { in_handler([] { gex_TM_TranslateRankToJobrank(team, 0); }); }},
      {"bound_segment_in_a_handler",
       [] {
         in_handler([] { gex_EP_QueryBoundSegmentNB(team, 0, nullptr, nullptr, nullptr, 0); });
       }},
      {"split_asking_for_minimum_scratch",
       [] {
         gex_TM_t made;
         gex_TM_Split(&made, team, 0, 0, nullptr, 0, GEX_FLAG_TM_SCRATCH_SIZE_MIN);
       }},
      {"create_asking_for_minimum_scratch",
       [] {
         gex_EP_Location_t list[] = {{0, 0}, {1, 0}};
         gex_TM_t made;
         gex_TM_Create(&made, 1, team, list, 2, nullptr, 0, GEX_FLAG_TM_SCRATCH_SIZE_MIN);
       }},
      // Allowed everywhere.
      {"immediate_bound_segment_in_a_handler",
       [] {
         in_handler([] {
           gex_EP_QueryBoundSegmentNB(team, 0, nullptr, nullptr, nullptr, GEX_FLAG_IMMEDIATE);
         });
       }},
      {"queries_in_a_handler",
       [] {
         in_handler([] {
           gex_System_QueryNbrhdInfo(nullptr, nullptr, nullptr);
           gex_System_QueryHostInfo(nullptr, nullptr, nullptr);
           gex_System_QueryMyPosition(nullptr, nullptr, nullptr, nullptr);
           gex_TM_SetCData(team, gex_TM_QueryCData(team));
           gex_EP_SetCData(endpoint, gex_EP_QueryCData(endpoint));
           gex_Segment_SetCData(segment, gex_Segment_QueryCData(segment));
           gex_Client_SetCData(client, gex_Client_QueryCData(client));
           static_cast<void>(gex_TM_QueryRank(team) + gex_TM_QuerySize(team) +
                             gex_TM_QueryFlags(team) + gex_EP_QueryIndex(endpoint));
           static_cast<void>(gex_Segment_QueryAddr(gex_EP_QuerySegment(endpoint)));
           gex_System_SetVerboseErrors(gex_System_GetVerboseErrors());
         });
       }},
  };
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  return misuse::run(argc, argv, "misuse_rma", cases());
}
