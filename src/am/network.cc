#include "am/network.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "am/accounts.h"
#include "am/deliver.h"
#include "am/internal.h"
#include "am/observed.h"
#include "am/set_aside.h"
#include "am/wire.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/spin.h"
#include "base/spin_lock.h"
#include "base/zeroed_table.h"
#include "core/memory.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/progress_thread.h"
#include "observe/trace.h"

namespace gex::am {

namespace {

/// Numbers for the messages to a peer. Only a message that was sent uses one.
struct Numbers {
  SpinLock lock;
  std::uint32_t next[2] = {0, 0};
};

struct Network {
  const net::Conduit* conduit = nullptr;
  std::size_t max_message = 0;
  Accounts accounts;
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

/// Gives the conduit a message, with what there is to be reported to its receiver; false if there
/// is no room for it now.
bool give_to_conduit(net::Channel channel, Account peer, const Outbound& message,
                     const Terms& terms = {}) noexcept {
  Network& self = network();
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  const Report report = self.accounts.take_report(peer, channel, terms);
  WireMessage wire(message, gex_proc_.jobrank, report.credits, report.terms);
  if (traced()) [[unlikely]] {
    if (send_recorded(channel, peer.jobrank, message, wire)) return true;
  } else if (self.conduit->send(channel, peer.jobrank, wire.pieces, wire.count) == net::sent) {
    return true;
  }
  self.accounts.restore(peer, report);
  return false;
}

/// A message that carries credits and terms, and nothing else.
Outbound make_credit_message() noexcept {
  Outbound message;
  message.what = MessageWhat::make(credits_handler, Category::short_message, true, 0, {});
  return message;
}

/// Waits for the conduit, polling replies only, if it must.
void send_reply_with(Account peer, const Outbound& message, const Terms& terms) noexcept {
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  Waiter waiter;
  while (!give_to_conduit(net::reply_channel, peer, message, terms)) {
    network().conduit->poll(1U << net::reply_channel, 16);
    waiter.wait();
  }
}

/// Gives credits back in a message of their own, unless another thread's message has taken them. It
/// takes the reply place of one of the requests it stands for, so there is room for it.
void give_back(Account peer) noexcept {
  if (network().accounts.owes_message(peer)) send_reply_with(peer, make_credit_message(), {});
}

/// Lends credits, or asks another peer for those that it does not use. Room for the question and
/// its answer is reserved (lender.h); where there is none in spite of that, the next starved
/// request tries again.
[[gnu::cold]] void lend(gex_Rank_t starved) noexcept {
  Accounts& accounts = network().accounts;
  const std::uint32_t asked = accounts.lend(starved);
  if (asked == Lender::no_peer) return;
  if (!give_to_conduit(net::reply_channel, accounts.with(asked), make_credit_message(),
                       {.asks = true}))
    accounts.not_asked(asked);
}

[[gnu::cold]] void send_updates() noexcept {
  Accounts& accounts = network().accounts;
  while (const std::optional<CreditUpdate> update = accounts.take_update()) {
    const Account peer = accounts.with(update->jobrank);
    if (!update->answers) {
      give_back(peer);
      continue;
    }
    accounts.return_unused(peer);
    send_reply_with(peer, make_credit_message(), {.answers = true});
  }
}

/// The handler of a message from a peer has returned. `unanswered`: of a request, without a reply.
void message_handled(Account peer, const MessageHeader& header, bool unanswered) noexcept {
  // A reply answers one request. Its credit comes back only now, because until its handler has
  // returned it takes a place at this process.
  if (header.is_reply()) peer.credits.restore();
  if (unanswered && network().accounts.owe(peer)) give_back(peer);
}

[[noreturn, gnu::cold]] void refuse(std::uint32_t source, const char* why) noexcept {
  fatal("a message from rank %u over the network is malformed: %s", source, why);
}

/// Ends the job if the payload of a long message does not lie in the bound segment.
void require_inside(gex_Rank_t source, const Arrived& message) noexcept {
  const MessageHeader& header = message.header;
  if (header.category() != Category::long_message || message.size == 0) return;
  const gex_EP_t endpoint = endpoint_at(header.endpoints().target_address());
  if (endpoint == nullptr || endpoint->segment == nullptr ||
      !endpoint->segment->contains(message.payload, message.size))
    fatal("a long message of %zu bytes from rank %u to %p does not lie in the bound segment",
          message.size, source, message.payload);
}

}  // namespace

void set_up_network() {
  const Process& process_state = process();
  if (process_state.conduit == nullptr) return;
  Network& self = network();
  self.conduit = process_state.conduit;
  self.max_message = process_state.network.max_message;
  const std::uint32_t ranks = process_state.job->size();
  const net::Limits& limits = process_state.network;
  self.accounts.start(divide(limits.reply_depth, limits.total_depth, ranks - 1), ranks);
  if (traced()) self.numbers = ZeroedTable<Numbers>(ranks);
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

int send_request_over_network(gex_Rank_t jobrank, const Outbound& message,
                              bool immediate) noexcept {
  const Account peer = network().accounts.with(jobrank);
  const auto attempt = [&]() noexcept {
    if (!message.in_conduit_buffer && !peer.credits.take()) return false;
    if (give_to_conduit(net::request_channel, peer, message)) return true;
    if (!message.in_conduit_buffer) peer.credits.restore();
    return false;
  };
  if (attempt()) return 0;
  if (immediate) return 1;
  wait_until([&]() noexcept { return op_of(jobrank, message); }, attempt, WaitCause::room);
  return 0;
}

void* begin_building(gex_Rank_t jobrank, bool is_reply, std::size_t size) noexcept {
  Network& self = network();
  if (self.conduit == nullptr || self.conduit->buffer == nullptr) return nullptr;
  // More of a long message goes ahead as a put, which may need the credit for itself. The few more
  // bytes that a medium may have are not worth a limit of their own.
  if (size > network_packed_limit()) return nullptr;
  Credits& credits = self.accounts.with(jobrank).credits;
  // A reply needs none: its room goes with the request that it answers.
  if (!is_reply && !credits.take()) return nullptr;
  const net::Channel channel = is_reply ? net::reply_channel : net::request_channel;
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  void* const buffer = self.conduit->buffer(channel, jobrank, size);
  if (buffer == nullptr && !is_reply) credits.restore();
  return buffer;
}

void end_building(gex_Rank_t jobrank, bool is_reply, void* buffer) noexcept {
  Network& self = network();
  const CancellationDisabled uncancelled(reaches_cancellation_points());
  self.conduit->release(buffer);
  if (!is_reply) self.accounts.with(jobrank).credits.restore();
}

void send_reply_over_network(gex_Rank_t jobrank, const Outbound& message) noexcept {
  send_reply_with(network().accounts.with(jobrank), message, {});
}

void deliver_from_network(std::uint32_t source, net::Channel channel, const void* message,
                          std::size_t size) {
  Network& self = network();
  if (source >= self.accounts.ranks()) fatal("a message names rank %u as its source", source);
  WireArrival arrival;
  if (const char* why = read_message(source, channel, message, size, arrival)) refuse(source, why);
  const Account peer = self.accounts.with(source);
  if (const char* why = self.accounts.accept(peer, {arrival.credits, arrival.terms}))
    refuse(source, why);
  if (arrival.terms.starved) [[unlikely]]
    lend(source);
  if (arrival.is_credits()) return;

  const Arrived& arrived = arrival.message;
  const MessageHeader& header = arrived.header;
  if (header.is_reply() && !peer.credits.any_out()) refuse(source, "a reply to no request");
  require_inside(source, arrived);
  if (arrival.to_place != nullptr && arrived.size != 0)
    copy_memory(arrived.payload, arrival.to_place, arrived.size);
  if (in_progress_thread() && runs_client_code(header.handler())) [[unlikely]]
    return leave_to_client(arrived, arrival.number);
  message_handled(peer, header, run_handler<Sender::any>(arrived, arrival.number));
}

void network_message_handled(const MessageHeader& header, bool unanswered) noexcept {
  message_handled(network().accounts.with(header.source), header, unanswered);
}

namespace {

/// Messages that a poll delivers.
constexpr std::size_t max_messages = 32;

bool poll_conduit(std::size_t max) noexcept {
  Network& self = network();
  const bool progressed =
      self.conduit->poll(1U << net::request_channel | 1U << net::reply_channel, max) != 0;
  if (self.accounts.has_updates()) [[unlikely]]
    send_updates();
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
