#pragma once
// Puts, gets and atomic operations under way.
//
// Without a model and without a seed there are none: an operation is a copy, complete at once.
// Under a model the copy is made at once as well, while the network's time for it runs, and
// completion is told when that is over: local completion when the last byte has left, completion
// when the acknowledgement is back. With a seed, operations are carried out late, and complete in
// any order, as many looks (polls) after they began as the seed says: choices that depend on the
// seed, the rank and the order in which operations were begun, on nothing else.
//
// `now` is the caller's reading of the clock, 0 without a model. Any thread.

#include <gasnet_fwd.h>
#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/spin_lock.h"
#include "net/emu/adapter.h"
#include "net/emu/ports.h"
#include "net/emu/segments.h"

namespace gex::net::emu {

class Transfers {
 public:
  /// `ports` null: operations take no time. `seed` 0: no delays. `depth`: operations under way to
  /// one peer. `adapter` null: local memory is registered for each transfer anew. All but the
  /// numbers outlive this object.
  Transfers(const Host& host, const Segments& segments, Ports* ports, std::uint64_t seed,
            std::uint32_t depth, Adapter* adapter = nullptr);

  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done, Tick now);
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done, Tick now);
  /// As Conduit::atomic. The processor's own operations, on memory that it shares with the peer.
  SendResult atomic(const Remote& remote, gex_DT_t type, gex_OP_t operation, const void* operand1,
                    const void* operand2, void* result, void* done, Tick now);

  /// Whether a poll has anything to do.
  bool any() const noexcept { return under_way_.load(std::memory_order_relaxed) != 0; }
  /// Tells what has become complete; returns how much.
  std::size_t poll(Tick now);

  /// Carries out what is not yet, and tells nobody: the end of the network.
  void finish();

 private:
  /// Looks that one poll counts for: a rank may yield between polls, and a delay of many looks may
  /// not cost a yield each.
  static constexpr std::uint32_t looks_per_poll = 16;
  /// Bytes for which networks rather copy than register memory.
  static constexpr std::size_t bounced = 4096;
  static constexpr std::uint32_t longest_delay = 64;

  /// A moment that comes when the clock says so and as many looks were made.
  struct Moment {
    Tick time = 0;
    std::uint32_t look = 0;
  };

  /// What an atomic operation is; `operation` 0: the transfer is none.
  struct Atomic {
    gex_DT_t type;
    gex_OP_t operation;
    std::uint64_t operand1;
    std::uint64_t operand2;
  };

  struct Transfer {
    std::uint32_t peer;
    std::byte* to;          ///< of an atomic operation: its target
    const std::byte* from;  ///< not of an atomic operation
    std::size_t size;
    Atomic atomic;
    void* result;                       ///< of an atomic operation that fetches
    std::unique_ptr<std::byte[]> kept;  ///< copy of a source that is told to be reusable
    RegistrationCache::Piece* piece;    ///< of registered memory that it holds, or null
    void* done;
    void* local_done;  ///< null once told
    bool moved;
    Moment moves, is_local, is_done;
  };

  bool has_come(const Moment& moment, Tick now) const noexcept {
    return now >= moment.time && static_cast<std::int32_t>(looks_ - moment.look) >= 0;
  }
  std::uint32_t draw_delay() noexcept;
  /// Notes an operation; false if there are as many as there can be. The lock is held.
  bool has_room(std::uint32_t peer) const noexcept { return to_peer_[peer] < depth_; }
  void begin(Transfer&& transfer);
  static Transfer copy(std::uint32_t peer, std::byte* to, const std::byte* from, std::size_t size,
                       void* done) noexcept;
  /// Has the network reach local memory, which is reached by then or costs the model's
  /// registration.
  Adapter::Use reach(const void* local, std::size_t size) const;
  static void move(Transfer& transfer) noexcept;
  /// Lets the source be reused before it is moved.
  static void keep_source(Transfer& transfer);
  /// Makes what progress there is; true when it is complete.
  bool advance(Transfer& transfer, Tick now, std::size_t& told);

  const Host& host_;
  const Segments& segments_;
  Ports* ports_;
  Adapter* adapter_;
  bool seeded_;
  bool threaded_;
  std::uint32_t depth_;
  Random random_;
  std::uint32_t looks_ = 0;
  std::vector<std::uint32_t> to_peer_;
  std::vector<Transfer> transfers_;
  std::atomic<std::size_t> under_way_{0};
  SpinLock lock_;
};

}  // namespace gex::net::emu
