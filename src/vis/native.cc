#include "vis/native.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "am/deferred_send.h"
#include "base/env.h"
#include "base/error.h"
#include "base/round_up.h"
#include "core/process.h"
#include "rma/injection.h"

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

/// A transfer that is injected operation by operation, each of some pieces.
template <class Region>
struct PieceInjection {
  NoncontiguousTransfer transfer;
  CompletionTargets targets;
  Region remote;
  Region local;
  Cut cut;
  /// True if the single operations, of which there are several, complete nothing: `done` is
  /// completed once, by the flush behind them.
  bool flushes;
  bool flushed = false;
  std::uint32_t operations = 0;  ///< injected

  PieceInjection(const NoncontiguousTransfer& whole, const Region& remote_region,
                 const Region& local_region, const CompletionTargets& completed) noexcept
      : transfer(whole),
        targets(completed),
        remote(remote_region),
        local(local_region),
        cut{limits(), whole.bytes},
        flushes(whole.is_put && completed.local_done == nullptr &&
                process().conduit->flush != nullptr && whole.takes_several_operations) {}

  bool has_begun() const noexcept { return operations != 0; }
  bool is_whole() const noexcept { return cut.left == 0 && (flushed || !flushes); }
  Op op() const noexcept { return transfer.op(); }

  bool inject_next() noexcept {
    const net::Conduit& conduit = *process().conduit;
    if (cut.left == 0) {
      flushed = conduit.flush(transfer.resolved.peer.jobrank, targets.done) == net::sent;
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
    const net::Remote at{transfer.resolved.peer.jobrank, transfer.resolved.key,
                         pieces.remote[0].address};
    void* const done = flushes ? nullptr : targets.done;
    if (pieces.remote_count == 1 && pieces.local_count == 1) {
      void* const local_piece = pieces.local[0].data;
      return (transfer.is_put
                  ? conduit.put(&at, local_piece, pieces.bytes, done, targets.local_done)
                  : conduit.get(&at, local_piece, pieces.bytes, done)) == net::sent;
    }
    return (transfer.is_put
                ? conduit.put_pieces(&at, pieces.remote, pieces.remote_count, pieces.local,
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

std::size_t min_native_operations(const PieceCounts& pieces, std::size_t bytes) noexcept {
  return min_operations(pieces, limits(), bytes);
}

bool suits_network(std::size_t operations, std::size_t bytes, std::size_t message_bytes) noexcept {
  if (policy != Policy::automatic) return policy == Policy::always;
  return operations <= 2 * quotient_up(bytes, message_bytes);
}

template <class Region>
Injected move_by_network(const NoncontiguousTransfer& transfer, const Region& remote,
                         const Region& local, const CompletionTargets& targets) noexcept {
  PieceInjection<Region> injection(transfer, remote, local, targets);
  if (!rma::inject_all<WithOwnShape<Region>>(injection, transfer.immediate)) return not_injected;
  return {injection.parts(), /*completes_local_done=*/transfer.is_put};
}

template Injected move_by_network(const NoncontiguousTransfer&, const StridedRegion&,
                                  const StridedRegion&, const CompletionTargets&) noexcept;
template Injected move_by_network(const NoncontiguousTransfer&, const BlockList&, const BlockList&,
                                  const CompletionTargets&) noexcept;

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
