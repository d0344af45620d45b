#include "net/ofi/one_sided.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/spin_lock.h"
#include "net/kit/fatal.h"

namespace gex::net::ofi {

namespace {

/// Buffers that transfers of unregistered memory go through.
constexpr std::size_t bounce_buffers = OneSided::bounce_memory / max_wire;
/// The largest transfer that does.
constexpr std::size_t bounce_limit = max_wire;

}  // namespace

OneSidedExtent extent_of(const Endpoint& endpoint, bool needs_local) noexcept {
  const RmaMeans means = endpoint.rma();
  std::size_t max_transfer = std::min(endpoint.info().ep_attr->max_msg_size, std::size_t{1} << 30);
  // A put whose end only a read can show must not be overtaken by it.
  if (means.available && !means.delivery_complete)
    max_transfer = std::min(max_transfer, means.max_ordered);
  return {means.available ? 1U : 0U, max_transfer, piece_extent(endpoint.info(), needs_local),
          means.atomics ? AtomicOperations::of(endpoint.endpoint()) : AtomicOperations{}};
}

TransferRoom one_sided_room(const fi_info& info) noexcept {
  constexpr std::size_t least = 16;
  constexpr std::size_t max = 1024;
  // A part of what the provider claims to hold for an endpoint: some claim what they do not keep,
  // and some that there is no limit.
  const std::size_t held = std::min(info.tx_attr->size, std::size_t{1} << 16);
  const std::size_t a_peer = std::clamp(held / 4, least, max);
  const std::size_t in_all = std::max(held / 4 * 3, a_peer);
  return {static_cast<std::uint32_t>(a_peer), static_cast<std::uint32_t>(in_all)};
}

OneSided::OneSided(const Host& host, const Endpoint& endpoint, Registrar& registrar,
                   const Segments& segments)
    : host_(host),
      endpoint_(endpoint),
      registrar_(registrar),
      segments_(segments),
      threaded_(host.threaded != 0),
      means_(endpoint.rma()),
      fences_by_write_(means_.max_fenced != 0 && means_.max_fenced >= means_.max_ordered),
      max_fenced_(fences_by_write_ ? means_.max_fenced : means_.max_ordered),
      inject_limit_(endpoint.info().tx_attr->inject_size),
      bounce_(host, bounce_buffers, registrar, threaded_),
      transfers_(host.size, one_sided_room(endpoint.info())),
      fences_(max_fenced_ != 0 ? host.size : 0) {
}

Transfer* OneSided::take(const Remote& remote, void* local, std::size_t size, void* done) {
  if (remote.peer >= host_.size) fatal(host_, "ofi: a transfer to rank %u", remote.peer);
  Transfer* transfer = nullptr;
  {
    const OptionalGuard guard(mutex_, threaded_);
    transfer = transfers_.take(remote.peer);
  }
  if (transfer == nullptr) return nullptr;
  transfer->purpose = OperationContext::Purpose::one_sided;
  transfer->route = endpoint_.transfer_route(remote.peer);
  const Key& key = *static_cast<const Key*>(remote.key);
  transfer->target = remote.address - key.origin;
  transfer->key = key.of_provider;
  transfer->local = static_cast<std::byte*>(local);
  transfer->size = size;
  transfer->done = done;
  transfer->local_done = nullptr;
  transfer->bounce = nullptr;
  transfer->piece = nullptr;
  return transfer;
}

void OneSided::give_back(Transfer& transfer) {
  if (transfer.bounce != nullptr) bounce_.give_back(transfer.bounce);
  transfer.bounce = nullptr;
  unregister(transfer);
  const OptionalGuard guard(mutex_, threaded_);
  transfers_.give_back(transfer);
}

void OneSided::unregister(Transfer& transfer) {
  if (transfer.piece == nullptr && !transfer.region) return;
  if (transfer.piece != nullptr)
    registrar_.cache()->release(*std::exchange(transfer.piece, nullptr));
  transfer.region.reset();
  transfer.copy.reset();
  registered_.fetch_sub(1, std::memory_order_relaxed);
}

bool OneSided::reach(Transfer& transfer, std::uint64_t access, void*& descriptor) {
  descriptor = segments_.device_descriptor_of(transfer.local, transfer.size);
  if (descriptor != nullptr || !registrar_.needs_local()) return true;
  descriptor = segments_.descriptor_of(transfer.local, transfer.size);
  if (descriptor != nullptr) return true;
  if (transfer.size <= bounce_limit) {
    transfer.bounce = bounce_.take();
    if (transfer.bounce == nullptr) return false;
    descriptor = transfer.bounce->descriptor;
    return true;
  }
  return register_for(transfer, access, descriptor);
}

bool OneSided::register_for(Transfer& transfer, std::uint64_t access, void*& descriptor) {
  // Counted while it is tried as well: who takes the room from one another tries again. Relaxed,
  // here and where it falls: a number that nothing else hangs on.
  const bool alone = registered_.fetch_add(1, std::memory_order_relaxed) == 0;
  if (RegistrationCache* cache = registrar_.cache()) {
    transfer.piece = cache->hold(transfer.local, transfer.size);
    if (transfer.piece != nullptr) {
      descriptor = fi_mr_desc(static_cast<fid_mr*>(transfer.piece->handle));
      return true;
    }
  }
  std::string error;
  bool lacks_room = false;
  transfer.region = registrar_.add(transfer.local, transfer.size, access, error, &lacks_room);
  if (transfer.region) {
    descriptor = fi_mr_desc(transfer.region.get());
    return true;
  }
  if (!lacks_room && access == FI_WRITE) {
    // Some providers register no memory that cannot be written, as constants are.
    transfer.copy.reset(new std::byte[transfer.size]);
    std::memcpy(transfer.copy.get(), transfer.local, transfer.size);
    transfer.region =
        registrar_.add(transfer.copy.get(), transfer.size, access, error, &lacks_room);
    if (transfer.region) {
      transfer.local = transfer.copy.get();
      descriptor = fi_mr_desc(transfer.region.get());
      return true;
    }
    transfer.copy.reset();
  }
  const bool still_alone = registered_.fetch_sub(1, std::memory_order_relaxed) == 1;
  if (!lacks_room || (alone && still_alone))
    fatal(host_, "ofi: rank %u cannot register what it transfers: %s", host_.rank, error.c_str());
  return false;
}

ssize_t OneSided::write(Transfer& transfer, void* descriptor, std::uint64_t flags) {
  return post_write(
      transfer,
      {transfer.bounce != nullptr ? transfer.bounce->bytes() : transfer.local, transfer.size},
      {transfer.target, transfer.size, transfer.key}, descriptor, flags);
}

ssize_t OneSided::post_write(Transfer& transfer, iovec from, fi_rma_iov to, void* descriptor,
                             std::uint64_t flags) {
  fi_msg_rma message{};
  message.msg_iov = &from;
  message.desc = &descriptor;
  message.iov_count = 1;
  message.addr = transfer.route;
  message.rma_iov = &to;
  message.rma_iov_count = 1;
  message.context = &transfer.for_provider;
  return fi_writemsg(endpoint_.endpoint(), &message, flags | FI_COMPLETION);
}

SendResult OneSided::accepted(Transfer& transfer, ssize_t result, const char* what) {
  if (result == 0) return sent;
  if (result != -FI_EAGAIN)
    lost_peer(host_, "ofi: %s rank %u of %zu bytes: %s", what, transfer.peer, transfer.size,
              error_text(result).c_str());
  give_back(transfer);
  return would_block;
}

SendResult OneSided::put(const Remote& remote, const void* local, std::size_t size, void* done,
                         void* local_done) {
  Transfer* const taken = take(remote, const_cast<void*>(local), size, done);
  if (taken == nullptr) return would_block;
  Transfer& transfer = *taken;
  void* descriptor = nullptr;
  // The processor reads what is injected or copied.
  const bool is_on_host = segments_.device_descriptor_of(local, size) == nullptr;
  bool source_is_free = size <= inject_limit_ && is_on_host;
  const bool is_injected = source_is_free;
  if (!is_injected) {
    if (!reach(transfer, FI_WRITE, descriptor)) {
      give_back(transfer);
      return would_block;
    }
    // A copy frees the source at once.
    if (transfer.bounce == nullptr && local_done != nullptr && size <= bounce_limit && is_on_host &&
        (transfer.bounce = bounce_.take()) != nullptr)
      descriptor = transfer.bounce->descriptor;
    if (transfer.bounce != nullptr) {
      std::memcpy(transfer.bounce->bytes(), local, size);
      source_is_free = true;
    }
  }
  if (!source_is_free) transfer.local_done = local_done;
  const bool delivers = !goes_with_fence(remote.peer, size, transfer.local_done != nullptr);
  transfer.stage = delivers ? Transfer::Stage::deliver : Transfer::Stage::transmit;
  const std::uint64_t flags =
      (delivers ? FI_DELIVERY_COMPLETE : FI_TRANSMIT_COMPLETE) | (is_injected ? FI_INJECT : 0);
  if (delivers) count_delivery(remote.peer, 1);
  const SendResult result = accepted(transfer, write(transfer, descriptor, flags), "a put to");
  if (delivers && result != sent) count_delivery(remote.peer, -1U);
  if (result == sent && source_is_free && local_done != nullptr) host_.complete(local_done);
  return result;
}

bool OneSided::read(Transfer& transfer, void* local, std::size_t size, void* descriptor) {
  const ssize_t result = fi_read(endpoint_.endpoint(), local, size, descriptor, transfer.route,
                                 transfer.target, transfer.key, &transfer.for_provider);
  if (result != 0 && result != -FI_EAGAIN)
    lost_peer(host_, "ofi: a get from rank %u of %zu bytes: %s", transfer.peer, size,
              error_text(result).c_str());
  return result == 0;
}

SendResult OneSided::get(const Remote& remote, void* local, std::size_t size, void* done) {
  Transfer* const taken = take(remote, local, size, done);
  if (taken == nullptr) return would_block;
  Transfer& transfer = *taken;
  transfer.stage = Transfer::Stage::get;
  void* descriptor = nullptr;
  if (reach(transfer, FI_READ, descriptor)) {
    void* into = transfer.bounce != nullptr ? transfer.bounce->bytes() : transfer.local;
    if (read(transfer, into, size, descriptor)) return sent;
  }
  give_back(transfer);
  return would_block;
}

AtomicWords& OneSided::words_of(Transfer& transfer) noexcept {
  return transfer.bounce != nullptr ? *reinterpret_cast<AtomicWords*>(transfer.bounce->bytes())
                                    : transfer.words;
}

SendResult OneSided::atomic(const Remote& remote, std::uint32_t data_type, std::uint32_t operation,
                            const void* operand1, const void* operand2, void* result, void* done) {
  const std::optional<AtomicPlan> plan = atomic_plan(data_type, operation);
  if (!plan) fatal(host_, "ofi: atomic operation 0x%x on type 0x%x", operation, data_type);
  Transfer* const taken = take(remote, result, plan->width, done);
  if (taken == nullptr) return would_block;
  Transfer& transfer = *taken;
  transfer.stage = Transfer::Stage::atomic;
  if (registrar_.needs_local() && (transfer.bounce = bounce_.take()) == nullptr) {
    give_back(transfer);
    return would_block;
  }
  void* descriptor = transfer.bounce != nullptr ? transfer.bounce->descriptor : nullptr;
  AtomicWords& words = words_of(transfer);
  ssize_t begun = 0;
  if (plan->compares) {
    std::memcpy(&words.expected, operand1, plan->width);
    std::memcpy(&words.operand, operand2, plan->width);
    begun =
        fi_compare_atomic(endpoint_.endpoint(), &words.operand, 1, descriptor, &words.expected,
                          descriptor, &words.former, descriptor, transfer.route, transfer.target,
                          transfer.key, plan->type, plan->operation, &transfer.for_provider);
  } else {
    write_operand(*plan, operand1, &words.operand);
    begun = fi_fetch_atomic(endpoint_.endpoint(), &words.operand, 1, descriptor, &words.former,
                            descriptor, transfer.route, transfer.target, transfer.key, plan->type,
                            plan->operation, &transfer.for_provider);
  }
  return accepted(transfer, begun, "an atomic operation on");
}

void OneSided::finish(Transfer& transfer) {
  void* done = transfer.done;
  give_back(transfer);
  host_.complete(done);
}

void OneSided::retry() {
  if (!any_postponed_.load(std::memory_order_relaxed)) return;
  std::vector<Transfer*> again;
  {
    const OptionalGuard guard(mutex_, threaded_);
    again.swap(postponed_);
    any_postponed_.store(false, std::memory_order_relaxed);
  }
  for (Transfer* transfer : again) fence(*transfer);
}

void OneSided::completed(Transfer& transfer) {
  if (transfer.local_done != nullptr) host_.complete(std::exchange(transfer.local_done, nullptr));
  if (transfer.stage == Transfer::Stage::transmit) {
    unregister(transfer);
    transmitted(transfer);
    return;
  }
  if (transfer.stage == Transfer::Stage::fence) {
    fenced(transfer);
    return;
  }
  if (transfer.stage == Transfer::Stage::deliver) count_delivery(transfer.peer, -1U);
  if (transfer.stage == Transfer::Stage::get && transfer.bounce != nullptr)
    std::memcpy(transfer.local, transfer.bounce->bytes(), transfer.size);
  if (transfer.stage == Transfer::Stage::atomic && transfer.local != nullptr)
    std::memcpy(transfer.local, &words_of(transfer).former, transfer.size);
  finish(transfer);
}

void OneSided::failed(const Transfer& transfer, int error) const {
  const char* what = transfer.stage == Transfer::Stage::get      ? "a get from"
                     : transfer.stage == Transfer::Stage::atomic ? "an atomic operation on"
                                                                 : "a put to";
  lost_peer(host_, "ofi: %s rank %u of %zu bytes failed: %s", what, transfer.peer, transfer.size,
            error_text(error).c_str());
}

}  // namespace gex::net::ofi
