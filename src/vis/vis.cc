#include "vis/vis.h"

#include <algorithm>

#include "am/limits.h"
#include "base/error.h"
#include "core/initiate.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/team.h"
#include "observe/restricted.h"
#include "rma/rma.h"
#include "vis/by_kind.h"
#include "vis/messages.h"
#include "vis/native.h"
#include "vis/noncontiguous_transfer.h"
#include "vis/packers.h"
#include "vis/peer_completion.h"
#include "vis/pieces.h"
#include "vis/region_copy.h"
#include "vis/shape.h"

namespace gex::vis {

namespace {

/// Takes and disarms the notice that is armed for the operation.
PeerCompletion take_notice(const VisRequest& request) noexcept {
  if (!is_armed()) [[likely]]
    return {};
  if (checked() && !request.is_put())
    fatal("%s: a peer completion handler is armed, and there is none for gets",
          name_of(request.call));
  if (checked() && (request.flags & GEX_FLAG_IMMEDIATE) != 0)
    fatal("%s: GEX_FLAG_IMMEDIATE, but a peer completion handler is armed", name_of(request.call));
  const PeerCompletion notice = take_armed();
  return request.is_put() ? notice : PeerCompletion{};
}

/// Ends an operation that was completed within its call.
Initiated done_at_once(const Target& peer, const PeerCompletion& notice) noexcept {
  if (notice.is_set()) send_notice(peer, notice);
  return {};
}

/// Ends an operation that moves nothing, whose team and rank may be invalid.
Initiated nothing_to_do(const VisRequest& request, const PeerCompletion& notice) noexcept {
  if (!notice.is_set() || request.tm == GEX_TM_INVALID) return {};
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

/// The kind of the first block that is not memory of the host; null: all are.
const MemoryKind* kind_of(const BlockList& list) noexcept {
  if (!has_other_kinds()) return nullptr;
  for (std::size_t i = 0; i < list.count(); ++i)
    if (const MemoryKind* const kind = list.length(i) != 0 ? kind_at(list.address(i)) : nullptr)
      return kind;
  return nullptr;
}

/// Ends the job if an end does not fit in an address space.
Extent require_extent(const Shape& shape, End end, Call call) noexcept {
  Extent extent;
  if (!extent_of(shape, end, extent))
    fatal("%s: the strides reach beyond the address space", name_of(call));
  return extent;
}

/// The regions of a strided transfer, whose peer's memory begins at `remote_lowest`.
struct StridedRegions {
  StridedRegion remote;
  StridedRegion local;
  std::uintptr_t remote_lowest;
  Extent remote_extent;

  std::size_t bytes() const noexcept { return remote.shape->bytes(); }
  std::size_t extent_bytes() const noexcept { return remote_extent.bytes; }
  rma::LocalRange local_range(Call call) const noexcept {
    const Extent extent = require_extent(*local.shape, local_end, call);
    return {local.first + extent.start, extent.bytes, kind_at(local.first)};
  }
  /// `mapped`, and `reached`: where the lowest byte at the peer is.
  void copy(std::byte* mapped, bool is_put) const noexcept {
    std::byte* const remote_first = mapped - remote_extent.start;
    if (is_put)
      copy_strided(*remote.shape, remote_end, remote_first, local.first);
    else
      copy_strided(*remote.shape, local_end, local.first, remote_first);
  }
  Injected begin_by_kind(const MemoryKind& kind, std::byte* reached, bool is_put,
                         const CompletionTargets& targets) const noexcept {
    std::byte* const remote_first = reached - remote_extent.start;
    return is_put ? begin_copy_strided(kind, *remote.shape, remote_end, remote_first, local.first,
                                       targets)
                  : begin_copy_strided(kind, *remote.shape, local_end, local.first, remote_first,
                                       targets);
  }
};

/// As StridedRegions, of lists.
struct ListRegions {
  const BlockList& remote;
  const BlockList& local;
  std::size_t all_bytes;
  std::uintptr_t remote_lowest;
  std::size_t remote_bytes;

  std::size_t bytes() const noexcept { return all_bytes; }
  std::size_t extent_bytes() const noexcept { return remote_bytes; }
  rma::LocalRange local_range(Call) const noexcept {
    const Bounds bounds = bounds_of(local);
    return {reinterpret_cast<void*>(bounds.low), bounds.high - bounds.low, kind_of(local)};
  }
  void copy(std::byte* mapped, bool is_put) const noexcept {
    if (is_put)
      copy_lists(remote, shift_to(mapped), local, 0);
    else
      copy_lists(local, 0, remote, shift_to(mapped));
  }
  Injected begin_by_kind(const MemoryKind& kind, std::byte* reached, bool is_put,
                         const CompletionTargets& targets) const noexcept {
    return is_put ? begin_copy_lists(kind, remote, shift_to(reached), local, 0, targets)
                  : begin_copy_lists(kind, local, 0, remote, shift_to(reached), targets);
  }

 private:
  std::ptrdiff_t shift_to(const std::byte* here) const noexcept {
    return static_cast<std::ptrdiff_t>(reinterpret_cast<std::uintptr_t>(here) - remote_lowest);
  }
};

/// Where the peer's memory is mapped here; null if it is not. Out of line, so that the copy keeps
/// to registers.
[[gnu::noinline]] std::byte* find_mapped(const Target& peer, std::uintptr_t lowest,
                                         std::size_t extent_bytes) noexcept {
  return peer.segment().mapped_at(lowest, extent_bytes);
}

/// Decides the way of a transfer, and if the network takes several operations for it. The way is
/// that of a contiguous one of the whole ranges, but a notice travels with the messages that it
/// waits for, and messages carry what the network would take more operations for, and what is in
/// pieces on a device: `Conduit::put_pieces` takes those of the host only.
template <class Regions>
void narrow_way(NoncontiguousTransfer& transfer, const Regions& regions,
                const PeerCompletion& notice) noexcept {
  rma::Way& way = transfer.resolved.way;
  if (way == rma::Way::copy) return;
  if (notice.is_set()) way = rma::Way::messages;
  if (way != rma::Way::network) return;
  const PieceCounts pieces = count_pieces(regions.remote, regions.local);
  const std::size_t operations = min_native_operations(pieces, transfer.bytes);
  transfer.takes_several_operations = operations > 1;
  if ((transfer.resolved.local_kind != nullptr && !pieces.is_contiguous()) ||
      !suits_network(operations, transfer.bytes, transfer.message_bytes))
    way = rma::Way::messages;
}

/// Gives a transfer to what carries it.
template <class Regions>
Injected inject_transfer(const NoncontiguousTransfer& transfer, const Regions& regions,
                         const PeerCompletion& notice, const CompletionTargets& targets) noexcept {
  switch (transfer.resolved.way) {
    case rma::Way::kind:
      return regions.begin_by_kind(*transfer.resolved.kind, transfer.resolved.reached,
                                   transfer.is_put, targets);
    case rma::Way::network:
      return move_by_network(transfer, regions.remote, regions.local, targets);
    case rma::Way::copy:  // done by `move_resolved`
    case rma::Way::messages:
      break;
  }
  return transfer.is_put ? put_by_messages(transfer, regions.remote, regions.local, notice, targets)
                         : get_by_messages(transfer, regions.remote, regions.local, targets.done);
}

/// Carries out any transfer, or starts it. It takes a copy of what describes it, so that the
/// caller's, which most often needs no more than a copy by this processor, keeps to registers.
template <class Regions>
[[gnu::noinline]] Initiated move_resolved(const VisRequest& request, const Target& peer,
                                          const PeerCompletion& notice, Regions regions) noexcept {
  // A notice is for the next operation whatever its flags, so that operation is not refused;
  // checked mode does not let both come here.
  const bool immediate = (request.flags & GEX_FLAG_IMMEDIATE) != 0 && !notice.is_set();
  NoncontiguousTransfer transfer{
      .resolved = rma::resolve_ranges(peer, regions.local_range(request.call),
                                      regions.remote_lowest, regions.extent_bytes(), request.call),
      .bytes = regions.bytes(),
      .message_bytes = am::max_medium(peer.jobrank),
      .is_put = request.is_put(),
      .immediate = immediate};
  narrow_way(transfer, regions, notice);
  rma::report(transfer.resolved, transfer.bytes);
  if (transfer.resolved.way == rma::Way::copy) {
    regions.copy(transfer.resolved.mapped, transfer.is_put);
    return done_at_once(peer, notice);
  }
  return initiate(request.form, transfer.op(), transfer.is_put ? ec_put : ec_get,
                  local_completion_of(request), [&](const CompletionTargets& targets) noexcept {
                    return inject_transfer(transfer, regions, notice, targets);
                  });
}

/// Copies at once if nothing observes the call and there is no memory of devices; leaves all else
/// to `move_resolved`, which may find a copy, too.
template <class Regions>
[[gnu::always_inline]] inline Initiated move_regions(const VisRequest& request, const Target& peer,
                                                     const PeerCompletion& notice,
                                                     const Regions& regions) noexcept {
  std::byte* mapped = nullptr;
  if (!observed() && !has_other_kinds())
    mapped = find_mapped(peer, regions.remote_lowest, regions.extent_bytes());
  if (mapped == nullptr) [[unlikely]]
    return move_resolved(request, peer, notice, regions);
  regions.copy(mapped, request.is_put());
  return done_at_once(peer, notice);
}

/// Checked mode: reports the invalid entry, not the range of all.
void check_lists(const Target& peer, const BlockList& remote, const BlockList& local,
                 Call call) noexcept {
  for (std::size_t i = 0; i < local.count(); ++i) {
    if (local.length(i) != 0 && local.address(i) == nullptr)
      fatal("%s: address %zu of the local list is null", name_of(call), i);
    rma::check_local(peer, local.address(i), local.length(i), call);
  }
  for (std::size_t i = 0; i < remote.count(); ++i)
    rma::check_remote(peer, reinterpret_cast<std::uintptr_t>(remote.address(i)), remote.length(i),
                      call);
}

}  // namespace

Initiated move_strided(const VisRequest& request, const StridedArgument& remote,
                       const StridedArgument& local, std::size_t element, const std::size_t* count,
                       std::size_t levels) noexcept {
  const PeerCompletion notice = take_notice(request);
  Shape shape;
  if (!make_shape(shape, element, count, remote.strides, local.strides, levels, remote_end))
    fatal("%s: elemsz and count exceed the address space", name_of(request.call));
  if (shape.element == 0) return nothing_to_do(request, notice);
  const Target peer = resolve(request.tm, request.rank);
  // Loops follow the end that this processor writes, else the peer's: a neighbor's memory is mapped
  // as a rule.
  if (!request.is_put() && shape.dims > 1 && process().neighborhood.contains(peer.jobrank))
    make_shape(shape, element, count, remote.strides, local.strides, levels, local_end);

  const Extent remote_extent = require_extent(shape, remote_end, request.call);
  const std::uintptr_t remote_first = reinterpret_cast<std::uintptr_t>(remote.address) +
                                      static_cast<std::uintptr_t>(shape.offset[remote_end]);
  std::byte* const local_first = static_cast<std::byte*>(local.address) + shape.offset[local_end];
  if (checked()) {
    const Extent local_extent = require_extent(shape, local_end, request.call);
    rma::check_local(peer, local_first + local_extent.start, local_extent.bytes, request.call);
  }
  return move_regions(
      request, peer, notice,
      StridedRegions{{&shape, remote_end, reinterpret_cast<std::byte*>(remote_first)},
                     {&shape, local_end, local_first},
                     remote_first + static_cast<std::uintptr_t>(remote_extent.start),
                     remote_extent});
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
                      ListRegions{remote, local, bytes, bounds.low, bounds.high - bounds.low});
}

void start() {
  start_native();
  start_messages();
  start_peer_completion();
}

}  // namespace gex::vis
