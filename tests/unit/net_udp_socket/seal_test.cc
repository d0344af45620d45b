// Tags: what a tag depends on, and that cutting does not matter.

#include "net/udp/seal.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace gex::net::udp {
namespace {

constexpr SipKey key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

using Header = std::array<std::byte, 32>;

constexpr Direction direction = {
    .sender = 3, .sender_session = 77, .receiver = 4, .receiver_session = 99};
constexpr std::uint32_t number_above = 6;

std::uint64_t tag_of(const Seal& seal, const Header& header, std::vector<std::byte>& payload) {
  const iovec piece = {payload.data(), payload.size()};
  return seal.tag(seal.key_of(direction), number_above, header.data(), header.size(),
                  payload.size(), {&piece, 1});
}

SipKey slow_key() {
  const auto half = [](std::uint64_t number) {
    const std::array<std::uint64_t, 3> words = {std::uint64_t{3} << 32 | 77,
                                                std::uint64_t{4} << 32 | 99, number};
    return siphash(key, std::as_bytes(std::span(words)));
  };
  return {half(0), half(1)};
}

/// The product of two polynomials over GF(2), bit by bit.
DigestSum slow_carryless_product(std::uint64_t a, std::uint64_t b) {
  DigestSum product = 0;
  for (unsigned bit = 0; bit < 64; ++bit)
    if ((b >> bit & 1) != 0) product ^= DigestSum{a} << bit;
  return product;
}

/// NH or CLNH as the papers have them, word by word, with the words of a seal's key.
std::uint64_t slow_tag(Products products, const Header& header,
                       const std::vector<std::byte>& payload) {
  std::vector<std::byte> bytes;
  const auto add = [&bytes](std::uint64_t word) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(word >> 8 * i));
  };
  add(std::uint64_t{number_above} << 32 | payload.size() << 8 | header.size());
  bytes.insert(bytes.end(), header.begin(), header.end());
  add(0);
  for (std::size_t block = 0; block < payload.size(); block += Seal::block) {
    DigestSum sum = 0;
    for (std::size_t i = 0; i < Seal::block && block + i < payload.size(); i += 16) {
      std::array<std::uint64_t, 2> words;
      std::array<std::uint64_t, 2> secret;
      for (std::size_t half = 0; half < 2; ++half) {
        std::uint64_t word = 0;
        for (std::size_t j = 0; j < 8; ++j) {
          const std::size_t at = block + i + half * 8 + j;
          if (at < payload.size()) word |= std::to_integer<std::uint64_t>(payload[at]) << 8 * j;
        }
        std::vector<std::byte> number(8);
        number[0] = static_cast<std::byte>((i / 8 + half) & 0xff);
        number[1] = static_cast<std::byte>((i / 8 + half) >> 8);
        words[half] = word;
        secret[half] = siphash(key, number);
      }
      if (products == Products::integer)
        sum += DigestSum{words[0] + secret[0]} * (words[1] + secret[1]);
      else
        sum ^= slow_carryless_product(words[0] ^ secret[0], words[1] ^ secret[1]);
    }
    add(static_cast<std::uint64_t>(sum));
    add(static_cast<std::uint64_t>(sum >> 64));
  }
  return siphash(slow_key(), bytes);
}

class SealBy : public testing::TestWithParam<std::size_t> {
 protected:
  const DigestMethod& method() const { return digest_methods()[GetParam()]; }
  const Seal seal{key, method()};
};

INSTANTIATE_TEST_SUITE_P(EachMethod, SealBy,
                         testing::Range(std::size_t{0}, digest_methods().size()));

TEST_P(SealBy, TagsAreThoseOfTheDescription) {
  Header header;
  for (std::size_t i = 0; i < header.size(); ++i) header[i] = static_cast<std::byte>(200 + i);
  std::vector<std::size_t> sizes = {4095, 4096, 4097, 8192, 10000};
  for (std::size_t size = 0; size <= 530; ++size) sizes.push_back(size);
  for (const std::size_t size : sizes) {
    std::vector<std::byte> payload = counting(size);
    ASSERT_EQ(tag_of(seal, header, payload), slow_tag(method().products, header, payload))
        << method().name << ", " << size;
  }
}

TEST_P(SealBy, WhereThePayloadLiesDoesNotMatter) {
  const Header header{};
  const SipKey way = seal.key_of(direction);
  std::vector<std::byte> payload = counting(4096 + 700);
  std::vector<std::byte> memory(payload.size() + 64);
  const std::uint64_t tag = tag_of(seal, header, payload);
  for (std::size_t offset = 0; offset < 64; ++offset) {
    const iovec piece = {memory.data() + offset, payload.size()};
    std::copy(payload.begin(), payload.end(), memory.data() + offset);
    ASSERT_EQ(
        tag, seal.tag(way, number_above, header.data(), header.size(), payload.size(), {&piece, 1}))
        << offset;
  }
}

TEST_P(SealBy, CuttingDoesNotMatter) {
  std::mt19937 random(1);
  const Header header{};
  const SipKey way = seal.key_of(direction);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> payload = counting(random() % 9000);
    const std::uint64_t whole = tag_of(seal, header, payload);
    std::vector<iovec> pieces;
    for (std::size_t at = 0; at < payload.size();) {
      const std::size_t size = std::min<std::size_t>(payload.size() - at, random() % 70);
      pieces.push_back({payload.data() + at, size});
      at += size;
    }
    ASSERT_EQ(whole,
              seal.tag(way, number_above, header.data(), header.size(), payload.size(), pieces))
        << round;
  }
}

TEST_P(SealBy, EveryBitMatters) {
  Header header{};
  for (const std::size_t size :
       {std::size_t{8}, std::size_t{33}, std::size_t{300}, std::size_t{4100}}) {
    std::vector<std::byte> payload = counting(size);
    std::set<std::uint64_t> tags = {tag_of(seal, header, payload)};
    std::size_t changes = 1;
    const auto flip_each = [&](auto& bytes) {
      for (std::byte& byte : bytes) {
        for (unsigned bit = 0; bit < 8; ++bit, ++changes) {
          byte ^= static_cast<std::byte>(1U << bit);
          tags.insert(tag_of(seal, header, payload));
          byte ^= static_cast<std::byte>(1U << bit);
        }
      }
    };
    flip_each(payload);
    flip_each(header);
    // Zeroes at the end count, and bytes that have changed places.
    payload.push_back(std::byte{0});
    tags.insert(tag_of(seal, header, payload));
    payload.pop_back();
    std::swap(payload[0], payload[1]);
    tags.insert(tag_of(seal, header, payload));
    EXPECT_EQ(tags.size(), changes + 2);
  }
}

TEST(Seal, WhatIsNotInTheBytesMatters) {
  const Seal seal(key);
  const Seal other({key[0], key[1] ^ 1});
  const Header header{};
  std::vector<std::byte> payload = counting(500);
  const iovec piece = {payload.data(), payload.size()};
  const iovec part = {payload.data(), 100};
  std::set<std::uint64_t> tags = {tag_of(seal, header, payload), tag_of(other, header, payload)};
  const auto add = [&](const Direction& way, std::uint32_t above, std::size_t size,
                       const iovec& covered) {
    tags.insert(
        seal.tag(seal.key_of(way), above, header.data(), header.size(), size, {&covered, 1}));
  };
  // Receiver, direction, sessions of both, the number, and how much of it is not covered.
  add({3, 77, 5, 99}, number_above, 500, piece);
  add({4, 99, 3, 77}, number_above, 500, piece);
  add({3, 78, 4, 99}, number_above, 500, piece);
  add({3, 77, 4, 98}, number_above, 500, piece);
  add(direction, number_above + 1, 500, piece);
  add(direction, number_above, 500, part);
  add(direction, number_above, 100, part);
  EXPECT_EQ(tags.size(), 9U);
}

/// The least that one of 100 calls took, in several rounds.
template <class Call>
double least_seconds(Call call) {
  double least = 1e9;
  for (int round = 0; round < 50; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i) {
      call();
      // No call may be taken for the one before.
      asm volatile("" ::: "memory");
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count() / 100);
  }
  return least;
}

/// A hash that takes bytes one by one, each a multiplication behind the last (FNV-1a).
std::uint64_t hash_by_bytes(const std::byte* bytes, std::size_t size) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3;
  return hash;
}

/// Prints what a tag costs, too.
TEST_P(SealBy, CostsNoMoreThanAFewHashesByBytes) {
  const Header header{};
  for (const std::size_t size : {std::size_t{8}, std::size_t{1400}, std::size_t{32768}}) {
    std::vector<std::byte> payload = counting(size);
    const std::vector<std::byte> with_more = counting(size + 256);
    std::uint64_t all = 0;
    const double tag = least_seconds([&] { all += tag_of(seal, header, payload); });
    const double hash =
        least_seconds([&] { all += hash_by_bytes(with_more.data(), with_more.size()); });
    EXPECT_NE(all, 0U);
    std::printf("%s, %zu bytes: %.0f ns, %.1f GB/s; by bytes %.0f ns\n", method().name, size,
                tag * 1e9, static_cast<double>(size) / tag / 1e9, hash * 1e9);
    EXPECT_LT(tag, 4 * hash);
  }
}

/// Each time that it is chosen, and timed beside the others, something else may have the core.
TEST(Digest, AnotherMethodIsNotAlwaysMuchFasterThanTheChosenOne) {
  const Header header{};
  std::vector<std::byte> payload = counting(32768);
  const auto seconds_by = [&](const DigestMethod& method) {
    const Seal seal(key, method);
    std::uint64_t all = 0;
    return least_seconds([&] { all += tag_of(seal, header, payload); });
  };
  std::string slower;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const DigestMethod& chosen = fastest_digest(best_products());
    const double least = seconds_by(chosen);
    slower.clear();
    for (const DigestMethod& method : digest_methods())
      if (&method != &chosen && method.products == chosen.products &&
          least > 1.5 * seconds_by(method))
        slower += std::string(chosen.name) + ", not " + method.name + "; ";
    if (slower.empty()) return;
  }
  ADD_FAILURE() << slower;
}

}  // namespace
}  // namespace gex::net::udp
