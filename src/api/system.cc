// Entry points: job, hosts, neighborhoods.

#include <gasnetex.h>

#include "api/require.h"
#include "base/error.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/progress_thread.h"
#include "core/thread.h"
#include "observe/in_call.h"

namespace {

using gex::process;

/// Ranks as the queries hand them out.
gex_RankInfo_t* rank_table(const gex::job::RankSet& ranks) {
  using Entry = std::remove_const_t<gex_RankInfo_t>;
  auto* table = new Entry[ranks.size()];
  for (std::uint32_t i = 0; i < ranks.size(); ++i) table[i].gex_jobrank = ranks[i];
  return table;
}

void answer(gex_RankInfo_t* table, gex_Rank_t count, gex_Rank_t own, gex_RankInfo_t** info_p,
            gex_Rank_t* count_p, gex_Rank_t* own_p) {
  if (info_p != nullptr) *info_p = table;
  if (count_p != nullptr) *count_p = count;
  if (own_p != nullptr) *own_p = own;
}

void require_started(const char* call) {
  if (gex_proc_.jobsize == 0) gex::fatal("%s: called before gex_Client_Init", call);
}

}  // namespace

extern "C" {

int gex_System_GetVerboseErrors(void) {
  return gex::verbose_errors.load(std::memory_order_relaxed) ? 1 : 0;
}

void gex_System_SetVerboseErrors(int enable) {
  gex::verbose_errors.store(enable != 0, std::memory_order_relaxed);
}

uint64_t gex_System_QueryMaxThreads(void) {
  return gex::max_threads();
}

int gex_System_QueryHiddenAMConcurrencyLevel(void) {
  return GASNET_HIDDEN_AM_CONCURRENCY_LEVEL;
}

void gex_System_QueryNbrhdInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                               gex_Rank_t* my_info_index_p) {
  require_started("gex_System_QueryNbrhdInfo");
  const auto& neighborhood = process().neighborhood;
  static gex_RankInfo_t* const table = rank_table(neighborhood.members());
  answer(table, neighborhood.size(), neighborhood.local_index(), info_p, info_count_p,
         my_info_index_p);
}

void gex_System_QueryHostInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                              gex_Rank_t* my_info_index_p) {
  require_started("gex_System_QueryHostInfo");
  const gex::job::RankSet& ranks = gex::own_host();
  static gex_RankInfo_t* const table = rank_table(ranks);
  answer(table, ranks.size(), ranks.index_of(gex_proc_.jobrank), info_p, info_count_p,
         my_info_index_p);
}

void gex_System_QueryMyPosition(gex_Rank_t* nbrhd_set_size, gex_Rank_t* nbrhd_set_rank,
                                gex_Rank_t* host_set_size, gex_Rank_t* host_set_rank) {
  require_started("gex_System_QueryMyPosition");
  const gex::shm::Placement& placement = process().placement;
  const gex_Rank_t own = gex_proc_.jobrank;
  const auto give = [](gex_Rank_t* output, std::size_t value) {
    if (output != nullptr) *output = static_cast<gex_Rank_t>(value);
  };
  give(nbrhd_set_size, placement.neighborhood_count);
  give(nbrhd_set_rank, placement.neighborhood[own]);
  give(host_set_size, placement.host_count);
  give(host_set_rank, placement.host[own]);
}

int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int* count_p,
                                    const gex_ProgressThreadInfo_t** info_p, gex_Flags_t flags) {
  const gex::InCall call(gex::Call::progress_threads);
  if (!gex::is_object(client, __func__)) return GASNET_ERR_BAD_ARG;
  if (count_p == nullptr || info_p == nullptr || flags != 0) return GASNET_ERR_BAD_ARG;
  if ((client->flags & GEX_FLAG_DEFER_THREADS) == 0 || client->progress_threads_queried)
    return GASNET_ERR_RESOURCE;
  client->progress_threads_queried = true;
  *info_p = gex::give_progress_thread();
  *count_p = *info_p != nullptr ? 1 : 0;
  return GASNET_OK;
}

}  // extern "C"
