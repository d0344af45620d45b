#include "net/ucx/network.h"

#include <cstring>
#include <optional>
#include <utility>

#include "base/spin_lock.h"
#include "net/kit/deliver.h"

namespace gex::net::ucx {

namespace {

/// Offers to each peer that may wait with this process.
constexpr std::size_t offers_per_peer = 16;

/// For messages to all peers, handshakes and offers.
std::size_t buffers_for(std::size_t ranks) noexcept {
  return ChannelBuffers<SendBuffer>::max_in_all(ranks) + ranks * (1 + offers_per_peer);
}

}  // namespace

Network::Network(const Host& host, Worker& worker, Endpoints& endpoints, OneSided& one_sided,
                 bool takes_offers)
    : host_(host),
      worker_(worker),
      endpoints_(endpoints),
      one_sided_(one_sided),
      threaded_(host.threaded != 0),
      takes_offers_(takes_offers),
      pool_(buffers_for(host.size), buffer_room, threaded_,
            [this](std::span<std::byte>, SendBuffer& prototype) {
              prototype.network = this;
              return true;
            }),
      buffers_(host, "ucx", pool_, threaded_),
      arrivals_(threaded_),
      handshakes_(host),
      strays_(host, "ucx") {
}

bool Network::start(std::size_t key_bytes, std::string& error) {
  if (!pool_.has_memory()) {
    error = "no address space for the messages to send";
    return false;
  }
  return worker_.receive(am_id, UCP_AM_FLAG_PERSISTENT_DATA, arrived, this, error) &&
         worker_.receive(copied_am_id, 0, arrived, this, error) &&
         one_sided_.start(key_bytes, error);
}

void Network::give_back(SendBuffer& buffer) {
  if (is_for_am(buffer.kind))
    buffers_.give_back(buffer);
  else
    pool_.give_back(&buffer);
}

SendResult Network::send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
  const std::size_t size = buffers_.size_to(peer, pieces);
  SendBuffer* const buffer = buffers_.fill(channel, peer, pieces, size);
  if (buffer == nullptr) return would_block;
  post(*buffer, size);
  return sent;
}

bool Network::send_own(Kind kind, std::uint32_t peer, std::span<const Piece> content) {
  const std::size_t size = size_of(content);
  SendBuffer* const buffer = size <= max_message ? pool_.take() : nullptr;
  if (buffer == nullptr) return false;
  buffer->kind = kind;
  buffer->peer = peer;
  buffer->start = buffer->bytes();
  gather(buffer->start, content);
  post(*buffer, size);
  return true;
}

void Network::post(SendBuffer& buffer, std::size_t size) {
  buffer.stamp = Stamp::of(host_.cookie, host_.rank, buffer.kind);
  const ucp_request_param_t parameters = eager_parameters(&buffer, sent_off);
  const Worker::Use use(worker_);
  void* const request =
      ucp_am_send_nbx(endpoints_.to(buffer.peer), size <= max_copied ? copied_am_id : am_id,
                      &buffer.stamp, sizeof buffer.stamp, buffer.start, size, &parameters);
  if (request == nullptr) {
    give_back(buffer);
  } else if (UCS_PTR_IS_ERR(request)) [[unlikely]] {
    if (!leaving_) endpoints_.lost(buffer.peer, "a message", UCS_PTR_STATUS(request));
    give_back(buffer);
  } else {
    in_flight_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Network::sent_off(void* request, ucs_status_t status, void* data) {
  auto& buffer = *static_cast<SendBuffer*>(data);
  Network& network = *buffer.network;
  ucp_request_free(request);
  if (status != UCS_OK && !network.leaving_) [[unlikely]]
    network.endpoints_.lost(buffer.peer, "a message", status);
  network.give_back(buffer);
  network.in_flight_.fetch_sub(1, std::memory_order_relaxed);
}

void Network::connect_neighbors() {
  handshakes_.exchange({
      .name = "ucx",
      .remedy = "or UCX takes a network that does not lead there, GEX_UCX_DEVICES chooses another",
      .send = [this](std::uint32_t peer) { return send_own(Kind::handshake, peer, {}); },
      .advance =
          [this] {
            progress();
            return in_flight_.load(std::memory_order_relaxed) == 0;
          },
      .refusing = [] { return std::nullopt; },
  });
}

std::size_t Network::poll(std::uint32_t channels, std::size_t max) {
  progress();
  std::size_t delivered = 0;
  Channel channel;
  for (Arrival arrival; delivered < max && arrivals_.pop(channels, channel, arrival); ++delivered)
    deliver(channel, arrival);
  return delivered;
}

std::int32_t Network::prepare_wait(int& descriptor, std::uint64_t& limit_ns) {
  descriptor = worker_.wait_descriptor();
  if (descriptor < 0) return never_wakes;
  if (!worker_.try_lock()) {
    // What another thread does is over soon.
    constexpr std::uint64_t short_wait_ns = 100'000;
    limit_ns = std::min(limit_ns, short_wait_ns);
    return 1;
  }
  const bool may_sleep = !std::exchange(has_moved_, false) && arrivals_.is_empty() &&
                         !any_handled_.load(std::memory_order_relaxed) && worker_.arm_wait();
  worker_.unlock();
  return may_sleep ? 1 : poll_again;
}

void Network::progress() {
  if (!worker_.try_lock()) return;
  if (any_handled_.load(std::memory_order_relaxed)) {
    {
      const std::lock_guard guard(handled_mutex_);
      given_back_now_.swap(handled_);
      any_handled_.store(false, std::memory_order_relaxed);
    }
    for (std::byte* message : given_back_now_) ucp_am_data_release(worker_.get(), message);
    given_back_now_.clear();
  }
  one_sided_.start_flushes();
  has_moved_ |= ucp_worker_progress(worker_.get()) != 0;
  one_sided_.answer_puts();
  worker_.unlock();
}

void Network::deliver(Channel channel, const Arrival& arrival) {
  if (arrival.kept == nullptr) {
    host_.deliver(arrival.source, channel, arrival.copy.data(), arrival.size);
    return;
  }
  // UCX is asked to align messages, but one may do so in its own way.
  deliver_from_anywhere<max_message>(host_, arrival.source, channel, arrival.kept, arrival.size);
  give_up(arrival.kept);
}

void Network::give_up(std::byte* message) {
  if (worker_.try_lock()) {
    ucp_am_data_release(worker_.get(), message);
    worker_.unlock();
    return;
  }
  const std::lock_guard guard(handled_mutex_);
  handled_.push_back(message);
  any_handled_.store(true, std::memory_order_relaxed);
}

ucs_status_t Network::arrived(void* network, const void* header, std::size_t header_size,
                              void* data, std::size_t size, const ucp_am_recv_param_t* parameters) {
  return static_cast<Network*>(network)->handle_message(
      header, header_size, data, size, (parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0);
}

ucs_status_t Network::handle_message(const void* header, std::size_t header_size, void* data,
                                     std::size_t size, bool may_stay) {
  const std::optional<Stamp> stamp = read_stamp(host_, header, header_size, size);
  if (!stamp) {
    strays_.dropped();
    return UCS_OK;
  }
  if (stamp->kind() == Kind::handshake) {
    handshakes_.came(stamp->source());
    return UCS_OK;
  }
  if (drops_arrivals_) return UCS_OK;
  if (stamp->kind() == Kind::lane_offer) {
    std::uint32_t lane = 0;
    if (!takes_offers_ || size <= sizeof lane) {
      strays_.dropped();
      return UCS_OK;
    }
    const auto* const bytes = static_cast<const std::byte*>(data);
    std::memcpy(&lane, bytes, sizeof lane);
    // Taken once the worker is not in use any more: what follows uses workers.
    offers_.push_back({stamp->source(), lane, {bytes + sizeof lane, bytes + size}});
    any_offers_.store(true, std::memory_order_relaxed);
    return UCS_OK;
  }
  // Whole messages that may stay, or that are copied, are what was asked for, and what peers of
  // this job send.
  if (size == 0 || (size > max_copied && !may_stay)) {
    strays_.dropped();
    return UCS_OK;
  }
  const auto channel = static_cast<Channel>(stamp->kind());
  Arrival arrival;
  arrival.size = static_cast<std::uint32_t>(size);
  arrival.source = stamp->source();
  if (size <= max_copied) {
    arrival.kept = nullptr;
    std::memcpy(arrival.copy.data(), data, size);
    arrivals_.push(channel, arrival);
    return UCS_OK;
  }
  arrival.kept = static_cast<std::byte*>(data);
  arrivals_.push(channel, arrival);
  return UCS_INPROGRESS;
}

bool Network::send_offer(std::uint32_t peer, std::uint32_t lane,
                         std::span<const std::byte> address) {
  const Piece pieces[] = {{&lane, sizeof lane}, {address.data(), address.size()}};
  return send_own(Kind::lane_offer, peer, pieces);
}

std::vector<LaneOffer> Network::take_offers() {
  const Worker::Use use(worker_);
  any_offers_.store(false, std::memory_order_relaxed);
  return std::exchange(offers_, {});
}

void Network::begin_to_leave() {
  leaving_ = true;
  one_sided_.begin_to_leave();
}

void Network::finish_leaving() {
#ifdef GEX_DEBUG
  if (in_flight_.load(std::memory_order_relaxed) == 0) buffers_.check_invariants();
#endif
  drops_arrivals_ = true;
  arrivals_.drop_all([this](const Arrival& arrival) {
    if (arrival.kept != nullptr) give_up(arrival.kept);
  });
  one_sided_.finish_leaving();
}

}  // namespace gex::net::ucx
