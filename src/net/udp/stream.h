#pragma once
// Puts and gets under way, and answers to the gets of peers.

#include <cstddef>
#include <cstdint>

#include "net/kit/put_groups.h"
#include "net/udp/packet.h"

namespace gex::net::udp {

/// Bytes on their way to a peer: a put, or the answer to its get that is not copied (`is_copied` of
/// packer.h), or that finds no room as a copy. A put that is copied has one too, which is never
/// queued: it is cut as a whole.
struct Stream {
  enum Kind : std::uint8_t { put, answer };

  Stream* next = nullptr;            ///< in the queue of those that are to be cut
  Stream* in_packet = nullptr;       ///< the next one of Packet::streams
  const std::byte* local = nullptr;  ///< null: its memory has gone (Sender::forget)
  std::uint64_t remote = 0;          ///< an address, of an answer 0
  std::size_t size = 0;
  std::size_t cut = 0;        ///< bytes for which packets have been made
  std::uint32_t packets = 0;  ///< not acknowledged
  std::uint32_t segment = 0;  ///< of a put: its number at the peer
  std::uint32_t get = 0;      ///< of an answer: the get's number at the peer
  std::uint32_t peer = 0;
  Kind kind = put;
  void* done = nullptr;
  void* local_done = nullptr;
  PutGroup* group = nullptr;  ///< in which it is counted
};

/// A get of this process's.
struct Get {
  std::byte* local = nullptr;
  std::size_t size = 0;
  std::size_t received = 0;
  void* done = nullptr;
  std::uint32_t peer = 0;
};

}  // namespace gex::net::udp
