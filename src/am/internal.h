#pragma once
// The library's own active messages: handler indices below GEX_AM_INDEX_BASE, the same on every
// process. They obey the rules of client handlers (restricted context, one reply), but take their
// arguments as a structure (Fields). A room defines and registers those that it has.
//
// What one passes, in order; between sending and running it takes the way of a client's message
// (api/am_express.cc), but never the express way:
//
//   register_request, _reply  here         at start-up: gives its handler an index
//   Packed, message_for       here         its arguments, and the Outbound that refers to them
//   send_request, send_reply  send.cc      by its route; reply_with (here) has both steps. To this
//                                          process it waits for a poll (leave_to_poll, to_self.cc)
//   deliver_messages          poll.cc      a thread of the client's polls; or
//   serve                     serve.cc     the progress thread takes it, if it runs no client code
//   run_handler               deliver.h    fits_internal (from a network), then internal_handler:
//                                          unpacks the arguments for the room's function

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "am/outbound.h"

namespace gex::am {

/// The function registered for an index. `args` has as many valid entries as are registered.
using InternalHandler = void (*)(gex_Token_t token, void* payload, std::size_t size,
                                 const gex_AM_Arg_t* args) noexcept;

/// The direction and the arguments of the messages that a handler takes; their payload is a
/// medium's, or absent.
struct InternalShape {
  bool is_reply;
  unsigned arg_count;
};

/// The handler index of messages that carry credits and nothing else, which am/network.cc takes
/// itself.
inline constexpr std::uint8_t credits_handler = 0;

/// A message of the library's own, an object for each: the room that has it defines it, and gives
/// it its handler once, at start-up (register_request, register_reply). Rooms start in one order on
/// every process, and so the indices are the same on all.
class Internal {
 public:
  enum Effect : bool {
    library_only,      ///< its handler runs nothing of the client's
    runs_client_code,  ///< its handler calls one of the client's: not in the progress thread
  };
  /// `name`: in traces.
  explicit constexpr Internal(const char* name, Effect effect = library_only) noexcept
      : name_(name), effect_(effect) {}
  Internal(const Internal&) = delete;
  Internal& operator=(const Internal&) = delete;

  /// Once it is registered.
  std::uint8_t handler() const noexcept { return handler_; }

 private:
  friend void register_internal(Internal& message, InternalHandler handler,
                                InternalShape takes) noexcept;

  const char* name_;
  Effect effect_;
  std::uint8_t handler_ = 0;
};

/// The name of the library's own message of that handler; null if there is none.
const char* internal_name(std::uint8_t handler) noexcept;

/// Returns true if the handler is the client's, or calls one of the client's: the progress thread
/// runs none of those.
bool runs_client_code(std::uint8_t handler) noexcept;

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
  /// Such a message, without payload as yet.
  Outbound message_for(const Internal& internal) const noexcept {
    Outbound message;
    message.what =
        MessageWhat::make(internal.handler(), Category::short_message, false, arguments_of<T>, {});
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
void reply_with(gex_Token_t token, const Internal& internal, const T& fields) noexcept {
  const Packed<T> packed(fields);
  Outbound reply = packed.message_for(internal);
  reply_to(token, reply);
}

/// Start-up only.
void register_internal(Internal& message, InternalHandler handler, InternalShape takes) noexcept;
InternalHandler internal_handler(std::uint8_t index) noexcept;
/// Returns true if there is such a handler and it takes the message; run_handler (deliver.h) asks.
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
void register_typed(Internal& message, bool is_reply) noexcept {
  using T = typename FieldsOf<decltype(handler)>::type;
  register_internal(
      message,
      [](gex_Token_t token, void* payload, std::size_t size, const gex_AM_Arg_t* args) noexcept {
        handler(token, unpack<T>(args), payload, size);
      },
      {is_reply, arguments_of<T>});
}
}  // namespace detail

/// Registers a `Handler`; start-up only.
template <auto handler>
void register_request(Internal& message) noexcept {
  detail::register_typed<handler>(message, /*is_reply=*/false);
}
template <auto handler>
void register_reply(Internal& message) noexcept {
  detail::register_typed<handler>(message, /*is_reply=*/true);
}

}  // namespace gex::am
