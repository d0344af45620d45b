#include "vis/native.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "am/deferred_send.h"
#include "base/env.h"
#include "base/error.h"
#include "core/memory.h"
#include "core/process.h"
#include "rma/injection.h"
#include "vis/pieces.h"

namespace gex::vis {

namespace {

enum class Policy { automatic, always, never };
constinit Policy policy = Policy::automatic;

PieceLimits limits() noexcept {
  const net::Limits& network = process().network;
  if (process().conduit->put_pieces == nullptr || network.max_pieces == 0)
    return {1, 1, network.max_transfer};
  const auto capped = [](std::uint32_t pieces) {
    return std::min<std::size_t>(pieces, Pieces::max_pieces);
  };
  const std::uint32_t max_remote = network.max_remote_pieces;
  return {capped(max_remote != 0 ? max_remote : network.max_pieces), capped(network.max_pieces),
          network.max_transfer};
}

/// Returns true if no part of a local region is in a segment of another kind than the host's.
bool is_on_host(const StridedRegion& region) noexcept {
  Extent extent;
  return extent_of(*region.shape, region.end, extent) &&
         is_host_memory(region.first + extent.start, extent.bytes);
}
bool is_on_host(const BlockList& list) noexcept {
  for (std::size_t i = 0; i < list.count(); ++i)
    if (!is_host_memory(list.address(i), list.length(i))) return false;
  return true;
}

/// A transfer that is injected operation by operation, each of some pieces.
template <class Region>
struct PieceInjection {
  Op put_or_get;
  const void* key;  ///< the network's, of the segment
  Targets targets;
  Region remote;
  Region local;
  Cut cut;
  /// True if the single operations, of which there are several, complete nothing: `done` is
  /// completed once, by the flush behind them.
  bool flushes;
  bool flushed = false;
  std::uint32_t operations = 0;  ///< injected

  PieceInjection(const Op& op, const void* key_of_segment, const Region& remote_region,
                 const Region& local_region, const Targets& completed) noexcept
      : put_or_get(op),
        key(key_of_segment),
        targets(completed),
        remote(remote_region),
        local(local_region),
        cut{limits(), op.bytes},
        flushes(is_put() && completed.local_done == nullptr &&
                process().conduit->flush != nullptr && count_operations(remote, local, cut) > 1) {}

  bool is_put() const noexcept { return put_or_get.kind == OpKind::put; }
  bool has_begun() const noexcept { return operations != 0; }
  bool is_whole() const noexcept { return cut.left == 0 && (flushed || !flushes); }
  const Op& op() const noexcept { return put_or_get; }

  bool inject_next() noexcept {
    const net::Conduit& conduit = *process().conduit;
    if (cut.left == 0) {
      flushed = conduit.flush(put_or_get.peer, targets.done) == net::sent;
      return flushed;
    }
    Pieces pieces;
    const Cut next = take_pieces(remote, local, cut, pieces);
    if (!inject(conduit, pieces)) return false;
    cut = next;
    ++operations;
    return true;
  }

  bool inject(const net::Conduit& conduit, const Pieces& pieces) const noexcept {
    const net::Remote at{put_or_get.peer, key, pieces.remote[0].address};
    void* const done = flushes ? nullptr : targets.done;
    if (pieces.remote_count == 1 && pieces.local_count == 1) {
      void* const data = pieces.local[0].data;
      return (is_put() ? conduit.put(&at, data, pieces.bytes, done, targets.local_done)
                       : conduit.get(&at, data, pieces.bytes, done)) == net::sent;
    }
    return (is_put() ? conduit.put_pieces(&at, pieces.remote, pieces.remote_count, pieces.local,
                                          pieces.local_count, done, targets.local_done)
                     : conduit.get_pieces(&at, pieces.remote, pieces.remote_count, pieces.local,
                                          pieces.local_count, done)) == net::sent;
  }

  /// How many parts of the transfer complete targets.
  std::uint32_t parts() const noexcept {
    if (flushes) return 1;
    std::uint32_t all = operations;
    for (Cut ahead = cut; ahead.left != 0; ++all) {
      Pieces pieces;
      ahead = take_pieces(remote, local, ahead, pieces);
    }
    return all;
  }
};

/// A deferred injection outlives the shape of its call, and has a copy.
template <class Region>
struct WithOwnShape final : rma::DeferredInjection<PieceInjection<Region>> {
  explicit WithOwnShape(const PieceInjection<Region>& begun) noexcept
      : rma::DeferredInjection<PieceInjection<Region>>(begun) {
    if constexpr (requires { begun.remote.shape; }) {
      copy_shape(shape, *begun.remote.shape);
      this->injection.remote.shape = this->injection.local.shape = &shape;
    }
  }

  Shape shape;  ///< of a strided transfer
};

}  // namespace

template <class Region>
bool suits_network(const Region& remote, const Region& local, std::size_t bytes,
                   std::size_t message) noexcept {
  if (policy == Policy::never) return false;
  // A put of one piece may be from memory of a device, one of several may not
  // (Conduit::put_pieces).
  if (has_other_kinds() && !is_on_host(local)) return false;
  if (policy == Policy::always) return true;
  const std::size_t messages = (bytes + message - 1) / message;
  return count_operations(remote, local, {limits(), bytes}) <= 2 * messages;
}

template <class Region>
Injected inject_native(const Op& op, const void* key, const Region& remote, const Region& local,
                       const Targets& targets, bool immediate) noexcept {
  PieceInjection<Region> injection(op, key, remote, local, targets);
  if (!rma::inject_all<WithOwnShape<Region>>(injection, immediate)) return not_injected;
  return {injection.parts(), /*source_in_use=*/injection.is_put()};
}

template bool suits_network(const StridedRegion&, const StridedRegion&, std::size_t,
                            std::size_t) noexcept;
template bool suits_network(const BlockList&, const BlockList&, std::size_t, std::size_t) noexcept;
template Injected inject_native(const Op&, const void*, const StridedRegion&, const StridedRegion&,
                                const Targets&, bool) noexcept;
template Injected inject_native(const Op&, const void*, const BlockList&, const BlockList&,
                                const Targets&, bool) noexcept;

void start_native() {
  const std::string text = env::text(env::Variable::vis_pieces);
  if (text == "always")
    policy = Policy::always;
  else if (text == "never")
    policy = Policy::never;
  else if (text != "auto")
    fatal("GEX_VIS_PIECES is '%s'; it must be auto, always or never", text.c_str());
}

}  // namespace gex::vis
