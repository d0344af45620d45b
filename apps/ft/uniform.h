#pragma once
// The NAS pseudo-random numbers: x(k+1) = 5^13 x(k) mod 2^46, x(0) = 314159265, uniform in (0, 1).
//
// The modulus divides 2^64, so that plain 64-bit products give the very numbers that NAS computes
// with pairs of doubles.

#include <array>
#include <cstddef>
#include <cstdint>

namespace ft {

/// The part of the sequence that begins with its element number `first`, counted from 0. Any place
/// is reached in the logarithm of its distance, so that each rank starts at its own planes.
class Uniform {
 public:
  explicit constexpr Uniform(std::uint64_t first) {
    lanes_[0] = times(kSeed, power(first + 1));
    for (std::size_t i = 1; i < kLanes; ++i) lanes_[i] = times(lanes_[i - 1], kMultiplier);
  }

  /// Writes the next `count` numbers; `count` is a multiple of 4.
  constexpr void fill(double* out, std::size_t count) {
    // Independent lanes, each four steps of the sequence at a time, hide the product's latency.
    const std::uint64_t stride = power(kLanes);
    std::array<std::uint64_t, kLanes> x = lanes_;
    for (std::size_t i = 0; i < count; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        out[i + lane] = static_cast<double>(static_cast<std::int64_t>(x[lane])) * 0x1p-46;
        x[lane] = times(x[lane], stride);
      }
    }
    lanes_ = x;
  }

 private:
  static constexpr std::uint64_t kSeed = 314159265;
  static constexpr std::uint64_t kMultiplier = 1220703125;
  static constexpr std::size_t kLanes = 4;

  static constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    return a * b & ((std::uint64_t{1} << 46) - 1);
  }

  /// The multiplier that takes `steps` steps at once.
  static constexpr std::uint64_t power(std::uint64_t steps) {
    std::uint64_t result = 1;
    for (std::uint64_t square = kMultiplier; steps != 0; steps /= 2) {
      if (steps % 2 != 0) result = times(result, square);
      square = times(square, square);
    }
    return result;
  }

  std::array<std::uint64_t, kLanes> lanes_{};
};

}  // namespace ft
