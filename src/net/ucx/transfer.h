#pragma once
// A put, get or atomic operation of this process's that is under way over one worker.

#include <cstddef>
#include <cstdint>

#include "net/kit/put_groups.h"

namespace gex::net::ucx {

class OneSided;

struct Transfer {
  enum class Purpose : std::uint8_t { put, get, atomic, flush, flush_of_group };

  OneSided* owner;
  Transfer* next;  ///< of those that one flush is to cover
  std::uint32_t peer;
  std::uint32_t number;  ///< by which the peer acknowledges a put of messages
  Purpose purpose;
  std::uint8_t parts;            ///< completions that are awaited
  std::uint32_t size;            ///< atomic: bytes
  std::uint32_t unsent;          ///< a put's messages that UCX reads, and 1 until all are made
  std::uint32_t unacknowledged;  ///< a put's messages
  void* done;  ///< null: a put without a completion; flush_of_group: its FlushGroup
  void* local_done;
  PutGroup* group;        ///< of a put of messages without a completion
  void* result;           ///< atomic: where the former value goes, or null
  std::uint64_t operand;  ///< atomic
  std::uint64_t former;   ///< atomic: until then, of a comparison, what it writes
};

}  // namespace gex::net::ucx
