#include "net/udp/udp.h"

#include <gex/plugin/all_ranks.h>
#include <gex/plugin/table.h>
#include <sys/random.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/env_grammar.h"
#include "job/rank_numbers.h"
#include "net/host_addresses.h"
#include "net/kit/channel_buffers.h"
#include "net/kit/lanes.h"
#include "net/kit/processors.h"
#include "net/kit/segments.h"
#include "net/udp/digest.h"
#include "net/udp/directory.h"
#include "net/udp/endpoint.h"
#include "net/udp/facts.h"
#include "net/udp/kernel_socket.h"
#include "net/udp/lanes.h"
#include "net/udp/lossy_socket.h"
#include "net/udp/path.h"
#include "net/udp/port_rule.h"
#include "net/udp/receive_room.h"
#include "net/udp/seal.h"
#include "net/udp/settings.h"

namespace gex::net::udp {

namespace {

/// Payload that am/ can build in place or send in one message, beside `header_room` for its header.
constexpr std::size_t payload_room = 16384;
constexpr std::size_t header_room = 256;
constexpr std::size_t max_message = payload_room + header_room;
/// Messages of a channel that one rank holds for another.
constexpr std::uint32_t depth = 128;
/// The least memory for what has arrived.
constexpr std::size_t least_memory = std::size_t{8} << 20;
constexpr std::size_t max_transfer = std::size_t{1} << 30;

/// Bytes that may be in flight to a peer of the same host: more would only displace what is in the
/// caches.
constexpr std::size_t near_window = std::size_t{1} << 20;

Time now() noexcept {
  return ticks_to_ns(ticks());
}

/// The block that the ranks agree on first. Rank 0's key and settings hold for all, but for the
/// number of lanes and the digest's products, of which the least do.
struct Offer {
  SipKey key;
  std::uint32_t depth;
  std::uint32_t lanes;
  Products products;
  bool covers_bulk;
};

/// The block that they exchange of their sockets.
struct Opened {
  /// Without a port, and ports without the rank, so that ranks of a host have the same.
  Address address;
  std::uint16_t distances[Lanes::max_lanes];
  std::uint64_t receive_buffer;

  Address address_of(std::uint32_t rank, std::uint32_t lane) const noexcept {
    return address.with_port(port_at(distances[lane], rank));
  }
};

/// Where a rank receives, and why there.
struct Place {
  Address address;
  std::string interface;
  std::string reason;
};

class Udp {
 public:
  static std::unique_ptr<Udp> attach(const Host& host, Limits& limits);
  static void describe(const Host& host,
                       void (*fact)(void* context, const char* name, const char* text),
                       void* context) {
    udp::describe(host, fact, context);
  }
  static Standing standing(const Host& host, bool several_hosts,
                           void (*reason)(void* context, const char* text), void* context) {
    return udp::standing(host, several_hosts, reason, context);
  }

  Udp(const Host& host, Seal seal, const EndpointSettings& settings,
      std::vector<Lanes::Parts> parts, Place place)
      : lanes_(host, std::move(seal), settings, std::move(parts)),
        place_(std::move(place)),
        way_(way_name(place_.address, place_.interface)) {}

  bool has_memory() const noexcept { return lanes_.has_memory(); }

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
    Endpoint& endpoint = pieces.empty() ? lanes_.own() : lanes_.holder(pieces.back().data);
    return endpoint.send(channel, peer, pieces, now());
  }
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size) {
    return lanes_.own().buffer(channel, peer, size);
  }
  void release(void* payload) { lanes_.holder(payload).release(payload); }
  std::size_t poll(std::uint32_t channels, std::size_t max) {
    return lanes_.poll(channels, max, now());
  }
  std::int32_t prepare_wait(std::span<int> descriptors, std::uint64_t& limit_ns) {
    const Time begin = now();
    Time until = begin + limit_ns;
    const std::int32_t count = lanes_.prepare_wait(descriptors, begin, until);
    limit_ns = until > begin ? until - begin : 0;
    return count;
  }
  void leave() { lanes_.leave(now); }
  void enter_lane(std::uint32_t lane) { Lanes::enter(lane); }
  void report(void (*line)(void* context, const char* text), void* context) {
    for (const std::string& text : {lanes_.counts_text(), lanes_.peers_text(), lanes_.paths_text()})
      if (!text.empty()) line(context, text.c_str());
  }
  void transport(std::uint32_t /*peer*/, const char** name, const char** reason) const {
    *name = way_.c_str();
    *reason = place_.reason.c_str();
  }

  bool register_segment(const SegmentMemory& memory, void* key) {
    return memory.memory_class == host_memory &&
           lanes_.segments().add(memory.address, memory.size, *static_cast<SegmentKey*>(key));
  }
  void deregister_segment(const void* key) {
    lanes_.forget(lanes_.segments().remove(*static_cast<const SegmentKey*>(key)));
  }
  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done) {
    // Puts that only a flush reports go over one lane, whichever thread initiates them.
    Endpoint& endpoint = is_for_flush(done, local_done) ? lanes_.first() : lanes_.own();
    return endpoint.put(remote, local, size, done, local_done, now());
  }
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done) {
    return lanes_.own().get(remote, local, size, done, now());
  }
  SendResult flush(std::uint32_t peer, void* done) { return lanes_.first().flush(peer, done); }

 private:
  Lanes lanes_;
  Place place_;
  std::string way_;
};

template <class Value>
bool draw(Value& value) {
  return getrandom(&value, sizeof value, 0) == sizeof value;
}

/// The lowest rank that is not on this host; `host.size`: there is none.
std::uint32_t first_elsewhere(const Host& host) {
  std::uint32_t rank = 0;
  while (rank < host.size && host.host_of(rank) == host.host_of(host.rank)) ++rank;
  return rank;
}

PlaceOnHost own_place(const Host& host, std::uint32_t lanes) {
  return {.host = host.host_of(host.rank),
          .ranks = ranks_here(host, host.size),
          .index = ranks_here(host, host.rank),
          .lanes = lanes};
}

/// Settings of the protocol alone.
bool read_memory(const Host& host, std::size_t& memory, std::string& error) {
  const std::string text(text_of(host, "GEX_UDP_MEMORY"));
  if (text.empty()) return true;
  const auto size = env::parse_size(text);
  if (!size || *size < least_memory) {
    error = "GEX_UDP_MEMORY is '" + text + "'; it must be a number of bytes of at least 8MB";
    return false;
  }
  memory = *size;
  return true;
}

/// How many lanes this rank may have.
bool read_lanes(const Host& host, std::uint32_t& lanes, std::string& error) {
  const std::int64_t wanted = wanted_lanes(host, "GEX_UDP_LANES", Lanes::max_lanes, error);
  if (!error.empty()) return false;
  lanes = Lanes::count_for(host, static_cast<std::uint32_t>(wanted));
  return true;
}

std::unique_ptr<Socket> open_socket(const Host& host, const SocketOptions& options,
                                    std::uint32_t lane, Opened& own, std::string& error) {
  std::unique_ptr<KernelSocket> kernel_socket = KernelSocket::open(options, error);
  if (kernel_socket == nullptr) return nullptr;
  if (lane == 0) own.address = kernel_socket->address().with_port(0);
  own.distances[lane] = distance_of(kernel_socket->address().port(), host.rank);
  own.receive_buffer = kernel_socket->limits().receive_buffer;
  const std::string text(text_of(host, "GEX_UDP_FAULTS"));
  if (text.empty()) return kernel_socket;
  const std::optional<SocketFaults> faults = parse_faults(text, error);
  if (!faults) {
    error = "GEX_UDP_FAULTS: " + error;
    return nullptr;
  }
  return std::make_unique<LossySocket>(std::move(kernel_socket), *faults,
                                       host.rank + lane * host.size);
}

/// Packets of 1280 bytes, which IPv6 demands of every link, pass nearly everywhere.
PathLimits path_limits(int family, std::size_t max) {
  const std::size_t headers = (family == AF_INET ? 20 : 40) + 8;
  const std::size_t start = std::min(max, least_mtu(AF_INET6) - headers);
  return {.least = static_cast<std::uint32_t>(std::min(start, least_mtu(family) - headers)),
          .start = static_cast<std::uint32_t>(start),
          .max = static_cast<std::uint32_t>(max),
          .headers = static_cast<std::uint32_t>(headers)};
}

/// Settings of the ranks of a host, one of which is at `address`; they have no address themselves.
PeerSettings settings_of(const Opened& opened, const Address& address, const Socket& socket,
                         bool is_near, std::uint32_t ranks) {
  PeerSettings peer;
  peer.datagram = socket.max_datagram(address);
  // All of a host's own addresses are reached over its loopback.
  constexpr std::size_t loopback_datagram = 60'000;
  if (!is_near || peer.datagram < loopback_datagram) {
    peer.datagram = std::max(peer.datagram, socket.interface_datagram(address));
    peer.path = path_limits(address.family(), peer.datagram);
  }
  const std::size_t least = socket.charge(std::min<std::size_t>(peer.datagram, 1472));
  const std::size_t room = room_of(opened.receive_buffer);
  peer.first_window =
      first_window(opened.receive_buffer, least_window(socket, peer.datagram), ranks);
  const std::size_t max = is_near ? std::min(room, near_window) : room;
  peer.congestion = {.initial = is_near ? max : 16 * least,
                     .least = 2 * least,
                     .max = max,
                     .delay_counts = !is_near};
  peer.is_paced = !is_near;
  return peer;
}

/// The peers of a lane. The system is asked for what holds for all ranks of a host, once.
class Directory final : public PeerDirectory {
 public:
  /// `opened`: of all ranks; it stays valid.
  Directory(const Host& host, const Opened* opened, const Socket& socket)
      : host_(host), opened_(opened) {
    std::vector<std::uint32_t> kinds;
    for (std::uint32_t rank = 0; rank < host.size; ++rank) {
      const std::uint32_t number = host.host_of(rank);
      // Hosts are numbered in the order of their lowest ranks.
      if (number < kinds.size()) continue;
      const bool is_near = number == host.host_of(host.rank);
      const PeerSettings peer = udp::settings_of(opened[rank], opened[rank].address_of(rank, 0),
                                                 socket, is_near, host.size);
      const auto found = std::ranges::find(kinds_, peer);
      kinds.push_back(static_cast<std::uint32_t>(found - kinds_.begin()));
      if (found == kinds_.end()) kinds_.push_back(peer);
    }
    kind_of_host_ = job::RankNumbers(kinds);
    bounds_ = PeerBounds::of(kinds_);
  }
  /// The peers of another lane than the first.
  Directory(const Directory& first, std::uint32_t lane) : Directory(first) { lane_ = lane; }

  std::size_t ranks() const noexcept override { return host_.size; }
  PeerBounds bounds() const noexcept override { return bounds_; }
  PeerSettings settings_of(std::uint32_t rank) const override {
    PeerSettings peer = kinds_[kind_of_host_[host_.host_of(rank)]];
    peer.address = opened_[rank].address_of(rank, lane_);
    peer.session = session_of(rank);
    return peer;
  }
  std::uint32_t session_of(std::uint32_t /*rank*/) const noexcept override { return lane_; }

 private:
  const Host& host_;
  const Opened* opened_;
  /// Most hosts have equal settings: they are kept once, without addresses.
  std::vector<PeerSettings> kinds_;
  job::RankNumbers kind_of_host_;
  PeerBounds bounds_;
  std::uint32_t lane_ = 0;
};

/// The settings that hold for all ranks, made of what each offers. Collective.
Offer agree(const Host& host, const Offer& mine) {
  const bool decides = host.rank == 0;
  const std::uint64_t others = ~std::uint64_t{0};
  std::uint64_t least[] = {mine.lanes,
                           static_cast<std::uint64_t>(mine.products),
                           decides ? mine.key[0] : others,
                           decides ? mine.key[1] : others,
                           decides ? std::uint64_t{mine.depth} : others,
                           decides ? std::uint64_t{mine.covers_bulk} : others};
  host.least(least, std::size(least));
  return {.key = {least[2], least[3]},
          .depth = static_cast<std::uint32_t>(least[4]),
          .lanes = static_cast<std::uint32_t>(least[0]),
          .products = static_cast<Products>(least[1]),
          .covers_bulk = least[5] != 0};
}

/// On one host: the loopback, or what is asked for.
Place place_on_host(const Settings& settings, std::string& error) {
  const std::vector<HostAddress> here = host_addresses(error);
  if (!error.empty()) return {};
  const std::vector<HostAddress> usable =
      usable_addresses(settings.named, true, here, interface_variables, error);
  if (!error.empty()) return {};
  return {usable[0].address, usable[0].interface,
          usable[0].address.host_text() +
              (settings.named.empty()
                   ? ", since all ranks are on one host"
                   : ", as " + settings.named + " asks (" + interface_variables + ")")};
}

/// On several: by which all hosts reach one another. Collective.
bool find_place(const Host& host, const Settings& settings, Place& place) {
  const AddressWish wish{.named = settings.named.c_str(),
                         .variables = interface_variables,
                         .datagrams = 1,
                         .first_port = settings.first_port,
                         .last_port = settings.socket.last_port};
  ChosenAddress chosen{};
  if (!chooses_addresses(host) || host.choose_address(&wish, &chosen) != 0) return false;
  place = {Address::parse(chosen.address, 0), chosen.interface, chosen.reason};
  return true;
}

std::unique_ptr<Udp> Udp::attach(const Host& host, Limits& limits) {
  std::string error;
  Settings wanted;
  EndpointSettings settings;
  Offer mine{};
  Opened own{};
  const std::uint32_t elsewhere = first_elsewhere(host);
  const bool one_host = elsewhere == host.size;
  Place place;
  if (host.size > max_ranks) error = "udp: " + std::to_string(host.size) + " ranks are too many";
  if (error.empty() && read_settings(host, wanted, error) &&
      read_memory(host, settings.receive_memory, error) && read_lanes(host, mine.lanes, error) &&
      one_host)
    place = place_on_host(wanted, error);
  mine.depth = wanted.depth != 0 ? wanted.depth : depth;
  mine.covers_bulk = wanted.covers_bulk;
  mine.products = best_products();
  if (error.empty() && !draw(mine.key)) error = "udp: the system has no random numbers";
  if (!succeeded_on_all_ranks(host, error)) return nullptr;
  if (!one_host && !find_place(host, wanted, place)) return nullptr;
  const Offer common = agree(host, mine);
  const std::uint32_t lanes = common.lanes;

  wanted.socket.bind = place.address.with_port(wanted.first_port);
  wanted.socket.connects = true;
  std::vector<Lanes::Parts> parts(lanes);
  const bool may_choose = !one_host && wanted.first_port == 0;
  const std::optional<PortRange> ports = may_choose ? system_ports() : std::nullopt;
  const std::string reserved = ports ? reserved_by_system() : std::string();
  const PlaceOnHost on_host = ports ? own_place(host, lanes) : PlaceOnHost{};
  for (std::uint32_t lane = 0; lane < lanes && error.empty(); ++lane) {
    if (ports) {
      const std::uint16_t port = preferred_port(*ports, host.cookie, on_host, lane);
      wanted.socket.preferred_port = is_reserved(reserved, port) ? 0 : port;
    }
    parts[lane].socket = open_socket(host, wanted.socket, lane, own, error);
  }
  if (!succeeded_on_all_ranks(host, error)) return nullptr;
  const auto* const opened = static_cast<const Opened*>(host.exchange_shared(&own, sizeof own));
  // To all other hosts it is the same interface.
  if (!one_host)
    error =
        why_too_narrow(own.address_of(host.rank, 0), opened[elsewhere].address_of(elsewhere, 0));
  if (!succeeded_on_all_ranks(host, error)) return nullptr;

  const Directory directory(host, opened, *parts[0].socket);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    parts[lane].session = lane;
    parts[lane].peers = std::make_unique<Directory>(directory, lane);
  }
  settings.max_message = max_message;
  settings.depth = common.depth;
  settings.covers_bulk = common.covers_bulk;
  settings.total_depth = std::max(total_channel_depth(host.size), common.depth);
  auto udp = std::make_unique<Udp>(host, Seal(common.key, fastest_digest(common.products)),
                                   settings, std::move(parts), std::move(place));
  if (!udp->has_memory()) error = "udp: no addresses are left for its buffers";
  if (!succeeded_on_all_ranks(host, error)) return nullptr;
  limits = {.max_message = max_message,
            .reply_depth = settings.depth,
            .max_transfer = max_transfer,
            .total_depth = settings.total_depth,
            .key_bytes = sizeof(SegmentKey)};
  return udp;
}

constexpr Conduit table =
    table_of<Udp>("udp", "reliable datagrams between any hosts that reach one another by IP",
                  registers_host_memory);

}  // namespace

const Conduit& conduit() noexcept {
  return table;
}

}  // namespace gex::net::udp
