#include "net/udp/seal.h"

#include <algorithm>
#include <cstring>

namespace gex::net::udp {

namespace {

constexpr std::size_t unit = 16;  // bytes of one product

}  // namespace

/// The digest of what is added, block for block, of which each goes to SipHash when it is whole.
class Seal::Digest {
 public:
  Digest(const DigestMethod& method, const Words& words, SipHash& into) noexcept
      : method_(method), words_(words), into_(into) {}

  void add(const std::byte* bytes, std::size_t size) noexcept {
    if (held_ > 0) {
      const std::size_t more = std::min(unit - held_, size);
      hold(bytes, more);
      bytes += more;
      size -= more;
      if (held_ < unit) return;
      held_ = 0;
      add_units(unit_, unit);
    }
    const std::size_t whole = size / unit * unit;
    add_units(bytes, whole);
    hold(bytes + whole, size - whole);
  }

  /// Zeroes fill the last product; how many they are follows from the payload's size.
  void finish() noexcept {
    if (held_ > 0) {
      std::memset(unit_ + held_, 0, unit - held_);
      add_units(unit_, unit);
    }
    if (at_ > 0) pass_on();
  }

 private:
  void hold(const std::byte* bytes, std::size_t size) noexcept {
    if (size == 0) return;
    std::memcpy(unit_ + held_, bytes, size);
    held_ += size;
  }
  void add_units(const std::byte* bytes, std::size_t size) noexcept {
    while (size > 0) {
      const std::size_t part = std::min(size, block - at_);
      sum_ = method_.add(sum_, bytes, part, words_.all.data() + at_ / sizeof(std::uint64_t));
      at_ += part;
      bytes += part;
      size -= part;
      if (at_ == block) pass_on();
    }
  }
  void pass_on() noexcept {
    into_.add(static_cast<std::uint64_t>(sum_));
    into_.add(static_cast<std::uint64_t>(sum_ >> 64));
    sum_ = 0;
    at_ = 0;
  }

  const DigestMethod& method_;
  const Words& words_;
  SipHash& into_;
  DigestSum sum_ = 0;
  std::size_t at_ = 0;    ///< bytes of the block that are in the sum
  std::size_t held_ = 0;  ///< bytes of a product that is not whole yet
  std::byte unit_[unit]{};
};

Seal::Seal(const SipKey& key, const DigestMethod& method) : key_(key), method_(method) {
  auto words = std::make_unique<Words>();
  for (std::uint64_t i = 0; i < words->all.size(); ++i) {
    SipHash hash(key);
    hash.add(i);
    words->all[i] = hash.finish();
  }
  words_ = std::move(words);
}

SipKey Seal::key_of(const Direction& direction) const noexcept {
  SipKey key;
  for (std::uint64_t half = 0; half < key.size(); ++half) {
    // Longer than what `words_` are made of: the two never meet.
    SipHash hash(key_);
    hash.add(std::uint64_t{direction.sender} << 32 | direction.sender_session);
    hash.add(std::uint64_t{direction.receiver} << 32 | direction.receiver_session);
    hash.add(half);
    key[half] = hash.finish();
  }
  return key;
}

std::uint64_t Seal::tag(const SipKey& key, std::uint32_t number_above, const void* header,
                        std::size_t header_size, std::size_t payload_size,
                        std::span<const iovec> covered) const noexcept {
  SipHash hash(key);
  // The sizes come first: what is hashed then can be read in one way only.
  hash.add(std::uint64_t{number_above} << 32 | payload_size << 8 | header_size);
  std::span<const std::byte> rest(static_cast<const std::byte*>(header), header_size);
  for (; rest.size() >= 8; rest = rest.subspan(8)) hash.add(word_at(rest.data()));
  hash.add(part_of_word(rest));
  Digest digest(method_, *words_, hash);
  for (const iovec& piece : covered)
    digest.add(static_cast<const std::byte*>(piece.iov_base), piece.iov_len);
  digest.finish();
  return hash.finish();
}

}  // namespace gex::net::udp
