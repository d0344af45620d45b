#include "net/ofi/lanes.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "net/kit/processors.h"
#include "net/ofi/provider.h"

namespace gex::net::ofi {

namespace {

/// Offers that a process sends a peer for each lane: its own, and that it has none.
constexpr std::size_t offers_per_lane = 2;

/// Returns true if a process may have several endpoints of this provider.
bool may_have_several(const fi_info& info) {
  // Segments may be registered for one endpoint.
  return (registration_mode(info) & FI_MR_ENDPOINT) == 0 && !habits_of(info).has_one_endpoint;
}

}  // namespace

Lane::Lane(const Host& host, std::unique_ptr<Endpoint> enabled, Registrar& registrar,
           const Segments& segments, OfferSink* offers, std::size_t offers_per_peer)
    : endpoint(std::move(enabled)),
      one_sided(host, *endpoint, registrar, segments),
      network(host, *endpoint, registrar, one_sided, offers, offers_per_peer) {
}

std::uint32_t Lanes::count_for(const Host& host, const fi_info& info) {
  if (!may_have_several(info)) return 1;
  const std::uint32_t count = lane_count(host, host.env_integer("GEX_OFI_LANES"));
  return habits_of(info).connects ? std::min(count, possible_connections(host)) : count;
}

std::string Lanes::describe(const Host& host, const fi_info& info) {
  if (!may_have_several(info)) return "one endpoint for all threads of a process";
  return describe_lanes(host.env_integer("GEX_OFI_LANES"), "endpoints", "GEX_OFI_LANES");
}

Lanes::Lanes(const Host& host, Domain& domain, Registrar& registrar, const Segments& segments,
             std::vector<std::unique_ptr<Endpoint>> endpoints)
    : LaneSet(host, "ofi", static_cast<std::uint32_t>(endpoints.size()),
              std::make_unique<Lane>(host, std::move(endpoints.front()), registrar, segments,
                                     static_cast<OfferSink*>(this),
                                     offers_per_lane * (endpoints.size() - 1))),
      host_(host),
      domain_(domain),
      registrar_(registrar),
      segments_(segments),
      unopened_(std::move(endpoints)) {
}

std::unique_ptr<Lane> Lanes::make(std::uint32_t number, std::string& error) {
  if (!unopened_[number]->enable(error)) return nullptr;
  auto lane = std::make_unique<Lane>(host_, std::move(unopened_[number]), registrar_, segments_,
                                     nullptr, 0);
  lane->met.resize(host_.size);
  lane->network.start(error);
  return lane;
}

bool Lanes::send_offer(const Lane& lane, std::uint32_t number, std::uint32_t peer) {
  std::string error;
  const std::vector<std::byte> name = lane.endpoint->name(error);
  if (!error.empty()) return false;
  LaneOffer message{};
  message.lane = number;
  message.has_endpoint = 1;
  // As of the first endpoint, whose name was short enough.
  std::memcpy(message.name, name.data(), std::min(name.size(), max_name));
  return first().network.send_offer(peer, message);
}

void Lanes::answer_that_there_is_none(std::uint32_t number, std::uint32_t peer) {
  LaneOffer message{};
  message.lane = number;
  // Without room for it the peer goes on over the first lane.
  first().network.send_offer(peer, message);
}

void Lanes::meet(Lane& lane, std::uint32_t peer, const LaneOffer& offer) {
  const bool has_endpoint = offer.has_endpoint != 0;
  const Lane::Met wanted = has_endpoint ? Lane::Met::same_lane : Lane::Met::first_endpoint;
  if (lane.met[peer] >= wanted) return;
  const fi_addr_t address = has_endpoint ? domain_.insert(offer.name) : domain_.address_of(peer);
  if (address == FI_ADDR_NOTAVAIL) return;
  lane.met[peer] = wanted;
  lane.network.connect(peer, address);
}

void Lanes::handle_offer(std::uint32_t source, const LaneOffer& offer) {
  const std::uint32_t number = offer.lane;
  if (number == 0 || number >= max_lanes) return;
  if (offer.has_endpoint == 0)
    if_open(number, [&](Lane& lane) { meet(lane, source, offer); });
  else if (!accept_offer(number, source, LaneOffer(offer)))
    answer_that_there_is_none(number, source);
}

void Lanes::leave() {
  drain();
  for (Lane* lane : open_lanes()) lane->endpoint->close();
}

}  // namespace gex::net::ofi
