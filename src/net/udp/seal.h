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
// The tag is SipHash-2-4 of the header, the number of bytes of the payload, and a digest of the
// payload, which the sender's and the receiver's `Cover` chooses:
//  - `checksum`: CRC32C. A process without the key can make no header. One that can change
//  datagrams on
//    their way, which is not possible on a loopback, can exchange the payload.
//  - `payload`: NH of UMAC and VMAC over words of 64 bits: for blocks of 4 KiB the sum of products
//    (m[2i] + k[2i]) * (m[2i+1] + k[2i+1]) modulo 2^128, with k a secret expansion of the key. Two
//    different payloads of one length have the same digest with a probability of at most 2^-63
//    for each forgery that is tried, and the digest never leaves SipHash, so it gives nothing away.
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

namespace gex::net::udp {

enum class Cover : std::uint8_t { checksum = 1, payload = 2 };

class Seal {
 public:
  using Key = std::array<std::uint8_t, 16>;

  explicit Seal(const Key& key);
  ~Seal();
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;

  /// Largest header, in bytes.
  static constexpr std::size_t max_header = 64;

  /// Of a header, whose own place for the tag must be 0, and what follows it.
  std::uint64_t tag(Cover cover, const void* header, std::size_t header_size,
                    std::span<const iovec> payload) const noexcept;

  /// Whether `tag` is theirs. Takes the same time for every wrong tag.
  bool check(std::uint64_t tag, Cover cover, const void* header, std::size_t header_size,
             std::span<const iovec> payload) const noexcept;

 private:
  struct Expansion;
  Key key_;
  std::unique_ptr<const Expansion> expansion_;  ///< the secret words of NH: one block's
};

}  // namespace gex::net::udp
