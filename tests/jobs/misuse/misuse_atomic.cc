// Uses of atomic domains that the checking library must refuse, in one line that names the call and
// the argument: misuse_atomic CASE. A case that comes through exits with status 0.

#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>

#include <cstdint>

#include "misuse.h"

namespace {

using namespace misuse;

std::uint64_t result;

constexpr gex_OP_t operations = GEX_OP_FADD | GEX_OP_SET | GEX_OP_GET;

gex_AD_t create(gex_DT_t type, gex_OP_t ops, gex_Flags_t flags = 0, gex_TM_t tm = team) {
  gex_AD_t made = GEX_AD_INVALID;
  gex_AD_Create(&made, tm, type, ops, flags);
  return made;
}

/// Members that differ are found when their announcements have arrived, which a collective
/// operation waits for.
void create_together(gex_DT_t type, gex_OP_t ops, gex_Flags_t flags = 0) {
  create(type, ops, flags);
  int value = 0;
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &value, &value, sizeof value, 0));
}

gex_AD_t domain() {
  static const gex_AD_t made = create(GEX_DT_U64, operations);
  return made;
}

/// Adds 1 to a word of that rank and waits.
void add(gex_AD_t ad, gex_Rank_t to, void* at, gex_Flags_t flags) {
  gex_Event_Wait(gex_AD_OpNB_U64(ad, &result, to, at, GEX_OP_FADD, 1, 0, flags));
}

/// As above, but with an opcode that is no constant.
void operate(gex_OP_t opcode) {
  const volatile gex_OP_t unknown = opcode;
  gex_AD_OpNBI_U64(domain(), &result, peer, peers, unknown, 1, 0, 0);
}

const Cases& cases() {
  static const Cases table = {
      {"create_of_no_team", [] { create(GEX_DT_U64, operations, 0, GEX_TM_INVALID); }},
      {"create_of_a_pair",
       [] { create(GEX_DT_U64, operations, 0, gex_TM_Pair(gex_TM_QueryEP(team), 0)); }},
      {"create_into_null", [] { gex_AD_Create(nullptr, team, GEX_DT_U64, operations, 0); }},
      {"create_of_a_user_type", [] { create(GEX_DT_USER, operations); }},
      {"create_of_two_types", [] { create(GEX_DT_U64 | GEX_DT_I64, operations); }},
      {"create_of_nothing", [] { create(GEX_DT_U64, 0); }},
      {"create_of_bitwise_floats", [] { create(GEX_DT_FLT, GEX_OP_ADD | GEX_OP_XOR); }},
      {"create_of_fetching_bitwise_doubles", [] { create(GEX_DT_DBL, GEX_OP_FAND); }},
      {"create_of_a_user_operation", [] { create(GEX_DT_U64, GEX_OP_ADD | GEX_OP_USER); }},
      {"create_with_flags", [] { create(GEX_DT_U64, operations, GEX_FLAG_IMMEDIATE); }},
      {"create_with_two_favors",
       [] {
         create(GEX_DT_U64, operations, GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_REMOTE);
       }},
      {"create_of_different_types",
       [] { create_together(rank == 0 ? GEX_DT_U64 : GEX_DT_I64, operations); }},
      {"create_of_different_operations",
       [] { create_together(GEX_DT_U64, rank == 0 ? operations : GEX_OP_ADD); }},
      {"create_with_different_flags",
       [] { create_together(GEX_DT_U64, operations, rank == 0 ? 0 : GEX_FLAG_AD_FAVOR_REMOTE); }},
      {"create_in_a_handler", [] { in_handler([] { create(GEX_DT_U64, operations); }); }},
      {"destroy_of_no_domain", [] { gex_AD_Destroy(GEX_AD_INVALID); }},
      {"domain_destroyed_twice",
       [] {
         const gex_AD_t ad = create(GEX_DT_U64, operations);
         gex_AD_Destroy(ad);
         gex_AD_Destroy(ad);
       }},
      {"query_of_no_domain", [] { gex_AD_QueryOps(GEX_AD_INVALID); }},
      {"operation_of_no_domain", [] { add(GEX_AD_INVALID, peer, peers, 0); }},
      {"operation_of_a_destroyed_domain",
       [] {
         const gex_AD_t ad = create(GEX_DT_U64, operations);
         gex_AD_Destroy(ad);
         add(ad, peer, peers, 0);
       }},
      {"operation_of_another_type",
       [] { gex_AD_OpNBI_DBL(domain(), nullptr, peer, peers, GEX_OP_SET, 1, 0, 0); }},
      {"operation_not_in_the_set",
       [] { gex_AD_OpNBI_U64(domain(), nullptr, peer, peers, GEX_OP_ADD, 1, 0, 0); }},
      {"operation_bitwise_on_floats",
       [] {
         gex_AD_OpNBI_FLT(create(GEX_DT_FLT, GEX_OP_ADD), nullptr, peer, peers, GEX_OP_OR, 1, 0, 0);
       }},
      {"two_operations_at_once", [] { operate(GEX_OP_FADD | GEX_OP_GET); }},
      {"no_operation", [] { operate(0); }},
      {"user_operation", [] { operate(GEX_OP_USER); }},
      {"unknown_operation_bitwise_on_floats",
       [] {
         const gex_AD_t ad = create(GEX_DT_DBL, GEX_OP_ADD);
         const volatile gex_OP_t unknown = GEX_OP_FXOR;
         double old = 0;
         gex_Event_Wait(gex_AD_OpNB_DBL(ad, &old, peer, peers, unknown, 1, 0, 0));
       }},
      {"misaligned_target", [] { add(domain(), peer, peers + 4, 0); }},
      {"misaligned_offset",
       [] {
         add(domain(), peer, reinterpret_cast<void*>(std::uintptr_t{12}), GEX_FLAG_PEER_SEG_OFFSET);
       }},
      {"target_past_the_end", [] { add(domain(), peer, peers + segment_bytes, 0); }},
      {"target_outside", [] { add(domain(), peer, peers - 8, 0); }},
      {"atomic_rank_out_of_range", [] { add(domain(), 77, peers, 0); }},
      {"jobrank_out_of_range", [] { add(domain(), 77, peers, GEX_FLAG_RANK_IS_JOBRANK); }},
      {"jobrank_of_no_member",
       [] {
         gex_TM_t alone = GEX_TM_INVALID;
         gex_TM_Split(&alone, team, static_cast<int>(rank), 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
         add(create(GEX_DT_U64, operations, 0, alone), peer, peers, GEX_FLAG_RANK_IS_JOBRANK);
       }},
      {"atomic_result_into_null",
       [] { gex_AD_OpNBI_U64(domain(), nullptr, peer, peers, GEX_OP_FADD, 1, 0, 0); }},
      {"result_offset_outside",
       [] {
         gex_AD_OpNBI_U64(domain(), reinterpret_cast<std::uint64_t*>(segment_bytes), peer, peers,
                          GEX_OP_FADD, 1, 0, GEX_FLAG_SELF_SEG_OFFSET);
       }},
      {"own_rank_false", [] { add(domain(), peer, peers, GEX_FLAG_AD_MY_RANK); }},
      {"own_neighborhood_false", [] { add(domain(), peer, peers, GEX_FLAG_AD_MY_NBRHD); }},
      {"two_localities",
       [] { add(domain(), rank, own, GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD); }},
      {"operation_with_flags_of_creation",
       [] { add(domain(), peer, peers, GEX_FLAG_AD_FAVOR_REMOTE); }},
      {"operation_with_flags_of_puts", [] { add(domain(), peer, peers, GEX_FLAG_LC_COPY_YES); }},
      {"operation_in_a_handler",
       [] {
         domain();
         in_handler([] { gex_AD_OpNB_U64(domain(), &result, peer, peers, GEX_OP_GET, 0, 0, 0); });
       }},
      {"implicit_operation_in_a_handler",
       [] {
         static const gex_AD_t ad = create(GEX_DT_FLT, GEX_OP_ADD);
         in_handler([] { gex_AD_OpNBI_FLT(ad, nullptr, peer, peers, GEX_OP_ADD, 0, 0, 0); });
       }},
      {"unknown_operation_in_a_handler",
       [] {
         domain();
         in_handler([] { operate(GEX_OP_SET); });
       }},
      // Allowed everywhere.
      {"domain_queries_in_a_handler",
       [] {
         domain();
         in_handler([] {
           gex_AD_SetCData(domain(), gex_AD_QueryCData(domain()));
           static_cast<void>(gex_AD_QueryDT(domain()) + gex_AD_QueryOps(domain()) +
                             gex_AD_QueryFlags(domain()));
           static_cast<void>(gex_AD_QueryTM(domain()));
         });
       }},
  };
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  return misuse::run(argc, argv, "misuse_atomic", cases(), [] { gex_NBI_Wait(GEX_EC_ALL, 0); });
}
