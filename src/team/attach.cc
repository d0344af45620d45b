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
#include "core/published.h"
#include "team/exchange.h"
#include "team/lifecycle.h"

namespace gex::team {

namespace {

/// What each process says of a segment.
struct Announcement {
  gex_Rank_t jobrank;
  std::uint32_t endpoint;
  std::uint64_t address;
  std::uint64_t size;
  std::uint64_t usable;  ///< bytes of memory the host has for segments, as this process sees it
};

void record(const Announcement& announcement) {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  PublishedSegment segment;
  segment.owner_address = announcement.address;
  segment.size = announcement.size;
  if (announcement.size != 0 && neighborhood.contains(announcement.jobrank)) {
    const std::uint32_t member = neighborhood.local_index_of(announcement.jobrank);
    segment.mapped = neighborhood.segment(member);
  }
  publish_segment(announcement.jobrank, segment);
}

/// Bytes that this host can still give to segments, by memory and by control group.
std::uint64_t usable_memory() {
  const os::MemoryLimits limits = os::memory_limits();
  return std::min(
      {limits.available, limits.usable_physical(), process().neighborhood.memory_space()});
}

/// Whether every host has the memory for what its processes ask. All processes come to the same
/// answer; the first of a host that has not says so.
bool all_hosts_have_room(const std::vector<Announcement>& everyones) {
  bool room = true;
  for (const auto& [first, size] : process().placement.hosts) {
    std::uint64_t asked = 0;
    std::uint64_t usable = UINT64_MAX;
    for (const Announcement& each : std::span(everyones).subspan(first, size)) {
      asked += each.size;
      usable = std::min(usable, each.usable);
    }
    if (asked <= usable) continue;
    room = false;
    if (first == gex_proc_.jobrank)
      warn(
          "gex_Segment_Attach: this host, which has %s, is asked for segments of %s together, but "
          "has %s for them",
          os::format_processes(size).c_str(), os::format_bytes(asked).c_str(),
          os::format_bytes(usable).c_str());
  }
  return room;
}

}  // namespace

int attach(gex_Segment_t* segment_p, Team& team, std::uintptr_t size) {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  std::byte* address = size != 0 ? neighborhood.segment(neighborhood.local_index()) : nullptr;

  // First everybody learns what everybody asks for, before anything is allocated.
  const Announcement mine{gex_proc_.jobrank, team.endpoint->index,
                          reinterpret_cast<std::uint64_t>(address), size, usable_memory()};
  const auto blocks = exchange(team, std::as_bytes(std::span(&mine, 1)));
  std::vector<Announcement> everyones(blocks.size());
  for (std::size_t r = 0; r < blocks.size(); ++r)
    std::memcpy(&everyones[r], blocks[r].data(), sizeof everyones[r]);
  if (!all_hosts_have_room(everyones)) return GASNET_ERR_RESOURCE;

  std::int32_t error = 0;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  if (size != 0) {
    if (env::boolean(env::Variable::segment_commit)) error = neighborhood.commit_segment(size);
    os::advise_huge_pages({address, size});
    segment = new _gex_Segment;
    segment->client = team.client;
    segment->address = address;
    segment->size = size;
  }
  team.endpoint->segment = segment;
  for (const Announcement& announcement : everyones) record(announcement);
  refresh_displacements();

  // Then whether everybody has its own. Nobody uses another's segment before this is over, and by
  // then that one knows everybody's.
  const auto errors = exchange(team, std::as_bytes(std::span(&error, 1)));
  const std::int32_t no_error = 0;
  const auto failed = std::find_if(errors.begin(), errors.end(), [&](const auto& block) {
    return std::memcmp(block.data(), &no_error, sizeof no_error) != 0;
  });
  if (failed == errors.end()) {
    *segment_p = segment;
    return GASNET_OK;
  }
  if (static_cast<gex_Rank_t>(failed - errors.begin()) == team.rank)
    warn("gex_Segment_Attach: cannot allocate %s for the segment: %s",
         os::format_bytes(size).c_str(), std::strerror(error));
  team.endpoint->segment = nullptr;
  delete segment;
  for (const Announcement& announcement : everyones) publish_segment(announcement.jobrank, {});
  refresh_displacements();
  return GASNET_ERR_RESOURCE;
}

int publish(Team& team, const gex_EP_t* endpoints, std::size_t count) {
  std::vector<Announcement> mine;
  for (std::size_t i = 0; i < count; ++i) {
    const gex_Segment_t segment = endpoints[i]->segment;
    if (segment == nullptr) continue;
    mine.push_back({gex_proc_.jobrank, endpoints[i]->index,
                    reinterpret_cast<std::uint64_t>(segment->address), segment->size, 0});
  }
  for (const auto& block : exchange(team, std::as_bytes(std::span(mine)))) {
    for (std::size_t at = 0; at + sizeof(Announcement) <= block.size();
         at += sizeof(Announcement)) {
      Announcement other;
      std::memcpy(&other, block.data() + at, sizeof other);
      if (other.jobrank >= gex_proc_.jobsize || other.endpoint != 0)
        fatal("gex_EP_PublishBoundSegment: rank %u announced endpoint %u", other.jobrank,
              other.endpoint);
      record(other);
    }
  }
  refresh_displacements();
  const std::uint8_t nothing = 0;
  exchange(team, std::as_bytes(std::span(&nothing, 1)));
  return GASNET_OK;
}

}  // namespace gex::team
