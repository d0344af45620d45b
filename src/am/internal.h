#pragma once
// The library's own active messages: handler indices below GEX_AM_INDEX_BASE, the same on every
// process. They obey the rules of client handlers (restricted context, one reply), but are
// functions of one signature, registered by the room that owns them.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "am/outbound.h"

namespace gex::am {

enum class Internal : std::uint8_t {
  credits = 0,  ///< network flow control; handled by am/network.cc itself
  rma_put,
  rma_get,
  rma_data,
  rma_done,
  exchange_gather,
  exchange_spread,
  barrier,
  completion_barrier,
  named_barrier,
  atomic_request,
  atomic_done,
  vis_put,
  vis_get,
  vis_data,
  vis_notice,
  coll_data,
  coll_grant,
  coll_credit,
  coll_announce,
  coll_agreed,
  memset,
  absence_question,
  absence_answer,
  count
};

/// `args` has `arg_count` valid entries.
using InternalHandler = void (*)(gex_Token_t token, void* payload, std::size_t size,
                                 const gex_AM_Arg_t* args, unsigned arg_count) noexcept;

/// What a handler is sent. Its arguments are no fewer than it reads without asking `arg_count`; its
/// payload is a medium's, or none.
struct InternalMessage {
  bool is_reply;
  unsigned least_args;
};

/// Start-up only.
void register_internal(Internal index, InternalHandler handler, InternalMessage takes) noexcept;
InternalHandler internal_handler(std::uint8_t index) noexcept;
/// Whether there is such a handler and the message is what it takes.
bool fits_internal(const MessageHeader& header) noexcept;

/// A pointer or 64-bit number as two arguments, and back.
inline void put_word(gex_AM_Arg_t* args, std::uint64_t word) noexcept {
  args[0] = static_cast<gex_AM_Arg_t>(word >> 32);
  args[1] = static_cast<gex_AM_Arg_t>(word & 0xffffffffU);
}
inline std::uint64_t get_word(const gex_AM_Arg_t* args) noexcept {
  return std::uint64_t{static_cast<std::uint32_t>(args[0])} << 32 |
         static_cast<std::uint32_t>(args[1]);
}

}  // namespace gex::am
