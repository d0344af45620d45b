#pragma once
// A put, get or atomic operation of this process's that is under way over one worker.

#include <cstddef>
#include <cstdint>

namespace gex::net::ucx {

class OneSided;

struct Transfer {
  enum class Purpose : std::uint8_t { put, get, atomic, flush, flush_of_group };

  OneSided* owner;
  Transfer* next;  ///< of those that one flush is to cover, or that wait for the same puts
  std::uint32_t peer;
  std::uint32_t number;  ///< by which the peer acknowledges a put of messages
  Purpose purpose;
  std::uint8_t parts;            ///< completions that are awaited
  std::uint8_t generation;       ///< a put of messages without a completion: of its peer's
  std::uint32_t size;            ///< atomic: bytes
  std::uint32_t unsent;          ///< a put's messages that UCX reads, and 1 until all are made
  std::uint32_t unacknowledged;  ///< a put's messages
  void* done;  ///< null: a put without a completion; flush_of_group: its FlushGroup
  void* local_done;
  void* result;           ///< atomic: where the former value goes, or null
  std::uint64_t operand;  ///< atomic
  std::uint64_t former;   ///< atomic: until then, of a comparison, what it writes
};

}  // namespace gex::net::ucx
