#pragma once
// `Seal`: proves that a datagram was sent by one process of this job to another, and was not
// changed on its way.
//
// A datagram carries a tag of 64 bits, a function of its header, of its payload, of its number and
// of a key that holds for one direction between two processes: what was sent to another rank or
// lane, in another session, or the other way, has no valid tag here. The key is made of the job's,
// which only the ranks have. By the number, which no two datagrams of a direction share, the
// receiver finds what is repeated (freshness.h).
//
//     Seal seal(key_of_the_job);
//     const SipKey key = seal.key_of({.sender = 0, .sender_session = 17, ...});
//     header.tag = 0;
//     header.tag = seal.tag(key, number >> 32, &header, sizeof header, size_of(pieces), pieces);
//
// The tag is SipHash-2-4 of the header, of the number of bytes that follow it, of the upper half of
// the datagram's number, of which the header has the lower, and of a digest of what follows
// (digest.h), whose secret words are made of the job's key. A payload that takes the place of
// another of its size has the same digest with a probability of at most 2^-64, whatever its bytes,
// since neither the secret words nor any digest can be seen. With another digest, or another
// number, its tag is a value of SipHash that was never given out, which is guessed with a
// probability of 2^-64.
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

#include "base/cache_line.h"
#include "base/siphash.h"
#include "net/udp/digest.h"

namespace gex::net::udp {

/// From which process to which. Processes of different jobs have different keys; a session is one
/// lane of a process.
struct Direction {
  std::uint32_t sender;
  std::uint32_t sender_session;
  std::uint32_t receiver;
  std::uint32_t receiver_session;
};

class Seal {
 public:
  explicit Seal(const SipKey& key, const DigestMethod& method = fastest_digest(Products::integer));

  /// Largest header, in bytes.
  static constexpr std::size_t max_header = 64;
  static constexpr std::size_t block = 4096;

  /// The key of what goes that way.
  SipKey key_of(const Direction& direction) const noexcept;

  /// The tag of a header, whose own place for the tag must be 0, and of `payload_size` bytes behind
  /// it. `covered` are all of these or the first, as the header's flags state.
  std::uint64_t tag(const SipKey& key, std::uint32_t number_above, const void* header,
                    std::size_t header_size, std::size_t payload_size,
                    std::span<const iovec> covered) const noexcept;

 private:
  /// On cache lines, as the methods for wide registers need to be fast.
  struct alignas(cache_line) Words {
    std::array<std::uint64_t, block / sizeof(std::uint64_t)> all;
  };
  class Digest;

  SipKey key_;
  DigestMethod method_;
  std::unique_ptr<const Words> words_;  ///< k of the digest, for all directions
};

}  // namespace gex::net::udp
