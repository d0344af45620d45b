#include "launch/hosts/secret.h"

#include <sys/random.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace gex::launch {

static_assert(std::endian::native == std::endian::little);

namespace {

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) noexcept {
    for (; count > 0; --count) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }
  void add(std::uint64_t word) noexcept {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  std::uint64_t all() const noexcept { return v0 ^ v1 ^ v2 ^ v3; }
};

}  // namespace

std::optional<Secret> Secret::generate() noexcept {
  Bytes bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return std::nullopt;
  }
  return Secret(bytes);
}

Secret::Bytes Secret::prove(std::span<const std::byte> message) const noexcept {
  std::uint64_t key[2];
  std::memcpy(key, bytes_.data(), sizeof key);
  // The constants spell "somepseudorandomlygeneratedbytes".
  SipState state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d ^ 0xee,
                 key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
  const std::uint64_t length = message.size();
  std::uint64_t word = 0;
  for (; message.size() >= sizeof word; message = message.subspan(sizeof word)) {
    std::memcpy(&word, message.data(), sizeof word);
    state.add(word);
  }
  word = 0;
  if (!message.empty()) std::memcpy(&word, message.data(), message.size());
  state.add(word | length << 56);
  std::uint64_t result[2];
  state.v2 ^= 0xee;
  state.rounds(4);
  result[0] = state.all();
  state.v1 ^= 0xdd;
  state.rounds(4);
  result[1] = state.all();
  Bytes proof;
  std::memcpy(proof.data(), result, sizeof result);
  return proof;
}

bool equal(const Secret::Bytes& one, const Secret::Bytes& other) noexcept {
  std::byte difference{};
  for (std::size_t i = 0; i < one.size(); ++i) difference |= one[i] ^ other[i];
  return difference == std::byte{};
}

}  // namespace gex::launch
