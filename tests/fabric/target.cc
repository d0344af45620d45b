// Operations that have arrived at an endpoint: in which order, and when, they are carried out.

#include <algorithm>
#include <cstring>

#include "endpoint.h"
#include "knobs.h"

namespace gexsim {

namespace {

/// Packets that wait here; the others stay in the inbox.
constexpr std::size_t max_arrivals = 256;

/// How an operation counts in rules of order.
enum class Role : std::uint8_t { send, read, write };
Role role_of(Kind kind) {
  if (kind == Kind::send) return Role::send;
  return kind == Kind::read ? Role::read : Role::write;
}

/// Returns true if `later` must not be carried out before `earlier`, of the same peer.
bool must_follow(const Packet& later, const Packet& earlier) {
  // [later][earlier], for all; for one-sided transfers; for atomic operations.
  static constexpr std::uint64_t general[3][3] = {{FI_ORDER_SAS, FI_ORDER_SAR, FI_ORDER_SAW},
                                                  {FI_ORDER_RAS, FI_ORDER_RAR, FI_ORDER_RAW},
                                                  {FI_ORDER_WAS, FI_ORDER_WAR, FI_ORDER_WAW}};
  static constexpr std::uint64_t transfers[3][3] = {
      {0, 0, 0}, {0, FI_ORDER_RMA_RAR, FI_ORDER_RMA_RAW}, {0, FI_ORDER_RMA_WAR, FI_ORDER_RMA_WAW}};
  const auto at = [](Kind kind) { return static_cast<std::size_t>(role_of(kind)); };
  const std::size_t row = at(later.kind), column = at(earlier.kind);
  std::uint64_t bits = general[row][column];
  const bool any_atomic = later.kind == Kind::atomic || earlier.kind == Kind::atomic;
  if (!any_atomic) bits |= transfers[row][column];
  if (later.kind == Kind::atomic && earlier.kind == Kind::atomic)
    bits |= FI_ORDER_ATOMIC_WAW | FI_ORDER_ATOMIC_RAW;
  if ((later.order & bits) == 0 || knobs().order_kept == 0) return false;
  const bool has_extent = earlier.kind == Kind::write && later.kind != Kind::send;
  return !has_extent ||
         std::max(earlier.total, later.kind == Kind::write ? later.total : 0) <= later.max_order;
}

}  // namespace

void Endpoint::handle_arrivals() {
  Packet packet;
  std::vector<std::byte> payload;
  while (arrivals_.size() < max_arrivals && inbox_->take(packet, payload)) {
    if (is_of_connection(packet.kind))
      handle_connection(packet, std::move(payload));
    else if (is_answer(packet.kind))
      handle_answer(packet, payload);
    else if (packet.kind == Kind::send && packet.total > packet.payload)
      take_in_send(std::move(packet), std::move(payload));
    else
      arrive(std::move(packet), std::move(payload));
  }
}

void Endpoint::take_in_send(Packet&& packet, std::vector<std::byte>&& payload) {
  const FromPeer operation{packet.source, packet.operation};
  std::vector<std::byte>& whole = incomplete_sends_[operation];
  whole.resize(packet.total);
  std::memcpy(whole.data() + packet.offset, payload.data(), payload.size());
  std::uint64_t& bytes = incomplete_bytes_[operation];
  bytes += payload.size();
  if (bytes < packet.total) return;
  std::vector<std::byte> complete = std::move(whole);
  incomplete_sends_.erase(operation);
  incomplete_bytes_.erase(operation);
  arrive(std::move(packet), std::move(complete));
}

void Endpoint::arrive(Packet&& packet, std::vector<std::byte>&& payload) {
  const Knobs& own = knobs();
  if (own.reorder_limit != 0 && arrivals_.size() >= own.reorder_limit) {
    Completion completion;
    completion.error = FI_EOVERFLOW;
    receive_queue_->add(completion, false);
    return;
  }
  std::uint64_t hold = own.reorder == 0 ? 0 : domain_.random()() % (own.reorder + 1);
  // What is answered is there when the answer goes.
  if (packet.kind == Kind::write && !packet.wants_acknowledgement)
    hold = std::max(hold, own.visible_polls);
  arrivals_.push_back({packet, std::move(payload), hold});
  if (packet.kind == Kind::send && own.duplicate_after != 0 && ++messages_ == own.duplicate_after)
    arrivals_.push_back(arrivals_.back());
}

void Endpoint::serve() {
  std::vector<bool> served(arrivals_.size());
  for (std::size_t i = 0; i < arrivals_.size(); ++i) {
    Arrival& arrival = arrivals_[i];
    if (arrival.hold != 0) {
      --arrival.hold;
      continue;
    }
    bool is_behind = false;
    for (std::size_t j = 0; j < i && !is_behind; ++j)
      is_behind = !served[j] && arrivals_[j].packet.source == arrival.packet.source &&
                  must_follow(arrival.packet, arrivals_[j].packet);
    if (!is_behind) served[i] = serve(arrival);
  }
  std::size_t index = 0;
  std::erase_if(arrivals_, [&](const Arrival&) { return served[index++]; });
  for (std::size_t i = delayed_.size(); i-- > 0;) {
    Delayed delayed = delayed_.front();
    delayed_.pop_front();
    if (delayed.polls == 0) {
      Packet packet{};
      packet.kind = Kind::acknowledgement;
      answer(delayed.request, std::move(packet));
    } else {
      --delayed.polls;
      delayed_.push_back(delayed);
    }
  }
}

bool Endpoint::serve(Arrival& arrival) {
  if (knobs().close_loses != 0) {
    const Peer& source = peer_of(arrival.packet.source);
    if (!source.inbox || source.inbox->is_closed()) return true;
  }
  switch (arrival.packet.kind) {
    case Kind::send:
      return deliver(arrival);
    case Kind::write:
      write(arrival);
      return true;
    case Kind::read:
      read(arrival);
      return true;
    default:
      operate(arrival);
      return true;
  }
}

ssize_t Endpoint::post_receive(void* start, std::size_t size, void* descriptor, void* context,
                               std::uint64_t flags) {
  Segment segment{.local = static_cast<std::byte*>(start), .size = size};
  if (!find_local(descriptor, segment, FI_RECV)) return -FI_EINVAL;
  const std::lock_guard guard(domain_.mutex());
  if (!is_enabled_) return -FI_EOPBADSTATE;
  if (receives_.size() >= knobs().rx_size) return -FI_EAGAIN;
  receives_.push_back({.start = segment.local,
                       .size = size,
                       .used = 0,
                       .context = context,
                       .is_for_many = (flags & FI_MULTI_RECV) != 0,
                       .region = segment.region});
  return 0;
}

void Endpoint::release(Receive& receive, Completion& completion) {
  const std::string& style = knobs().release;
  if (style == "alone") {
    Completion alone;
    alone.entry.op_context = receive.context;
    alone.entry.flags = FI_MULTI_RECV;
    receive_queue_->add(completion, false);
    completion = alone;
  } else if (style != "never") {
    completion.entry.flags |= FI_MULTI_RECV;
  }
  receives_.pop_front();
}

bool Endpoint::deliver(Arrival& arrival) {
  const Knobs& own = knobs();
  if (receives_.empty()) {
    if (own.rnr_polls != 0) arrival.hold = own.rnr_polls;
    return false;
  }
  if (!receive_queue_->has_room()) return false;
  ++messages_;
  Receive& receive = receives_.front();
  Completion completion;
  completion.entry.op_context = receive.context;
  completion.entry.flags = FI_RECV | FI_MSG;
  if (own.flags == 0) completion.entry.flags = 0;
  if (own.receive_error_every != 0 && messages_ % own.receive_error_every == 0) {
    completion.error = FI_ECANCELED;
    receive_queue_->add(completion, false);
    receives_.pop_front();
    return false;
  }
  const std::size_t align = receive.is_for_many ? own.recv_align : 1;
  const std::size_t place = (receive.used + align - 1) / align * align;
  const std::size_t room = receive.size - std::min(receive.size, place);
  const std::size_t size = std::min(room, arrival.payload.size());
  std::byte* const memory = Regions::pages(receive.region, receive.start + place);
  if (size != 0) std::memcpy(memory, arrival.payload.data(), size);
  completion.entry.len = size;
  completion.entry.buf = receive.start + place;
  if (size < arrival.payload.size()) completion.error = FI_ETRUNC;
  receive.used = place + size;
  if (!receive.is_for_many)
    receives_.pop_front();
  else if (own.release == "each" || receive.size - receive.used < min_multi_recv_)
    release(receive, completion);
  receive_queue_->add(completion, false);
  if (arrival.packet.wants_acknowledgement) acknowledge(arrival.packet, 0);
  return true;
}

void Endpoint::answer(const Packet& request, Packet&& packet, std::vector<Segment> segments) {
  Peer& peer = peer_of(request.source);
  if (!peer.inbox) return;
  Outgoing outgoing;
  outgoing.packet = packet;
  outgoing.packet.source = inbox_->address();
  outgoing.packet.operation = request.operation;
  outgoing.segments = std::move(segments);
  for (const Segment& segment : outgoing.segments) outgoing.packet.total += segment.size;
  if (packet.kind == Kind::read_data) outgoing.sent = request.offset;
  peer.queue.push_back(std::move(outgoing));
  pump(peer);
}

void Endpoint::acknowledge(const Packet& request, int error) {
  if (error == 0 && knobs().delivery_polls != 0) {
    delayed_.push_back({knobs().delivery_polls, request});
    return;
  }
  Packet packet{};
  packet.kind = Kind::acknowledgement;
  packet.error = error;
  answer(request, std::move(packet));
}

void Endpoint::write(const Arrival& arrival) {
  const Packet& packet = arrival.packet;
  std::byte* const memory =
      domain_.regions().find(packet.key, packet.target, packet.payload, FI_REMOTE_WRITE, &fid);
  if (memory == nullptr) {
    acknowledge(packet, FI_EACCES);
    return;
  }
  if (packet.payload != 0) std::memcpy(memory, arrival.payload.data(), packet.payload);
  const FromPeer operation{packet.source, packet.operation};
  std::uint64_t& written = written_[operation];
  written += packet.payload;
  if (written < packet.total) return;
  written_.erase(operation);
  if (packet.wants_acknowledgement) acknowledge(packet, 0);
}

void Endpoint::read(const Arrival& arrival) {
  const Packet& packet = arrival.packet;
  std::byte* const memory =
      domain_.regions().find(packet.key, packet.target, packet.operand, FI_REMOTE_READ, &fid);
  if (memory == nullptr) {
    acknowledge(packet, FI_EACCES);
    return;
  }
  Packet data{};
  data.kind = Kind::read_data;
  answer(packet, std::move(data), {{.local = memory, .size = packet.operand}});
}

void Endpoint::operate(const Arrival& arrival) {
  const Packet& packet = arrival.packet;
  const auto type = static_cast<fi_datatype>(packet.datatype);
  std::byte* const memory = domain_.regions().find(packet.key, packet.target, width_of(type),
                                                   FI_REMOTE_READ | FI_REMOTE_WRITE, &fid);
  if (memory == nullptr) {
    acknowledge(packet, FI_EACCES);
    return;
  }
  if (has_name(static_cast<fi_op>(packet.atomic_operation), knobs().atomic_fails)) {
    acknowledge(packet, FI_EOPNOTSUPP);
    return;
  }
  Packet result{};
  result.kind = Kind::atomic_result;
  result.operand = operate_on(memory, type, static_cast<fi_op>(packet.atomic_operation),
                              packet.operand, packet.expected);
  if (knobs().atomic_swapped != 0)
    result.operand = __builtin_bswap64(result.operand) >> (64 - 8 * width_of(type));
  answer(packet, std::move(result));
}

}  // namespace gexsim
