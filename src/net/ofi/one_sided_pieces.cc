// Puts and gets of several pieces: one operation with the provider's scatter and gather lists. Only
// where local memory need not be registered, which each piece would have to be for itself.

#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "net/ofi/one_sided.h"

namespace gex::net::ofi {

namespace {

/// The most that is taken of what a provider offers.
constexpr std::size_t max_pieces = 16;

/// A message of libfabric's that names all pieces of both ends. Refers to itself.
struct PiecesMessage {
  PiecesMessage(std::span<const LocalPiece> here, std::span<const RemotePiece> there,
                const Segments::Key& key, fi_addr_t peer, void* context) noexcept {
    for (std::size_t i = 0; i < here.size(); ++i) local[i] = {here[i].data, here[i].size};
    for (std::size_t i = 0; i < there.size(); ++i)
      remote[i] = {there[i].address - key.origin, there[i].size, key.of_provider};
    message.msg_iov = local;
    message.desc = descriptors;
    message.iov_count = here.size();
    message.addr = peer;
    message.rma_iov = remote;
    message.rma_iov_count = there.size();
    message.context = context;
  }
  PiecesMessage(const PiecesMessage&) = delete;
  PiecesMessage& operator=(const PiecesMessage&) = delete;

  iovec local[max_pieces];
  fi_rma_iov remote[max_pieces];
  void* descriptors[max_pieces] = {};
  fi_msg_rma message{};
};

std::size_t bytes_of(std::span<const LocalPiece> pieces) noexcept {
  std::size_t bytes = 0;
  for (const LocalPiece& piece : pieces) bytes += piece.size;
  return bytes;
}

}  // namespace

PieceExtent piece_extent(const fi_info& info, bool needs_local) noexcept {
  if (needs_local || info.tx_attr->iov_limit == 0 || info.tx_attr->rma_iov_limit == 0) return {};
  const auto limit = [](std::size_t offered) {
    return static_cast<std::uint32_t>(std::min(offered, max_pieces));
  };
  return {limit(info.tx_attr->iov_limit), limit(info.tx_attr->rma_iov_limit)};
}

SendResult OneSided::put_pieces(const Remote& remote, std::span<const RemotePiece> to,
                                std::span<const LocalPiece> from, void* done, void* local_done) {
  const Remote first{remote.peer, remote.key, to[0].address};
  const std::size_t size = bytes_of(from);
  Transfer* const taken = take(first, from[0].data, size, done);
  if (taken == nullptr) return would_block;
  Transfer& transfer = *taken;
  const bool delivers = !goes_with_fence(remote.peer, size, local_done != nullptr);
  transfer.stage = delivers ? Transfer::Stage::deliver : Transfer::Stage::transmit;
  transfer.local_done = local_done;
  const PiecesMessage pieces(from, to, *static_cast<const Segments::Key*>(remote.key),
                             transfer.route, &transfer.for_provider);
  const std::uint64_t flags = delivers ? FI_DELIVERY_COMPLETE : FI_TRANSMIT_COMPLETE;
  if (delivers) count_delivery(remote.peer, 1);
  const SendResult result =
      accepted(transfer, fi_writemsg(endpoint_.endpoint(), &pieces.message, flags | FI_COMPLETION),
               "a put to");
  if (delivers && result != sent) count_delivery(remote.peer, -1U);
  return result;
}

SendResult OneSided::get_pieces(const Remote& remote, std::span<const RemotePiece> from,
                                std::span<const LocalPiece> to, void* done) {
  const Remote first{remote.peer, remote.key, from[0].address};
  Transfer* const taken = take(first, to[0].data, bytes_of(to), done);
  if (taken == nullptr) return would_block;
  Transfer& transfer = *taken;
  transfer.stage = Transfer::Stage::get;
  const PiecesMessage pieces(to, from, *static_cast<const Segments::Key*>(remote.key),
                             transfer.route, &transfer.for_provider);
  return accepted(transfer, fi_readmsg(endpoint_.endpoint(), &pieces.message, FI_COMPLETION),
                  "a get from");
}

}  // namespace gex::net::ofi
