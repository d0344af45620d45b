#pragma once
// Which of a peer's datagrams have come before. Each has a number of its own, also where it repeats
// what an earlier one carried, so a number that
// has been seen is a copy that the network has made, or a process that replays it.
//
//   const std::uint64_t number = freshness.whole(header.number);
//   if (<the tag of a datagram with this number is right> && freshness.accept(number)) ...
//
// Numbers have 64 bits, of which a datagram carries 32; the others are those with which it is
// nearest to the newest. Numbers begin with 1. One that is more than `window` behind the newest
// cannot be distinguished from a copy, and is refused.
//
// Thread rules: one thread at a time.

#include <array>
#include <cstdint>

namespace gex::net::udp {

class Freshness {
 public:
  static constexpr std::uint32_t words = 32;
  /// A whole word is dropped at a time.
  static constexpr std::uint64_t window = (words - 1) * std::uint64_t{64};

  std::uint64_t whole(std::uint32_t lower) const noexcept {
    const auto distance = static_cast<std::int32_t>(lower - static_cast<std::uint32_t>(newest_));
    return newest_ + static_cast<std::uint64_t>(std::int64_t{distance});
  }

  /// Returns true if it had not come before; it has then.
  bool accept(std::uint64_t number) noexcept {
    if (number > newest_) {
      const std::uint64_t passed = number / 64 - newest_ / 64;
      for (std::uint64_t i = 1; i <= passed && i <= words; ++i)
        seen_[(newest_ / 64 + i) % words] = 0;
      newest_ = number;
    } else if (newest_ - number >= window) {
      return false;
    }
    std::uint64_t& word = seen_[number / 64 % words];
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }

  /// The largest number that has been accepted.
  std::uint64_t newest() const noexcept { return newest_; }

 private:
  std::uint64_t newest_ = 0;
  std::array<std::uint64_t, words> seen_{1};  ///< bit by bit; there is no number 0
};

}  // namespace gex::net::udp
