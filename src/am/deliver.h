#pragma once
// Delivery: from an arrived message to its handler. Inline, because it is most of what a message
// costs its receiver.

#include <gasnetex.h>

#include <array>
#include <cstddef>
#include <utility>

#include "am/arrived.h"
#include "am/handlers.h"
#include "am/internal.h"
#include "am/observed.h"
#include "am/set_aside.h"
#include "am/token.h"
#include "core/objects.h"
#include "core/process.h"

namespace gex::am {

namespace detail {

template <std::size_t>
using Arg = gex_AM_Arg_t;

using ShortCall = void (*)(gex_AM_Fn_t, gex_Token_t, const gex_AM_Arg_t*);
using PayloadCall = void (*)(gex_AM_Fn_t, gex_Token_t, void*, std::size_t, const gex_AM_Arg_t*);

template <std::size_t... I>
constexpr ShortCall short_call(std::index_sequence<I...>) {
  return [](gex_AM_Fn_t function, gex_Token_t token, [[maybe_unused]] const gex_AM_Arg_t* args) {
    reinterpret_cast<void (*)(gex_Token_t, Arg<I>...)>(function)(token, args[I]...);
  };
}
template <std::size_t... I>
constexpr PayloadCall payload_call(std::index_sequence<I...>) {
  return [](gex_AM_Fn_t function, gex_Token_t token, void* payload, std::size_t size,
            [[maybe_unused]] const gex_AM_Arg_t* args) {
    reinterpret_cast<void (*)(gex_Token_t, void*, std::size_t, Arg<I>...)>(function)(
        token, payload, size, args[I]...);
  };
}
template <std::size_t... N>
constexpr auto short_calls(std::index_sequence<N...>) {
  return std::array<ShortCall, sizeof...(N)>{short_call(std::make_index_sequence<N>{})...};
}
template <std::size_t... N>
constexpr auto payload_calls(std::index_sequence<N...>) {
  return std::array<PayloadCall, sizeof...(N)>{payload_call(std::make_index_sequence<N>{})...};
}

/// One call for each argument count.
inline constexpr auto call_short = short_calls(std::make_index_sequence<max_args + 1>{});
inline constexpr auto call_payload = payload_calls(std::make_index_sequence<max_args + 1>{});

/// Calls the client's handler. A message without arguments needs no call of its own shape.
inline void call(gex_AM_Fn_t function, gex_Token_t token, const Arrived& message) {
  const unsigned arg_count = message.header.arg_count();
  if (message.header.category() == Category::short_message) {
    if (arg_count == 0)
      reinterpret_cast<void (*)(gex_Token_t)>(function)(token);
    else
      call_short[arg_count](function, token, message.args);
  } else if (arg_count == 0) {
    reinterpret_cast<void (*)(gex_Token_t, void*, std::size_t)>(function)(token, message.payload,
                                                                          message.size);
  } else {
    call_payload[arg_count](function, token, message.payload, message.size, message.args);
  }
}

}  // namespace detail

/// The possible senders of a message. A neighbor's was built by its library, in memory that only
/// the job's processes have; one from a network may have any header.
enum class Sender { neighbor, any };

/// Runs the handler, or sets the message aside. Returns whether a request was left without a reply,
/// which one set aside is not. In every library a message of any sender has to fit the handler as
/// that is registered: called as something else, it would take arguments for addresses, or read
/// arguments that were not sent. In checked mode a neighbor's has to fit the client's, too.
/// `number`: as in arrived.h.
template <Sender sender = Sender::neighbor>
[[gnu::always_inline]] inline bool run_handler(const Arrived& message,
                                               std::uint32_t number) noexcept {
  const MessageHeader& header = message.header;
  const std::uint8_t index = header.handler();
  _gex_Token token;
  token.header = header;
  token.may_reply = !header.is_reply();
  token.endpoint = nullptr;
  token.ring = message.ring;

  if (observed()) [[unlikely]]
    enter_handler(token, message.size, number);
  if (index >= GEX_AM_INDEX_BASE) [[likely]] {
    token.endpoint = endpoint_at(header.endpoints().target_address());
    if (token.endpoint == nullptr) [[unlikely]]
      refuse_endpoint(token.header);
    const gex_AM_Entry_t& entry = token.endpoint->handlers[index];
    bool fits = entry.gex_fnptr != nullptr;
    if (sender == Sender::any || checked()) [[unlikely]]
      fits = fits_entry(entry, token.header);
    if (!fits) [[unlikely]] {
      // Only a copy has an address, so that the message itself need not lie in memory.
      const Arrived copy = message;
      if (entry.gex_fnptr == nullptr && set_aside(token.endpoint, copy, number)) {
        if (observed()) put_off_handler();
        return false;
      }
      refuse_delivery(entry, token.header);
    }
    detail::call(entry.gex_fnptr, &token, message);
  } else {
    if (sender == Sender::any && !fits_internal(token.header)) [[unlikely]]
      refuse_internal(token.header);
    internal_handler(index)(&token, message.payload, message.size, message.args);
  }
  if (observed()) [[unlikely]]
    leave_handler(token, message.size, number);
  return token.may_reply;
}

}  // namespace gex::am
