#pragma once
// The sequenced packets to a peer that it has not acknowledged, and which of them are lost.
//
// Every transmission has a number. A packet is lost when one that was sent three transmissions
// after it, or more, has been acknowledged: also a repeated one. When nothing has been acknowledged
// for long, the latest is repeated: once either copy has been acknowledged, what was sent before
// the first and has not arrived is lost. It keeps its number: where the wait was only too short,
// the acknowledgement is the first copy's, and what was sent behind that is not lost.
//
// Thread rules: one thread at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"
#include "net/udp/packet.h"
#include "net/udp/sequence.h"

namespace gex::net::udp {

class Unacknowledged {
 public:
  /// Transmissions by which one may be overtaken.
  static constexpr std::uint64_t reordering = 3;

  bool empty() const noexcept { return first_ == next_; }
  /// Returns true if the sequence has room for another.
  bool has_room() const noexcept { return next_ - first_ < max_unacknowledged; }
  std::size_t in_flight() const noexcept { return in_flight_; }
  std::uint32_t lost() const noexcept { return lost_; }
  std::uint32_t next_sequence() const noexcept { return next_; }

  /// Gives it the next sequence number. Requires `has_room()`.
  void add(Packet& packet) {
    GEX_ASSERT(has_room());
    if (ring_.size() <= next_ - first_) grow();
    packet.sequence = next_;
    slot(next_) = &packet;
    ++next_;
  }
  /// It is being sent, for the first time or again.
  void transmitted(Packet& packet, Time now) noexcept {
    GEX_ASSERT(slot(packet.sequence) == &packet && (!packet.lost || lost_ != 0));
    if (packet.lost) --lost_;
    packet.lost = false;
    packet.sent_at = now;
    if (packet.is_repeated_latest) {
      // Enough to show that an acknowledgement may be of either copy, which makes it no sample of
      // the round trip. Further repeats are counted as timeouts in a row.
      if (packet.transmissions == 1) packet.transmissions = 2;
      in_flight_ += packet.charge;
      return;
    }
    packet.transmission = ++transmissions_;
    if (packet.transmissions != 255) ++packet.transmissions;
    in_flight_ += packet.charge;
  }
  void mark_lost(Packet& packet) noexcept {
    if (packet.lost) return;
    GEX_ASSERT(in_flight_ >= packet.charge);
    packet.lost = true;
    packet.is_repeated_latest = false;
    ++lost_;
    in_flight_ -= packet.charge;
  }
  /// The system has refused to send that transmission of that packet, which may have been sent
  /// again or acknowledged since. False: it has.
  bool mark_refused(std::uint32_t sequence, std::uint64_t transmission) noexcept {
    Packet* const packet = sequence - first_ < next_ - first_ ? slot(sequence) : nullptr;
    if (packet == nullptr || packet->transmission != transmission || packet->lost) return false;
    mark_lost(*packet);
    return true;
  }
  /// It is `latest()`, and about to be repeated. Requires that it is not lost.
  void repeat_latest(Packet& packet) noexcept {
    GEX_ASSERT(!packet.lost && in_flight_ >= packet.charge);
    packet.is_repeated_latest = true;
    in_flight_ -= packet.charge;
  }
  /// The last that was sent of those that are not lost, or null.
  Packet* latest() noexcept {
    Packet* latest = nullptr;
    for_all([&](Packet& packet) {
      if (!packet.lost && (latest == nullptr || packet.transmission > latest->transmission))
        latest = &packet;
    });
    return latest;
  }

  /// The oldest, or null.
  Packet* oldest() const noexcept { return empty() ? nullptr : ring_[first_ & mask()]; }
  /// The first that is to be sent again at or behind `sequence`, or null.
  Packet* lost_from(std::uint32_t sequence) const noexcept {
    for (; sequence != next_; ++sequence) {
      Packet* packet = ring_[sequence & mask()];
      if (packet != nullptr && packet->lost) return packet;
    }
    return nullptr;
  }
  std::uint32_t first_sequence() const noexcept { return first_; }

  /// Takes the acknowledgements of a header: `next_expected`, and bits of what was received behind
  /// that and `skipped` more. Calls `done(packet)` for each that has arrived, which takes it over.
  /// Ignores those that cannot be.
  template <class Done>
  void acknowledge(std::uint32_t next_expected, std::uint32_t bits, std::uint32_t skipped,
                   Done done) {
    if (next_expected - first_ > next_ - first_) return;
    for (std::uint32_t sequence = first_; sequence != next_expected; ++sequence)
      if (!take(sequence, done)) --ahead_;
    first_ = next_expected;
    for (std::uint32_t sequence = next_expected + 1 + skipped; bits != 0; bits >>= 1, ++sequence)
      if ((bits & 1) != 0 && sequence - first_ < next_ - first_ && take(sequence, done)) ++ahead_;
  }

  /// Marks what must be lost by now; calls `found(packet)` for each.
  template <class Found>
  void find_lost(Found found) {
    const Packet* first = oldest();
    if (first == nullptr || latest_acknowledged_ < reordering) return;
    for (std::uint32_t sequence = first_; sequence != next_; ++sequence) {
      Packet* packet = slot(sequence);
      if (packet == nullptr || packet->lost ||
          packet->transmission + reordering > latest_acknowledged_)
        continue;
      mark_lost(*packet);
      found(*packet);
    }
  }
  /// Returns true if anything may have been overtaken.
  bool has_gap() const noexcept {
    const Packet* first = oldest();
    return first != nullptr &&
           (ahead_ != 0 || first->transmission + reordering <= latest_acknowledged_);
  }

  /// Calls `use(packet)` for all.
  template <class Use>
  void for_all(Use use) {
    for (std::uint32_t sequence = first_; sequence != next_; ++sequence)
      if (Packet* packet = slot(sequence)) use(*packet);
  }
  /// Forgets all; calls `done(packet)` for each.
  template <class Done>
  void clear(Done done) {
    for (; first_ != next_; ++first_) take(first_, done);
    ahead_ = 0;
  }

 private:
  std::uint32_t mask() const noexcept { return static_cast<std::uint32_t>(ring_.size()) - 1; }
  Packet*& slot(std::uint32_t sequence) noexcept { return ring_[sequence & mask()]; }

  /// False: it had been acknowledged.
  template <class Done>
  bool take(std::uint32_t sequence, Done& done) {
    Packet*& at = slot(sequence);
    Packet* packet = at;
    if (packet == nullptr) return false;
    at = nullptr;
    GEX_ASSERT(packet->sequence == sequence && packet->transmissions != 0);
    GEX_ASSERT(packet->lost ? lost_ != 0 : in_flight_ >= packet->charge);
    if (packet->lost)
      --lost_;
    else
      in_flight_ -= packet->charge;
    latest_acknowledged_ = std::max(
        latest_acknowledged_, packet->transmission + (packet->is_repeated_latest ? reordering : 0));
    done(*packet);
    return true;
  }
  void grow() {
    std::vector<Packet*> larger(ring_.empty() ? 8 : 2 * ring_.size());
    for (std::uint32_t sequence = first_; sequence != next_; ++sequence)
      larger[sequence & (larger.size() - 1)] = slot(sequence);
    ring_ = std::move(larger);
  }

  std::vector<Packet*> ring_;  ///< by sequence number; null: acknowledged
  std::uint32_t first_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t lost_ = 0;
  std::uint32_t ahead_ = 0;  ///< acknowledged behind the oldest that is not
  std::size_t in_flight_ = 0;
  std::uint64_t transmissions_ = 0;
  std::uint64_t latest_acknowledged_ = 0;
};

}  // namespace gex::net::udp
