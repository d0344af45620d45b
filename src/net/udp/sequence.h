#pragma once
// Which of a peer's datagrams have arrived: each is accepted once, in any order.
//
//   ReceivedSequence received;
//   if (received.state_of(sequence) == ReceivedSequence::is_new) { ...; received.accept(sequence);
//   } header.next_expected = received.next_expected();
//
// Sequence numbers wrap; they are compared by their distance.

#include <array>
#include <bit>
#include <cstdint>

namespace gex::net::udp {

/// Sequenced datagrams that one process may have unacknowledged to another.
inline constexpr std::uint32_t max_unacknowledged = 1024;

class ReceivedSequence {
 public:
  enum State : std::uint8_t { is_new, is_duplicate, is_beyond };
  static constexpr std::uint32_t words = max_unacknowledged / 64;

  State state_of(std::uint32_t sequence) const noexcept {
    const std::uint32_t distance = sequence - next_expected_;
    if (distance >= max_unacknowledged) return distance >= 1U << 31 ? is_duplicate : is_beyond;
    return holds(sequence) ? is_duplicate : is_new;
  }

  /// Requires `state_of(sequence) == is_new`.
  void accept(std::uint32_t sequence) noexcept {
    if (sequence != next_expected_) {
      bits_[word_of(sequence)] |= bit_of(sequence);
      ++ahead_;
      return;
    }
    ++next_expected_;
    while (ahead_ != 0 && holds(next_expected_)) {
      bits_[word_of(next_expected_)] &= ~bit_of(next_expected_);
      --ahead_;
      ++next_expected_;
    }
  }

  std::uint32_t next_expected() const noexcept { return next_expected_; }
  /// How many have arrived ahead of their turn.
  std::uint32_t ahead() const noexcept { return ahead_; }

  /// Bit i: next_expected + 1 + first + i has arrived.
  std::uint32_t received_behind(std::uint32_t first) const noexcept {
    std::uint32_t bits = 0;
    if (ahead_ == 0) return 0;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const std::uint32_t distance = 1 + first + i;
      if (distance < max_unacknowledged && holds(next_expected_ + distance)) bits |= 1U << i;
    }
    return bits;
  }

 private:
  static constexpr std::uint32_t word_of(std::uint32_t sequence) noexcept {
    return sequence / 64 % words;
  }
  static constexpr std::uint64_t bit_of(std::uint32_t sequence) noexcept {
    return std::uint64_t{1} << sequence % 64;
  }
  bool holds(std::uint32_t sequence) const noexcept {
    return (bits_[word_of(sequence)] & bit_of(sequence)) != 0;
  }

  std::uint32_t next_expected_ = 0;
  std::uint32_t ahead_ = 0;
  std::array<std::uint64_t, words> bits_{};
};

}  // namespace gex::net::udp
