#include "am/network.h"

#include <cstring>
#include <vector>

#include "am/credits.h"
#include "am/deliver.h"
#include "am/internal.h"
#include "am/wire.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/spin.h"
#include "core/objects.h"
#include "core/process.h"

namespace gex::am {

namespace {

struct Network {
  const net::Conduit* conduit = nullptr;
  std::size_t max_message = 0;
  std::vector<Credits> peers;
};
Immortal<Network> the_network;
Network& network() noexcept {
  return the_network.get();
}

bool send_on(net::Channel channel, gex_Rank_t jobrank, const Outbound& message) noexcept {
  Network& self = network();
  Credits& peer = self.peers[jobrank];
  const WireMessage wire(message, gex_proc_.jobrank, peer.take_owed());
  if (self.conduit->send(channel, jobrank, wire.pieces, wire.count) == net::sent) return true;
  if (wire.prefix.credits != 0) peer.owe_again(wire.prefix.credits);
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
  self.peers = std::vector<Credits>(process_state.job->size());
  for (Credits& peer : self.peers) peer.start(process_state.network.reply_depth);
}

std::size_t network_medium_limit() noexcept {
  const std::size_t limit = network().max_message;
  if (limit == 0) return 0;
  const std::size_t payload = (limit - wire_overhead) & ~std::size_t{15};
  return payload < max_medium_payload ? payload : max_medium_payload;
}
std::size_t network_long_limit() noexcept {
  const std::size_t limit = network().max_message;
  return limit == 0 ? 0 : (limit - wire_overhead - sizeof(LongPrefix)) & ~std::size_t{15};
}

bool try_send_network(gex_Rank_t jobrank, const Outbound& message) noexcept {
  Credits& credits = network().peers[jobrank];
  if (!credits.take()) return false;
  if (send_on(net::request_channel, jobrank, message)) return true;
  credits.restore();
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
  WireArrival arrival;
  if (const char* why = read_message(source, channel, message, size, arrival)) refuse(source, why);
  Credits& peer = self.peers[source];
  if (arrival.credits != 0 && !peer.accept(arrival.credits))
    refuse(source, "it gives back more credits than it has");
  if (arrival.is_credits()) return;

  const Arrived& arrived = arrival.message;
  const MessageHeader& header = arrived.header;
  if (header.is_reply() && !peer.any_out()) refuse(source, "a reply to no request");
  if (header.handler() < GEX_AM_INDEX_BASE && !fits_internal(header))
    refuse(source, "not what the library's own handler takes");
  if (arrival.placed != nullptr && arrived.size != 0) {
    const gex_EP_t endpoint = endpoint_at(header.endpoints().target_address());
    if (endpoint == nullptr || endpoint->segment == nullptr ||
        !endpoint->segment->contains(arrived.payload, arrived.size))
      fatal("a long message of %zu bytes from rank %u to %p does not lie in the bound segment",
            arrived.size, source, arrived.payload);
    std::memcpy(arrived.payload, arrival.placed, arrived.size);
  }

  const bool unanswered = run_handler<Sender::anybody>(arrived);
  // A reply answers one request. Its credit comes back only now, because until its handler has
  // returned it takes a place at this process.
  if (header.is_reply()) peer.restore();
  if (unanswered && peer.owe()) give_back(source);
}

bool poll_network() noexcept {
  constexpr std::size_t most = 32;
  const Network& self = network();
  if (self.conduit == nullptr) return false;
  return self.conduit->poll(1U << net::request_channel | 1U << net::reply_channel, most) != 0;
}

}  // namespace gex::am
