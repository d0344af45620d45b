#include "am/deliver.h"

#include <array>
#include <utility>

#include "am/handlers.h"
#include "am/internal.h"
#include "base/error.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/thread.h"

namespace gex::am {

namespace {

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
constexpr auto call_short = short_calls(std::make_index_sequence<max_args + 1>{});
constexpr auto call_payload = payload_calls(std::make_index_sequence<max_args + 1>{});

/// What a handler must not leave behind. None starts with a lock held: nothing polls then.
void check_return(const _gex_Token& token, const ThreadRecord& thread) noexcept {
  const unsigned index = token.header.handler;
  if (thread.reply_descriptor.open && thread.reply_descriptor.token == &token)
    fatal("handler %u returned with a prepared reply neither committed nor cancelled", index);
  if (thread.held_locks != 0) fatal("handler %u returned holding a handler-safe lock", index);
}

}  // namespace

bool run_handler(const Arrived& message) noexcept {
  ThreadRecord& thread = this_thread();
  _gex_Token token;
  token.header = message.header;
  token.ring = message.ring;
  const std::uint8_t index = message.header.handler;
  const unsigned arg_count = message.header.arg_count();

  ++thread.handler_depth;
  if (index >= GEX_AM_INDEX_BASE) [[likely]] {
    token.endpoint = find_endpoint(message.header.client(), message.header.target_endpoint());
    if (token.endpoint == nullptr) [[unlikely]]
      fatal(
          "a message from rank %u names an endpoint that does not exist here (client %u, index %u)",
          message.header.source, message.header.client(), message.header.target_endpoint());
    const gex_AM_Entry_t& entry = token.endpoint->handlers[index];
    if (checked() || entry.gex_fnptr == nullptr) [[unlikely]]
      check_delivery(entry, message.header);
    if (message.header.category() == Category::short_message)
      call_short[arg_count](entry.gex_fnptr, &token, message.args);
    else
      call_payload[arg_count](entry.gex_fnptr, &token, message.payload, message.size, message.args);
  } else {
    internal_handler(index)(&token, message.payload, message.size, message.args, arg_count);
  }
  --thread.handler_depth;
  if (checked()) [[unlikely]]
    check_return(token, thread);
  return !message.header.is_reply() && !token.replied;
}

}  // namespace gex::am
