#include "am/network.h"

#include <atomic>
#include <cstring>
#include <vector>

#include "am/deliver.h"
#include "am/internal.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/spin.h"
#include "core/objects.h"
#include "core/process.h"

namespace gex::am {

namespace {

struct Prefix {
  std::uint16_t credits;  ///< requests of the receiver that ended without a reply
  std::uint16_t spare;
  MessageHeader header;
};
static_assert(sizeof(Prefix) == 16);

struct LongPrefix {
  std::uint64_t destination;
  std::uint64_t size;
};

struct PeerState {
  std::atomic<std::int32_t> credits{0};  ///< requests that may be sent
  std::atomic<std::uint32_t> owed{0};    ///< credits to give back
};

struct Network {
  const net::Conduit* conduit = nullptr;
  std::size_t max_message = 0;
  std::uint32_t give_back_at = 1;
  std::vector<PeerState> peers;
};
Immortal<Network> the_network;
Network& network() noexcept {
  return the_network.get();
}

constexpr std::size_t chunk(std::size_t bytes) noexcept {
  return (bytes + 15) & ~std::size_t{15};
}
constexpr std::size_t overhead = sizeof(Prefix) + max_args * sizeof(gex_AM_Arg_t);

/// Takes what may be given back to a peer with the next message.
std::uint16_t take_owed(PeerState& peer) noexcept {
  if (peer.owed.load(std::memory_order_relaxed) == 0) return 0;
  return static_cast<std::uint16_t>(peer.owed.exchange(0, std::memory_order_relaxed));
}

bool send_on(net::Channel channel, gex_Rank_t jobrank, const Outbound& message) noexcept {
  Network& self = network();
  PeerState& peer = self.peers[jobrank];
  Prefix prefix{};
  prefix.credits = take_owed(peer);
  prefix.header = {message.what(), gex_proc_.jobrank, message.size_buffer()};
  const LongPrefix long_prefix{reinterpret_cast<std::uint64_t>(message.destination), message.size};

  net::Piece pieces[4];
  std::size_t count = 0;
  pieces[count++] = {&prefix, sizeof prefix};
  if (message.arg_count != 0)
    pieces[count++] = {message.args, chunk(message.arg_count * sizeof(gex_AM_Arg_t))};
  if (message.category == Category::long_message)
    pieces[count++] = {&long_prefix, sizeof long_prefix};
  if (message.size != 0) pieces[count++] = {message.payload, message.size};
  if (self.conduit->send(channel, jobrank, pieces, count) == net::sent) return true;
  if (prefix.credits != 0) peer.owed.fetch_add(prefix.credits, std::memory_order_relaxed);
  return false;
}

/// Gives credits back in a message of their own. It takes the reply place of one of the requests
/// it stands for, so there is room for it.
void give_back(gex_Rank_t jobrank) noexcept {
  Outbound message;
  message.handler = static_cast<std::uint8_t>(Internal::credits);
  message.reply = true;
  send_reply_network(jobrank, message);
}

[[noreturn, gnu::cold]] void refuse(std::uint32_t source, const char* why) noexcept {
  fatal("a message from rank %u over the network is malformed: %s", source, why);
}

}  // namespace

void set_up_network() {
  const Process& process_state = process();
  if (process_state.conduit == nullptr) return;
  Network& self = network();
  self.conduit = process_state.conduit;
  self.max_message = process_state.network.max_message;
  const std::uint32_t depth = process_state.network.reply_depth;
  self.give_back_at = depth > 1 ? depth / 2 : 1;
  self.peers = std::vector<PeerState>(process_state.job->size());
  for (PeerState& peer : self.peers) peer.credits.store(static_cast<std::int32_t>(depth));
}

std::size_t network_medium_limit() noexcept {
  const std::size_t limit = network().max_message;
  if (limit == 0) return 0;
  const std::size_t payload = (limit - overhead) & ~std::size_t{15};
  return payload < max_medium_payload ? payload : max_medium_payload;
}
std::size_t network_long_limit() noexcept {
  const std::size_t limit = network().max_message;
  return limit == 0 ? 0 : (limit - overhead - sizeof(LongPrefix)) & ~std::size_t{15};
}

bool try_send_network(gex_Rank_t jobrank, const Outbound& message) noexcept {
  std::atomic<std::int32_t>& credits = network().peers[jobrank].credits;
  if (credits.fetch_sub(1, std::memory_order_relaxed) > 0 &&
      send_on(net::request_channel, jobrank, message))
    return true;
  credits.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void send_reply_network(gex_Rank_t jobrank, const Outbound& message) noexcept {
  Waiter waiter;
  while (!send_on(net::reply_channel, jobrank, message)) {
    network().conduit->poll(1U << net::reply_channel, 16);
    waiter.wait();
  }
}

void deliver_from_network(std::uint32_t source, net::Channel channel, const void* message,
                          std::size_t size) {
  Network& self = network();
  if (source >= self.peers.size()) fatal("a message names rank %u as its source", source);
  if (size < sizeof(Prefix)) refuse(source, "shorter than its header");
  Prefix prefix;
  std::memcpy(&prefix, message, sizeof prefix);
  const MessageHeader& header = prefix.header;
  if (header.source != source) refuse(source, "it names another source");
  if (header.is_reply() != (channel == net::reply_channel)) refuse(source, "on the wrong channel");
  PeerState& peer = self.peers[source];
  if (prefix.credits != 0) peer.credits.fetch_add(prefix.credits, std::memory_order_relaxed);
  if (header.is_reply() && header.handler() == static_cast<std::uint8_t>(Internal::credits)) return;

  const unsigned arg_count = header.arg_count();
  if (arg_count > max_args) refuse(source, "more arguments than there can be");
  const std::size_t args_bytes = chunk(arg_count * sizeof(gex_AM_Arg_t));
  std::size_t at = sizeof prefix + args_bytes;
  if (size < at) refuse(source, "shorter than its arguments");
  const auto* bytes = static_cast<const std::byte*>(message);

  Arrived arrived;
  arrived.header = header;
  arrived.args = reinterpret_cast<const gex_AM_Arg_t*>(bytes + sizeof prefix);
  arrived.payload = nullptr;
  arrived.size = 0;
  arrived.ring = nullptr;
  switch (header.category()) {
    case Category::short_message:
      if (size != at) refuse(source, "a short message with payload");
      break;
    case Category::medium:
      arrived.size = header.size();
      if (size - at != arrived.size) refuse(source, "its size is not what its header says");
      arrived.payload = const_cast<std::byte*>(bytes + at);
      break;
    case Category::long_message: {
      LongPrefix long_prefix;
      if (size < at + sizeof long_prefix) refuse(source, "a long message without destination");
      std::memcpy(&long_prefix, bytes + at, sizeof long_prefix);
      at += sizeof long_prefix;
      arrived.size = long_prefix.size;
      if (size - at != arrived.size) refuse(source, "its size is not what its header says");
      arrived.payload = reinterpret_cast<void*>(long_prefix.destination);
      if (arrived.size != 0) {
        const gex_EP_t endpoint = endpoint_at(header.endpoints().target_address());
        if (endpoint == nullptr || endpoint->segment == nullptr ||
            !endpoint->segment->contains(arrived.payload, arrived.size))
          fatal("a long message of %zu bytes from rank %u to %p does not lie in the bound segment",
                arrived.size, source, arrived.payload);
        std::memcpy(arrived.payload, bytes + at, arrived.size);
      }
      break;
    }
    default:
      refuse(source, "an unknown category");
  }

  const bool unanswered = run_handler(arrived);
  // A reply answers one request. Its credit comes back only now, because until its handler has
  // returned it takes a place at this process.
  if (header.is_reply()) peer.credits.fetch_add(1, std::memory_order_relaxed);
  if (unanswered) {
    const std::uint32_t owed = peer.owed.fetch_add(1, std::memory_order_relaxed) + 1;
    if (owed >= self.give_back_at) give_back(source);
  }
}

bool poll_network() noexcept {
  constexpr std::size_t most = 32;
  const Network& self = network();
  if (self.conduit == nullptr) return false;
  return self.conduit->poll(1U << net::request_channel | 1U << net::reply_channel, most) != 0;
}

}  // namespace gex::am
