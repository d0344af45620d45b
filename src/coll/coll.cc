#include "coll/coll.h"

#include "base/error.h"
#include "coll/receive.h"
#include "coll/team_collectives.h"
#include "core/memory_class.h"
#include "core/objects.h"
#include "core/observed.h"
#include "observe/trace.h"
#include "team/lifecycle.h"

namespace gex::coll {

namespace {

/// Data of collectives is memory of the host, as the reference has it for the endpoints too.
void require_host_endpoint(const Team& team, const char* call) noexcept {
  const gex_Segment_t segment = team.endpoint->segment;
  if (segment != nullptr && segment->kind != nullptr)
    fatal(
        "%s: endpoint %u of the team has memory of %s device %u, and collectives work on host "
        "memory; use a team of endpoints with host memory",
        call, unsigned{team.endpoint->index}, class_name(*segment->kind), segment->kind->device);
}

}  // namespace

gex_Event_t start_collective(Team& team, const Request& request) noexcept {
  trace::transfer(trace::no_peer, request.bytes);
  if (has_other_kinds()) [[unlikely]] {
    const char* const call = name_of(request.call);
    if (checked()) require_host_endpoint(team, call);
    if (writes_destination(request, team.rank))
      require_host_memory(request.destination, "dst", call);
    if (reads_source(request, team.rank)) require_host_memory(request.source, "src", call);
  }
  if (team.size == 1) {
    if (request.bytes != 0) make_own_result(request, 0, request.bytes);
    return GEX_EVENT_INVALID;
  }
  if (request.bytes == 0) {
    // Nothing moves, so no member waits; but they must still agree.
    announce(team, announcement_of(request));
    return GEX_EVENT_INVALID;
  }
  return TeamCollectives::of(team).start(request);
}

void announce(Team& team, const Announcement& announcement) noexcept {
  if (checked() && team.size > 1) TeamCollectives::of(team).announce(announcement);
}

std::size_t unsynchronised_events(Team& team) noexcept {
  TeamCollectives* const kept = TeamCollectives::find(team);
  return kept != nullptr ? kept->unsynchronised() : 0;
}

void start() {
  start_receiving();
  start_team_collectives();
  team::set_end_hook(end_collectives);
}

}  // namespace gex::coll
