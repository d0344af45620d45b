// Fences: how puts that report no more than that they have been sent are shown to be at the peer.

#include <rdma/fi_rma.h>

#include <utility>

#include "base/spin_lock.h"
#include "net/kit/fatal.h"
#include "net/ofi/one_sided.h"

namespace gex::net::ofi {

namespace {

/// Bytes that a fence writes, if it writes.
constexpr std::size_t fence_size = 8;

}  // namespace

bool OneSided::goes_with_fence(std::uint32_t peer, std::size_t size,
                               bool frees_early) const noexcept {
  if (!means_.delivery_complete) return true;
  if (size > max_fenced_) return false;
  // Relaxed: either way serves; behind another one a fence is the cheaper.
  return frees_early ||
         (fences_by_write_ && fences_[peer].deliveries.load(std::memory_order_relaxed) != 0);
}

void OneSided::count_delivery(std::uint32_t peer, std::uint32_t change) noexcept {
  // Relaxed: a count that nothing else hangs on.
  if (fences_by_write_) fences_[peer].deliveries.fetch_add(change, std::memory_order_relaxed);
}

void OneSided::transmitted(Transfer& transfer) {
  Fence& fence = fences_[transfer.peer];
  transfer.stage = Transfer::Stage::fence;
  // Its bytes have left the buffer, and the fence may need one: puts that wait must not hold all.
  if (transfer.bounce != nullptr) bounce_.give_back(std::exchange(transfer.bounce, nullptr));
  transfer.next = std::exchange(fence.waiting, &transfer);
  if (!fence.is_under_way) begin_fence(transfer.peer);
}

void OneSided::begin_fence(std::uint32_t peer) {
  Fence& fence = fences_[peer];
  Transfer* const first = std::exchange(fence.waiting, nullptr);
  fence.is_under_way = first != nullptr;
  if (first == nullptr) return;
  // Order is kept on the way to one endpoint: what went to another of the peer's has the next.
  Transfer* last = first;
  for (Transfer* one = std::exchange(first->next, nullptr); one != nullptr;) {
    Transfer* const following = std::exchange(one->next, nullptr);
    if (one->route == first->route)
      last = last->next = one;
    else
      one->next = std::exchange(fence.waiting, one);
    one = following;
  }
  if (fences_by_write_) count_delivery(peer, 1);
  this->fence(*first);
}

bool OneSided::write_fence(Transfer& transfer) {
  static constexpr std::byte nothing[fence_size] = {};
  const bool is_injected = fence_size <= inject_limit_;
  const Place& place = endpoint_.scratch_place_of(transfer.peer);
  iovec from{const_cast<std::byte*>(nothing), fence_size};
  void* descriptor = nullptr;
  if (!is_injected) {
    from.iov_base = transfer.bounce->bytes();
    descriptor = transfer.bounce->descriptor;
  }
  const ssize_t result =
      post_write(transfer, from, {place.address, fence_size, place.key}, descriptor,
                 FI_DELIVERY_COMPLETE | (is_injected ? FI_INJECT : 0));
  if (result != 0 && result != -FI_EAGAIN)
    lost_peer(host_, "ofi: a put to rank %u of %zu bytes: %s", transfer.peer, transfer.size,
              error_text(result).c_str());
  return result == 0;
}

void OneSided::fence(Transfer& transfer) {
  const bool needs_bounce = !fences_by_write_ || fence_size > inject_limit_;
  if (needs_bounce && transfer.bounce == nullptr) transfer.bounce = bounce_.take();
  const bool is_posted =
      (!needs_bounce || transfer.bounce != nullptr) &&
      (fences_by_write_ ? write_fence(transfer)
                        : read(transfer, transfer.bounce->bytes(), 1, transfer.bounce->descriptor));
  if (is_posted) return;
  const OptionalGuard guard(mutex_, threaded_);
  postponed_.push_back(&transfer);
  any_postponed_.store(true, std::memory_order_relaxed);
}

void OneSided::fenced(Transfer& transfer) {
  if (fences_by_write_) count_delivery(transfer.peer, -1U);
  // Before the others are finished, which may bring more.
  begin_fence(transfer.peer);
  for (Transfer* covered = &transfer; covered != nullptr;) {
    Transfer* const following = std::exchange(covered->next, nullptr);
    finish(*covered);
    covered = following;
  }
}

}  // namespace gex::net::ofi
