#pragma once
// Seeded random numbers: small, fast, and the same on every machine and in every release.
//
// For reordering under a seed, jitter and test data; not for secrets. Both generators satisfy
// std::uniform_random_bit_generator, but `below` and `unit` are preferred to the standard
// distributions, whose results differ between standard libraries. One generator per thread.
// Algorithms: Vigna's SplitMix64 and Blackman and Vigna's xoshiro256**.

#include <bit>
#include <cstdint>

namespace gex {

/// One 64-bit word of state; any seed is good. Turns related seeds into unrelated numbers, which is
/// what it serves for here: seeding, and hashing an index with a seed.
class SplitMix64 {
 public:
  using result_type = std::uint64_t;
  constexpr explicit SplitMix64(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t operator()() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  static constexpr std::uint64_t min() noexcept { return 0; }
  static constexpr std::uint64_t max() noexcept { return ~std::uint64_t{0}; }

 private:
  std::uint64_t state_;
};

/// xoshiro256**: the general-purpose generator. Any seed is good, 0 included.
class Random {
 public:
  using result_type = std::uint64_t;

  /// `stream` separates generators of one seed, a rank's for example.
  constexpr explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept {
    SplitMix64 streams(stream);
    SplitMix64 words(seed ^ streams());
    for (std::uint64_t& word : state_) word = words();
  }

  /// From a raw state, which must not be all zero.
  constexpr Random(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) noexcept
      : state_{a, b, c, d} {}

  constexpr std::uint64_t operator()() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// A number in [0, bound); `bound` must not be 0. The bias is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{(*this)()} * bound) >> 64);
  }

  /// A number in [0, 1), a multiple of 2^-53.
  constexpr double unit() noexcept { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  static constexpr std::uint64_t min() noexcept { return 0; }
  static constexpr std::uint64_t max() noexcept { return ~std::uint64_t{0}; }

 private:
  std::uint64_t state_[4]{};
};

}  // namespace gex
