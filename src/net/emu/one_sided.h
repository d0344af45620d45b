#pragma once
// Puts, gets and atomic operations under way.
//
// Without a model and without a seed there are none: an operation is a copy, complete at once.
// Under a model the copy is made at once as well, while the network's time for it runs, and
// completion is reported when that is over: local completion when the last byte has left,
// completion when the acknowledgement is back. With a seed, operations are carried out late, and
// complete in any order, after numbers of looks (polls) that are drawn from it: they depend on the
// seed, the rank and the order in which operations were begun, on nothing else.
//
// A put or get of several pieces is one operation: one latency, and the bytes of all. A put without
// completion of its own is known to be complete by a flush behind it.
//
// `now` is the caller's reading of the clock, 0 without a model. Any thread.

#include <gasnet_fwd.h>
#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/spin_lock.h"
#include "base/zeroed_table.h"
#include "net/emu/adapter.h"
#include "net/emu/ports.h"
#include "net/emu/segments.h"

namespace gex::net::emu {

class OneSided {
 public:
  /// `ports` null: operations take no time. `seed` 0: no delays. `depth`: operations under way to
  /// one peer. `adapter` null: local memory is registered for each transfer anew. All but the
  /// numbers outlive this object.
  OneSided(const Host& host, const Segments& segments, Ports* ports, std::uint64_t seed,
           std::uint32_t depth, Adapter* adapter = nullptr);

  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done, Tick now);
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done, Tick now);
  SendResult put_pieces(const Remote& remote, std::span<const RemotePiece> to,
                        std::span<const LocalPiece> from, void* done, void* local_done, Tick now);
  SendResult get_pieces(const Remote& remote, std::span<const RemotePiece> from,
                        std::span<const LocalPiece> to, void* done, Tick now);
  /// As Conduit::flush.
  SendResult flush(std::uint32_t peer, void* done);
  /// As Conduit::atomic. The processor's own operations, on memory that it shares with the peer.
  SendResult atomic(const Remote& remote, gex_DT_t type, gex_OP_t operation, const void* operand1,
                    const void* operand2, void* result, void* done, Tick now);

  /// Returns true if a poll has anything to do.
  bool any() const noexcept { return under_way_.load(std::memory_order_relaxed) != 0; }
  /// Reports what has become complete; returns how many completions.
  std::size_t poll(Tick now);

  /// Carries out what is not yet, and reports no completion: the end of the network.
  void finish();

 private:
  /// Looks that one poll counts for: a rank may yield between polls, and a delay of many looks may
  /// not cost a yield each.
  static constexpr std::uint32_t looks_per_poll = 16;
  /// Bytes for which networks rather copy than register memory.
  static constexpr std::size_t bounced = 4096;
  static constexpr std::uint32_t longest_delay = 64;

  /// A moment that comes when the time is reached and as many looks were made.
  struct Moment {
    Tick time = 0;
    std::uint32_t look = 0;
  };

  /// The parameters of an atomic operation; `operation` 0: the transfer is a put or get.
  struct Atomic {
    gex_DT_t type;
    gex_OP_t operation;
    std::uint64_t operand1;
    std::uint64_t operand2;
  };

  /// Contiguous at both ends.
  struct Copy {
    std::byte* to;
    const std::byte* from;
    std::size_t size;
  };

  struct Transfer {
    std::uint32_t peer;
    std::uint64_t number;  ///< in the order in which they began
    Copy copy;             ///< of an atomic operation: only its target; of pieces: only the size
    std::vector<Copy> pieces;  ///< of a transfer of several, which these copies are
    Atomic atomic;
    void* result;                                 ///< of an atomic operation that fetches
    std::unique_ptr<std::byte[]> kept;            ///< copy of a source that is reported reusable
    std::vector<RegistrationCache::Piece*> held;  ///< of registered memory
    void* done;                                   ///< null: completed by a flush alone
    void* local_done;                             ///< null once reported
    bool moved;
    Moment moves, is_local, is_done;
  };

  /// A flush under way.
  struct Flush {
    std::uint32_t peer;
    std::uint64_t before;  ///< the number of the first transfer that it does not wait for
    void* done;
  };

  bool has_come(const Moment& moment, Tick now) const noexcept {
    return now >= moment.time && static_cast<std::int32_t>(looks_ - moment.look) >= 0;
  }
  std::uint32_t draw_delay() noexcept;
  /// Notes an operation; false if there are as many as there can be. The lock is held.
  bool has_room(std::uint32_t peer) const noexcept { return to_peer_[peer] < depth_; }
  void begin(Transfer&& transfer);
  bool is_immediate() const noexcept { return ports_ == nullptr && !seeded_; }
  /// Under way from here on, if there is room. The lock is held.
  SendResult begin_put(Transfer&& transfer, std::span<const LocalPiece> from, Tick now);
  SendResult begin_get(Transfer&& transfer, std::span<const LocalPiece> to, Tick now);
  using Begin = SendResult (OneSided::*)(Transfer&&, std::span<const LocalPiece>, Tick);
  /// A put or get of pieces: `copy_of(there, here, size)` is a Copy in its direction.
  template <class Copies>
  SendResult move_pieces(const Remote& remote, std::span<const RemotePiece> there,
                         std::span<const LocalPiece> here, void* done, void* local_done, Tick now,
                         Copies copy_of, Begin begin);
  /// The transfer, with the copies that it consists of.
  template <class Copies>
  Transfer of_pieces(const Remote& remote, std::span<const RemotePiece> there,
                     std::span<const LocalPiece> here, void* done, Copies copy_of) const;
  /// Calls `pair(there, here, size)` for what is contiguous at both ends.
  template <class Pair>
  void for_pairs(const Remote& remote, std::span<const RemotePiece> there,
                 std::span<const LocalPiece> here, Pair pair) const;
  static Transfer contiguous(std::uint32_t peer, const Copy& copy, void* done) noexcept;
  void complete_now(void* done, void* local_done) const;
  /// Has the network reach local memory; whether it was reached before, or costs the model's
  /// registration.
  bool reach(Transfer& transfer, const LocalPiece& local) const;
  bool reach(Transfer& transfer, std::span<const LocalPiece> local) const;
  void release_memory(Transfer& transfer) const;
  static void move(Transfer& transfer) noexcept;
  /// Lets the source be reused before it is moved.
  static void keep_source(Transfer& transfer);
  /// Makes what progress there is; true when it is complete.
  bool advance(Transfer& transfer, Tick now, std::size_t& completed);
  bool waits(const Flush& flush) const noexcept;

  const Host& host_;
  const Segments& segments_;
  Ports* ports_;
  Adapter* adapter_;
  bool seeded_;
  bool threaded_;
  std::uint32_t depth_;
  Random random_;
  std::uint32_t looks_ = 0;
  ZeroedTable<std::uint32_t> to_peer_;
  std::vector<Transfer> transfers_;
  std::vector<Flush> flushes_;
  std::uint64_t begun_ = 0;
  std::atomic<std::size_t> under_way_{0};
  SpinLock lock_;
};

}  // namespace gex::net::emu
