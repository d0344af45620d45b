// Collective calls that must be refused, in one line that names the call and the argument:
// misuse_coll CASE. A case that comes through exits with status 0.

#include <gasnet_coll.h>
#include <gasnetex.h>

#include <cstdint>

#include "misuse.h"

namespace {

using namespace misuse;

std::uint64_t words[64];

void broadcast(gex_Rank_t root, std::size_t bytes, gex_TM_t tm = team, gex_Flags_t flags = 0) {
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, words, words, bytes, flags));
}

struct Reduce {
  gex_DT_t type = GEX_DT_U64;
  std::size_t size = 8;
  std::size_t count = 1;
  gex_OP_t operation = GEX_OP_ADD;
  gex_Coll_ReduceFn_t user = nullptr;
};

void to_all(const Reduce& reduce) {
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, words, words, reduce.type, reduce.size, reduce.count,
                                        reduce.operation, reduce.user, nullptr, 0));
}
void to_one(gex_Rank_t root, const Reduce& reduce) {
  gex_Event_Wait(gex_Coll_ReduceToOneNB(team, root, words, words, reduce.type, reduce.size,
                                        reduce.count, reduce.operation, reduce.user, nullptr, 0));
}

constexpr int sync = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC;

void gather(gasnet_image_t image, std::size_t bytes, int flags) {
  gasnet_coll_gather(GASNET_TEAM_ALL, image, words, words + 32, bytes, flags);
}

void polls(const void*, void*, std::size_t, const void*) {
  gasnet_AMPoll();
}
void asks(const void*, void*, std::size_t, const void*) {
  words[0] = gex_TM_QueryRank(team) + gex_System_QueryJobSize();
}

/// Destroys a team of all ranks with an event of `start` left over.
void destroy_with(gex_Event_t (*start)(gex_TM_t tm)) {
  gex_TM_t made = GEX_TM_INVALID;
  gex_TM_Split(&made, team, 0, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  start(made);
  barrier();
  gex_TM_Destroy(made, nullptr, 0);
}

const Cases& cases() {
  static const Cases table = {
      {"team_destroyed_with_a_barrier",
       [] { destroy_with([](gex_TM_t tm) { return gex_Coll_BarrierNB(tm, 0); }); }},
      {"team_destroyed_with_a_reduction",
       [] {
         destroy_with([](gex_TM_t tm) {
           return gex_Coll_ReduceToAllNB(tm, words, words, GEX_DT_U64, 8, 1, GEX_OP_ADD, nullptr,
                                         nullptr, 0);
         });
       }},
      {"broadcast_of_no_team", [] { broadcast(0, 8, GEX_TM_INVALID); }},
      {"broadcast_of_a_pair", [] { broadcast(0, 8, gex_TM_Pair(endpoint, 0)); }},
      {"broadcast_from_outside", [] { broadcast(2, 8); }},
      {"broadcast_with_flags", [] { broadcast(0, 8, team, GEX_FLAG_IMMEDIATE); }},
      {"broadcast_into_null",
       [] { gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, nullptr, words, 8, 0)); }},
      {"broadcast_from_null",
       [] { gex_Event_Wait(gex_Coll_BroadcastNB(team, rank, words, nullptr, 8, 0)); }},
      {"broadcast_in_a_handler", [] { in_handler([] { broadcast(0, 8); }); }},
      {"reduction_in_a_handler", [] { in_handler([] { to_all({}); }); }},
      {"reduction_to_outside", [] { to_one(77, {}); }},
      {"reduction_of_no_type", [] { to_all({.type = 0}); }},
      {"reduction_of_two_types", [] { to_all({.type = GEX_DT_U64 | GEX_DT_I64}); }},
      {"reduction_of_a_wrong_size", [] { to_all({.size = 4}); }},
      {"reduction_of_no_size", [] { to_all({.type = GEX_DT_USER, .size = 0}); }},
      {"reduction_of_too_many", [] { to_all({.count = ~std::size_t{0}}); }},
      {"reduction_by_no_operation", [] { to_all({.operation = 0}); }},
      {"reduction_by_two_operations", [] { to_all({.operation = GEX_OP_ADD | GEX_OP_MIN}); }},
      {"reduction_by_subtraction", [] { to_all({.operation = GEX_OP_SUB}); }},
      {"reduction_of_floats_by_bits",
       [] { to_one(0, {.type = GEX_DT_DBL, .operation = GEX_OP_XOR}); }},
      {"reduction_of_a_user_type_by_sum", [] { to_all({.type = GEX_DT_USER, .size = 24}); }},
      {"reduction_by_a_null_operator", [] { to_all({.operation = GEX_OP_USER}); }},
      {"reduction_by_a_null_ordered_operator", [] { to_one(0, {.operation = GEX_OP_USER_NC}); }},
      {"reduction_from_null",
       [] {
         gex_Event_Wait(gex_Coll_ReduceToAllNB(team, words, nullptr, GEX_DT_U64, 8, 1, GEX_OP_ADD,
                                               nullptr, nullptr, 0));
       }},
      {"reduction_into_null",
       [] {
         gex_Event_Wait(gex_Coll_ReduceToOneNB(team, rank, nullptr, words, GEX_DT_U64, 8, 1,
                                               GEX_OP_ADD, nullptr, nullptr, 0));
       }},
      {"poll_in_an_operator", [] { to_all({.operation = GEX_OP_USER, .user = polls}); }},

      // GASNet-1.
      {"gather_to_outside", [] { gather(2, 8, sync | GASNET_COLL_LOCAL); }},
      {"gather_of_no_team",
       [] { gasnet_coll_gather(GEX_TM_INVALID, 0, words, words, 8, sync | GASNET_COLL_LOCAL); }},
      {"gather_without_a_scope", [] { gather(0, 8, sync); }},
      {"gather_without_input_sync",
       [] { gather(0, 8, GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL); }},
      {"gather_with_two_output_syncs",
       [] { gather(0, 8, sync | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL); }},
      {"gather_with_unknown_flags", [] { gather(0, 8, sync | GASNET_COLL_LOCAL | 1 << 20); }},
      {"gather_not_in_the_segment",
       [] { gather(0, 8, sync | GASNET_COLL_LOCAL | GASNET_COLL_SRC_IN_SEGMENT); }},
      {"gather_into_null",
       [] {
         gasnet_coll_gather_all(GASNET_TEAM_ALL, nullptr, words, 8, sync | GASNET_COLL_LOCAL);
       }},
      {"gather_in_a_handler", [] { in_handler([] { gather(0, 8, sync | GASNET_COLL_LOCAL); }); }},
      {"team_barrier_notified_twice",
       [] {
         gasnet_coll_barrier_notify(team, 0, 0);
         gasnet_coll_barrier_notify(team, 0, 0);
       }},
      {"team_barrier_not_notified", [] { gasnet_coll_barrier_wait(team, 0, 0); }},
      {"team_barrier_with_flags", [] { gasnet_coll_barrier(team, 0, 64); }},
      {"different_images", [] { gather(rank, 8, sync | GASNET_COLL_LOCAL); }},
      {"different_flags",
       [] { gather(0, 8, sync | (rank == 0 ? GASNET_COLL_LOCAL : GASNET_COLL_SINGLE)); }},
      {"gather_meets_exchange",
       [] {
         if (rank == 0)
           gather(0, 8, sync | GASNET_COLL_LOCAL);
         else
           gasnet_coll_exchange(GASNET_TEAM_ALL, words, words + 32, 8, sync | GASNET_COLL_LOCAL);
       }},

      // Members that differ.
      {"different_roots", [] { broadcast(rank, 8); }},
      {"different_nbytes", [] { broadcast(0, 8 + rank); }},
      {"different_nbytes_one_none", [] { broadcast(0, 8 * rank); }},
      {"different_nbytes_large", [] { broadcast(1, rank == 0 ? 400 : 8); }},
      {"different_collectives", [] { rank == 0 ? broadcast(0, 8) : to_all({}); }},
      {"different_reductions", [] { rank == 0 ? to_one(0, {}) : to_all({}); }},
      {"barrier_meets_broadcast", [] { rank == 0 ? barrier() : broadcast(0, 8); }},
      {"different_types", [] { to_all({.type = rank == 0 ? GEX_DT_U64 : GEX_DT_I64}); }},
      {"different_sizes",
       [] {
         to_all({.type = GEX_DT_USER, .size = 8 + rank, .operation = GEX_OP_USER, .user = asks});
       }},
      {"different_counts", [] { to_one(1, {.count = 1 + rank}); }},
      {"different_operations", [] { to_all({.operation = rank == 0 ? GEX_OP_ADD : GEX_OP_MAX}); }},
      {"different_in_the_second_call",
       [] {
         broadcast(0, 8);
         broadcast(0, 8 + rank);
       }},

      // Allowed.
      {"queries_in_an_operator", [] { to_all({.operation = GEX_OP_USER, .user = asks}); }},
      {"different_operators",
       [] {
         to_all({.operation = GEX_OP_USER,
                 .user = rank == 0 ? asks : [](const void*, void*, std::size_t, const void*) {}});
       }},
  };
  return table;
}

}  // namespace

int main(int argc, char** argv) {
  return misuse::run(argc, argv, "misuse_coll", cases());
}
