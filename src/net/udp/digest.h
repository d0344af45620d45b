#pragma once
// The digest of a datagram's payload, which goes into its tag (seal.h): for each block of 4 KiB a
// sum of products, each of two words m of the block and two secret words k, of 64 bits.
//
//   integer    (m[2i] + k[2i]) * (m[2i+1] + k[2i+1]), summed modulo 2^128. NH of Black, Halevi,
//              Krawczyk, Krovetz and Rogaway, "UMAC", 1999. Every processor has it.
//   carryless  (m[2i] ^ k[2i]) * (m[2i+1] ^ k[2i+1]), as polynomials over GF(2), summed by ^. CLNH
//              of Lemire and Kaser, "Faster 64-bit universal hashing using carry-less
//              multiplications", 2016. Several times as fast where the processor has an instruction
//              for such products.
//
// Two different blocks of one size have the same sum with a probability of at most 2^-64 over k,
// however they were chosen: where m[2i] differs, the difference of the two products takes each
// value for one k[2i+1] at most (it is linear in that, with a factor that is not 0), and where
// m[2i+1] differs for one k[2i]; so one value of 2^64 makes the sums equal. The sum must stay
// secret as k does: a keyed pseudorandom function hashes it with the datagram's number, which is
// never used again, so that tags give nothing away about either.
//
// Thread rules: any.

#include <cstddef>
#include <cstdint>
#include <span>

namespace gex::net::udp {

/// In the order of preference, the best last. All ranks of a job use the same.
enum class Products : std::uint8_t { integer, carryless };

__extension__ using DigestSum = unsigned __int128;

/// One way to compute the sums.
struct DigestMethod {
  const char* name;
  Products products;
  /// The sum with the products of `size` bytes added, a multiple of 16, and of as much of the key.
  DigestSum (*add)(DigestSum sum, const std::byte* bytes, std::size_t size,
                   const std::uint64_t* key) noexcept;
};

/// All that this processor can do; of those with the same products the last has the widest.
std::span<const DigestMethod> digest_methods() noexcept;

/// The fastest for these products, which this processor must have; where there are several, tries
/// each for 40 us.
const DigestMethod& fastest_digest(Products products) noexcept;

/// The best products that this processor has.
Products best_products() noexcept;

}  // namespace gex::net::udp
