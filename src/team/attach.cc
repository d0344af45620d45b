#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/os_memory.h"
#include "base/os_memory_limits.h"
#include "core/process.h"
#include "core/segment.h"
#include "team/exchange.h"
#include "team/lifecycle.h"

namespace gex::team {

namespace {

/// What the network calls a segment, if it has a name for it.
struct Registration {
  net::SegmentKey key;
  std::uint64_t has_key;
};

Registration registration_of(_gex_Segment& segment) {
  return give_to_network(segment) ? Registration{segment.key, 1} : Registration{};
}

/// What each process says of a segment.
struct Announcement {
  gex_Rank_t jobrank;
  std::uint32_t endpoint;
  std::uint64_t address;
  std::uint64_t size;    ///< 0: none
  std::uint64_t offset;  ///< as of publish_segment
  std::uint64_t usable;  ///< bytes of memory the host has for segments, as this process sees it
  std::int64_t flaw;  ///< GASNET_OK, or the error of arguments with which nothing can be attached
  Registration network;
};

/// Takes note of what a process says of an endpoint of that client.
void record(gex_Client_t client, const Announcement& announced, const char* call) {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  const std::uint64_t room = neighborhood.max_segment();
  const bool is_near = neighborhood.contains(announced.jobrank) && announced.offset != not_shared;
  if (announced.jobrank >= gex_proc_.jobsize || announced.endpoint >= GASNET_MAXEPS ||
      (is_near && (announced.size > room || announced.offset > room - announced.size)))
    fatal("%s: rank %u announced endpoint %u with a segment of %lu bytes, which cannot be", call,
          announced.jobrank, announced.endpoint, static_cast<unsigned long>(announced.size));
  const unsigned endpoint = endpoint_address(client->index, announced.endpoint);
  publish_segment(endpoint, announced.jobrank, announced.address, announced.size, announced.offset);
  if (announced.network.has_key != 0)
    publish_key(endpoint, announced.jobrank, announced.network.key);
}

/// What this process says of that endpoint, which may have no segment.
Announcement announcement_of(const _gex_EP& endpoint) {
  Announcement mine{gex_proc_.jobrank, endpoint.index, 0, 0, not_shared, 0, GASNET_OK, {}};
  if (const gex_Segment_t segment = endpoint.segment) {
    mine.address = reinterpret_cast<std::uint64_t>(segment->address);
    mine.size = segment->size;
    mine.offset = shared_offset(*segment);
  }
  return mine;
}

/// Whether every host has the memory for what its processes ask. All processes come to the same
/// answer; the first of a host that has not says so.
bool all_hosts_have_room(const std::vector<Announcement>& everyones) {
  bool room = true;
  for (const job::RankSet& ranks : process().placement.hosts) {
    std::uint64_t asked = 0;
    std::uint64_t usable = UINT64_MAX;
    for (const gex_Rank_t rank : ranks) {
      asked += everyones[rank].size;
      usable = std::min(usable, everyones[rank].usable);
    }
    if (asked <= usable) continue;
    room = false;
    if (ranks.front() == gex_proc_.jobrank)
      warn(
          "gex_Segment_Attach: this host, which has %s, is asked for segments of %s together, but "
          "has %s for them",
          os::format_processes(ranks.size()).c_str(), os::format_bytes(asked).c_str(),
          os::format_bytes(usable).c_str());
  }
  return room;
}

/// Memory that this process knows of for segments. Before it has any, what
/// gasnet_getMaxLocalSegmentSize() said counts, whatever others have taken since.
std::uint64_t memory_for_segments() {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  const std::uint64_t usable = usable_memory();
  if (!neighborhood.has_no_segment()) return usable;
  return std::max(usable, std::min(neighborhood.granted_on_host(), neighborhood.memory_space()));
}

/// Tells what all members announce to all of them.
std::vector<Announcement> announce(Team& team, std::span<const Announcement> mine) {
  std::vector<Announcement> everyones;
  for (const auto& block : exchange(team, std::as_bytes(mine))) {
    for (std::size_t at = 0; at + sizeof(Announcement) <= block.size(); at += sizeof(Announcement))
      std::memcpy(&everyones.emplace_back(), block.data() + at, sizeof(Announcement));
  }
  return everyones;
}

/// What became of the segment that a process allocated.
struct Outcome {
  int error;
  Registration network;
};

/// Tells all members what became of each one's; in rank order.
std::vector<Outcome> tell(Team& team, const Outcome& mine, const char* call) {
  std::vector<Outcome> everyones;
  for (const auto& block : exchange(team, std::as_bytes(std::span(&mine, 1)))) {
    if (block.size() != sizeof mine) fatal("%s: a member is in another collective call", call);
    std::memcpy(&everyones.emplace_back(), block.data(), sizeof mine);
  }
  return everyones;
}

}  // namespace

int attach(gex_Segment_t* segment_p, Team& team, std::uintptr_t size, int flaw) {
  const char* call = "gex_Segment_Attach";
  const std::uint64_t usable = memory_for_segments();
  gex_Segment_t segment = size != 0 ? allocate_segment(team.client, size) : nullptr;
  int error = size != 0 && segment == nullptr ? errno : 0;
  if (segment != nullptr) bind_segment(team.endpoint, segment);
  const auto give_back = [&] {
    if (segment == nullptr) return;
    bind_segment(team.endpoint, nullptr);
    destroy_segment(segment, /*untouched=*/true);
  };
  const auto refuse = [&](const std::vector<Announcement>& everyones) {
    give_back();
    for (const Announcement& announced : everyones)
      publish_segment(team.endpoint->address(), announced.jobrank, 0, 0, not_shared);
    refresh_displacements();
    return GASNET_ERR_RESOURCE;
  };

  // First everybody learns what everybody asks for, before any memory is used.
  Announcement mine = announcement_of(*team.endpoint);
  mine.size = size;
  mine.usable = usable;
  mine.flaw = flaw;
  const std::vector<Announcement> everyones = announce(team, {&mine, 1});
  if (std::any_of(everyones.begin(), everyones.end(),
                  [](const Announcement& announced) { return announced.flaw != GASNET_OK; })) {
    give_back();
    return flaw != GASNET_OK ? flaw : GASNET_ERR_RESOURCE;
  }
  if (!all_hosts_have_room(everyones)) return refuse(everyones);
  if (segment != nullptr && segment->shared && env::boolean(env::Variable::segment_commit))
    error = process().neighborhood.commit_segment(shared_offset(*segment), size);
  for (const Announcement& announced : everyones) record(team.client, announced, call);
  refresh_displacements();

  // Then whether everybody has its own, and what the network calls it. Nobody uses another's
  // segment before this is over, and by then that one knows everybody's.
  Outcome outcome{error, {}};
  if (segment != nullptr && error == 0) outcome.network = registration_of(*segment);
  const std::vector<Outcome> outcomes = tell(team, outcome, call);
  const auto failed = std::find_if(outcomes.begin(), outcomes.end(),
                                   [](const Outcome& each) { return each.error != 0; });
  if (failed == outcomes.end()) {
    for (gex_Rank_t rank = 0; rank < team.size; ++rank)
      if (outcomes[rank].network.has_key != 0)
        publish_key(team.endpoint->address(), team.jobrank_of(rank), outcomes[rank].network.key);
    *segment_p = segment;
    return GASNET_OK;
  }
  if (static_cast<gex_Rank_t>(failed - outcomes.begin()) == team.rank)
    warn("%s: cannot allocate %s for the segment: %s", call, os::format_bytes(size).c_str(),
         std::strerror(error));
  return refuse(everyones);
}

int publish(Team& team, const gex_EP_t* endpoints, std::size_t count) {
  std::vector<Announcement> mine;
  for (std::size_t i = 0; i < count; ++i) {
    Announcement& own = mine.emplace_back(announcement_of(*endpoints[i]));
    if (endpoints[i]->segment != nullptr) own.network = registration_of(*endpoints[i]->segment);
  }
  for (const Announcement& announced : announce(team, mine))
    record(team.client, announced, "gex_EP_PublishBoundSegment");
  refresh_displacements();
  // Nobody uses another's segment before that one knows everybody's.
  exchange(team, {});
  return GASNET_OK;
}

}  // namespace gex::team
