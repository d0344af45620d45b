#include "net/ucx/message_puts.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace gex::net::ucx {

namespace {

/// Parts of puts to one peer that are not acknowledged.
constexpr std::uint32_t max_parts = 64;

}  // namespace

bool MessagePuts::start(std::string& error) {
  const auto put_came = [](void* self, const void* header, std::size_t header_size, void* data,
                           std::size_t size, const ucp_am_recv_param_t*) {
    return static_cast<MessagePuts*>(self)->handle_put(header, header_size, data, size);
  };
  const auto answer_came = [](void* self, const void* header, std::size_t header_size, void* data,
                              std::size_t size, const ucp_am_recv_param_t*) {
    return static_cast<MessagePuts*>(self)->handle_answer(header, header_size, data, size);
  };
  return worker_.receive(put_am_id, 0, put_came, this, error) &&
         worker_.receive(put_answer_am_id, 0, answer_came, this, error);
}

bool MessagePuts::serves(std::uint32_t number) {
  PeerPuts& peer = peers_[number];
  if (peer.way == PeerPuts::Way::unknown)
    peer.way =
        endpoints_.is_over_tcp_alone(number) ? PeerPuts::Way::messages : PeerPuts::Way::network;
  return peer.way == PeerPuts::Way::messages;
}

void MessagePuts::put(Transfer& put, const Remote& remote, const void* local, std::size_t size) {
  KeyHeader key;
  std::memcpy(&key, remote.key, sizeof key);
  // Until the last part is made.
  put.unsent = 1;
  Rest& rest = *rests_.take();
  rest = {nullptr, &put, static_cast<const std::byte*>(local), size, remote.address, key.number};
  PeerPuts& peer = peers_[remote.peer];
  (peer.first != nullptr ? peer.last->next : peer.first) = &rest;
  peer.last = &rest;
  advance(remote.peer);
}

void MessagePuts::advance(std::uint32_t number) {
  PeerPuts& peer = peers_[number];
  while (peer.first != nullptr && peer.parts < max_parts) {
    Rest& rest = *peer.first;
    Rest part = rest;
    part.size = std::min(rest.size, max_put_part);
    rest.source += part.size;
    rest.address += part.size;
    rest.size -= part.size;
    // Before the part is sent, which may come back here.
    if (rest.size == 0) {
      peer.first = rest.next;
      rests_.give_back(&rest);
      --part.put->unsent;
    }
    send_part(part);
  }
}

void MessagePuts::send_part(const Rest& rest) {
  Transfer& put = *rest.put;
  const std::uint32_t peer = put.peer;
  Part& part = *parts_.take();
  part.owner = this;
  part.put = &put;
  part.header = {Stamp::of(host_.cookie, host_.rank, Kind::put), put.number, rest.address,
                 rest.segment};
  ++peers_[peer].parts;
  ++put.unsent;
  ++put.unanswered;
  const ucp_request_param_t parameters = eager_parameters(&part, on_sent);
  void* const request = ucp_am_send_nbx(endpoints_.to(peer), put_am_id, &part.header,
                                        sizeof part.header, rest.source, rest.size, &parameters);
  if (UCS_PTR_IS_PTR(request)) return;
  if (request != nullptr && !leaving_) [[unlikely]]
    endpoints_.lost(peer, "a put to it", UCS_PTR_STATUS(request));
  part_is_sent(part, /*arrives=*/request == nullptr);
}

void MessagePuts::on_sent(void* request, ucs_status_t status, void* data) {
  auto& part = *static_cast<Part*>(data);
  MessagePuts& self = *part.owner;
  ucp_request_free(request);
  if (status != UCS_OK && !self.leaving_) [[unlikely]]
    self.endpoints_.lost(part.put->peer, "a put to it", status);
  self.part_is_sent(part, /*arrives=*/status == UCS_OK);
}

void MessagePuts::part_is_sent(Part& part, bool arrives) {
  Transfer& put = *part.put;
  parts_.give_back(&part);
  if (!arrives) [[unlikely]] {
    --peers_[put.peer].parts;
    --put.unanswered;
  }
  transfers_.message_sent(put);
}

ucs_status_t MessagePuts::handle_put(const void* header, std::size_t header_size, const void* data,
                                     std::size_t size) {
  PutHeader put;
  if (header_size != sizeof put) {
    drop_stray();
    return UCS_OK;
  }
  std::memcpy(&put, header, sizeof put);
  if (!is_from_peer(host_, put.stamp) || put.stamp.kind() != Kind::put ||
      !segments_.holds(put.segment, put.address, size)) {
    drop_stray();
    return UCS_OK;
  }
  std::memcpy(reinterpret_cast<void*>(put.address), data, size);
  transfers_.owe(put.stamp.source(), put.number);
  return UCS_OK;
}

void MessagePuts::acknowledge_all() {
  transfers_.send_answers([this](std::uint32_t peer, std::span<const std::uint32_t> puts) {
    // Without its address its offer of this lane is on its way over the first one.
    if (!endpoints_.can_reach(peer)) return false;
    send_answer(peer, puts);
    return true;
  });
}

void MessagePuts::send_answer(std::uint32_t peer, std::span<const std::uint32_t> puts) {
  Answer& answer = *answers_.take();
  answer.owner = this;
  answer.peer = peer;
  answer.stamp = Stamp::of(host_.cookie, host_.rank, Kind::put_answer);
  std::ranges::copy(puts, answer.puts.begin());
  const ucp_request_param_t parameters = eager_parameters(&answer, on_answered);
  void* const request =
      ucp_am_send_nbx(endpoints_.to(peer), put_answer_am_id, &answer.stamp, sizeof answer.stamp,
                      answer.puts.data(), puts.size_bytes(), &parameters);
  if (UCS_PTR_IS_PTR(request)) return;
  if (request != nullptr && !leaving_) [[unlikely]]
    endpoints_.lost(peer, "an answer to its put", UCS_PTR_STATUS(request));
  answers_.give_back(&answer);
}

void MessagePuts::on_answered(void* request, ucs_status_t status, void* data) {
  auto& answer = *static_cast<Answer*>(data);
  MessagePuts& self = *answer.owner;
  ucp_request_free(request);
  if (status != UCS_OK && !self.leaving_) [[unlikely]]
    self.endpoints_.lost(answer.peer, "an answer to its put", status);
  self.answers_.give_back(&answer);
}

ucs_status_t MessagePuts::handle_answer(const void* header, std::size_t header_size,
                                        const void* data, std::size_t size) {
  Stamp stamp;
  if (header_size != sizeof stamp) {
    drop_stray();
    return UCS_OK;
  }
  std::memcpy(&stamp, header, sizeof stamp);
  if (!is_from_peer(host_, stamp) || stamp.kind() != Kind::put_answer) {
    drop_stray();
    return UCS_OK;
  }
  const std::size_t taken =
      transfers_.handle_answers(stamp.source(), {static_cast<const std::byte*>(data), size});
  peers_[stamp.source()].parts -= static_cast<std::uint32_t>(taken);
  if (taken * sizeof(std::uint32_t) != size) drop_stray();
  advance(stamp.source());
  return UCS_OK;
}

}  // namespace gex::net::ucx
