// Entry points: job, hosts, neighborhoods.

#include <gasnetex.h>

#include "base/error.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/thread.h"

namespace {

using gex::process;

/// Ranks [first, first + count), as the queries hand them out.
gex_RankInfo_t* rank_table(gex_Rank_t first, gex_Rank_t count) {
  using Entry = std::remove_const_t<gex_RankInfo_t>;
  auto* table = new Entry[count];
  for (gex_Rank_t i = 0; i < count; ++i) table[i].gex_jobrank = first + i;
  return table;
}

gex_Rank_t first_of_host() {
  const auto& job = *process().job;
  gex_Rank_t rank = job.rank();
  while (rank > 0 && job.host_of(rank - 1) == job.host_of(job.rank())) --rank;
  return rank;
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
  static gex_RankInfo_t* const table = rank_table(neighborhood.first_rank(), neighborhood.size());
  answer(table, neighborhood.size(), neighborhood.local_index(), info_p, info_count_p,
         my_info_index_p);
}

void gex_System_QueryHostInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                              gex_Rank_t* my_info_index_p) {
  require_started("gex_System_QueryHostInfo");
  static const gex_Rank_t first = first_of_host();
  static gex_RankInfo_t* const table = rank_table(first, process().host_ranks);
  answer(table, process().host_ranks, gex_proc_.jobrank - first, info_p, info_count_p,
         my_info_index_p);
}

void gex_System_QueryMyPosition(gex_Rank_t* nbrhd_set_size, gex_Rank_t* nbrhd_set_rank,
                                gex_Rank_t* host_set_size, gex_Rank_t* host_set_rank) {
  require_started("gex_System_QueryMyPosition");
  const auto& job = *process().job;
  // Neighborhoods are groups of consecutive ranks of a host, of a size that is the same everywhere.
  const gex_Rank_t limit = process().neighborhood.supernode_limit();
  gex_Rank_t neighborhoods = 0;
  gex_Rank_t mine = 0;
  gex_Rank_t hosts = 0;
  gex_Rank_t on_host = 0;
  for (gex_Rank_t rank = 0; rank < job.size(); ++rank) {
    const bool new_host = rank == 0 || job.host_of(rank) != job.host_of(rank - 1);
    on_host = new_host ? 0 : on_host + 1;
    if (new_host) ++hosts;
    if (new_host || (limit != 0 && on_host % limit == 0)) ++neighborhoods;
    if (rank == job.rank()) mine = neighborhoods - 1;
  }
  if (nbrhd_set_size != nullptr) *nbrhd_set_size = neighborhoods;
  if (nbrhd_set_rank != nullptr) *nbrhd_set_rank = mine;
  if (host_set_size != nullptr) *host_set_size = hosts;
  if (host_set_rank != nullptr) *host_set_rank = job.host_of(job.rank());
}

int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int* count_p,
                                    const gex_ProgressThreadInfo_t** info_p, gex_Flags_t flags) {
  if (count_p == nullptr || info_p == nullptr || flags != 0) return GASNET_ERR_BAD_ARG;
  if ((client->flags & GEX_FLAG_DEFER_THREADS) == 0 || client->progress_threads_queried)
    return GASNET_ERR_RESOURCE;
  client->progress_threads_queried = true;
  *count_p = 0;
  *info_p = nullptr;
  return GASNET_OK;
}

}  // extern "C"
