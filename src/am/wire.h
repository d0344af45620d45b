#pragma once
// The wire format of active messages: encoding, and validation on receipt.
//
//   prefix       16 bytes: credits given back, terms of loans, header
//   arguments    padded to 16 bytes
//   long prefix  16 bytes, of a long message: destination and size
//   payload      unless it has gone ahead
//
// Pure functions: they read and write nothing but what they are passed, and end no job. Inline,
// because every message over a network passes through them.

#include <gasnetex.h>
#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "am/arrived.h"
#include "am/internal.h"
#include "am/message.h"
#include "am/outbound.h"
#include "observe/trace_records.h"

namespace gex::am {

/// The two ends report these counts to each other, about credits that one lends the other
/// (lender.h).
struct Terms {
  std::uint16_t lent : 6 = 0;      ///< so many more for the receiver
  std::uint16_t returned : 6 = 0;  ///< so many less for the sender
  bool starved : 1 = false;        ///< a request of the sender's has found no credit
  bool asks : 1 = false;           ///< the receiver shall return what it does not use
  bool answers : 1 = false;        ///< a request for that
  bool spare : 1 = false;
  bool operator==(const Terms&) const = default;
};
static_assert(sizeof(Terms) == 2);

struct WirePrefix {
  std::uint16_t credits;  ///< requests of the receiver that ended without a reply
  Terms terms;
  MessageHeader header;
};
static_assert(sizeof(WirePrefix) == 16);

struct LongPrefix {
  std::uint64_t destination;
  std::uint64_t size;
  /// Added to the size: the payload is at its destination already.
  static constexpr std::uint64_t ahead = std::uint64_t{1} << 63;
};
static_assert(sizeof(LongPrefix) == 16);

/// Bytes of arguments on the wire.
constexpr std::size_t wire_args(std::size_t arg_count) noexcept {
  return (arg_count * sizeof(gex_AM_Arg_t) + 15) & ~std::size_t{15};
}
/// Maximum bytes before the payload of a short or medium message.
inline constexpr std::size_t wire_overhead = sizeof(WirePrefix) + wire_args(max_args);

/// In a traced job the lower bits of a message's number stand where no message over a network has
/// anything, in the field for its slab.
inline constexpr std::uint32_t number_mask = no_slab;
static_assert(number_mask == (1U << trace::network_id_bits) - 1);

/// A message in pieces, ready for `Conduit::send`. Refers to itself and to the message.
struct WireMessage {
  WireMessage(const Outbound& message, gex_Rank_t source, std::uint16_t credits,
              const Terms& terms) noexcept
      : prefix{credits, terms, {message.what, source, message.size_and_slab()}},
        long_prefix{reinterpret_cast<std::uint64_t>(message.destination),
                    message.size | (message.placed ? LongPrefix::ahead : 0)} {
    pieces[count++] = {&prefix, sizeof prefix};
    if (message.what.arg_count() != 0)
      pieces[count++] = {message.args, wire_args(message.what.arg_count())};
    if (message.what.category() == Category::long_message)
      pieces[count++] = {&long_prefix, sizeof long_prefix};
    // An empty one shows which buffer of the conduit's is the message's.
    if ((message.size != 0 && !message.placed) || message.in_conduit_buffer)
      pieces[count++] = {message.payload, message.size};
  }
  void set_number(std::uint32_t number) noexcept {
    prefix.header.size_and_slab =
        MessageHeader::make_size_and_slab(prefix.header.size(), number & number_mask);
  }
  WireMessage(const WireMessage&) = delete;
  WireMessage& operator=(const WireMessage&) = delete;

  WirePrefix prefix;
  LongPrefix long_prefix;
  std::size_t count = 0;
  net::Piece pieces[4];
};

/// The contents of a message's bytes. All that it points to lies in them, but for the destination
/// of a long message, which is not validated yet.
struct WireArrival {
  Arrived message;
  std::uint16_t credits;  ///< given back
  Terms terms;
  std::uint32_t number;  ///< traced jobs: the lower bits of the message's number
  /// A long message's payload, for `message.payload`; null where it lies there already.
  const std::byte* to_place;

  /// Returns true if it carries credits and terms, and nothing else.
  bool is_credits() const noexcept {
    return message.header.is_reply() && message.header.handler() == credits_handler;
  }
};

/// Reads the `size` bytes at `message`, which is aligned to 16, as they came from `source` on
/// `channel`. Returns null, or why no process of this job can have sent them; `arrival` is
/// invalid then.
[[nodiscard]] inline const char* read_message(std::uint32_t source, net::Channel channel,
                                              const void* message, std::size_t size,
                                              WireArrival& arrival) noexcept {
  if (size < sizeof(WirePrefix)) return "shorter than its header";
  const auto* bytes = static_cast<const std::byte*>(message);
  WirePrefix prefix;
  std::memcpy(&prefix, bytes, sizeof prefix);
  const MessageHeader& header = prefix.header;
  if (header.source != source) return "it names another source";
  if (header.is_reply() != (channel == net::reply_channel)) return "on the wrong channel";
  const unsigned arg_count = header.arg_count();
  if (arg_count > max_args) return "too many arguments";
  std::size_t at = sizeof prefix + wire_args(arg_count);
  if (size < at) return "shorter than its arguments";

  if (prefix.terms.spare) return "unknown flow-control bits";
  arrival.credits = prefix.credits;
  arrival.terms = prefix.terms;
  arrival.number = header.slab();
  arrival.to_place = nullptr;
  Arrived& arrived = arrival.message;
  arrived.header = header;
  arrived.args = reinterpret_cast<const gex_AM_Arg_t*>(bytes + sizeof prefix);
  arrived.payload = nullptr;
  arrived.size = 0;
  arrived.ring = nullptr;
  switch (header.category()) {
    case Category::short_message:
      if (size != at) return "a short message with payload";
      break;
    case Category::medium:
      arrived.size = header.size();
      if (arrived.size > max_medium_payload) return "a medium message above the limit";
      if (size - at != arrived.size) return "its size differs from that in its header";
      arrived.payload = const_cast<std::byte*>(bytes + at);
      break;
    case Category::long_message: {
      LongPrefix long_prefix;
      if (size - at < sizeof long_prefix) return "a long message without destination";
      std::memcpy(&long_prefix, bytes + at, sizeof long_prefix);
      at += sizeof long_prefix;
      const bool is_ahead = (long_prefix.size & LongPrefix::ahead) != 0;
      arrived.size = long_prefix.size & ~LongPrefix::ahead;
      if (size - at != (is_ahead ? 0 : arrived.size))
        return "its size differs from that in its header";
      arrived.payload = reinterpret_cast<void*>(long_prefix.destination);
      if (!is_ahead) arrival.to_place = bytes + at;
      break;
    }
    default:
      return "an unknown category";
  }
  if (arrival.is_credits() && size != sizeof prefix) return "trailing bytes after credits";
  return nullptr;
}

}  // namespace gex::am
