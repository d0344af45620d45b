// Entry points: clients, endpoints, teams.

#include <gasnet_coll.h>

#include <algorithm>
#include <cstring>

#include "am/handlers.h"
#include "api/require.h"
#include "api/start_library.h"
#include "base/error.h"
#include "coll/coll.h"
#include "core/objects.h"
#include "core/progress_thread.h"
#include "core/refuse.h"
#include "core/team.h"
#include "observe/in_call.h"
#include "team/barrier.h"
#include "team/lifecycle.h"

namespace {

using gex::Call;
using gex::checked;
using gex::fatal;
using gex::InCall;
using gex::refuse;
using gex::require;
using gex::Team;
using gex::team::size_queries;

/// Returns true if the name is what the specification asks for, [A-Z][A-Z0-9_]+, which hardly any
/// client's is.
bool is_specified_name(const char* name) {
  if (name[0] < 'A' || name[0] > 'Z' || name[1] == '\0') return false;
  return name[std::strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

gex_EP_t local_endpoint(gex_TM_t tm, const char* call) {
  if (checked() || tm == GEX_TM_INVALID) gex::require_team_or_pair(tm, call);
  return GEX_IS_PAIR_(tm) ? gex::resolve(tm, 0).local_endpoint : Team::from(tm).endpoint;
}

/// Returns true if the call only asks for a size; these are its other flags.
bool is_size_query(gex_Flags_t flags, gex_Flags_t known, Call call) {
  gex::warn_of_flags(flags, known | size_queries, name_of(call));
  if (checked() && (flags & size_queries) == size_queries)
    fatal("%s: both size queries at once", name_of(call));
  return (flags & size_queries) != 0;
}

void check_split(const Team& parent, gex_TM_t* new_tm_p, int color, void* scratch,
                 std::size_t scratch_size, gex_Flags_t flags) {
  if (new_tm_p == nullptr) return;
  if (color < 0) fatal("gex_TM_Split: the color %d is negative", color);
  if ((flags & GEX_FLAG_TM_NO_SCRATCH) != 0) return;
  if (scratch_size == 0) fatal("gex_TM_Split: scratch_size is 0 without GEX_FLAG_TM_NO_SCRATCH");
  const gex_Segment_t segment = parent.endpoint->segment;
  if (segment == nullptr || !segment->contains(scratch, scratch_size))
    fatal("gex_TM_Split: %zu bytes of scratch at %p are not in the bound segment", scratch_size,
          scratch);
}

constexpr gex_Flags_t scratch_forms = GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH |
                                      GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_TM_NO_SCRATCH;

void check_create(const Team& parent, const gex_EP_Location_t* args, std::size_t numargs,
                  const gex_Addr_t* scratch_addrs, std::size_t scratch_size, gex_Flags_t flags) {
  const gex_Flags_t scratch_flags = flags & scratch_forms;
  if (scratch_flags == 0 || (scratch_flags & (scratch_flags - 1)) != 0)
    fatal(
        "gex_TM_Create: exactly one of the SYMMETRIC, LOCAL, GLOBAL and NO_SCRATCH flags is "
        "needed");
  if (scratch_flags != GEX_FLAG_TM_NO_SCRATCH && (scratch_addrs == nullptr || scratch_size == 0))
    fatal("gex_TM_Create: no scratch was given, and not GEX_FLAG_TM_NO_SCRATCH");
  const gex_Rank_t limit =
      (flags & GEX_FLAG_RANK_IS_JOBRANK) != 0 ? gex_proc_.jobsize : parent.size;
  for (std::size_t i = 0; i < numargs; ++i) {
    if (args[i].gex_rank >= limit)
      fatal("gex_TM_Create: member %zu names rank %u of %u", i, args[i].gex_rank, limit);
    for (std::size_t j = 0; j < i; ++j)
      if (args[j].gex_rank == args[i].gex_rank && args[j].gex_ep_index == args[i].gex_ep_index)
        fatal("gex_TM_Create: members %zu and %zu are the same endpoint", j, i);
  }
}

/// Shows in hang reports where in the client's code teams have been made: `returns_to` is behind
/// the call.
void show_place(const gex_TM_t* teams, std::size_t count, const void* returns_to) noexcept {
  for (std::size_t i = 0; i < count; ++i)
    Team::from(teams[i]).status.made_at.store(reinterpret_cast<std::uintptr_t>(returns_to) - 1,
                                              std::memory_order_relaxed);
}

}  // namespace

extern "C" {

int gex_Client_Init(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p, const char* client_name,
                    int* argc, char*** argv, gex_Flags_t flags) {
  const InCall in_call(Call::client_init, InCall::set_up);
  const char* call = name_of(in_call);
  if (gex_proc_.jobsize == 0) gex::start_library({.count = argc, .arguments = argv});
  if (client_p == nullptr || ep_p == nullptr || tm_p == nullptr)
    return refuse(GASNET_ERR_BAD_ARG, call, "an output pointer is null");
  if (client_name == nullptr) return refuse(GASNET_ERR_BAD_ARG, call, "the client name is null");
  if (checked() && !is_specified_name(client_name) && gex::speaks_for_job())
    gex::warn("%s: the client name \"%s\" does not match [A-Z][A-Z0-9_]+", call, client_name);
  gex::warn_of_flags(flags, GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS, call);
  if (gex::find_client(client_name) != nullptr)
    return refuse(GASNET_ERR_BAD_ARG, call, "this process has a client of that name already");
  if ((flags & GEX_FLAG_USES_GASNET1) != 0 && gex_proc_.gasnet1_team != GEX_TM_INVALID)
    return refuse(GASNET_ERR_BAD_ARG, call, "another client has GEX_FLAG_USES_GASNET1 already");
  const gex_Client_t client = gex::create_client(client_name, flags);
  if (client == nullptr)
    return refuse(GASNET_ERR_RESOURCE, call, "this process has 16 clients already");
  *client_p = client;
  *ep_p = client->endpoint;
  *tm_p = gex::team::create_primordial(client).handle();
  if ((flags & GEX_FLAG_USES_GASNET1) != 0) gex_proc_.gasnet1_team = *tm_p;
  gasnete_coll_team_all = gex::gasnet1_client()->team;
  InCall::name_calls();
  if ((flags & GEX_FLAG_DEFER_THREADS) == 0) gex::start_progress_thread();
  return GASNET_OK;
}

gex_Flags_t gex_Client_QueryFlags(gex_Client_t client) {
  return require(client, __func__)->flags;
}
const char* gex_Client_QueryName(gex_Client_t client) {
  return require(client, __func__)->name.c_str();
}

void gex_Client_SetCData(gex_Client_t client, const void* val) {
  require(client, __func__)->client_data = val;
}
void* gex_Client_QueryCData(gex_Client_t client) {
  return const_cast<void*>(require(client, __func__)->client_data);
}
void gex_EP_SetCData(gex_EP_t ep, const void* val) {
  require(ep, __func__)->client_data = val;
}
void* gex_EP_QueryCData(gex_EP_t ep) {
  return const_cast<void*>(require(ep, __func__)->client_data);
}
void gex_TM_SetCData(gex_TM_t tm, const void* val) {
  gex::require_team(tm, __func__).client_data = val;
}
void* gex_TM_QueryCData(gex_TM_t tm) {
  return const_cast<void*>(gex::require_team(tm, __func__).client_data);
}

gex_Client_t gex_TM_QueryClient(gex_TM_t tm) {
  return local_endpoint(tm, __func__)->client;
}
gex_EP_t gex_TM_QueryEP(gex_TM_t tm) {
  return local_endpoint(tm, __func__);
}
gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm) {
  return gex::require_team(tm, __func__).flags;
}
gex_Rank_t gex_tm_rank_(gex_TM_t tm) {
  return GEX_IS_PAIR_(tm) ? gex_proc_.jobrank : gex::require_team(tm, "gex_TM_QueryRank").rank;
}
gex_Rank_t gex_tm_size_(gex_TM_t tm) {
  return GEX_IS_PAIR_(tm) ? gex_proc_.jobsize : gex::require_team(tm, "gex_TM_QuerySize").size;
}

size_t gex_TM_Split(gex_TM_t* new_tm_p, gex_TM_t parent_tm, int color, int key, void* scratch_addr,
                    size_t scratch_size, gex_Flags_t flags) {
  const InCall call(Call::split, InCall::set_up);
  Team& parent = gex::require_team(parent_tm, name_of(call));
  const bool query = is_size_query(flags, GEX_FLAG_TM_NO_SCRATCH, call);
  if (checked() && !query) check_split(parent, new_tm_p, color, scratch_addr, scratch_size, flags);
  const std::size_t scratch =
      gex::team::split(new_tm_p, parent, color, key, scratch_addr, scratch_size, flags);
  if (!query && new_tm_p != nullptr) show_place(new_tm_p, 1, __builtin_return_address(0));
  return scratch;
}

size_t gex_TM_Create(gex_TM_t* new_tms, size_t num_new_tms, gex_TM_t parent_tm,
                     gex_EP_Location_t* args, size_t numargs, gex_Addr_t* scratch_addrs,
                     size_t scratch_size, gex_Flags_t flags) {
  const InCall call(Call::create, InCall::set_up);
  Team& parent = gex::require_team(parent_tm, name_of(call));
  const bool query = is_size_query(
      flags, scratch_forms | GEX_FLAG_SCRATCH_SEG_OFFSET | GEX_FLAG_RANK_IS_JOBRANK, call);
  if (checked() && !query && numargs != 0)
    check_create(parent, args, numargs, scratch_addrs, scratch_size, flags);
  const std::size_t scratch = gex::team::create(new_tms, num_new_tms, parent, args, numargs,
                                                scratch_addrs, scratch_size, flags);
  if (!query && numargs != 0) show_place(new_tms, num_new_tms, __builtin_return_address(0));
  return scratch;
}

int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t* scratch_p, gex_Flags_t flags) {
  const InCall call(Call::destroy, InCall::set_up);
  Team& team = gex::require_team(tm, name_of(call));
  if (tm == team.client->team) fatal("%s: the primordial team cannot be destroyed", name_of(call));
  gex::warn_of_flags(flags, GEX_FLAG_GLOBALLY_QUIESCED, name_of(call));
  if (checked()) {
    // An event outlives its team otherwise, and looks for its state there.
    const std::size_t events = static_cast<std::size_t>(gex::barrier_of(team).unsynchronised()) +
                               gex::coll::unsynchronised_events(team);
    if (events != 0)
      fatal("%s: %zu event(s) of collective calls over the team were not synchronised",
            name_of(call), events);
  }
  return gex::team::destroy(team, scratch_p, flags);
}

gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index) {
  require(local_ep, __func__);
  return gex::make_pair_handle({local_ep->index, remote_ep_index, local_ep->client->index});
}

gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank) {
  const InCall call(Call::rank_to_jobrank);
  if (checked() || tm == GEX_TM_INVALID) gex::require_peer(tm, rank, name_of(call));
  return gex::resolve(tm, rank).jobrank;
}

gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank) {
  const InCall call(Call::jobrank_to_rank);
  if (checked() || tm == GEX_TM_INVALID) gex::require_team_or_pair(tm, name_of(call));
  if (checked() && jobrank >= gex_proc_.jobsize)
    fatal("%s: jobrank %u is not below the job's size %u", name_of(call), jobrank,
          gex_proc_.jobsize);
  return GEX_IS_PAIR_(tm) ? jobrank : Team::from(tm).rank_of(jobrank);
}

gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags) {
  const InCall call(Call::rank_to_endpoint);
  gex::require_flags(flags, 0, name_of(call));
  if (checked() || tm == GEX_TM_INVALID) gex::require_peer(tm, rank, name_of(call));
  const gex::Target target = gex::resolve(tm, rank);
  return {target.jobrank, target.endpoint};
}

int gex_EP_Create(gex_EP_t* ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities,
                  gex_Flags_t flags) {
  const InCall in_call(Call::ep_create, InCall::set_up);
  const char* call = name_of(in_call);
  if (!gex::is_object(client, call)) return GASNET_ERR_BAD_ARG;
  if (ep_p == nullptr) return refuse(GASNET_ERR_BAD_ARG, call, "ep_p is null");
  if (capabilities == 0) return refuse(GASNET_ERR_BAD_ARG, call, "no capability is given");
  if ((capabilities & ~GEX_EP_CAPABILITY_ALL) != 0)
    return refuse(GASNET_ERR_BAD_ARG, call, "there is no such capability");
  gex::warn_of_flags(flags, GEX_FLAG_HINT_ACCEL_ALL, call);
  const gex_EP_t endpoint = gex::create_endpoint(client, capabilities, flags);
  if (endpoint == nullptr)
    return refuse(GASNET_ERR_RESOURCE, call, "the client has GASNET_MAXEPS endpoints already");
  *ep_p = endpoint;
  return GASNET_OK;
}

gex_Client_t gex_EP_QueryClient(gex_EP_t ep) {
  return require(ep, __func__)->client;
}
gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep) {
  return require(ep, __func__)->flags;
}
gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep) {
  return require(ep, __func__)->segment;
}
gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep) {
  return require(ep, __func__)->index;
}

int gex_EP_RegisterHandlers(gex_EP_t ep, gex_AM_Entry_t* table, size_t numentries) {
  const InCall in_call(Call::register_handlers, InCall::set_up);
  const char* call = name_of(in_call);
  if (!gex::is_object(ep, call)) return GASNET_ERR_BAD_ARG;
  gex::require_capability(ep, GEX_EP_CAPABILITY_AM, call);
  if (table == nullptr && numentries != 0)
    return refuse(GASNET_ERR_BAD_ARG, call, "the table is null");
  return gex::am::register_handlers(ep, table, numentries, call);
}

}  // extern "C"
