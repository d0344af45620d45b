#pragma once
// One process's end of an emu network: sends into and receives from a memory file shared with the
// other ranks.
//
// Every ordered pair of ranks has a queue of `depth` slots per channel (slot_queue.h) at its own
// place in the file (layout.h). A sender copies a message into a free slot of the queue towards its
// peer; the receiver hands it up where it lies and gives the slot back when the handler has
// returned. A request thus never takes room from a reply, no pair takes room from another, and a
// slot whose handler still runs blocks no other.
//
// Requires: `memory` is the file, mapped shared and writable, `layout.file_size()` bytes, aligned
// to a page, zero before the first process used it, and outlives this object; every rank uses the
// same layout; at most one EmuNetwork per rank. `host` outlives this object.
//
// Guarantees what conduit.h asks of a conduit. Without a seed and without a model, messages of one
// sending thread on one channel to one peer arrive in the order sent; with one, see reorder.h.
// Nothing in the file is trusted: a peer that writes nonsense there can confuse messages, and ends
// the job with one line when sizes are impossible, but makes no process read or write outside the
// file.
//
// Thread rules: those of `Host::threaded`, and `poll` may be called from within Host::deliver.

#include <gex/plugin/conduit.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/cache_line.h"
#include "base/spin_lock.h"
#include "base/zeroed_table.h"
#include "net/emu/bells.h"
#include "net/emu/layout.h"
#include "net/emu/ports.h"
#include "net/emu/reorder.h"
#include "net/emu/slot_queue.h"

namespace gex::net::emu {

class EmuNetwork {
 public:
  /// `seed` 0: no reordering. `ports`, which outlive this object, determine when messages arrive;
  /// null: at once. `bells`, which outlive it too, are those of ranks that may sleep; null: none
  /// do.
  EmuNetwork(const Host& host, const Layout& layout, std::span<std::byte> memory,
             std::uint64_t seed, Ports* ports = nullptr, Bells* bells = nullptr);
  EmuNetwork(const EmuNetwork&) = delete;
  EmuNetwork& operator=(const EmuNetwork&) = delete;

  /// `now`: the caller's reading of the clock, where there are ports.
  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces, Tick now = 0);
  std::size_t poll(std::uint32_t channels, std::size_t max, Tick now = 0);
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size);
  void release(void* buffer);

  /// Ends the job when the words of this rank's queues contradict each other. Only while no other
  /// call is in progress on this rank.
  void check_invariants() const;

 private:
  using Word = StdAtomics::Word;

  /// This process's words about a queue it sends into.
  struct alignas(cache_line) Outgoing {
    Word claimed{0};
    std::atomic<std::uint32_t> sequence{0};
  };

  std::size_t queue_index(std::uint32_t channel, std::uint32_t peer) const noexcept {
    return std::size_t{channel} * layout_.ranks() + peer;
  }
  Word& word(std::size_t offset) const noexcept;
  Record& record(std::uint32_t source, std::uint32_t target, std::uint32_t channel,
                 int slot) const noexcept;
  SlotSender<> sender(std::uint32_t channel, std::uint32_t peer) noexcept;
  SlotReceiver<> receiver(std::uint32_t channel, std::uint32_t source) noexcept;

  /// The slot of a payload that `buffer` handed out for this channel and peer.
  std::optional<int> built_in_place(Channel channel, std::uint32_t peer,
                                    const void* payload) const noexcept;
  void check_peer(std::uint32_t peer) const;
  /// The number of the next message of a queue; all that is drawn for the message is by it.
  std::uint32_t take_number(std::uint32_t channel, std::uint32_t peer) noexcept;

  std::size_t poll_channel(std::uint32_t channel, std::size_t max, Tick now);
  std::size_t poll_reordered(std::uint32_t channels, std::size_t max, Tick now);
  /// Shows `reorder_` what waits. Its lock is held.
  void collect_candidates(std::uint32_t channels, Tick now) noexcept;
  /// Returns those of `ready` that have arrived by now.
  std::uint64_t arrived(std::uint32_t channel, std::uint32_t source, std::uint64_t ready,
                        Tick now) const noexcept;
  /// Which of the messages from that source the slot holds, counted from 0; wraps around.
  std::uint32_t sequence_of(std::uint32_t channel, std::uint32_t source, int slot) const noexcept;
  int first_sent(std::uint32_t channel, std::uint32_t source, std::uint64_t ready) const noexcept;
  /// Hands up the message in a taken slot and gives the slot back.
  void deliver(std::uint32_t channel, std::uint32_t source, int slot);

  const Host& host_;
  Ports* ports_;
  Bells* bells_;
  Layout layout_;
  std::span<std::byte> memory_;
  std::uint64_t all_;
  bool threaded_;
  ZeroedTable<Outgoing> outgoing_;
  ZeroedTable<Word> finished_;
  ZeroedTable<Word> taken_;
  /// Source at which the next poll of a channel begins, so that none is always last.
  std::array<std::atomic<std::uint32_t>, Layout::channels> next_source_{};
  std::optional<Reorder> reorder_;
  SpinLock reorder_lock_;
};

}  // namespace gex::net::emu
