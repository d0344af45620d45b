// Uses of clients, endpoints, segments, memory kinds and teams of them that the checking library
// must refuse, in one line that names the call and the argument: misuse_objects CASE. A case that
// comes through exits with status 0.

#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include <cstdint>

#include "misuse.h"

namespace {

using namespace misuse;

char memory[100'000];

gex_EP_t create(gex_EP_Capabilities_t capabilities = GEX_EP_CAPABILITY_ALL, gex_Flags_t flags = 0) {
  gex_EP_t made = GEX_EP_INVALID;
  gex_EP_Create(&made, client, capabilities, flags);
  return made;
}

gex_Segment_t segment_of(void* address, std::size_t bytes, gex_MK_t kind = GEX_MK_HOST,
                         gex_Flags_t flags = 0) {
  gex_Segment_t made = GEX_SEGMENT_INVALID;
  gex_Segment_Create(&made, client, address, bytes, kind, flags);
  return made;
}

/// One endpoint of every rank, with the client's memory published or only bound.
gex_EP_t bound(bool published, gex_EP_Capabilities_t capabilities = GEX_EP_CAPABILITY_ALL) {
  gex_EP_t made = create(capabilities);
  gex_EP_BindSegment(made, segment_of(memory, sizeof memory), 0);
  if (published) gex_EP_PublishBoundSegment(team, &made, 1, 0);
  barrier();
  return made;
}

/// To the peer's endpoint of that index.
void put(gex_EP_t local, gex_EP_Index_t index, void* to, std::size_t bytes = 8) {
  gex_RMA_PutBlocking(gex_TM_Pair(local, index), peer, to, memory, bytes, 0);
}

gex_Client_t another_client(const char* name = "ANOTHER", gex_Flags_t flags = 0) {
  gex_Client_t made = GEX_CLIENT_INVALID;
  gex_EP_t made_endpoint = GEX_EP_INVALID;
  gex_TM_t made_team = GEX_TM_INVALID;
  gex_Client_Init(&made, &made_endpoint, &made_team, name, nullptr, nullptr, flags);
  return made;
}
gex_EP_t endpoint_of(gex_Client_t of) {
  gex_EP_t made = GEX_EP_INVALID;
  gex_EP_Create(&made, of, GEX_EP_CAPABILITY_ALL, 0);
  return made;
}

gex_TM_t team_of(gex_EP_Index_t index, gex_Flags_t flags = GEX_FLAG_TM_NO_SCRATCH) {
  gex_EP_Location_t list[] = {{0, index}, {1, index}};
  gex_TM_t made = GEX_TM_INVALID;
  gex_TM_Create(&made, 1, team, list, 2, nullptr, 0, flags);
  return made;
}

void make_kind(gex_MK_Class_t kind_class, std::uint64_t args_flags = 0, gex_Flags_t flags = 0) {
  gex_MK_Create_args_t args{};
  args.gex_flags = args_flags;
  args.gex_class = kind_class;
  gex_MK_t kind = GEX_MK_INVALID;
  gex_MK_Create(&kind, client, &args, flags);
}

const Cases& cases() {
  static const Cases table = {
      // Clients
      {"client_of_a_name_in_use", [] { another_client("MISUSE"); }},
      {"client_of_a_name_in_lower_case", [] { another_client("upcxx"); }},
      {"client_of_gasnet1_twice",
       [] {
         another_client("FIRST", GEX_FLAG_USES_GASNET1);
         another_client("SECOND", GEX_FLAG_USES_GASNET1);
       }},
      {"client_of_different_names", [] { another_client(rank == 0 ? "ONE" : "TWO"); }},
      {"client_of_different_flags",
       [] { another_client("ANOTHER", rank == 0 ? GEX_FLAG_DEFER_THREADS : 0); }},
      {"client_in_a_handler", [] { in_handler([] { another_client(); }); }},
      {"seventeen_clients",
       [] {
         for (int i = 2; i <= 17; ++i) another_client(("CLIENT" + std::to_string(i)).c_str());
       }},
      {"threads_in_a_handler",
       [] {
         in_handler([] {
           unsigned count = 0;
           const gex_ProgressThreadInfo_t* info = nullptr;
           gex_System_QueryProgressThreads(client, &count, &info, 0);
         });
       }},
      // Endpoints
      {"endpoint_of_no_client", [] { endpoint_of(GEX_CLIENT_INVALID); }},
      {"endpoint_into_null", [] { gex_EP_Create(nullptr, client, GEX_EP_CAPABILITY_ALL, 0); }},
      {"endpoint_without_capabilities", [] { create(0); }},
      {"endpoint_of_unknown_capabilities", [] { create(GEX_EP_CAPABILITY_ALL | 1U << 9); }},
      {"endpoint_with_flags", [] { create(GEX_EP_CAPABILITY_ALL, GEX_FLAG_IMMEDIATE); }},
      {"endpoints_beyond_the_limit",
       [] {
         for (int i = 0; i < GASNET_MAXEPS; ++i) create();
       }},
      {"endpoint_in_a_handler", [] { in_handler([] { create(); }); }},
      {"handlers_without_the_capability",
       [] { gex_EP_RegisterHandlers(create(GEX_EP_CAPABILITY_RMA), nullptr, 0); }},
      {"put_without_the_capability", [] { put(create(GEX_EP_CAPABILITY_AM), 0, peers); }},
      {"message_without_the_capability",
       [] { gex_AM_RequestShort0(gex_TM_Pair(create(GEX_EP_CAPABILITY_RMA), 0), peer, 200, 0); }},
      {"prepare_without_the_capability",
       [] {
         gex_AM_PrepareRequestMedium(gex_TM_Pair(create(GEX_EP_CAPABILITY_RMA), 0), peer, nullptr,
                                     0, 10, nullptr, 0, 0);
       }},
      {"strided_put_without_the_capability",
       [] {
         gex_VIS_StridedPutBlocking(gex_TM_Pair(create(GEX_EP_CAPABILITY_RMA), 0), peer, peers,
                                    nullptr, memory, nullptr, 8, nullptr, 0, 0);
       }},
      {"barrier_without_the_capability",
       [] {
         const gex_EP_t made = create(GEX_EP_CAPABILITY_RMA);
         gex_Coll_BarrierNB(team_of(gex_EP_QueryIndex(made)), 0);
       }},
      {"domain_without_the_capability",
       [] {
         const gex_EP_t made = create(GEX_EP_CAPABILITY_RMA);
         gex_AD_t ad = GEX_AD_INVALID;
         gex_AD_Create(&ad, team_of(gex_EP_QueryIndex(made)), GEX_DT_U64, GEX_OP_ADD, 0);
       }},
      {"message_to_no_endpoint",
       [] {
         gex_AM_RequestShort0(gex_TM_Pair(endpoint, 9), peer, 200, 0);
         GASNET_BLOCKUNTIL(handled);
       }},
      // Segments
      {"segment_of_no_client",
       [] {
         gex_Segment_t made = GEX_SEGMENT_INVALID;
         gex_Segment_Create(&made, GEX_CLIENT_INVALID, nullptr, 4096, GEX_MK_HOST, 0);
       }},
      {"segment_into_null",
       [] { gex_Segment_Create(nullptr, client, nullptr, 4096, GEX_MK_HOST, 0); }},
      {"segment_of_nothing", [] { segment_of(nullptr, 0); }},
      {"segment_beyond_the_address_space", [] { segment_of(memory, UINTPTR_MAX); }},
      {"segment_of_no_kind", [] { segment_of(nullptr, 4096, GEX_MK_INVALID); }},
      {"segment_of_an_unknown_kind",
       [] { segment_of(nullptr, 4096, reinterpret_cast<gex_MK_t>(memory)); }},
      {"segment_with_flags", [] { segment_of(nullptr, 4096, GEX_MK_HOST, 1); }},
      {"segment_in_a_handler", [] { in_handler([] { segment_of(nullptr, 4096); }); }},
      {"destroy_of_no_segment", [] { gex_Segment_Destroy(GEX_SEGMENT_INVALID, 0); }},
      {"destroy_of_a_bound_segment", [] { gex_Segment_Destroy(segment, 0); }},
      {"segment_destroyed_with_flags", [] { gex_Segment_Destroy(segment_of(nullptr, 4096), 2); }},
      {"segment_destroyed_twice",
       [] {
         const gex_Segment_t made = segment_of(nullptr, 4096);
         gex_Segment_Destroy(made, 0);
         gex_Segment_Destroy(made, 0);
       }},
      {"bind_of_a_destroyed_segment",
       [] {
         const gex_Segment_t made = segment_of(memory, 4096);
         gex_Segment_Destroy(made, 0);
         gex_EP_BindSegment(create(), made, 0);
       }},
      {"destroy_in_a_handler",
       [] {
         static const gex_Segment_t made = segment_of(nullptr, 4096);
         in_handler([] { gex_Segment_Destroy(made, 0); });
       }},
      {"bind_to_no_endpoint", [] { gex_EP_BindSegment(GEX_EP_INVALID, segment, 0); }},
      {"bind_twice", [] { gex_EP_BindSegment(endpoint, segment_of(nullptr, 4096), 0); }},
      {"unbind_of_nothing", [] { gex_EP_BindSegment(create(), GEX_SEGMENT_INVALID, 0); }},
      {"bind_of_another_clients",
       [] { gex_EP_BindSegment(endpoint_of(another_client()), segment_of(nullptr, 4096), 0); }},
      {"bind_with_flags", [] { gex_EP_BindSegment(create(), segment_of(nullptr, 4096), 4); }},
      {"bind_in_a_handler",
       [] {
         static const gex_EP_t made = create();
         in_handler([] { gex_EP_BindSegment(made, segment, 0); });
       }},
      {"publish_of_another_clients",
       [] {
         gex_EP_t array[] = {endpoint_of(another_client())};
         gex_EP_PublishBoundSegment(team, array, 1, 0);
       }},
      {"put_to_an_unpublished_segment",
       [] {
         const gex_EP_t made = bound(false);
         put(endpoint, gex_EP_QueryIndex(made), memory);
       }},
      {"put_past_a_created_segment",
       [] {
         const gex_EP_t made = bound(true);
         put(made, gex_EP_QueryIndex(made), reinterpret_cast<char*>(1), sizeof memory);
       }},
      {"long_past_a_created_segment",
       [] {
         const gex_EP_t made = bound(true);
         void* theirs = nullptr;
         const gex_TM_t pair = gex_TM_Pair(made, gex_EP_QueryIndex(made));
         gex_Segment_QueryBound(pair, peer, &theirs, nullptr, nullptr);
         gex_AM_RequestLong0(pair, peer, 200, own, 100,
                             static_cast<char*>(theirs) + sizeof memory - 50, GEX_EVENT_NOW, 0);
         GASNET_BLOCKUNTIL(handled);
       }},
      // Memory kinds
      {"kind_into_null",
       [] {
         gex_MK_Create_args_t args{};
         gex_MK_Create(nullptr, client, &args, 0);
       }},
      {"kind_without_arguments",
       [] {
         gex_MK_t kind = GEX_MK_INVALID;
         gex_MK_Create(&kind, client, nullptr, 0);
       }},
      {"kind_with_flags", [] { make_kind(GEX_MK_CLASS_HOST, 0, 1); }},
      {"kind_with_flags_in_arguments", [] { make_kind(GEX_MK_CLASS_HOST, 1); }},
      {"kind_in_a_handler", [] { in_handler([] { make_kind(GEX_MK_CLASS_HOST); }); }},
      {"kind_that_is_absent", [] { make_kind(GEX_MK_CLASS_HIP); }},
      {"kind_that_is_absent_quietly",
       [] {
         gex_System_SetVerboseErrors(0);
         make_kind(GEX_MK_CLASS_ZE);
       }},
      {"no_kind_destroyed", [] { gex_MK_Destroy(GEX_MK_INVALID, 0); }},
      {"unknown_kind_destroyed", [] { gex_MK_Destroy(reinterpret_cast<gex_MK_t>(memory), 0); }},
      {"kind_destroyed_with_flags", [] { gex_MK_Destroy(GEX_MK_HOST, 1); }},
      {"kind_destroyed_in_a_handler", [] { in_handler([] { gex_MK_Destroy(GEX_MK_HOST, 0); }); }},
      // Teams
      {"team_of_no_endpoint", [] { team_of(5); }},
      {"team_of_different_lists",
       [] {
         gex_EP_Location_t list[] = {{rank, 0}, {peer, 0}};
         gex_TM_t made = GEX_TM_INVALID;
         gex_TM_Create(&made, 1, team, list, 2, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
       }},
      {"team_with_flags", [] { team_of(0, GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_IMMEDIATE); }},
      {"team_of_both_queries",
       [] {
         team_of(0, GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_TM_SCRATCH_SIZE_MIN |
                        GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
       }},
      {"split_with_flags",
       [] {
         gex_TM_t made = GEX_TM_INVALID;
         gex_TM_Split(&made, team, 0, 0, nullptr, 0,
                      GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH);
       }},
      {"split_of_different_scratch",
       [] {
         gex_TM_t made = GEX_TM_INVALID;
         gex_TM_Split(&made, team, 0, 0, own, 64 * (rank + 1), 0);
       }},
      // Flags of messages
      {"short_with_flags", [] { gex_AM_RequestShort0(team, peer, 200, GEX_FLAG_PEER_SEG_OFFSET); }},
      {"medium_with_flags",
       [] {
         gex_AM_RequestMedium0(team, peer, 200, own, 8, GEX_EVENT_NOW, GEX_FLAG_PEER_NEVER_SELF);
       }},
      {"long_with_flags",
       [] {
         gex_AM_RequestLong0(team, peer, 200, own, 8, peers, GEX_EVENT_NOW,
                             GEX_FLAG_AM_PREPARE_LEAST_CLIENT);
       }},
      {"prepare_with_flags",
       [] {
         gex_AM_PrepareRequestLong(team, peer, nullptr, 0, 8, nullptr, nullptr,
                                   GEX_FLAG_ENABLE_LEAF_LC, 0);
       }},
      {"commit_with_flags",
       [] {
         gex_AM_SrcDesc_t sd =
             gex_AM_PrepareRequestMedium(team, peer, nullptr, 0, 8, nullptr, 0, 0);
         gex_AM_CommitRequestMedium0_v2(sd, 200, 0, GEX_FLAG_LC_COPY_YES);
       }},
      {"reply_with_flags",
       [] {
         in_request_handler(
             [](gex_Token_t token) { gex_AM_ReplyShort0(token, 200, GEX_FLAG_SELF_SEG_OFFSET); });
       }},
      {"limit_with_flags",
       [] { gex_AM_MaxRequestMedium(team, peer, GEX_EVENT_NOW, GEX_FLAG_AD_ACQ, 0); }},
  };
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  return misuse::run(argc, argv, "misuse_objects", cases());
}
