#include "net/udp/digest.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/clock.h"
#include "base/siphash.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace gex::net::udp {

namespace {

DigestSum add_integer(DigestSum sum, const std::byte* bytes, std::size_t size,
                      const std::uint64_t* key) noexcept {
  for (const std::byte* const end = bytes + size; bytes != end; bytes += 16, key += 2)
    sum += static_cast<DigestSum>(word_at(bytes) + key[0]) * (word_at(bytes + 8) + key[1]);
  return sum;
}

#ifdef __x86_64__

// Each method has four sums, so that none waits for the product before it, and leaves what is less
// than four of its registers to the method for the next narrower ones.

constexpr int halves = 0x10;  // the product of a register's lower and upper word

template <class Register>
const Register* at(const void* bytes, std::size_t number) noexcept {
  return static_cast<const Register*>(bytes) + number;
}

[[gnu::target("pclmul")]] __m128i product_128(const void* bytes, const void* key,
                                              std::size_t number) noexcept {
  const __m128i words = _mm_xor_si128(_mm_loadu_si128(at<__m128i>(bytes, number)),
                                      _mm_loadu_si128(at<__m128i>(key, number)));
  return _mm_clmulepi64_si128(words, words, halves);
}

[[gnu::target("pclmul")]] DigestSum add_128(DigestSum before, const std::byte* bytes,
                                            std::size_t size, const std::uint64_t* key) noexcept {
  // Not by way of memory, where two words that were just written are slow to be read as one.
  __m128i a = _mm_set_epi64x(static_cast<long long>(before >> 64), static_cast<long long>(before));
  __m128i b = _mm_setzero_si128();
  __m128i c = _mm_setzero_si128();
  __m128i d = _mm_setzero_si128();
  for (; size >= 64; size -= 64, bytes += 64, key += 8) {
    a = _mm_xor_si128(a, product_128(bytes, key, 0));
    b = _mm_xor_si128(b, product_128(bytes, key, 1));
    c = _mm_xor_si128(c, product_128(bytes, key, 2));
    d = _mm_xor_si128(d, product_128(bytes, key, 3));
  }
  for (; size != 0; size -= 16, bytes += 16, key += 2)
    a = _mm_xor_si128(a, product_128(bytes, key, 0));
  a = _mm_xor_si128(_mm_xor_si128(a, b), _mm_xor_si128(c, d));
  const auto lower = static_cast<std::uint64_t>(_mm_cvtsi128_si64(a));
  const auto upper = static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(a, a)));
  return DigestSum{upper} << 64 | lower;
}

[[gnu::target("avx2,pclmul,vpclmulqdq")]] __m256i product_256(const void* bytes, const void* key,
                                                              std::size_t number) noexcept {
  const __m256i words = _mm256_xor_si256(_mm256_loadu_si256(at<__m256i>(bytes, number)),
                                         _mm256_loadu_si256(at<__m256i>(key, number)));
  return _mm256_clmulepi64_epi128(words, words, halves);
}

[[gnu::target("avx2,pclmul,vpclmulqdq")]] DigestSum add_256(DigestSum before,
                                                            const std::byte* bytes,
                                                            std::size_t size,
                                                            const std::uint64_t* key) noexcept {
  if (size < 128) return add_128(before, bytes, size, key);
  __m256i a = _mm256_setzero_si256();
  __m256i b = _mm256_setzero_si256();
  __m256i c = _mm256_setzero_si256();
  __m256i d = _mm256_setzero_si256();
  for (; size >= 128; size -= 128, bytes += 128, key += 16) {
    a = _mm256_xor_si256(a, product_256(bytes, key, 0));
    b = _mm256_xor_si256(b, product_256(bytes, key, 1));
    c = _mm256_xor_si256(c, product_256(bytes, key, 2));
    d = _mm256_xor_si256(d, product_256(bytes, key, 3));
  }
  a = _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d));
  DigestSum sums[2];
  std::memcpy(sums, &a, sizeof sums);
  return add_128(before ^ sums[0] ^ sums[1], bytes, size, key);
}

[[gnu::target("avx512f,avx2,pclmul,vpclmulqdq")]] __m512i product_512(const void* bytes,
                                                                      const void* key,
                                                                      std::size_t number) noexcept {
  const __m512i words = _mm512_xor_si512(_mm512_loadu_si512(at<__m512i>(bytes, number)),
                                         _mm512_loadu_si512(at<__m512i>(key, number)));
  return _mm512_clmulepi64_epi128(words, words, halves);
}

[[gnu::target("avx512f,avx2,pclmul,vpclmulqdq")]] DigestSum add_512(
    DigestSum before, const std::byte* bytes, std::size_t size, const std::uint64_t* key) noexcept {
  if (size < 256) return add_256(before, bytes, size, key);
  __m512i a = _mm512_setzero_si512();
  __m512i b = _mm512_setzero_si512();
  __m512i c = _mm512_setzero_si512();
  __m512i d = _mm512_setzero_si512();
  for (; size >= 256; size -= 256, bytes += 256, key += 32) {
    a = _mm512_xor_si512(a, product_512(bytes, key, 0));
    b = _mm512_xor_si512(b, product_512(bytes, key, 1));
    c = _mm512_xor_si512(c, product_512(bytes, key, 2));
    d = _mm512_xor_si512(d, product_512(bytes, key, 3));
  }
  a = _mm512_xor_si512(_mm512_xor_si512(a, b), _mm512_xor_si512(c, d));
  DigestSum sums[4];
  std::memcpy(sums, &a, sizeof sums);
  return add_256(before ^ sums[0] ^ sums[1] ^ sums[2] ^ sums[3], bytes, size, key);
}

constexpr DigestMethod methods[] = {
    {"integer products", Products::integer, add_integer},
    {"carry-less products, 128 bits", Products::carryless, add_128},
    {"carry-less products, 256 bits", Products::carryless, add_256},
    {"carry-less products, 512 bits", Products::carryless, add_512},
};

/// How many of `methods` this processor has: each needs what the one before it does.
std::size_t count_methods() noexcept {
  // Processors without AVX2 may take eight cycles for such a product.
  if (!__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("avx2")) return 1;
  if (!__builtin_cpu_supports("vpclmulqdq")) return 2;
  return __builtin_cpu_supports("avx512f") ? 4 : 3;
}

#else

constexpr DigestMethod methods[] = {{"integer products", Products::integer, add_integer}};

constexpr std::size_t count_methods() noexcept {
  return 1;
}

#endif

/// The least that a block takes once the method has run for a while: processors begin wide
/// operations slowly.
std::uint64_t ns_of_a_block(const DigestMethod& method) noexcept {
  constexpr std::size_t size = 4096;
  constexpr std::uint64_t enough_ns = 40'000;
  alignas(64) const std::array<std::byte, size> block{};
  alignas(64) const std::array<std::uint64_t, size / sizeof(std::uint64_t)> key{};
  std::uint64_t least = ~std::uint64_t{0};
  DigestSum sum = 0;
  const std::uint64_t first = now_ns();
  for (std::uint64_t begin = first; begin - first < enough_ns;) {
    // Four, because the clock may have steps.
    for (int i = 0; i < 4; ++i) sum = method.add(sum, block.data(), size, key.data());
    asm volatile("" : : "r"(static_cast<std::uint64_t>(sum)));
    const std::uint64_t end = now_ns();
    least = std::min(least, end - begin);
    begin = end;
  }
  return least;
}

}  // namespace

std::span<const DigestMethod> digest_methods() noexcept {
  return std::span(methods).first(count_methods());
}

const DigestMethod& fastest_digest(Products products) noexcept {
  const std::span<const DigestMethod> all = digest_methods();
  const bool is_choice = std::ranges::count(all, products, &DigestMethod::products) > 1;
  const DigestMethod* fastest = methods;
  std::uint64_t least = ~std::uint64_t{0};
  for (const DigestMethod& method : all) {
    if (method.products != products) continue;
    // Some processors have an instruction for wider products that takes longer than those which it
    // replaces.
    const std::uint64_t taken = is_choice ? ns_of_a_block(method) : 0;
    if (taken >= least) continue;
    least = taken;
    fastest = &method;
  }
  return *fastest;
}

Products best_products() noexcept {
  return digest_methods().back().products;
}

}  // namespace gex::net::udp
