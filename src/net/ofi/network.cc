#include "net/ofi/network.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/spin_lock.h"
#include "net/kit/deliver.h"
#include "net/kit/fatal.h"

namespace gex::net::ofi {

namespace {

/// Completions read at once.
constexpr std::size_t batch = 16;

/// The largest that is gathered on the stack to be injected.
constexpr std::size_t max_injected = 1024;

/// Readings in a row that found nothing, from which on a rank is taken to wait for a message. Every
/// so many of them the clock is read.
constexpr std::uint32_t readings_of_a_wait = 4;

/// So long after that it does not wait any more, but has done something else.
constexpr std::chrono::microseconds end_of_wait{20};

/// Polls between two looks at the clock.
constexpr std::uint32_t polls_per_look = 256;

/// Tallies that wait for one peer to take them: a question and an answer.
constexpr std::uint32_t max_tallies = 2;

/// Handshakes with one peer: with its first endpoint and with that of the same lane.
constexpr std::uint32_t max_handshakes = 2;

/// For messages to all peers, and a farewell, the tallies, the handshakes and the offers for each.
std::size_t buffers_for(std::size_t ranks, std::size_t offers_per_peer) noexcept {
  return ChannelBuffers<SendBuffer>::max_in_all(ranks) +
         (1 + max_tallies + max_handshakes + offers_per_peer) * ranks;
}

/// Fills a message up; returns its size on the wire, with its stamp.
std::size_t fill_up(std::byte* start, std::size_t size) noexcept {
  std::memset(start + sizeof(Stamp) + size, 0, filled_up(size) - size);
  return sizeof(Stamp) + filled_up(size);
}

bool is_too_long(int error) noexcept {
  return error == FI_ETRUNC || error == FI_EMSGSIZE;
}

/// Returns true if a message broke off because its sender's connection did: that of another job's
/// process, or of a peer whose death its guardian reports.
bool lost_its_sender(int error) noexcept {
  return error == FI_ECANCELED || error == FI_ECONNRESET || error == FI_ECONNABORTED ||
         error == FI_ENOTCONN;
}

/// Returns true if messages of a pair of ranks come in their order, or not at all.
bool keeps_order(const fi_info& info) noexcept {
  return habits_of(info).connects || (info.tx_attr->msg_order & FI_ORDER_SAS) != 0;
}
/// Rounds of questions more until a message is taken for lost where it may be sent again after
/// seconds.
constexpr std::uint32_t rounds_without_order = 10;

/// The end of a sentence about a rank that cannot be reached; `error`: libfabric's.
std::string unreachable_text(long error) {
  const long number = error < 0 ? -error : error;
  const bool has_no_way = number == FI_EHOSTUNREACH || number == FI_ENETUNREACH;
  return "cannot be reached: " + error_text(error) +
         (has_no_way
              ? "; the interfaces may be on different networks, and GEX_OFI_INTERFACE chooses "
                "others"
              : "");
}

/// Returns true if the error does not mean that a peer is out of reach.
bool is_passing(int error) noexcept {
  return !lost_its_sender(error) && error != FI_ECONNREFUSED && error != FI_EHOSTUNREACH &&
         error != FI_ENETUNREACH && error != FI_ETIMEDOUT && error != FI_EHOSTDOWN;
}

}  // namespace

Network::Network(const Host& host, Endpoint& endpoint, Registrar& registrar, OneSided& one_sided,
                 OfferSink* offers, std::size_t offers_per_peer)
    : host_(host),
      endpoint_(endpoint),
      one_sided_(one_sided),
      offers_(offers),
      threaded_(host.threaded != 0),
      inject_limit_(std::min(endpoint.info().tx_attr->inject_size, max_injected)),
      pool_(host, buffers_for(host.size, offers_per_peer), registrar, threaded_),
      buffers_(host, "ofi", pool_, threaded_),
      receive_(endpoint, registrar, threaded_),
      arrivals_(threaded_),
      handshakes_(host),
      strays_(host, "ofi"),
      peers_(host.size),
      losses_(host.size, threaded_, keeps_order(endpoint.info()) ? 0 : rounds_without_order) {
}

void Network::give_back(SendBuffer& buffer) {
  if (is_for_am(buffer.kind)) {
    buffers_.give_back(buffer);
    return;
  }
  if (buffer.kind == Kind::tally) --peers_[buffer.peer].tallies;
  pool_.give_back(&buffer);
}

SendResult Network::send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
  const std::size_t size = buffers_.size_to(peer, pieces);
  const Stamp stamp = Stamp::of(host_.cookie, host_.rank, static_cast<Kind>(channel), size);
  if (sizeof stamp + filled_up(size) <= inject_limit_ && buffers_.built(pieces) == nullptr) {
    alignas(message_alignment) std::byte small[max_injected];
    std::memcpy(small, &stamp, sizeof stamp);
    gather(small + sizeof stamp, pieces);
    const ssize_t result =
        fi_inject(endpoint_.endpoint(), small, fill_up(small, size), endpoint_.message_route(peer));
    if (result == 0) {
      losses_.sent(peer);
      return sent;
    }
    if (result != -FI_EAGAIN)
      lost_peer(host_, "ofi: rank %u %s", peer, unreachable_text(result).c_str());
  }
  SendBuffer* const buffer = buffers_.fill(channel, peer, pieces, size);
  if (buffer == nullptr) return would_block;
  std::memcpy(buffer->start, &stamp, sizeof stamp);
  buffer->size = fill_up(buffer->start, size);
  buffer->route = endpoint_.message_route(peer);
  post(*buffer);
  return sent;
}

bool Network::is_optional(Kind kind) const noexcept {
  return kind == Kind::tally || kind == Kind::lane_offer ||
         (kind == Kind::handshake && offers_ == nullptr);
}

void Network::connect(std::uint32_t peer, fi_addr_t address) {
  send_own(Kind::handshake, peer, address);
}

bool Network::send_offer(std::uint32_t peer, const LaneOffer& offer) {
  return send_own(Kind::lane_offer, peer, endpoint_.message_route(peer),
                  std::as_bytes(std::span(&offer, 1)));
}

bool Network::send_own(Kind kind, std::uint32_t peer, fi_addr_t route,
                       std::span<const std::byte> content) {
  SendBuffer* const buffer = pool_.take();
  if (buffer == nullptr) return false;
  if (kind == Kind::tally) ++peers_[peer].tallies;
  buffer->kind = kind;
  buffer->peer = peer;
  buffer->route = route;
  buffer->start = buffer->bytes();
  buffer->size = sizeof(Stamp) + content.size();
  const Stamp stamp = Stamp::of(host_.cookie, host_.rank, kind, content.size());
  std::memcpy(buffer->start, &stamp, sizeof stamp);
  if (!content.empty()) std::memcpy(buffer->start + sizeof stamp, content.data(), content.size());
  post(*buffer);
  return true;
}

std::size_t Network::under_way() const noexcept {
  return in_flight_.load(std::memory_order_relaxed) +
         postponed_count_.load(std::memory_order_relaxed);
}

void Network::connect_neighbors() {
  const Habits habits = habits_of(endpoint_.info());
  const bool opens_files = habits.has_files && !endpoint_.opens_files_early();
  if (!habits.connects && !habits.shakes_hands && !opens_files) return;
  handshakes_.exchange({
      .name = "ofi",
      .remedy = "GEX_OFI_INTERFACE chooses another interface",
      .send =
          [this](std::uint32_t peer) {
            return send_own(Kind::handshake, peer, endpoint_.message_route(peer));
          },
      .advance =
          [this] {
            progress();
            return under_way() == 0;
          },
      // No other thread is here yet, which postponed_ would have to be kept from.
      .refusing = [this]() -> std::optional<std::uint32_t> {
        if (postponed_.empty()) return std::nullopt;
        return postponed_.front()->peer;
      },
      // From then on the files are not needed.
      .with_all = opens_files,
  });
}

void Network::post(SendBuffer& buffer) {
  if (try_post(buffer)) return;
  const OptionalGuard guard(postponed_mutex_, threaded_);
  postponed_.push_back(&buffer);
  postponed_count_.store(postponed_.size(), std::memory_order_relaxed);
}

bool Network::try_post(SendBuffer& buffer) {
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  // Once the provider has it, another thread may read that it is sent, and another one take it.
  const Kind kind = buffer.kind;
  const std::uint32_t peer = buffer.peer;
  const ssize_t result = fi_send(endpoint_.endpoint(), buffer.start, buffer.size, buffer.descriptor,
                                 buffer.route, &buffer.for_provider);
  if (result == 0) {
    if (is_for_am(kind)) losses_.sent(peer);
    return true;
  }
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
  const bool is_unneeded = is_optional(kind);
  if (result == -FI_EAGAIN && !(leaving_ && is_unneeded)) return false;
  if (leaving_ || is_unneeded) {
    give_back(buffer);
    return true;
  }
  lost_peer(host_, "ofi: rank %u %s", peer, unreachable_text(result).c_str());
}

void Network::retry_postponed() {
  std::vector<SendBuffer*> waiting;
  {
    const OptionalGuard guard(postponed_mutex_, threaded_);
    waiting.swap(postponed_);
  }
  ++round_;
  std::size_t left = 0;
  for (SendBuffer* buffer : waiting) {
    PeerState& peer = peers_[buffer->peer];
    // A peer that took no more is not asked again in this round.
    if (peer.refused_in_round != round_ && try_post(*buffer)) continue;
    peer.refused_in_round = round_;
    waiting[left++] = buffer;
  }
  waiting.resize(left);
  const OptionalGuard guard(postponed_mutex_, threaded_);
  // In front of what was put off meanwhile.
  waiting.insert(waiting.end(), postponed_.begin(), postponed_.end());
  postponed_.swap(waiting);
  postponed_count_.store(postponed_.size(), std::memory_order_relaxed);
}

std::size_t Network::poll(std::uint32_t channels, std::size_t max) {
  std::size_t delivered = 0;
  // Each reading is one step of the provider's, which over TCP takes in a message or two of some
  // KiB. A rank that polls now and then finds more than that. One whose last polls, just before,
  // found nothing waits for the message that has come now, and not for what a further reading
  // finds.
  std::size_t readings = 0;
  Progress found = Progress::nothing;
  // Once at least: a poll that delivers nothing moves on what is under way all the same.
  do {
    found = progress();
    Channel channel;
    for (Arrival arrival; delivered < max && arrivals_.pop(channels, channel, arrival); ++delivered)
      deliver(channel, arrival);
  } while (found == Progress::more_likely && ++readings < max && delivered < max);
  return delivered;
}

std::int32_t Network::prepare_wait(int& descriptor, std::uint64_t& limit_ns) {
  // What the provider took no more of is offered again, and what another thread does is over, soon.
  constexpr std::uint64_t short_wait_ns = 100'000;
  descriptor = endpoint_.wait_descriptor();
  if (descriptor < 0) return never_wakes;
  if (threaded_ && !progress_mutex_.try_lock()) {
    limit_ns = std::min(limit_ns, short_wait_ns);
    return 1;
  }
  const std::unique_lock lock = threaded_ ? std::unique_lock(progress_mutex_, std::adopt_lock)
                                          : std::unique_lock<std::mutex>();
  if (std::exchange(has_read_, false) || !arrivals_.is_empty() || !endpoint_.arm_wait())
    return poll_again;
  if (postponed_count_.load(std::memory_order_relaxed) != 0 || one_sided_.has_postponed())
    limit_ns = std::min(limit_ns, short_wait_ns);
  // Looks are counted in polls, of which there is now but one.
  looks_ = polls_per_look - 1;
  return 1;
}

Network::Progress Network::progress() {
  if (threaded_ && !progress_mutex_.try_lock()) return Progress::nothing;
  const std::unique_lock lock = threaded_ ? std::unique_lock(progress_mutex_, std::adopt_lock)
                                          : std::unique_lock<std::mutex>();
  const std::uint64_t received_before = received_;
  fi_cq_data_entry entries[batch];
  const ssize_t read = fi_cq_read(endpoint_.completions(), entries, batch);
  for (ssize_t i = 0; i < read; ++i) completed(entries[i]);
  if (read == -FI_EAVAIL)
    failed();
  else if (read < 0 && read != -FI_EAGAIN)
    fatal(host_, "ofi: the completion queue of rank %u cannot be read: %s", host_.rank,
          error_text(read).c_str());
  if (read > 0) receive_.replenish();
  has_read_ |= read != -FI_EAGAIN;
  if (postponed_count_.load(std::memory_order_relaxed) != 0) retry_postponed();
  one_sided_.retry();
  if (++looks_ % polls_per_look == 0) look_for_losses();
  if (read <= 0) {
    if (++empty_readings_ % readings_of_a_wait == 0)
      last_seen_waiting_ = std::chrono::steady_clock::now();
    return Progress::nothing;
  }
  const bool waited = std::exchange(empty_readings_, 0) >= readings_of_a_wait &&
                      std::chrono::steady_clock::now() - last_seen_waiting_ < end_of_wait;
  // What was sent, put or got is done when it is done: only messages come in crowds.
  return received_ == received_before || waited ? Progress::something : Progress::more_likely;
}

void Network::look_for_losses() {
  if (leaving_) return;
  if (const std::string error = endpoint_.take_device_error(); !error.empty())
    fatal(host_, "ofi: the network interface of rank %u reports an error: %s", host_.rank,
          error.c_str());
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  losses_.ask_when_due(
      static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()),
      [this](std::uint32_t peer, const Tally& question) { return send_tally(peer, question); });
}

bool Network::send_tally(std::uint32_t peer, const Tally& tally) {
  const fi_addr_t route = endpoint_.message_route(peer);
  // No route yet: a peer that is connected asks before this process is.
  if (peers_[peer].tallies == max_tallies || route == FI_ADDR_NOTAVAIL) return false;
  return send_own(Kind::tally, peer, route, std::as_bytes(std::span(&tally, 1)));
}

void Network::handle_tally(std::uint32_t peer, const Tally& tally) {
  if (tally.answers == 0) {
    // Where it finds no room the question comes again.
    send_tally(peer, losses_.answer_to(peer, tally));
    return;
  }
  if (leaving_) return;
  if (losses_.has_surplus(peer, tally))
    fatal(host_, "ofi: the provider has delivered messages of rank %u to rank %u twice", host_.rank,
          peer);
  if (const std::uint64_t lost = losses_.handle_answer(peer, tally); lost != 0)
    fatal(host_, "ofi: %llu of rank %u's messages to rank %u were lost with a connection",
          static_cast<unsigned long long>(lost), host_.rank, peer);
}

void Network::completed(const fi_cq_data_entry& entry) {
  auto* operation = static_cast<OperationContext*>(entry.op_context);
  // Some providers report injected messages, or operations of their own.
  if (operation == nullptr) return;
  switch (operation->purpose) {
    case OperationContext::Purpose::send:
      sent_off(*static_cast<SendBuffer*>(operation));
      break;
    case OperationContext::Purpose::receive:
      arrived(entry, *static_cast<ReceiveBuffers::Buffer*>(operation));
      break;
    case OperationContext::Purpose::one_sided:
      one_sided_.completed(*static_cast<Transfer*>(operation));
      break;
    case OperationContext::Purpose::trial:
      break;
  }
}

void Network::sent_off(SendBuffer& buffer) {
  if (buffer.kind == Kind::handshake) endpoint_.set_routes(buffer.peer, buffer.route);
  give_back(buffer);
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

void Network::failed() {
  fi_cq_err_entry error{};
  if (fi_cq_readerr(endpoint_.completions(), &error, 0) != 1) return;
  auto* operation = static_cast<OperationContext*>(error.op_context);
  if (operation == nullptr) {
    // An injected message has failed, or something that the provider does by itself. If a message
    // is lost, the count of messages finds that.
    if (leaving_) return;
    if (!is_passing(error.err))
      lost_peer(host_, "ofi: a rank cannot be reached: %s", error_text(error.err).c_str());
    if (!std::exchange(warned_of_error_, true))
      host_.warn(("ofi: the provider reports an error that belongs to no operation (reported "
                  "once): " +
                  error_text(error.err))
                     .c_str());
    return;
  }
  switch (operation->purpose) {
    case OperationContext::Purpose::send: {
      auto& buffer = *static_cast<SendBuffer*>(operation);
      if (!leaving_ && !is_optional(buffer.kind))
        lost_peer(host_, "ofi: rank %u %s", buffer.peer, unreachable_text(error.err).c_str());
      give_back(buffer);
      in_flight_.fetch_sub(1, std::memory_order_relaxed);
      break;
    }
    case OperationContext::Purpose::receive: {
      auto& buffer = *static_cast<ReceiveBuffers::Buffer*>(operation);
      if (is_too_long(error.err))
        strays_.dropped();  // longer than any message of ours: no rank of this job sent it
      else if (!lost_its_sender(error.err) && !leaving_)
        fatal(host_, "ofi: rank %u cannot receive: %s", host_.rank, error_text(error.err).c_str());
      receive_.failed(buffer, (error.flags & FI_MULTI_RECV) != 0);
      receive_.replenish();
      break;
    }
    case OperationContext::Purpose::one_sided:
      if (!leaving_) one_sided_.failed(*static_cast<Transfer*>(operation), error.err);
      break;
    case OperationContext::Purpose::trial:
      break;
  }
}

void Network::arrived(const fi_cq_data_entry& entry, ReceiveBuffers::Buffer& buffer) {
  ++received_;
  if (const std::byte* data = receive_.message_in(buffer, entry)) {
    const std::optional<Stamp> stamp = read_stamp(host_, data, entry.len);
    if (!stamp) {
      strays_.dropped();
    } else if (stamp->kind() == Kind::tally) {
      Tally tally;
      std::memcpy(&tally, data + sizeof *stamp, sizeof tally);
      handle_tally(stamp->source, tally);
    } else if (stamp->kind() == Kind::handshake) {
      handshakes_.came(stamp->source);
    } else if (stamp->kind() == Kind::lane_offer) {
      LaneOffer offer;
      std::memcpy(&offer, data + sizeof *stamp, sizeof offer);
      if (offers_ != nullptr && !leaving_) offers_->handle_offer(stamp->source, offer);
    } else if (stamp->kind() != Kind::farewell) {
      losses_.received(stamp->source);
      ReceiveBuffers::hold(buffer);
      arrivals_.push(static_cast<Channel>(stamp->kind()),
                     {data + sizeof *stamp, stamp->size(), stamp->source, &buffer});
    }
  }
  const bool is_released = (entry.flags & FI_MULTI_RECV) != 0;
  if (!is_released && receive_.is_full(buffer, entry)) {
    receive_.doubt(buffer);
    if (receive_.are_kept())
      fatal(host_, "ofi: the provider does not give back the receive buffers of rank %u",
            host_.rank);
  }
  receive_.completed(buffer, is_released);
}

void Network::deliver(Channel channel, const Arrival& arrival) {
  // A provider may pack messages in its own way, or strays of odd length lie in between.
  deliver_from_anywhere<max_message>(host_, arrival.source, channel, arrival.message, arrival.size);
  receive_.release(*arrival.buffer);
}

void Network::begin_to_leave() {
  leaving_ = true;
  // What was injected has no completion; it precedes the farewell on its way.
  const MetRanks& peers = losses_.sent_to();
  for (std::size_t i = 0; i < peers.size(); ++i)
    send_own(Kind::farewell, peers[i], endpoint_.message_route(peers[i]));
}

void Network::finish_leaving() const {
#ifdef GEX_DEBUG
  if (under_way() == 0) buffers_.check_invariants();
#endif
}

}  // namespace gex::net::ofi
