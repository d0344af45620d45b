#pragma once
// A put, get or atomic operation of this process's that is under way over one worker.

#include <cstddef>
#include <cstdint>

#include "net/kit/message_transfers.h"
#include "net/kit/put_groups.h"

namespace gex::net::ucx {

class OneSided;

struct Transfer : MessageTransfer {
  enum class Purpose : std::uint8_t { put, get, atomic, flush, flush_of_group };

  OneSided* owner;
  Transfer* next;  ///< of those that one flush is to cover
  Purpose purpose;
  std::uint8_t parts;  ///< completions that are awaited
  std::uint32_t size;  ///< atomic: bytes
  void* done;          ///< null: a put without a completion; flush_of_group: its FlushGroup
  void* local_done;
  PutGroup* group;        ///< of a put of messages without a completion
  void* result;           ///< atomic: where the former value goes, or null
  std::uint64_t operand;  ///< atomic
  std::uint64_t former;   ///< atomic: until then, of a comparison, what it writes
};

}  // namespace gex::net::ucx
