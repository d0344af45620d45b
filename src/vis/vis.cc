#include "vis/vis.h"

#include <algorithm>
#include <atomic>

#include "am/limits.h"
#include "base/error.h"
#include "core/initiate.h"
#include "core/process.h"
#include "core/team.h"
#include "observe/restricted.h"
#include "rma/rma.h"
#include "vis/by_kind.h"
#include "vis/messages.h"
#include "vis/native.h"
#include "vis/packers.h"
#include "vis/peer_completion.h"
#include "vis/region_copy.h"
#include "vis/shape.h"

namespace gex::vis {

namespace {

bool is_put(const VisRequest& request) noexcept {
  return request.direction == Direction::put;
}

/// Takes and disarms the notice that is armed for the operation.
PeerCompletion take_notice(const VisRequest& request) noexcept {
  if (!is_armed()) [[likely]]
    return {};
  if (checked() && !is_put(request))
    fatal("%s: a peer completion handler is armed, and there is none for gets",
          name_of(request.call));
  if (checked() && (request.flags & GEX_FLAG_IMMEDIATE) != 0)
    fatal("%s: GEX_FLAG_IMMEDIATE, but a peer completion handler is armed", name_of(request.call));
  const PeerCompletion notice = take_armed();
  return is_put(request) ? notice : PeerCompletion{};
}

/// Ends an operation that was completed within its call.
Initiated done_at_once(const Target& peer, const PeerCompletion& notice) noexcept {
  if (notice.handler != 0) send_notice(peer, notice);
  return {};
}

/// Ends an operation that moves nothing, whose team and rank may be invalid.
Initiated nothing_to_do(const VisRequest& request, const PeerCompletion& notice) noexcept {
  if (notice.handler == 0 || request.tm == GEX_TM_INVALID) return {};
  const gex_Rank_t ranks =
      GEX_IS_PAIR_(request.tm) ? gex_proc_.jobsize : Team::from(request.tm).size;
  if (request.rank >= ranks) return {};
  return done_at_once(resolve(request.tm, request.rank), notice);
}

/// Local completion, as the flags request it.
LocalCompletion local_completion_of(const VisRequest& request) noexcept {
  if ((request.flags & GEX_FLAG_ENABLE_LEAF_LC) == 0) return LocalCompletion::with_done;
  return request.form == Form::implicit ? LocalCompletion::group : LocalCompletion::leaf;
}

/// The addresses that a list touches.
struct Bounds {
  std::uintptr_t low = ~std::uintptr_t{0};
  std::uintptr_t high = 0;
};
/// The addresses that blocks of one length touch, at least one block.
Bounds bounds_of(void* const* addresses, std::size_t count, std::size_t length) noexcept {
  const auto start = [addresses](std::size_t i) noexcept {
    return reinterpret_cast<std::uintptr_t>(addresses[i]);
  };
  // Two of each, for the even and the odd entries: a minimum waits for the one before it.
  Bounds even{start(0), start(0)};
  Bounds odd = even;
  for (std::size_t i = 1; i < count; i += 2) {
    odd.low = std::min(odd.low, start(i));
    odd.high = std::max(odd.high, start(i));
    even.low = std::min(even.low, start(i - 1));
    even.high = std::max(even.high, start(i - 1));
  }
  const std::uintptr_t last = start(count - 1);
  return {std::min({even.low, odd.low, last}), std::max({even.high, odd.high, last}) + length};
}

Bounds bounds_of(const BlockList& list) noexcept {
  if (list.is_indexed()) return bounds_of(list.addresses(), list.count(), list.length());
  Bounds bounds;
  for (std::size_t i = 0; i < list.count(); ++i) {
    if (list.length(i) == 0) continue;
    const auto start = reinterpret_cast<std::uintptr_t>(list.address(i));
    bounds.low = std::min(bounds.low, start);
    bounds.high = std::max(bounds.high, start + list.length(i));
  }
  return bounds;
}

/// A strided transfer whose peer's memory begins at `lowest`.
struct StridedTransfer {
  StridedRegion remote;
  StridedRegion local;
  std::uintptr_t lowest;
  Extent at_remote;

  std::size_t bytes() const noexcept { return remote.shape->bytes(); }
  std::size_t reach() const noexcept { return at_remote.bytes; }
  rma::LocalRange local_range() const noexcept {
    Extent extent;
    // Strides that reach beyond the address space: only the first element's place is known.
    if (!extent_of(*local.shape, local_end, extent)) extent = {0, local.shape->element};
    return {local.first + extent.start, extent.bytes};
  }
  /// `mapped`, and `reached`: where the lowest byte at the peer is.
  void copy(std::byte* mapped, bool is_put) const noexcept {
    std::byte* const first = mapped - at_remote.start;
    if (is_put)
      copy_strided(*remote.shape, remote_end, first, local.first);
    else
      copy_strided(*remote.shape, local_end, local.first, first);
  }
  Injected copy_by_kind(const MemoryKind& kind, std::byte* reached, bool is_put,
                        const Targets& targets) const noexcept {
    std::byte* const first = reached - at_remote.start;
    return is_put
               ? copy_strided_by_kind(kind, *remote.shape, remote_end, first, local.first, targets)
               : copy_strided_by_kind(kind, *remote.shape, local_end, local.first, first, targets);
  }
};

/// As StridedTransfer, of lists.
struct ListTransfer {
  const BlockList& remote;
  const BlockList& local;
  std::size_t all_bytes;
  std::uintptr_t lowest;
  std::size_t range;

  std::size_t bytes() const noexcept { return all_bytes; }
  std::size_t reach() const noexcept { return range; }
  rma::LocalRange local_range() const noexcept {
    const Bounds bounds = bounds_of(local);
    return {reinterpret_cast<void*>(bounds.low), bounds.high - bounds.low};
  }
  void copy(std::byte* mapped, bool is_put) const noexcept {
    if (is_put)
      copy_lists(remote, shift_to(mapped), local, 0);
    else
      copy_lists(local, 0, remote, shift_to(mapped));
  }
  Injected copy_by_kind(const MemoryKind& kind, std::byte* reached, bool is_put,
                        const Targets& targets) const noexcept {
    return is_put ? copy_lists_by_kind(kind, remote, shift_to(reached), local, 0, targets)
                  : copy_lists_by_kind(kind, local, 0, remote, shift_to(reached), targets);
  }

 private:
  std::ptrdiff_t shift_to(const std::byte* here) const noexcept {
    return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(here) - lowest);
  }
};

/// Where the peer's memory is mapped here; null if it is not.
[[gnu::noinline]] std::byte* find_mapped(const Target& peer, std::uintptr_t lowest,
                                         std::size_t reach) noexcept {
  return peer.segment().mapped_at(lowest, reach);
}

/// The way of a transfer that is more than a copy. It is that of a contiguous one of the whole
/// ranges, but messages carry what the network would take more operations for, and a notice travels
/// with the messages that it waits for.
template <class Transfer>
rma::Way way_of(const rma::ResolvedTransfer& range, const Transfer& transfer,
                const PeerCompletion& notice) noexcept {
  if (notice.handler != 0) return rma::Way::messages;
  if (range.way != rma::Way::network) return range.way;
  const bool suits = suits_network(transfer.remote, transfer.local, transfer.bytes(),
                                   am::max_medium(range.peer.jobrank));
  return suits ? rma::Way::network : rma::Way::messages;
}

/// Gives a transfer that is more than a copy to what carries it. `range`: its ranges, resolved.
template <class Transfer>
Injected inject_transfer(const VisRequest& request, const PeerCompletion& notice,
                         const rma::ResolvedTransfer& range, const Op& op, const Transfer& transfer,
                         const Targets& targets) noexcept {
  // A notice is for the next operation whatever its flags, so that operation is not refused.
  const bool immediate = (request.flags & GEX_FLAG_IMMEDIATE) != 0 && notice.handler == 0;
  switch (range.way) {
    case rma::Way::kind:
      return transfer.copy_by_kind(*range.kind, range.reached, is_put(request), targets);
    case rma::Way::network:
      return inject_native(op, range.key, transfer.remote, transfer.local, targets, immediate);
    case rma::Way::copy:  // done by `move_resolved`
    case rma::Way::messages:
      break;
  }
  const Recipient recipient{range.peer, immediate};
  return is_put(request)
             ? put_packed(recipient, transfer.remote, transfer.local, op.bytes, notice, targets)
             : get_packed(recipient, transfer.remote, transfer.local, op.bytes, targets.done);
}

/// Carries out any transfer, or starts it. It takes a copy of what describes it, so that the
/// caller's, which most often needs no more than a copy by this processor, keeps to registers.
template <class Transfer>
[[gnu::noinline]] Initiated move_resolved(const VisRequest& request, const Target& peer,
                                          const PeerCompletion& notice,
                                          Transfer transfer) noexcept {
  rma::ResolvedTransfer range = rma::resolve_ranges(peer, transfer.local_range(), transfer.lowest,
                                                    transfer.reach(), request.call);
  if (range.way != rma::Way::copy) range.way = way_of(range, transfer, notice);
  rma::report(range, transfer.bytes());
  if (range.way == rma::Way::copy) {
    transfer.copy(range.mapped, is_put(request));
    return done_at_once(peer, notice);
  }
  const Op op = range.as(is_put(request) ? OpKind::put : OpKind::get, transfer.bytes());
  return initiate(request.form, op, is_put(request) ? ec_put : ec_get, local_completion_of(request),
                  [&](const Targets& targets) noexcept {
                    return inject_transfer(request, notice, range, op, transfer, targets);
                  });
}

/// Carries a transfer out, or starts it. Calls that are checked or traced, or where either end may
/// be memory of a device, are more than a copy.
template <class Transfer>
[[gnu::always_inline]] inline Initiated move_regions(const VisRequest& request, const Target& peer,
                                                     const PeerCompletion& notice,
                                                     const Transfer& transfer) noexcept {
  std::byte* mapped = nullptr;
  if (!observed() && !has_other_kinds())
    mapped = find_mapped(peer, transfer.lowest, transfer.reach());
  if (mapped == nullptr) [[unlikely]]
    return move_resolved(request, peer, notice, transfer);
  transfer.copy(mapped, is_put(request));
  return done_at_once(peer, notice);
}

/// Checked mode: reports the invalid entry, not the range of all.
void check_lists(const Target& peer, const BlockList& remote, const BlockList& local,
                 Call call) noexcept {
  for (std::size_t i = 0; i < local.count(); ++i)
    if (local.length(i) != 0 && local.address(i) == nullptr)
      fatal("%s: address %zu of the local list is null", name_of(call), i);
  for (std::size_t i = 0; i < remote.count(); ++i)
    if (remote.length(i) != 0)
      rma::resolve_ranges(peer, {local.first_address(), 0},
                          reinterpret_cast<std::uintptr_t>(remote.address(i)), remote.length(i),
                          call);
}

}  // namespace

Initiated move_strided(const VisRequest& request, const StridedEnd& remote, const StridedEnd& local,
                       std::size_t element, const std::size_t* count, std::size_t levels) noexcept {
  const PeerCompletion notice = take_notice(request);
  Shape shape;
  if (!make_shape(shape, element, count, remote.strides, local.strides, levels, remote_end))
    fatal("%s: elemsz and count exceed the address space", name_of(request.call));
  if (shape.element == 0) return nothing_to_do(request, notice);
  const Target peer = resolve(request.tm, request.rank);
  // Loops follow the end that is written within this process, else the peer's.
  if (!is_put(request) && shape.dims > 1 && process().neighborhood.contains(peer.jobrank))
    make_shape(shape, element, count, remote.strides, local.strides, levels, local_end);

  Extent at_remote;
  Extent at_local;
  if (!extent_of(shape, remote_end, at_remote) ||
      (checked() && !extent_of(shape, local_end, at_local)))
    fatal("%s: the strides reach beyond the address space", name_of(request.call));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(remote.address) +
                               static_cast<std::uintptr_t>(shape.offset[remote_end]);
  std::byte* const local_first = static_cast<std::byte*>(local.address) + shape.offset[local_end];
  const std::uintptr_t lowest = first + static_cast<std::uintptr_t>(at_remote.start);
  return move_regions(request, peer, notice,
                      StridedTransfer{{&shape, remote_end, reinterpret_cast<std::byte*>(first)},
                                      {&shape, local_end, local_first},
                                      lowest,
                                      at_remote});
}

Initiated move_lists(const VisRequest& request, const BlockList& remote,
                     const BlockList& local) noexcept {
  std::size_t bytes = 0;
  std::size_t local_bytes = 0;
  if (!remote.total(bytes) || !local.total(local_bytes))
    fatal("%s: the lists exceed the address space", name_of(request.call));
  if (bytes != local_bytes)
    fatal("%s: the remote list holds %zu bytes, the local one %zu", name_of(request.call), bytes,
          local_bytes);
  const PeerCompletion notice = take_notice(request);
  if (bytes == 0) return nothing_to_do(request, notice);
  const Target peer = resolve(request.tm, request.rank);
  if (checked()) check_lists(peer, remote, local, request.call);
  const Bounds bounds = bounds_of(remote);
  return move_regions(request, peer, notice,
                      ListTransfer{remote, local, bytes, bounds.low, bounds.high - bounds.low});
}

void start() {
  start_native();
  start_messages();
  start_peer_completion();
}

}  // namespace gex::vis
