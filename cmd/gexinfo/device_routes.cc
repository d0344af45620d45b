#include "device_routes.h"

#include <gasnet_mk.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "core/memory_class.h"
#include "core/team.h"
#include "kinds/kinds.h"
#include "team/exchange.h"
#include "way/memory_route.h"

namespace gexinfo {

namespace {

constexpr std::uintptr_t segment_bytes = std::uintptr_t{64} << 10;

/// An endpoint with a segment of that device, or none.
gex_EP_t endpoint_of(gex_Client_t client, const gex::kinds::DeviceFacts& device) {
  gex_MK_t kind = GEX_MK_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  gex_EP_t endpoint = GEX_EP_INVALID;
  if (gex_MK_Create(&kind, client, &device.arguments, 0) != GASNET_OK ||
      gex_Segment_Create(&segment, client, nullptr, segment_bytes, kind, 0) != GASNET_OK ||
      gex_EP_Create(&endpoint, client, GEX_EP_CAPABILITY_RMA, 0) != GASNET_OK)
    return GEX_EP_INVALID;
  gex_EP_BindSegment(endpoint, segment, 0);
  return endpoint;
}

/// Kind, way and reason.
using Way = std::array<std::string, 3>;

/// A line for each way, with the owners of what is reached so.
std::string own_routes() {
  std::map<Way, std::set<gex_Rank_t>> reached;
  for (const gex::MemoryRoute& route : gex::memory_routes())
    if (route.owner != gex_proc_.jobrank)
      reached[{gex::class_info(route.memory_class).name, route.way, route.reason}].insert(
          route.owner);
  std::string text;
  for (const auto& [way, owners] : reached) {
    for (const std::string& part : way) text.append(part).append("\t");
    for (const gex_Rank_t owner : owners) text.append(std::to_string(owner)).append(" ");
    text += "\n";
  }
  return text;
}

}  // namespace

std::vector<DeviceRoute> gather_device_routes(gex_Client_t client, gex_TM_t team) {
  std::string why;
  std::vector<gex_EP_t> endpoints;
  for (const gex::kinds::DeviceClass* one : gex::kinds::classes()) {
    for (const gex::kinds::DeviceFacts& device : one->devices(why)) {
      if (endpoints.size() + 1 == GASNET_MAXEPS) break;
      if (gex_EP_t endpoint = endpoint_of(client, device); endpoint != GEX_EP_INVALID)
        endpoints.push_back(endpoint);
    }
  }
  gex_EP_PublishBoundSegment(team, endpoints.data(), endpoints.size(), 0);

  struct Ends {
    std::set<std::uint32_t> from, to;
  };
  std::map<Way, Ends> merged;
  const std::string mine = own_routes();
  std::uint32_t rank = 0;
  for (const auto& block :
       gex::team::exchange(gex::Team::from(team), std::as_bytes(std::span(mine)))) {
    std::istringstream lines(
        std::string(reinterpret_cast<const char*>(block.data()), block.size()));
    Way way;
    std::string owners;
    while (std::ranges::all_of(
               way, [&](std::string& part) { return !std::getline(lines, part, '\t').fail(); }) &&
           std::getline(lines, owners)) {
      Ends& ends = merged[way];
      ends.from.insert(rank);
      std::istringstream numbers(owners);
      for (std::uint32_t owner = 0; numbers >> owner;) ends.to.insert(owner);
    }
    ++rank;
  }
  std::vector<DeviceRoute> routes;
  routes.reserve(merged.size());
  for (const auto& [way, ends] : merged)
    routes.push_back({way[0],
                      way[1],
                      way[2],
                      {ends.from.begin(), ends.from.end()},
                      {ends.to.begin(), ends.to.end()}});
  return routes;
}

}  // namespace gexinfo
