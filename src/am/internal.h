#pragma once
// The library's own active messages: handler indices below GEX_AM_INDEX_BASE, the same on every
// process. They obey the rules of client handlers (restricted context, one reply), but take their
// arguments as a structure (Fields), and are registered by the room that owns them.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

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
  atomic_result,
  vis_put,
  vis_put_with_notice,
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
  lane_opened,
  count
};

/// Returns true if the handler is the client's, or calls one of the client's: the progress thread
/// runs none of those.
constexpr bool runs_client_code(std::uint8_t handler) noexcept {
  return handler >= GEX_AM_INDEX_BASE ||
         handler == static_cast<std::uint8_t>(Internal::vis_put_with_notice) ||
         handler == static_cast<std::uint8_t>(Internal::vis_notice);
}

/// A pointer or a 64-bit number among the arguments of a message: two of them, the upper half
/// first.
class Wide {
 public:
  Wide() = default;
  Wide(std::uint64_t value) noexcept
      : high_(static_cast<std::uint32_t>(value >> 32)), low_(static_cast<std::uint32_t>(value)) {}
  explicit Wide(const void* pointer) noexcept : Wide(reinterpret_cast<std::uint64_t>(pointer)) {}

  operator std::uint64_t() const noexcept { return std::uint64_t{high_} << 32 | low_; }
  /// The pointer: T is a pointer type.
  template <class T>
  T as() const noexcept {
    return reinterpret_cast<T>(std::uint64_t{*this});
  }

 private:
  std::uint32_t high_;
  std::uint32_t low_;
};

/// The arguments of a message as a structure of 32-bit numbers and `Wide`s, in this order.
template <class T>
concept Fields = std::is_trivially_copyable_v<T> && alignof(T) == sizeof(gex_AM_Arg_t) &&
                 std::has_unique_object_representations_v<T>;

template <Fields T>
inline constexpr std::uint8_t arguments_of = sizeof(T) / sizeof(gex_AM_Arg_t);

/// Such a structure as `Outbound::args` needs it. To be kept until the message is sent.
template <Fields T>
class Packed {
 public:
  explicit Packed(const T& fields) noexcept { std::memcpy(words_, &fields, sizeof fields); }

  const gex_AM_Arg_t* args() const noexcept { return words_; }
  /// A message to this handler, without payload as yet.
  Outbound message_for(Internal handler) const noexcept {
    Outbound message;
    message.handler = static_cast<std::uint8_t>(handler);
    message.arg_count = arguments_of<T>;
    message.args = words_;
    return message;
  }

 private:
  alignas(16) gex_AM_Arg_t words_[(arguments_of<T> + 3) / 4 * 4] = {};
};

template <Fields T>
T unpack(const gex_AM_Arg_t* args) noexcept {
  T fields;
  std::memcpy(&fields, args, sizeof fields);
  return fields;
}

/// Sends a reply without payload.
template <Fields T>
void reply_with(gex_Token_t token, Internal handler, const T& fields) noexcept {
  const Packed<T> packed(fields);
  Outbound reply = packed.message_for(handler);
  send_reply(token, reply);
}

/// The function registered for an index. `args` has as many valid entries as are registered.
using InternalHandler = void (*)(gex_Token_t token, void* payload, std::size_t size,
                                 const gex_AM_Arg_t* args) noexcept;

/// The messages that a handler takes; their payload is a medium's, or absent.
struct InternalMessage {
  bool is_reply;
  unsigned arg_count;
};

/// Start-up only.
void register_internal(Internal index, InternalHandler handler, InternalMessage takes) noexcept;
InternalHandler internal_handler(std::uint8_t index) noexcept;
/// Returns true if there is such a handler and the message is what it takes.
bool fits_internal(const MessageHeader& header) noexcept;

/// A handler as rooms write it: of a message with the arguments `T`.
template <Fields T>
using Handler = void (*)(gex_Token_t token, const T& fields, void* payload,
                         std::size_t size) noexcept;

namespace detail {
template <class>
struct FieldsOf;
template <Fields T>
struct FieldsOf<Handler<T>> {
  using type = T;
};

template <auto handler>
void register_typed(Internal index, bool is_reply) noexcept {
  using T = typename FieldsOf<decltype(handler)>::type;
  register_internal(
      index,
      [](gex_Token_t token, void* payload, std::size_t size, const gex_AM_Arg_t* args) noexcept {
        handler(token, unpack<T>(args), payload, size);
      },
      {is_reply, arguments_of<T>});
}
}  // namespace detail

/// Registers a `Handler`; start-up only.
template <auto handler>
void register_request(Internal index) noexcept {
  detail::register_typed<handler>(index, /*is_reply=*/false);
}
template <auto handler>
void register_reply(Internal index) noexcept {
  detail::register_typed<handler>(index, /*is_reply=*/true);
}

}  // namespace gex::am
