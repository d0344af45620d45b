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
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/env_grammar.h"
#include "net/udp/endpoint.h"
#include "net/udp/facts.h"
#include "net/udp/kernel_socket.h"
#include "net/udp/lossy_socket.h"
#include "net/udp/path.h"
#include "net/udp/seal.h"
#include "net/udp/segments.h"
#include "net/udp/settings.h"

namespace gex::net::udp {

namespace {

/// Payload that am/ can build in place or send in one message, beside `header_room` for its header.
constexpr std::size_t payload_room = 16384;
constexpr std::size_t header_room = 256;
constexpr std::size_t max_message = payload_room + header_room;
/// Messages of a channel that one rank holds for another, and for all.
constexpr std::uint32_t depth = 128;
constexpr std::uint32_t total_depth = 2048;
/// The least memory for what has arrived.
constexpr std::size_t least_memory = std::size_t{8} << 20;
constexpr std::size_t max_transfer = std::size_t{1} << 30;

/// What may be in flight to a peer of the same host: more would only displace what is in the
/// caches.
constexpr std::size_t near_window = std::size_t{1} << 20;

Time now() noexcept {
  return ticks_to_ns(ticks());
}

/// What the ranks exchange to find their addresses. Rank 0's key and settings hold for all.
struct Offer {
  Candidates candidates;
  SipKey key;
  std::uint32_t depth;
  Cover cover;
};

/// What they exchange of their sockets.
struct Opened {
  Address address;
  std::uint32_t session;
  std::uint32_t unused;
  std::uint64_t receive_buffer;
};

class Udp {
 public:
  static std::unique_ptr<Udp> attach(const Host& host, Limits& limits);
  static void describe(const Host& host,
                       void (*fact)(void* context, const char* name, const char* text),
                       void* context) {
    udp::describe(host, fact, context);
  }

  Udp(const Host& host, std::unique_ptr<Socket> socket, const SipKey& key,
      const EndpointSettings& settings, std::span<const PeerSettings> peers)
      : socket_(std::move(socket)),
        seal_(key),
        segments_(host.threaded != 0),
        endpoint_(host, *socket_, seal_, segments_, settings, peers) {}

  bool has_memory() const noexcept { return endpoint_.has_memory(); }

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
    return endpoint_.send(channel, peer, pieces, now());
  }
  std::size_t poll(std::uint32_t channels, std::size_t most) {
    return endpoint_.poll(channels, most, now());
  }
  void leave();

  bool register_segment(const SegmentMemory& memory, void* key) {
    return memory.kind == host_memory &&
           segments_.add(memory.address, memory.size, *static_cast<SegmentKey*>(key));
  }
  void deregister_segment(const void* key) {
    endpoint_.forget(segments_.remove(*static_cast<const SegmentKey*>(key)));
  }
  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done) {
    return endpoint_.put(remote, local, size, done, local_done, now());
  }
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done) {
    return endpoint_.get(remote, local, size, done, now());
  }
  SendResult flush(std::uint32_t peer, void* done) { return endpoint_.flush(peer, done); }

 private:
  std::unique_ptr<Socket> socket_;
  Seal seal_;
  Segments segments_;
  Endpoint endpoint_;
};

/// Peers that are silent for so long do not keep this process from leaving.
constexpr Time patience = 2'000'000'000;

void Udp::leave() {
  Time last_received = now();
  std::uint64_t received = endpoint_.counts().received;
  while (!endpoint_.is_quiet() && now() - last_received < patience) {
    endpoint_.poll(0, 0, now());
    if (endpoint_.counts().received != received) {
      received = endpoint_.counts().received;
      last_received = now();
    } else {
      std::this_thread::yield();
    }
  }
  endpoint_.poll(0, 0, now());
#ifdef GEX_DEBUG
  endpoint_.check_invariants();
#endif
  endpoint_.send_farewells(now());
}

template <class Value>
bool draw(Value& value) {
  return getrandom(&value, sizeof value, 0) == sizeof value;
}

std::vector<std::uint32_t> hosts_of(const Host& host) {
  std::vector<std::uint32_t> hosts(host.size);
  for (std::uint32_t rank = 0; rank < host.size; ++rank) hosts[rank] = host.host_of(rank);
  return hosts;
}

std::string text_of(const Host& host, const char* name) {
  const char* const text = host.env_text != nullptr ? host.env_text(name) : nullptr;
  return text != nullptr ? text : "";
}

/// What concerns the protocol alone.
bool read_memory(const Host& host, std::size_t& memory, std::string& error) {
  const std::string text = text_of(host, "GEX_UDP_MEMORY");
  if (text.empty()) return true;
  const auto size = env::parse_size(text);
  if (!size || *size < least_memory) {
    error = "GEX_UDP_MEMORY is '" + text + "'; it must be a number of bytes of at least 8MB";
    return false;
  }
  memory = *size;
  return true;
}

std::unique_ptr<Socket> open_socket(const Host& host, const SocketOptions& options, Opened& own,
                                    std::string& error) {
  std::unique_ptr<KernelSocket> kernel_socket = KernelSocket::open(options, error);
  if (kernel_socket == nullptr) return nullptr;
  own.address = kernel_socket->address();
  own.receive_buffer = kernel_socket->limits().receive_buffer;
  const std::string text = text_of(host, "GEX_UDP_FAULTS");
  if (text.empty()) return kernel_socket;
  const std::optional<SocketFaults> faults = parse_faults(text, error);
  if (!faults) {
    error = "GEX_UDP_FAULTS: " + error;
    return nullptr;
  }
  return std::make_unique<LossySocket>(std::move(kernel_socket), *faults, host.rank);
}

PeerSettings settings_of(const Opened& opened, const Socket& socket, Cover cover, bool is_near,
                         std::uint32_t ranks) {
  PeerSettings peer;
  peer.address = opened.address;
  peer.session = opened.session;
  peer.cover = cover;
  peer.datagram = socket.max_datagram(peer.address);
  const std::size_t least = socket.charge(std::min<std::size_t>(peer.datagram, 1472));
  const std::size_t room = opened.receive_buffer / 4 * 3;
  peer.first_window = std::max(2 * least, room / std::max(1U, ranks - 1));
  const std::size_t most = is_near ? std::min(room, near_window) : room;
  peer.congestion = {.initial = is_near ? most : 16 * least,
                     .least = 2 * least,
                     .most = most,
                     .delay_counts = !is_near};
  return peer;
}

std::unique_ptr<Udp> Udp::attach(const Host& host, Limits& limits) {
  const std::vector<std::uint32_t> hosts = hosts_of(host);
  std::string error;
  Settings wanted;
  EndpointSettings settings;
  Offer mine{};
  Opened own{};
  wanted.wish.one_host =
      std::all_of(hosts.begin(), hosts.end(), [&](std::uint32_t one) { return one == hosts[0]; });
  if (host.size > max_ranks) error = "udp: " + std::to_string(host.size) + " ranks are too many";
  if (error.empty() && read_settings(host, wanted, error) &&
      read_memory(host, settings.receive_memory, error))
    mine.candidates = candidates(wanted.wish, host_addresses(), error);
  mine.depth = wanted.depth != 0 ? wanted.depth : depth;
  mine.cover = wanted.cover;
  if (error.empty() && (!draw(mine.key) || !draw(own.session)))
    error = "udp: the system has no random numbers";
  if (!succeeded_on_all_ranks(host, error)) return nullptr;
  std::vector<Offer> offers(host.size);
  host.exchange(&mine, sizeof mine, offers.data());
  std::vector<Candidates> all_candidates(host.size);
  for (std::uint32_t rank = 0; rank < host.size; ++rank)
    all_candidates[rank] = offers[rank].candidates;
  const Offer& common = offers[0];

  wanted.socket.bind = choose(host.rank, all_candidates, hosts, error).with_port(wanted.first_port);
  std::unique_ptr<Socket> socket;
  if (error.empty()) socket = open_socket(host, wanted.socket, own, error);
  if (!succeeded_on_all_ranks(host, error)) return nullptr;
  std::vector<Opened> opened(host.size);
  host.exchange(&own, sizeof own, opened.data());

  std::vector<PeerSettings> peers;
  for (std::uint32_t rank = 0; rank < host.size; ++rank)
    peers.push_back(settings_of(opened[rank], *socket, common.cover,
                                hosts[rank] == hosts[host.rank], host.size));
  settings.session = own.session;
  settings.max_message = max_message;
  settings.depth = common.depth;
  settings.total_depth = std::max(total_depth, common.depth);
  auto udp = std::make_unique<Udp>(host, std::move(socket), common.key, settings, peers);
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
