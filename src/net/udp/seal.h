#pragma once
// `Seal`: proves that a datagram comes from this job and was not changed on its way.
//
// A datagram carries a tag of 64 bits, a function of its header, of its payload and of a key that
// only the ranks of the job have. A header names source, start of the process and sequence number;
// with them the receiver finds what is repeated, so the tag need not change with each sending.
//
//     Seal seal(key);
//     header.tag = 0;
//     header.tag = seal.tag(Cover::payload, &header, sizeof header, pieces);
//
// The tag is SipHash-2-4 of the header, of the number of bytes that follow it, and, with
// Cover::payload, of a digest of these. The digest is NH (Black, Halevi, Krawczyk, Krovetz and
// Rogaway, "UMAC", 1999) over words of 64 bits: of each block of 4 KiB the sum of the products
// (m[2i] + k[2i]) * (m[2i+1] + k[2i+1]) modulo 2^128, where k are secret words made of the key.
// Two different payloads of one size have one digest with a probability of at most 2^-64, however
// they were chosen, and as the digest never leaves SipHash it gives nothing away about k. It needs
// one multiplication for 16 bytes and nothing of a processor but that, so that it takes the place
// of a checksum also where all senders are trusted.
//
// How a payload is cut into pieces does not matter: sender and receiver may have it in others.
//
// Thread rules: any; a seal does not change.

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "net/udp/siphash.h"

namespace gex::net::udp {

/// What a tag speaks for. With `header` a process without the key can still send nothing, but one
/// that can change datagrams on their way can exchange the payload.
enum class Cover : std::uint8_t { header = 1, payload = 2 };

class Seal {
 public:
  explicit Seal(const SipKey& key);

  /// Largest header, in bytes.
  static constexpr std::size_t max_header = 64;
  static constexpr std::size_t block = 4096;

  /// Of a header, whose own place for the tag must be 0, and what follows it.
  std::uint64_t tag(Cover cover, const void* header, std::size_t header_size,
                    std::span<const iovec> payload) const noexcept;

  /// Whether `tag` is theirs.
  bool check(std::uint64_t tag, Cover cover, const void* header, std::size_t header_size,
             std::span<const iovec> payload) const noexcept {
    return tag == this->tag(cover, header, header_size, payload);
  }

 private:
  using Words = std::array<std::uint64_t, block / sizeof(std::uint64_t)>;
  class Digest;

  SipKey key_;
  std::unique_ptr<const Words> words_;  ///< k
};

}  // namespace gex::net::udp
