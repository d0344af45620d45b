#include "net/ucx/one_sided.h"

#include <cstring>
#include <optional>
#include <utility>

#include "net/kit/fatal.h"
#include "net/ucx/atomics.h"

namespace gex::net::ucx {

namespace {

/// Flushes of one endpoint under way at a time: the next begins before the answer to the last has
/// come, so that puts in a row do not wait for one another.
constexpr std::uint32_t max_flushes = 4;

bool lacks_room(ucs_status_t status) noexcept {
  return status == UCS_ERR_NO_RESOURCE || status == UCS_ERR_NO_MEMORY;
}

ucp_request_param_t parameters_for(Transfer& transfer, ucp_send_nbx_callback_t callback) noexcept {
  ucp_request_param_t parameters;
  parameters.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.cb.send = callback;
  parameters.user_data = &transfer;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  return parameters;
}

}  // namespace

OneSided::OneSided(const Host& host, Worker& worker, Endpoints& endpoints, Segments& segments)
    : host_(host),
      worker_(worker),
      endpoints_(endpoints),
      segments_(segments),
      keys_(host, endpoints),
      transfers_(host.size, room, *this),
      messages_(host, worker, endpoints, segments, transfers_),
      groups_(host.size),
      peers_(host.size) {
}

Transfer* OneSided::take(std::uint32_t peer, Transfer::Purpose purpose, void* done) {
  if (peer >= host_.size) fatal(host_, "ucx: a transfer to rank %u", peer);
  Transfer* const transfer = purpose == Transfer::Purpose::flush_of_group
                                 ? transfers_.take_beyond_room(peer)
                                 : transfers_.take(peer);
  if (transfer == nullptr) return nullptr;
  transfer->owner = this;
  transfer->next = nullptr;
  transfer->purpose = purpose;
  transfer->parts = 1;
  transfer->unanswered = 0;
  transfer->done = done;
  transfer->local_done = nullptr;
  return transfer;
}

const char* OneSided::name_of(const Transfer& transfer) const noexcept {
  switch (transfer.purpose) {
    case Transfer::Purpose::get:
      return "a get from it";
    case Transfer::Purpose::atomic:
      return "an atomic operation on its memory";
    default:
      return "a put to it";
  }
}

bool OneSided::accepted(Transfer& transfer, void* answer) {
  if (!UCS_PTR_IS_ERR(answer)) [[likely]]
    return true;
  const ucs_status_t status = UCS_PTR_STATUS(answer);
  if (!lacks_room(status)) {
    if (status == UCS_ERR_UNREACHABLE || status == UCS_ERR_UNSUPPORTED)
      fatal(host_,
            "ucx: no transport carries %s, rank %u, from rank %u: %s; UCX_TLS limits which it may "
            "use",
            name_of(transfer), transfer.peer, host_.rank, text_of(status));
    endpoints_.lost(transfer.peer, name_of(transfer), status);
  }
  transfers_.give_back(transfer);
  return false;
}

void OneSided::part_is_done(Transfer& transfer) {
  if (--transfer.parts != 0) return;
  void* const done = transfer.done;
  const bool is_of_group = transfer.purpose == Transfer::Purpose::flush_of_group;
  if (transfer.purpose == Transfer::Purpose::atomic && transfer.result != nullptr)
    std::memcpy(transfer.result, &transfer.former, transfer.size);
  transfers_.give_back(transfer);
  if (is_of_group)
    part_is_done(*static_cast<FlushGroup*>(done));
  else if (done != nullptr)
    host_.complete(done);
}

void OneSided::part_is_done(FlushGroup& group) {
  // Acquire and release: what the other parts' puts wrote is seen behind the last of them.
  if (group.parts.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  host_.complete(group.done);
  delete &group;
}

void OneSided::completed(void* request, ucs_status_t status, void* data) {
  auto& transfer = *static_cast<Transfer*>(data);
  OneSided& self = *transfer.owner;
  ucp_request_free(request);
  if (status != UCS_OK && !self.leaving_) [[unlikely]]
    self.endpoints_.lost(transfer.peer, self.name_of(transfer), status);
  if (transfer.local_done != nullptr) self.host_.complete(transfer.local_done);
  self.part_is_done(transfer);
}

SendResult OneSided::put(const Remote& remote, const void* local, std::size_t size, void* done,
                         void* local_done) {
  const Worker::Use use(worker_);
  Transfer* const transfer = take(remote.peer, Transfer::Purpose::put, done);
  if (transfer == nullptr) return would_block;
  transfer->local_done = local_done;
  if (messages_.serves(remote.peer)) {
    transfer->group = done == nullptr ? groups_.add(remote.peer) : nullptr;
    messages_.put(*transfer, remote, local, size);
    return sent;
  }
  ucp_request_param_t parameters = parameters_for(*transfer, completed);
  parameters.memory_type = segments_.type_of(local);
  void* const answer = ucp_put_nbx(endpoints_.to(remote.peer), local, size, remote.address,
                                   key_of(remote), &parameters);
  if (!accepted(*transfer, answer)) return would_block;
  const bool source_is_free = answer == nullptr;
  // A put without a completion of its own is over here once its source is free.
  if (done != nullptr) {
    if (!source_is_free) transfer->parts = 2;
    await_flush(*transfer);
  } else {
    peers_[remote.peer].is_unflushed = true;
  }
  if (source_is_free) {
    if (local_done != nullptr) host_.complete(local_done);
    if (done == nullptr) part_is_done(*transfer);
  }
  return sent;
}

SendResult OneSided::get(const Remote& remote, void* local, std::size_t size, void* done) {
  const Worker::Use use(worker_);
  Transfer* const transfer = take(remote.peer, Transfer::Purpose::get, done);
  if (transfer == nullptr) return would_block;
  ucp_request_param_t parameters = parameters_for(*transfer, completed);
  parameters.memory_type = segments_.type_of(local);
  void* const answer = ucp_get_nbx(endpoints_.to(remote.peer), local, size, remote.address,
                                   key_of(remote), &parameters);
  if (!accepted(*transfer, answer)) return would_block;
  if (answer == nullptr) part_is_done(*transfer);
  return sent;
}

SendResult OneSided::atomic(const Remote& remote, std::uint32_t data_type, std::uint32_t operation,
                            const void* operand1, const void* operand2, void* result, void* done) {
  const std::optional<AtomicPlan> plan = atomic_plan(data_type, operation);
  if (!plan) fatal(host_, "ucx: atomic operation 0x%x on type 0x%x", operation, data_type);
  const Worker::Use use(worker_);
  Transfer* const transfer = take(remote.peer, Transfer::Purpose::atomic, done);
  if (transfer == nullptr) return would_block;
  transfer->result = result;
  transfer->size = plan->width;
  transfer->operand = operand_of(*plan, operand1);
  transfer->former = 0;
  if (plan->compares) std::memcpy(&transfer->former, operand2, plan->width);
  ucp_request_param_t parameters = parameters_for(*transfer, completed);
  parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
  parameters.datatype = ucp_dt_make_contig(plan->width);
  parameters.reply_buffer = &transfer->former;
  void* const answer =
      ucp_atomic_op_nbx(endpoints_.to(remote.peer), plan->operation, &transfer->operand, 1,
                        remote.address, key_of(remote), &parameters);
  if (!accepted(*transfer, answer)) return would_block;
  if (answer == nullptr) part_is_done(*transfer);
  return sent;
}

SendResult OneSided::flush(std::uint32_t peer, void* done) {
  const Worker::Use use(worker_);
  Transfer* const transfer = take(peer, Transfer::Purpose::flush, done);
  if (transfer == nullptr) return would_block;
  begin_flush(*transfer);
  return sent;
}

void OneSided::flush_for(FlushGroup& group, std::uint32_t peer) {
  const Worker::Use use(worker_);
  const PeerFlushes& of = peers_[peer];
  if (!of.is_unflushed && of.first == nullptr && of.flushes == 0 && groups_.is_empty(peer)) return;
  group.parts.fetch_add(1, std::memory_order_relaxed);
  begin_flush(*take(peer, Transfer::Purpose::flush_of_group, &group));
}

void OneSided::begin_flush(Transfer& transfer) {
  if (messages_.serves(transfer.peer))
    groups_.flush(transfer.peer, &transfer, completion());
  else
    await_flush(transfer);
}

void OneSided::source_is_free(Transfer& put) {
  if (put.local_done != nullptr) host_.complete(put.local_done);
}

void OneSided::is_over(Transfer& put) {
  PutGroup* const group = put.group;
  const std::uint32_t peer = put.peer;
  part_is_done(put);
  if (group != nullptr) groups_.arrived(peer, *group, completion());
}

void OneSided::await_flush(Transfer& transfer) {
  PeerFlushes& peer = peers_[transfer.peer];
  (peer.last != nullptr ? peer.last->next : peer.first) = &transfer;
  peer.last = &transfer;
  if (peer.is_listed) return;
  peer.is_listed = true;
  to_flush_.push_back(transfer.peer);
}

void OneSided::flush_all() {
  flushing_.swap(to_flush_);
  for (const std::uint32_t peer : flushing_) {
    if (peers_[peer].flushes < max_flushes) {
      peers_[peer].is_listed = false;
      flush_peer(peer);
    } else {
      to_flush_.push_back(peer);
    }
  }
  flushing_.clear();
}

void OneSided::flush_peer(std::uint32_t number) {
  PeerFlushes& peer = peers_[number];
  Transfer* const first = peer.first;
  peer.first = peer.last = nullptr;
  peer.is_unflushed = false;
  // The flush is the first transfer's: a record of its own would have to be found room for.
  ucp_request_param_t parameters = parameters_for(*first, flush_completed);
  void* const request = ucp_ep_flush_nbx(endpoints_.to(number), &parameters);
  if (UCS_PTR_IS_ERR(request)) {
    if (!leaving_) endpoints_.lost(number, name_of(*first), UCS_PTR_STATUS(request));
    flushed(first);
  } else if (request == nullptr) {
    flushed(first);
  } else {
    ++peer.flushes;
  }
}

void OneSided::flush_completed(void* request, ucs_status_t status, void* data) {
  auto* const first = static_cast<Transfer*>(data);
  OneSided& self = *first->owner;
  ucp_request_free(request);
  if (status != UCS_OK && !self.leaving_) [[unlikely]]
    self.endpoints_.lost(first->peer, self.name_of(*first), status);
  --self.peers_[first->peer].flushes;
  self.flushed(first);
}

void OneSided::flushed(Transfer* first) {
  while (first != nullptr) {
    Transfer* const next = first->next;
    part_is_done(*first);
    first = next;
  }
}

}  // namespace gex::net::ucx
