#include "net/ucx/message_puts.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "net/kit/fatal.h"

namespace gex::net::ucx {

namespace {

/// Parts of puts to one peer that UCX has, or that are not acknowledged.
constexpr std::uint32_t max_parts = 64;

ucp_request_param_t parameters_for(void* record, ucp_send_nbx_callback_t callback) noexcept {
  ucp_request_param_t parameters;
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                            UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.flags = UCP_AM_SEND_FLAG_EAGER;
  parameters.cb.send = callback;
  parameters.user_data = record;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  return parameters;
}

}  // namespace

bool MessagePuts::start(std::string& error) {
  ucp_am_handler_param_t parameters{};
  parameters.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                          UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  parameters.flags = UCP_AM_FLAG_WHOLE_MSG;
  parameters.arg = this;
  parameters.id = put_am_id;
  parameters.cb = [](void* self, const void* header, std::size_t header_size, void* data,
                     std::size_t size, const ucp_am_recv_param_t*) {
    return static_cast<MessagePuts*>(self)->take_put(header, header_size, data, size);
  };
  ucs_status_t status = ucp_worker_set_am_recv_handler(worker_.get(), &parameters);
  if (status == UCS_OK) {
    parameters.id = put_answer_am_id;
    parameters.cb = [](void* self, const void* header, std::size_t header_size, void* data,
                       std::size_t size, const ucp_am_recv_param_t*) {
      return static_cast<MessagePuts*>(self)->take_answer(header, header_size, data, size);
    };
    status = ucp_worker_set_am_recv_handler(worker_.get(), &parameters);
  }
  if (status == UCS_OK) return true;
  error = std::string("puts cannot be received: ") + text_of(status);
  return false;
}

bool MessagePuts::serves(std::uint32_t number) {
  Peer& peer = peers_[number];
  if (peer.way == Peer::Way::unknown)
    peer.way = endpoints_.is_over_tcp_alone(number) ? Peer::Way::messages : Peer::Way::network;
  return peer.way == Peer::Way::messages;
}

void MessagePuts::put(void* name, const Remote& remote, const void* local, std::size_t size) {
  if (free_puts_.empty()) {
    puts_.push_back(std::make_unique<Put>());
    free_puts_.push_back(puts_.back().get());
  }
  Put* const put = free_puts_.back();
  free_puts_.pop_back();
  *put = Put{.name = name};
  KeyHeader key;
  std::memcpy(&key, remote.key, sizeof key);
  peers_[remote.peer].rests.push_back(
      {put, static_cast<const std::byte*>(local), size, remote.address, key.number});
  advance(remote.peer);
}

void MessagePuts::advance(std::uint32_t number) {
  Peer& peer = peers_[number];
  while (!peer.rests.empty() && peer.parts < max_parts) {
    Rest rest = peer.rests.front();
    peer.rests.pop_front();
    const std::size_t size = std::min(rest.size, max_put_part);
    Rest now = rest;
    now.size = size;
    rest.source += size;
    rest.address += size;
    rest.size -= size;
    if (rest.size != 0)
      peer.rests.push_front(rest);
    else
      rest.put->all_parts_made = true;
    send_part(number, now);
  }
}

MessagePuts::Part* MessagePuts::take_part() {
  if (free_parts_ == nullptr) {
    Part& made = parts_.emplace_back();
    made.owner = this;
    made.number = static_cast<std::uint32_t>(parts_.size() - 1);
    return &made;
  }
  return std::exchange(free_parts_, free_parts_->next_free);
}

void MessagePuts::send_part(std::uint32_t peer, Rest& rest) {
  Part& part = *take_part();
  part.put = rest.put;
  part.peer = peer;
  part.is_sent = part.is_acknowledged = false;
  part.header = {Stamp::of(host_.cookie, host_.rank, Kind::put), part.number, rest.address,
                 rest.segment};
  ++peers_[peer].parts;
  ++rest.put->unsent;
  ++rest.put->unacknowledged;
  const ucp_request_param_t parameters = parameters_for(&part, on_sent);
  void* const request = ucp_am_send_nbx(endpoints_.to(peer), put_am_id, &part.header,
                                        sizeof part.header, rest.source, rest.size, &parameters);
  if (UCS_PTR_IS_ERR(request)) [[unlikely]] {
    if (!leaving_) endpoints_.lost(peer, "a put to it", UCS_PTR_STATUS(request));
    part.is_acknowledged = true;
    part_is_sent(part);
  } else if (request == nullptr) {
    part_is_sent(part);
  }
}

void MessagePuts::on_sent(void* request, ucs_status_t status, void* data) {
  auto& part = *static_cast<Part*>(data);
  MessagePuts& self = *part.owner;
  ucp_request_free(request);
  if (status != UCS_OK) [[unlikely]] {
    if (!self.leaving_) self.endpoints_.lost(part.peer, "a put to it", status);
    // It will never be acknowledged.
    part.is_acknowledged = true;
  }
  self.part_is_sent(part);
}

void MessagePuts::part_is_sent(Part& part) {
  Put& put = *part.put;
  part.is_sent = true;
  if (--put.unsent == 0 && put.all_parts_made) owner_.source_is_free(put.name);
  if (part.is_acknowledged) give_back(part);
}

void MessagePuts::part_is_acknowledged(Part& part) {
  part.is_acknowledged = true;
  if (part.is_sent) give_back(part);
}

void MessagePuts::give_back(Part& part) {
  Put& put = *part.put;
  const std::uint32_t peer = part.peer;
  part.next_free = free_parts_;
  free_parts_ = &part;
  part.put = nullptr;
  --peers_[peer].parts;
  if (--put.unacknowledged == 0 && put.all_parts_made) {
    void* const name = put.name;
    free_puts_.push_back(&put);
    owner_.is_there(name);
  }
}

ucs_status_t MessagePuts::take_put(const void* header, std::size_t header_size, const void* data,
                                   std::size_t size) {
  PutHeader put;
  if (header_size != sizeof put) {
    warn_of_stray();
    return UCS_OK;
  }
  std::memcpy(&put, header, sizeof put);
  if (!is_from_peer(host_, put.stamp) || put.stamp.kind() != Kind::put ||
      !segments_.holds(put.segment, put.address, size)) {
    warn_of_stray();
    return UCS_OK;
  }
  std::memcpy(reinterpret_cast<void*>(put.address), data, size);
  owed_.push_back({put.stamp.source(), put.part});
  return UCS_OK;
}

void MessagePuts::acknowledge_all() {
  // Neighbors in the list come from one peer mostly.
  std::vector<Owed> left;
  std::size_t first = 0;
  while (first < owed_.size()) {
    if (!endpoints_.can_reach(owed_[first].peer)) [[unlikely]] {
      // Its offer of this lane is on its way over the first one.
      left.push_back(owed_[first++]);
      continue;
    }
    std::size_t last = first + 1;
    while (last < owed_.size() && owed_[last].peer == owed_[first].peer &&
           last - first < max_answered_parts)
      ++last;
    send_answer(owed_[first].peer, &owed_[first], last - first);
    first = last;
  }
  owed_.swap(left);
}

void MessagePuts::send_answer(std::uint32_t peer, const Owed* owed, std::size_t count) {
  if (free_answers_.empty()) {
    answers_.push_back(std::make_unique<Answer>());
    answers_.back()->owner = this;
    free_answers_.push_back(answers_.back().get());
  }
  Answer& answer = *free_answers_.back();
  free_answers_.pop_back();
  const std::size_t size = count * sizeof answer.parts[0];
  answer.peer = peer;
  answer.stamp = Stamp::of(host_.cookie, host_.rank, Kind::put_answer);
  for (std::size_t i = 0; i < count; ++i) answer.parts[i] = owed[i].part;
  const ucp_request_param_t parameters = parameters_for(&answer, on_answered);
  void* const request =
      ucp_am_send_nbx(endpoints_.to(peer), put_answer_am_id, &answer.stamp, sizeof answer.stamp,
                      answer.parts.data(), size, &parameters);
  if (UCS_PTR_IS_PTR(request)) {
    ++answers_under_way_;
    return;
  }
  if (UCS_PTR_IS_ERR(request) && !leaving_) [[unlikely]]
    endpoints_.lost(peer, "an answer to its put", UCS_PTR_STATUS(request));
  free_answers_.push_back(&answer);
}

void MessagePuts::on_answered(void* request, ucs_status_t status, void* data) {
  auto& answer = *static_cast<Answer*>(data);
  MessagePuts& self = *answer.owner;
  ucp_request_free(request);
  --self.answers_under_way_;
  if (status != UCS_OK && !self.leaving_) [[unlikely]]
    self.endpoints_.lost(answer.peer, "an answer to its put", status);
  self.free_answers_.push_back(&answer);
}

ucs_status_t MessagePuts::take_answer(const void* header, std::size_t header_size, const void* data,
                                      std::size_t size) {
  Stamp stamp;
  std::uint32_t numbers[max_answered_parts];
  if (header_size != sizeof stamp || size > sizeof numbers || size % sizeof numbers[0] != 0) {
    warn_of_stray();
    return UCS_OK;
  }
  std::memcpy(&stamp, header, sizeof stamp);
  std::memcpy(numbers, data, size);
  if (!is_from_peer(host_, stamp) || stamp.kind() != Kind::put_answer) {
    warn_of_stray();
    return UCS_OK;
  }
  for (std::size_t i = 0; i < size / sizeof numbers[0]; ++i) {
    Part* const part = numbers[i] < parts_.size() ? &parts_[numbers[i]] : nullptr;
    if (part == nullptr || part->put == nullptr || part->is_acknowledged ||
        part->peer != stamp.source()) {
      warn_of_stray();
      continue;
    }
    part_is_acknowledged(*part);
  }
  advance(stamp.source());
  return UCS_OK;
}

void MessagePuts::warn_of_stray() {
  if (leaving_ || std::exchange(warned_of_stray_, true)) return;
  char text[120];
  std::snprintf(text, sizeof text,
                "ucx: rank %u drops puts that do not belong to this job (reported once)",
                host_.rank);
  host_.warn(text);
}

}  // namespace gex::net::ucx
