#include "am/network.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "am/credits.h"
#include "am/deliver.h"
#include "am/internal.h"
#include "am/lender.h"
#include "am/observed.h"
#include "am/set_aside.h"
#include "am/wire.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/met_ranks.h"
#include "base/spin.h"
#include "base/spin_lock.h"
#include "base/zeroed_table.h"
#include "core/memory.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/progress_thread.h"
#include "observe/trace.h"

namespace gex::am {

namespace {

/// A message that carries credits and terms, deferred to a poll because it may wait for room.
struct DeferredCreditUpdate {
  gex_Rank_t jobrank;
  bool answers;  ///< the peer's request for unused credits

  bool operator==(const DeferredCreditUpdate&) const = default;
};

/// Numbers for the messages to a peer. Only a message that was sent uses one.
struct Numbers {
  SpinLock lock;
  std::uint32_t next[2] = {0, 0};
};

struct Network {
  const net::Conduit* conduit = nullptr;
  std::size_t max_message = 0;
  ZeroedTable<Credits> peers;  ///< by jobrank; those not started of ranks that are silent
  MetRanks met;                ///< whose credits are started
  Division division;
  Lender lender;
  /// This process may still borrow so many credits: its peers' replies have as much room here as
  /// its share of what it lends.
  std::atomic<std::uint32_t> borrowable{0};
  std::atomic<std::uint32_t> give_up_next{0};
  /// Messages that the next poll sends, each once at most.
  std::vector<DeferredCreditUpdate> deferred;
  SpinLock deferred_lock;
  /// True if there are any; changes under the lock.
  std::atomic<bool> has_deferred{false};
  /// By peer; traced jobs only.
  ZeroedTable<Numbers> numbers;
  /// By threads of the client, where there is a progress thread, and as that has seen them last.
  std::atomic<std::uint32_t> client_polls{0};
  std::uint32_t seen_polls = 0;
};
Immortal<Network> the_network;
Network& network() noexcept {
  return the_network.get();
}

/// The credits of a peer, which start with the first message to it or from it.
Credits& credits_of(gex_Rank_t jobrank) noexcept {
  Network& self = network();
  Credits& credits = self.peers[jobrank];
  if (!credits.is_started()) [[unlikely]] {
    if (credits.start(self.division.share, self.division.max)) self.met.add(jobrank);
  }
  return credits;
}

/// Returns true if this process may borrow from a peer: if it has borrowed all that it may, it
/// gives up unused credits of another one.
bool may_borrow(gex_Rank_t jobrank) noexcept {
  Network& self = network();
  if (self.borrowable.load(std::memory_order_relaxed) != 0) return true;
  const std::size_t first = self.give_up_next.fetch_add(1, std::memory_order_relaxed);
  const std::size_t count = self.met.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t other = self.met[(first + i) % count];
    Credits& peer = self.peers[other];
    const std::uint32_t given_up = other != jobrank ? peer.give_up_borrowed() : 0;
    if (given_up == 0) continue;
    peer.return_later(given_up);
    self.borrowable.fetch_add(given_up, std::memory_order_relaxed);
    return true;
  }
  return false;
}

/// Adds to `terms` what the next message to a peer reports about loans.
Terms take_terms(gex_Rank_t jobrank, net::Channel channel, Terms terms) noexcept {
  Network& self = network();
  if (!self.lender.lends()) return terms;
  Credits& peer = credits_of(jobrank);
  terms.lent = self.lender.take_unreported(jobrank) & Lender::max_per_message;
  terms.returned = peer.take_returned(Lender::max_per_message) & Lender::max_per_message;
  terms.starved = channel == net::request_channel && peer.take_starved() && may_borrow(jobrank);
  return terms;
}
/// Restores terms that were not sent.
void restore_terms(gex_Rank_t jobrank, const Terms& terms) noexcept {
  Network& self = network();
  if (terms.lent != 0) self.lender.restore_unreported(jobrank, terms.lent);
  if (terms.returned != 0) credits_of(jobrank).return_later(terms.returned);
  if (terms.starved) credits_of(jobrank).mark_starved();
}

/// Defers it to the next poll; false if it is deferred already.
bool defer_update(const DeferredCreditUpdate& update) noexcept {
  Network& self = network();
  const std::lock_guard guard(self.deferred_lock);
  if (std::find(self.deferred.begin(), self.deferred.end(), update) != self.deferred.end())
    return false;
  self.deferred.push_back(update);
  self.has_deferred.store(true, std::memory_order_relaxed);
  return true;
}

bool is_credit_message(const Outbound& message) noexcept {
  return message.what.is_reply() && message.what.handler() == credits_handler;
}

/// Sends a message that carries its number. One that runs no handler is not recorded.
[[gnu::cold]] bool send_recorded(net::Channel channel, gex_Rank_t jobrank, const Outbound& message,
                                 WireMessage& wire) noexcept {
  Network& self = network();
  const auto send = [&]() noexcept {
    return self.conduit->send(channel, jobrank, wire.pieces, wire.count) == net::sent;
  };
  if (is_credit_message(message)) return send();
  Numbers& numbers = self.numbers[jobrank];
  const std::lock_guard guard(numbers.lock);
  const std::uint32_t number = numbers.next[channel];
  wire.set_number(number);
  const Tick at = ticks();
  if (!send()) return false;
  ++numbers.next[channel];
  record_sent(jobrank, message, number, trace::by_network, at);
  return true;
}

bool send_on(net::Channel channel, gex_Rank_t jobrank, const Outbound& message,
             const Terms& terms = {}) noexcept {
  Network& self = network();
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  Credits& peer = credits_of(jobrank);
  WireMessage wire(message, gex_proc_.jobrank, peer.take_owed(),
                   take_terms(jobrank, channel, terms));
  if (traced()) [[unlikely]] {
    if (send_recorded(channel, jobrank, message, wire)) return true;
  } else if (self.conduit->send(channel, jobrank, wire.pieces, wire.count) == net::sent) {
    return true;
  }
  if (wire.prefix.credits != 0 && peer.owe_again(wire.prefix.credits))
    defer_update({.jobrank = jobrank, .answers = false});
  restore_terms(jobrank, wire.prefix.terms);
  return false;
}

/// A message that carries credits and terms, and nothing else.
Outbound make_credit_message() noexcept {
  Outbound message;
  message.what = MessageWhat::make(credits_handler, Category::short_message, true, 0, {});
  return message;
}

void send_reply_with(gex_Rank_t jobrank, const Outbound& message, const Terms& terms) noexcept {
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  Waiter waiter;
  while (!send_on(net::reply_channel, jobrank, message, terms)) {
    network().conduit->poll(1U << net::reply_channel, 16);
    waiter.wait();
  }
}

/// Gives credits back in a message of their own, unless another thread's message has taken them. It
/// takes the reply place of one of the requests it stands for, so there is room for it.
void give_back(gex_Rank_t jobrank) noexcept {
  const Network& self = network();
  if (credits_of(jobrank).owes_enough() ||
      (self.lender.lends() && self.lender.has_unreported(jobrank)))
    send_reply_with(jobrank, make_credit_message(), {});
}

/// The oldest one.
std::optional<DeferredCreditUpdate> take_deferred_update() noexcept {
  Network& self = network();
  const std::lock_guard guard(self.deferred_lock);
  std::optional<DeferredCreditUpdate> first;
  if (!self.deferred.empty()) {
    first = self.deferred.front();
    self.deferred.erase(self.deferred.begin());
  }
  self.has_deferred.store(!self.deferred.empty(), std::memory_order_relaxed);
  return first;
}

/// Takes up to `count` of what this process may borrow.
std::uint32_t take_borrowable(std::uint32_t count) noexcept {
  std::atomic<std::uint32_t>& left = network().borrowable;
  std::uint32_t before = left.load(std::memory_order_relaxed);
  while (!left.compare_exchange_weak(before, before - std::min(before, count),
                                     std::memory_order_relaxed)) {
  }
  return std::min(before, count);
}

/// Asks another peer for credits that it does not use, since this one is starved. Room for the
/// question and its answer is reserved (lender.h); where there is none in spite of that, the next
/// starved request tries again.
void ask_for_credits(gex_Rank_t starved) noexcept {
  Lender& lender = network().lender;
  const std::uint32_t peer = lender.pick_reclaim_peer(starved);
  if (peer == Lender::no_peer) return;
  if (send_on(net::reply_channel, peer, make_credit_message(), {.asks = true})) return;
  lender.answered(peer);
}

[[noreturn, gnu::cold]] void refuse(std::uint32_t source, const char* why) noexcept {
  fatal("a message from rank %u over the network is malformed: %s", source, why);
}

/// Validates and applies what a peer reports about loans.
void accept_terms(gex_Rank_t source, const Terms& terms) noexcept {
  Network& self = network();
  Credits& peer = credits_of(source);
  if (!self.lender.lends()) refuse(source, "it lends credits in a job that lends none");
  if (terms.lent != 0) {
    const std::uint32_t borrowed = take_borrowable(terms.lent);
    if (!peer.borrow(borrowed)) refuse(source, "it lends more credits than it has");
    if (borrowed != terms.lent) peer.return_later(terms.lent - borrowed);
  }
  if (terms.returned != 0 && !self.lender.accept(source, terms.returned))
    refuse(source, "it returns more credits than it has borrowed");
  if (terms.answers) self.lender.answered(source);
  if (terms.asks && !defer_update({.jobrank = source, .answers = true}))
    refuse(source, "it asks for credits again before it was answered");
  if (terms.starved && !self.lender.lend(source)) ask_for_credits(source);
}

[[gnu::cold]] void send_deferred_updates() noexcept {
  Network& self = network();
  while (const std::optional<DeferredCreditUpdate> update = take_deferred_update()) {
    if (!update->answers) {
      give_back(update->jobrank);
      continue;
    }
    Credits& peer = credits_of(update->jobrank);
    const std::uint32_t given_up = peer.give_up_borrowed();
    self.borrowable.fetch_add(given_up, std::memory_order_relaxed);
    peer.return_later(given_up);
    send_reply_with(update->jobrank, make_credit_message(), {.answers = true});
  }
}

}  // namespace

void set_up_network() {
  const Process& process_state = process();
  if (process_state.conduit == nullptr) return;
  Network& self = network();
  self.conduit = process_state.conduit;
  self.max_message = process_state.network.max_message;
  self.peers = ZeroedTable<Credits>(process_state.job->size());
  const std::uint32_t peers = process_state.job->size() - 1;
  self.division =
      divide(process_state.network.reply_depth, process_state.network.total_depth, peers);
  // There are rarely more at a time.
  self.deferred.reserve(std::min<std::size_t>(2 * self.peers.size(), 64));
  if (traced()) self.numbers = ZeroedTable<Numbers>(self.peers.size());
  self.lender.start(self.division, process_state.job->size());
  self.borrowable.store(self.division.bank, std::memory_order_relaxed);
}

std::size_t network_medium_limit() noexcept {
  const std::size_t limit = network().max_message;
  if (limit == 0) return 0;
  const std::size_t payload = (limit - wire_overhead) & ~std::size_t{15};
  return payload < max_medium_payload ? payload : max_medium_payload;
}
std::size_t network_long_limit(bool is_reply) noexcept {
  // Large enough to hide that the message waits for its payload; immediate ones are copied, and
  // some of them kept.
  constexpr std::size_t ahead_limit = std::size_t{1} << 20;
  const std::size_t packed = network_packed_limit();
  return is_reply || packed == 0 ? packed : std::max(packed, ahead_limit);
}
std::size_t network_packed_limit() noexcept {
  const std::size_t limit = network().max_message;
  return limit == 0 ? 0 : (limit - wire_overhead - sizeof(LongPrefix)) & ~std::size_t{15};
}

bool try_send_network(gex_Rank_t jobrank, const Outbound& message) noexcept {
  Credits& credits = credits_of(jobrank);
  if (!message.built && !credits.take()) return false;
  if (send_on(net::request_channel, jobrank, message)) return true;
  if (!message.built) credits.restore();
  return false;
}

void* begin_building(gex_Rank_t jobrank, bool is_reply, std::size_t size) noexcept {
  Network& self = network();
  if (self.conduit == nullptr || self.conduit->buffer == nullptr) return nullptr;
  // More goes ahead as a put, which may need the credit for itself.
  if (size > network_packed_limit()) return nullptr;
  Credits& credits = credits_of(jobrank);
  // A reply's place goes with the request that it answers.
  if (!is_reply && !credits.take()) return nullptr;
  const net::Channel channel = is_reply ? net::reply_channel : net::request_channel;
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  void* const place = self.conduit->buffer(channel, jobrank, size);
  if (place == nullptr && !is_reply) credits.restore();
  return place;
}

void end_building(gex_Rank_t jobrank, bool is_reply, void* place) noexcept {
  Network& self = network();
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  self.conduit->release(place);
  if (!is_reply) credits_of(jobrank).restore();
}

void send_reply_network(gex_Rank_t jobrank, const Outbound& message) noexcept {
  send_reply_with(jobrank, message, {});
}

void deliver_from_network(std::uint32_t source, net::Channel channel, const void* message,
                          std::size_t size) {
  Network& self = network();
  if (source >= self.peers.size()) fatal("a message names rank %u as its source", source);
  WireArrival arrival;
  if (const char* why = read_message(source, channel, message, size, arrival)) refuse(source, why);
  Credits& peer = credits_of(source);
  if (arrival.credits != 0 && !peer.accept(arrival.credits))
    refuse(source, "it gives back more credits than it has");
  if (arrival.terms != Terms{}) [[unlikely]]
    accept_terms(source, arrival.terms);
  if (arrival.is_credits()) return;

  const Arrived& arrived = arrival.message;
  const MessageHeader& header = arrived.header;
  if (header.is_reply() && !peer.any_out()) refuse(source, "a reply to no request");
  if (header.handler() < GEX_AM_INDEX_BASE && !fits_internal(header))
    refuse(source, "not what the library's own handler takes");
  if (header.category() == Category::long_message && arrived.size != 0) {
    const gex_EP_t endpoint = endpoint_at(header.endpoints().target_address());
    if (endpoint == nullptr || endpoint->segment == nullptr ||
        !endpoint->segment->contains(arrived.payload, arrived.size))
      fatal("a long message of %zu bytes from rank %u to %p does not lie in the bound segment",
            arrived.size, source, arrived.payload);
    if (arrival.to_place != nullptr) copy_memory(arrived.payload, arrival.to_place, arrived.size);
  }

  if (in_progress_thread() && runs_client_code(header.handler())) [[unlikely]]
    return leave_to_client(arrived, arrival.number);
  network_message_handled(header, run_handler<Sender::any>(arrived, arrival.number));
}

void network_message_handled(const MessageHeader& header, bool unanswered) noexcept {
  Network& self = network();
  const gex_Rank_t source = header.source;
  // A reply answers one request. Its credit comes back only now, because until its handler has
  // returned it takes a place at this process.
  if (header.is_reply()) credits_of(source).restore();
  if (!unanswered) return;
  if (credits_of(source).owe() || (self.lender.lends() && self.lender.has_unreported(source)))
    give_back(source);
}

namespace {

/// Messages that a poll delivers.
constexpr std::size_t max_messages = 32;

bool poll_conduit(std::size_t max) noexcept {
  const Network& self = network();
  const bool progressed =
      self.conduit->poll(1U << net::request_channel | 1U << net::reply_channel, max) != 0;
  if (self.has_deferred.load(std::memory_order_relaxed)) [[unlikely]]
    send_deferred_updates();
  return progressed;
}

}  // namespace

bool poll_network() noexcept {
  Network& self = network();
  if (self.conduit == nullptr) return false;
  if (has_progress_thread()) [[unlikely]]
    // Not an atomic addition: threads may lose counts, but it still changes.
    self.client_polls.store(self.client_polls.load(std::memory_order_relaxed) + 1,
                            std::memory_order_relaxed);
  return poll_conduit(max_messages);
}

Served serve_network() noexcept {
  Network& self = network();
  Served served;
  if (self.conduit == nullptr) return served;
  const std::uint32_t polls = self.client_polls.load(std::memory_order_relaxed);
  if (std::exchange(self.seen_polls, polls) != polls) {
    served.attended = true;
    return served;
  }
  const std::size_t max = std::min(max_messages, room_to_leave());
  if (max == 0)
    served.blocked = true;
  else
    served.progressed = poll_conduit(max);
  return served;
}

}  // namespace gex::am
