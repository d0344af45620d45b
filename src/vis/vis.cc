#include "vis/vis.h"

#include <algorithm>
#include <atomic>

#include "am/limits.h"
#include "base/error.h"
#include "core/initiate.h"
#include "core/process.h"
#include "core/team.h"
#include "observe/restricted.h"
#include "observe/trace.h"
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
Initiated done_at_once(const VisRequest& request, const PeerCompletion& notice) noexcept {
  if (notice.handler != 0) send_notice(request.tm, request.rank, notice);
  return {};
}

/// Ends a strided operation that moves nothing, whose team and rank may be invalid.
Initiated nothing_to_do(const VisRequest& request, const PeerCompletion& notice) noexcept {
  if (notice.handler == 0 || request.tm == GEX_TM_INVALID) return {};
  const gex_Rank_t ranks =
      GEX_IS_PAIR_(request.tm) ? gex_proc_.jobsize : Team::from(request.tm).size;
  return request.rank < ranks ? done_at_once(request, notice) : Initiated{};
}

/// Local completion, as the flags request it.
LocalCompletion local_completion_of(const VisRequest& request) noexcept {
  if ((request.flags & GEX_FLAG_ENABLE_LEAF_LC) == 0) return LocalCompletion::with_done;
  return request.form == Form::implicit ? LocalCompletion::group : LocalCompletion::leaf;
}

/// Returns true if this processor copies: the peer's memory is mapped. Such a transfer is complete
/// within its call.
bool is_copy(const rma::ResolvedTransfer& transfer) noexcept {
  return transfer.mapped != nullptr && transfer.kind == nullptr;
}

/// The ways of a transfer that is not a copy.
enum class Way {
  kind,      ///< by the copies of a kind of memory (by_kind.h)
  network,   ///< by the network, in pieces (native.h)
  messages,  ///< packed into messages, which the peer unpacks (messages.h)
};

/// The way of what is not a copy (`is_copy`); whether a network takes it, `is_native` decides
/// (native.h). `transfer`: the peer's memory, as it was resolved.
template <class Region>
Way way_of(const VisRequest& request, const PeerCompletion& notice,
           const rma::ResolvedTransfer& transfer, const Region& peer, const Region& own,
           std::size_t bytes) noexcept {
  if (transfer.kind != nullptr) return notice.handler == 0 ? Way::kind : Way::messages;
  // A notice travels with the messages that it waits for.
  if (notice.handler != 0) return Way::messages;
  const std::size_t message = am::max_medium(request.tm, request.rank);
  return is_native(transfer, peer, own, bytes, message) ? Way::network : Way::messages;
}

/// Starts a transfer that is not a copy; `copy_by_kind(targets)` begins it where a kind of memory
/// reaches both sides.
template <class Region, class CopyByKind>
[[gnu::noinline]] Initiated start_move(const VisRequest& request, const PeerCompletion& notice,
                                       const rma::ResolvedTransfer& transfer, const Region& peer,
                                       const Region& own, std::size_t bytes,
                                       CopyByKind copy_by_kind) noexcept {
  const Way way = way_of(request, notice, transfer, peer, own, bytes);
  // A notice is for the next operation whatever its flags, so that operation is not refused.
  const bool immediate = (request.flags & GEX_FLAG_IMMEDIATE) != 0 && notice.handler == 0;
  const OpKind kind = is_put(request) ? OpKind::put : OpKind::get;
  const Op op = Op::with_peer(kind, number_of(request.call), transfer.jobrank, bytes);
  return initiate(request.form, op, is_put(request) ? ec_put : ec_get, local_completion_of(request),
                  [&](const Targets& targets) noexcept -> Injected {
                    if (way == Way::kind) return copy_by_kind(targets);
                    if (way == Way::network)
                      return inject_native(
                          {kind, request.call, transfer.jobrank, transfer.key, bytes}, peer, own,
                          targets, immediate);
                    const Recipient recipient{request.tm, request.rank, immediate};
                    return is_put(request) ? put_parts(recipient, peer, own, bytes, notice, targets)
                                           : get_parts(recipient, peer, own, bytes, targets.done);
                  });
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

/// The first address of a list that is not empty; by it the kind of its memory is known.
const void* first_of(const BlockList& list) noexcept {
  std::size_t i = 0;
  while (list.length(i) == 0) ++i;
  return list.address(i);
}

rma::ResolvedTransfer resolve_range(const VisRequest& request, const void* own,
                                    std::uintptr_t start, std::size_t bytes) noexcept {
  return rma::resolve_transfer(request.tm, request.rank, own, reinterpret_cast<void*>(start), bytes,
                               0, request.call);
}

/// Returns where a range of the peer's memory is mapped here if the transfer is no more than a
/// copy, in calls that are not observed; null: `resolve_range`, which takes longer, finds the way.
std::byte* mapped_range(const VisRequest& request, std::uintptr_t start,
                        std::size_t bytes) noexcept {
  if (observed() || has_other_kinds()) [[unlikely]]
    return nullptr;
  const PublishedSegment segment = resolve(request.tm, request.rank).segment();
  const bool is_mapped = segment.mapped != nullptr && segment.contains(start, bytes);
  return is_mapped ? segment.mapped + (start - segment.owner_address) : nullptr;
}

/// Checked mode: reports the invalid entry, not the range of all.
void check_lists(const VisRequest& request, const BlockList& peer, const BlockList& own) noexcept {
  for (std::size_t i = 0; i < own.count(); ++i)
    if (own.length(i) != 0 && own.address(i) == nullptr)
      fatal("%s: address %zu of the local list is null", name_of(request.call), i);
  for (std::size_t i = 0; i < peer.count(); ++i)
    if (peer.length(i) != 0)
      resolve_range(request, &request, reinterpret_cast<std::uintptr_t>(peer.address(i)),
                    peer.length(i));
}

}  // namespace

Initiated move_strided(const VisRequest& request, const StridedEnd& peer, const StridedEnd& own,
                       std::size_t element, const std::size_t* count, std::size_t levels) noexcept {
  const PeerCompletion notice = take_notice(request);
  // Loops follow the end that is written within this process, else the peer's.
  const auto is_local = [&]() noexcept {
    return process().neighborhood.contains(resolve(request.tm, request.rank).jobrank);
  };
  Shape shape;
  if (!make_shape(shape, element, count, peer.strides, own.strides, levels, peer_end))
    fatal("%s: elemsz and count exceed the address space", name_of(request.call));
  if (shape.element == 0) return nothing_to_do(request, notice);
  if (!is_put(request) && shape.dims > 1 && is_local())
    make_shape(shape, element, count, peer.strides, own.strides, levels, own_end);

  Extent at_peer;
  Extent here;
  if (!extent_of(shape, peer_end, at_peer) || (checked() && !extent_of(shape, own_end, here)))
    fatal("%s: the strides reach beyond the address space", name_of(request.call));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(peer.address) +
                               static_cast<std::uintptr_t>(shape.offset[peer_end]);
  std::byte* const own_first = static_cast<std::byte*>(own.address) + shape.offset[own_end];
  const std::uintptr_t lowest = first + static_cast<std::uintptr_t>(at_peer.start);
  const auto copy = [&](std::byte* mapped_lowest) noexcept {
    std::byte* const mapped = mapped_lowest - at_peer.start;
    if (is_put(request))
      copy_strided(shape, peer_end, mapped, own_first);
    else
      copy_strided(shape, own_end, own_first, mapped);
    return done_at_once(request, notice);
  };
  if (std::byte* const mapped = mapped_range(request, lowest, at_peer.bytes)) [[likely]]
    return copy(mapped);
  const rma::ResolvedTransfer transfer = resolve_range(request, own.address, lowest, at_peer.bytes);
  // The trace has the bytes that move, not the range that they lie in.
  trace::transfer(transfer.jobrank, shape.bytes());
  if (is_copy(transfer)) return copy(transfer.mapped);
  return start_move(request, notice, transfer,
                    StridedRegion{&shape, peer_end, reinterpret_cast<std::byte*>(first)},
                    StridedRegion{&shape, own_end, own_first}, shape.bytes(),
                    [&](const Targets& targets) noexcept {
                      std::byte* const reached = transfer.reached - at_peer.start;
                      return is_put(request) ? copy_strided_by_kind(*transfer.kind, shape, peer_end,
                                                                    reached, own_first, targets)
                                             : copy_strided_by_kind(*transfer.kind, shape, own_end,
                                                                    own_first, reached, targets);
                    });
}

Initiated move_lists(const VisRequest& request, const BlockList& peer,
                     const BlockList& own) noexcept {
  std::size_t bytes = 0;
  std::size_t own_bytes = 0;
  if (!peer.total(bytes) || !own.total(own_bytes))
    fatal("%s: the lists exceed the address space", name_of(request.call));
  if (bytes != own_bytes)
    fatal("%s: the remote list holds %zu bytes, the local one %zu", name_of(request.call), bytes,
          own_bytes);
  const PeerCompletion notice = take_notice(request);
  if (bytes == 0) return done_at_once(request, notice);
  if (checked()) check_lists(request, peer, own);
  const Bounds bounds = bounds_of(peer);
  const auto shift_to = [&](const std::byte* lowest) noexcept {
    return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(lowest) - bounds.low);
  };
  const auto copy = [&](const std::byte* mapped) noexcept {
    const std::ptrdiff_t shift = shift_to(mapped);
    if (is_put(request))
      copy_lists(peer, shift, own, 0);
    else
      copy_lists(own, 0, peer, shift);
    return done_at_once(request, notice);
  };
  if (std::byte* const mapped = mapped_range(request, bounds.low, bounds.high - bounds.low))
      [[likely]]
    return copy(mapped);
  const rma::ResolvedTransfer transfer =
      resolve_range(request, first_of(own), bounds.low, bounds.high - bounds.low);
  trace::transfer(transfer.jobrank, bytes);
  if (is_copy(transfer)) return copy(transfer.mapped);
  return start_move(
      request, notice, transfer, peer, own, bytes, [&](const Targets& targets) noexcept {
        const std::ptrdiff_t shift = shift_to(transfer.reached);
        return is_put(request) ? copy_lists_by_kind(*transfer.kind, peer, shift, own, 0, targets)
                               : copy_lists_by_kind(*transfer.kind, own, 0, peer, shift, targets);
      });
}

void start() {
  start_native();
  start_messages();
  start_peer_completion();
}

}  // namespace gex::vis
