#pragma once
// Put, get and atomic operations, carried out by the provider.
//
// A put is complete when the provider reports that the bytes are at the peer
// (FI_DELIVERY_COMPLETE). Where it cannot, or when the source is wanted back sooner than that, the
// put is written with the weaker completion, at which the source is free, and then a byte is read
// back from the same place, which the provider keeps behind the write (FI_ORDER_RAW).
// Such a read stands behind all earlier writes to that peer, so puts that are sent while one is
// under way wait for the next, which serves all of them: it is their fence. Where writes stay
// behind one another (FI_ORDER_RMA_WAW) the fence is a write to the peer's scratch page that
// completes when it is delivered, and puts that are sent while such a write is under way need no
// answer of their own, which on some networks costs as much as the put.
//
// Local memory that the provider wants registered (FI_MR_LOCAL) is so already if it lies in a
// segment; else small transfers go through a buffer that is, and larger ones register what they
// need, which stays so where the cache can detect that it is unmapped.
//
// Thread rules: as `Host::threaded` allows; `completed` and `failed` one thread at a time.

#include <gex/plugin/conduit.h>
#include <rdma/fi_rma.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/zeroed_table.h"
#include "net/kit/transfer_pool.h"
#include "net/ofi/atomics.h"
#include "net/ofi/endpoint.h"
#include "net/ofi/operation.h"
#include "net/ofi/registration.h"
#include "net/ofi/segments.h"
#include "net/ofi/send_pool.h"

namespace gex::net::ofi {

/// A put, get or atomic operation under way.
struct Transfer : OperationContext {
  enum class Stage : std::uint8_t {
    deliver,   ///< at the peer when this completes
    transmit,  ///< the source is free when this completes; then `fence`
    fence,     ///< it, and others to the peer, are there when this completes
    get,
    atomic,
  };
  Stage stage;
  std::uint32_t peer;
  std::uint32_t number;
  fi_addr_t route;
  std::uint64_t target;  ///< as the provider names the place
  std::uint64_t key;
  std::byte* local;  ///< of an atomic operation: where the former value goes, or null
  std::size_t size;
  void* done;
  void* local_done;                   ///< null: none, or completed already
  SendBuffer* bounce;                 ///< through which it goes, or null
  RegistrationCache::Piece* piece;    ///< of registered memory that it holds, or null
  Region region;                      ///< registered for it alone, or null
  std::unique_ptr<std::byte[]> copy;  ///< of a source that cannot be registered, or null
  Transfer* next = nullptr;           ///< of those that wait for the same fence
  AtomicWords words;  ///< of an atomic operation; in `bounce` if that must be registered
};

/// Pieces that one operation may have at either end; 0: there are no operations of several.
struct PieceExtent {
  std::uint32_t own = 0;
  std::uint32_t peer = 0;
};
/// Returns the extent of a provider; `needs_local`: local memory must be registered with it.
PieceExtent piece_extent(const fi_info& info, bool needs_local) noexcept;

/// A rank's provider, or the providers of all ranks, do so much of all this.
struct OneSidedExtent {
  std::uint64_t available;     ///< 0: segments are reached by messages
  std::uint64_t max_transfer;  ///< the most that one operation may move
  PieceExtent pieces;
  AtomicOperations atomics;
};
OneSidedExtent extent_of(const Endpoint& endpoint, bool needs_local) noexcept;

/// Operations that may be under way: so few to a peer that does nothing that others have room, and
/// so few in all that the provider has some for messages.
TransferRoom one_sided_room(const fi_info& info) noexcept;

class OneSided {
 public:
  using Key = Segments::Key;

  /// All registered buffers that transfers are copied through have so many bytes.
  static constexpr std::size_t bounce_memory = 64 * max_wire;

  OneSided(const Host& host, const Endpoint& endpoint, Registrar& registrar,
           const Segments& segments);
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done);
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done);

  // one_sided_pieces.cc
  SendResult put_pieces(const Remote& remote, std::span<const RemotePiece> to,
                        std::span<const LocalPiece> from, void* done, void* local_done);
  SendResult get_pieces(const Remote& remote, std::span<const RemotePiece> from,
                        std::span<const LocalPiece> to, void* done);

  SendResult atomic(const Remote& remote, std::uint32_t data_type, std::uint32_t operation,
                    const void* operand1, const void* operand2, void* result, void* done);

  /// One of this object's operations is complete.
  void completed(Transfer& transfer);
  [[noreturn]] void failed(const Transfer& transfer, int error) const;

  /// Begins fences that the provider had no room for. Cheap when there are none.
  void retry();
  bool has_postponed() const noexcept { return any_postponed_.load(std::memory_order_relaxed); }

 private:
  /// Null: as many are under way as may be.
  Transfer* take(const Remote& remote, void* local, std::size_t size, void* done);
  void give_back(Transfer& transfer);
  /// The source is the client's again.
  void unregister(Transfer& transfer);
  /// Sees to it that the provider can reach the transfer's local memory; false: not now.
  bool reach(Transfer& transfer, std::uint64_t access, void*& descriptor);
  /// Registers the transfer's local memory; false: not now, since others hold what can be.
  bool register_for(Transfer& transfer, std::uint64_t access, void*& descriptor);
  ssize_t write(Transfer& transfer, void* descriptor, std::uint64_t flags);
  /// Writes `from` to `to` at the transfer's peer; `descriptor`: of the memory at `from`.
  ssize_t post_write(Transfer& transfer, iovec from, fi_rma_iov to, void* descriptor,
                     std::uint64_t flags);
  bool read(Transfer& transfer, void* local, std::size_t size, void* descriptor);
  /// Returns true if a put is to be shown by a fence to be at the peer. `frees_early`: its source
  /// is wanted back before that.
  bool goes_with_fence(std::uint32_t peer, std::size_t size, bool frees_early) const noexcept;
  /// A put that completes when it is delivered is under way, or is no longer.
  void count_delivery(std::uint32_t peer, std::uint32_t change) noexcept;
  /// The put has been sent, and needs a fence.
  void transmitted(Transfer& transfer);
  /// Begins a fence for those that wait for one behind the same endpoint of the peer's.
  void begin_fence(std::uint32_t peer);
  void fence(Transfer& transfer);
  bool write_fence(Transfer& transfer);
  /// The fence has completed.
  void fenced(Transfer& transfer);
  void finish(Transfer& transfer);
  static AtomicWords& words_of(Transfer& transfer) noexcept;
  SendResult accepted(Transfer& transfer, ssize_t result, const char* what);

  /// The puts to a peer that have been sent since a fence for earlier ones is under way. Used by
  /// the thread that reads completions, but for the count.
  struct Fence {
    Transfer* waiting = nullptr;
    bool is_under_way = false;
    std::atomic<std::uint32_t> deliveries{0};  ///< puts, and fences, that complete when delivered
  };

  const Host& host_;
  const Endpoint& endpoint_;
  Registrar& registrar_;
  const Segments& segments_;
  bool threaded_;
  RmaMeans means_;
  const bool fences_by_write_;
  const std::size_t max_fenced_;  ///< the largest put that a fence serves
  std::size_t inject_limit_;
  SendPool bounce_;
  std::atomic<std::uint32_t> registered_{0};  ///< transfers that hold memory registered for them

  std::mutex mutex_;  ///< of what follows
  TransferPool<Transfer> transfers_;
  ZeroedTable<Fence> fences_;         ///< by peer, where there are any
  std::vector<Transfer*> postponed_;  ///< fences that the provider had no room for
  std::atomic<bool> any_postponed_{false};
};

}  // namespace gex::net::ofi
