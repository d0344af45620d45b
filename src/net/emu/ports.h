#pragma once
// When messages and transfers leave and arrive under a model (model.h): the ports of all ranks in
// memory that they share.
//
// What a port sends, and what crosses the bisection, goes one after the other in the order of
// calls. What a port receives goes in the order in which it comes there (receiving_port.h).
// `now` is the caller's reading of `ticks`, which the processes of one machine may compare as long
// as they do not convert it; rank 0 converts the model for all.
//
// The jitter of a transfer or message depends on the seed, the rank, the peer, whether it is a put
// (as which an atomic operation goes), a get, a request or a reply, and its number among those: it
// is equal in every run.
//
// Any thread, without a lock.

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/cache_line.h"
#include "base/clock.h"
#include "base/zeroed_table.h"
#include "net/emu/layout.h"
#include "net/emu/model.h"

namespace gex::net::emu {

/// A model in ticks.
struct Timing {
  Tick latency = 0;          ///< of puts and gets, there and back each
  Tick message_latency = 0;  ///< the same, less what a message's ends take (emu.cc)
  Tick send_overhead = 0;
  Tick receive_overhead = 0;
  Tick gap = 0;
  Tick port_gap = 0;  ///< between two that leave a port: 1 / rate
  Tick registration = 0;
  Tick jitter = 0;
  double per_byte = 0;
  double bisection_per_byte = 0;
};
Timing timing_of(const Model& model, double ticks_per_second) noexcept;

class Ports {
 public:
  /// The ports lie in `memory`, the network's, which outlives this object.
  Ports(const Timing& timing, const Layout& layout, std::span<std::byte> memory, std::uint32_t rank,
        std::uint64_t seed);

  /// A put that begins now has these times: when its source is reusable, and when it is complete.
  struct Put {
    Tick left;
    Tick done;
  };
  Put put(std::uint32_t peer, std::size_t bytes, bool registered, Tick now) noexcept;
  /// When a get that begins now is complete.
  Tick get(std::uint32_t peer, std::size_t bytes, bool registered, Tick now) noexcept;
  /// When a message that is sent now is to be handled. `number`: how many this rank has sent to the
  /// peer on the channel before.
  Tick message(Channel channel, std::uint32_t peer, std::uint32_t number, std::size_t bytes,
               Tick now) noexcept;

 private:
  using Word = std::atomic<Tick>;

  enum Kind : std::uint8_t { request, reply, put_kind, get_kind };
  static constexpr std::size_t kinds = 4;
  /// This rank keeps these of a peer.
  struct Link {
    Word free_from{0};
    std::atomic<std::uint64_t> puts{0};
    std::atomic<std::uint64_t> gets{0};
  };

  /// From a rank's port to another's, where it is at `now`. `called`: when that was begun.
  struct Flight {
    Tick left;
    Tick arrived;
  };
  Flight fly(std::uint32_t from, std::uint32_t to, std::size_t bytes, Tick latency,
             Tick at_receiver, Tick called, Tick now) noexcept;
  /// The processor's part and the link's: when something for `peer` reaches this rank's port.
  Tick inject(std::uint32_t peer, bool registered, Tick now) noexcept;
  Tick jitter_of(std::uint32_t peer, Kind kind, std::uint64_t number) const noexcept;
  /// Draws the jitter of the next of those that are counted there.
  Tick draw_jitter(std::uint32_t peer, Kind kind, std::atomic<std::uint64_t>& count) noexcept;
  Word& word(std::size_t offset) const noexcept;

  Timing timing_;
  Layout layout_;
  std::span<std::byte> memory_;
  std::uint32_t rank_;
  std::uint64_t seed_;
  Word processor_{0};
  ZeroedTable<Link> links_;  ///< by peer
};

}  // namespace gex::net::emu
