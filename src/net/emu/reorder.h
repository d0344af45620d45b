#pragma once
// A seeded choice of which arrived message is delivered next.
//
// The spec promises no order between messages, so a client (or am/) that relies on one has a bug
// which most networks hide. `Reorder` makes such bugs appear, and appear again under the same seed:
//  - of the messages that have arrived, of all sources and both channels, it picks any: each has a
//    precedence that is drawn;
//  - it holds half of the messages back for up to `longest_delay` looks, so that later ones
//    overtake them even where the receiver looks more often than messages arrive.
// Every message is delivered within a bounded number of looks, whether or not others arrive.
//
// What is drawn for a message depends on the seed, the rank, the queue and the message's number
// there, and on nothing else: two runs draw the same, however often their ranks look.
// Not thread-safe: the caller holds a lock from `begin_look` to `choose`.

#include <cstdint>
#include <vector>

namespace gex::net::emu {

class Reorder {
 public:
  static constexpr std::uint32_t longest_delay = 256;
  /// A message passed over this many looks after it was due is taken next.
  static constexpr std::uint32_t patience = 64;
  /// Looks that one poll makes at messages of which none is due. A rank may yield between polls,
  /// and on a busy machine a yield takes as long as a thousand looks: a delay may not cost a yield
  /// for every look.
  static constexpr std::uint32_t looks_per_poll = 16;

  Reorder(std::uint64_t seed, std::uint32_t rank, std::uint32_t queues, std::uint32_t depth);

  struct Choice {
    std::uint32_t queue;
    int slot;
  };

  /// Begins a look: forgets the previous one's candidates.
  void begin_look() noexcept;
  /// Shows the message that waits in a slot of a queue, the how-manieth of that queue.
  void consider(std::uint32_t queue, int slot, std::uint32_t sequence) noexcept;
  /// How many of those shown are due.
  std::uint32_t candidates() const noexcept { return candidates_; }
  /// Returns true if messages were shown and none is due.
  bool all_held_back() const noexcept { return candidates_ == 0 && held_back_; }
  /// One of those that are due, which the caller takes; false when there is none.
  bool choose(Choice& choice) noexcept;

 private:
  struct Drawn {
    std::uint32_t due;         ///< the look from which the message may be taken
    std::uint32_t precedence;  ///< of those that are due the highest is picked
  };
  Drawn draw(std::uint32_t queue, std::uint32_t sequence) const noexcept;

  std::uint64_t key_;
  std::uint32_t depth_;
  std::uint32_t now_ = 0;  ///< looks so far; wraps around, compared by signed difference
  std::uint32_t candidates_ = 0;
  bool held_back_ = false;
  std::uint32_t highest_precedence_ = 0;
  std::uint32_t longest_wait_ = 0;
  Choice picked_{};
  Choice oldest_{};
  std::vector<std::uint64_t> known_;  ///< per queue: slots whose message has been drawn for
  std::vector<Drawn> drawn_;          ///< per queue and slot
};

}  // namespace gex::net::emu
