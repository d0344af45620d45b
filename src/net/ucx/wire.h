#pragma once
// The messages of this conduit on the wire: active messages of UCP's with one number, whose header
// is a stamp and whose payload is the message.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "net/kit/stamp.h"  // message_alignment

namespace gex::net::ucx {

/// Payload that am/ can build in place or send in one message, beside `header_room` for its header.
inline constexpr std::size_t payload_room = 16384;
inline constexpr std::size_t header_room = 240;
inline constexpr std::size_t max_message = payload_room + header_room;

/// The largest message that its receiver copies out of UCX's memory when it arrives. UCX, which
/// would do that itself for one that is to stay, takes longer. A short message with up to 12
/// arguments is no larger.
inline constexpr std::size_t max_copied = 64;

/// The numbers of active messages: of libgex's messages, of those up to `max_copied`, and of parts
/// of puts and their acknowledgements (message_puts.h).
inline constexpr unsigned am_id = 1;
inline constexpr unsigned copied_am_id = 4;
inline constexpr unsigned put_am_id = 2;
inline constexpr unsigned put_answer_am_id = 3;

enum class Kind : std::uint8_t {
  request = request_channel,
  reply = reply_channel,
  handshake = 2,  ///< empty; the first message from a neighbor
  put = 3,
  put_answer = 4,
  lane_offer = 5,  ///< a lane's number, 32 bits, and the address of its worker
};
constexpr bool is_for_am(Kind kind) noexcept {
  return kind == Kind::request || kind == Kind::reply;
}

/// The header of every message. Its size UCX delivers. With a short message without arguments it
/// fits, beside what UCX puts in front of it, into one cache line of UCX's shared memory.
class Stamp {
 public:
  static Stamp of(std::uint64_t cookie, std::uint32_t source, Kind kind) noexcept {
    Stamp stamp;
    stamp.cookie_[0] = static_cast<std::uint32_t>(cookie);
    stamp.cookie_[1] = static_cast<std::uint32_t>(cookie >> 32);
    stamp.source_and_kind_ = source | static_cast<std::uint32_t>(kind) << kind_shift;
    return stamp;
  }
  std::uint64_t cookie() const noexcept {
    return cookie_[0] | static_cast<std::uint64_t>(cookie_[1]) << 32;
  }
  std::uint32_t source() const noexcept { return source_and_kind_ & ((1U << kind_shift) - 1); }
  Kind kind() const noexcept { return static_cast<Kind>(source_and_kind_ >> kind_shift); }

 private:
  static constexpr unsigned kind_shift = 29;

  std::uint32_t cookie_[2];
  std::uint32_t source_and_kind_;
};
static_assert(sizeof(Stamp) == 12);

/// In front of a part of a put.
struct PutHeader {
  Stamp stamp;
  std::uint32_t number;   ///< of the put, which the acknowledgement repeats
  std::uint64_t address;  ///< at the receiver
  std::uint64_t segment;  ///< its number (segments.h)
};

/// The most bytes of a put in one message: with its headers it fits into what UCX's TCP receives at
/// once (UCX_TCP_RX_SEG_SIZE); UCX would copy the parts of a larger one together.
inline constexpr std::size_t max_put_part = 60 * 1024;

/// A lane_offer, at its receiver.
struct LaneOffer {
  std::uint32_t source;
  std::uint32_t lane;
  std::vector<std::byte> address;
};

/// Returns true if a peer of this job can have sent this.
inline bool is_from_peer(const Host& host, const Stamp& stamp) noexcept {
  return stamp.cookie() == host.cookie && stamp.source() < host.size && stamp.source() != host.rank;
}

/// The stamp of what arrived, or nothing when no peer of this job can have sent it.
inline std::optional<Stamp> read_stamp(const Host& host, const void* header,
                                       std::size_t header_size, std::size_t size) noexcept {
  Stamp stamp;
  if (header_size != sizeof stamp) return std::nullopt;
  std::memcpy(&stamp, header, sizeof stamp);
  if (!is_from_peer(host, stamp) || size > max_message || stamp.kind() == Kind::put ||
      stamp.kind() == Kind::put_answer || stamp.kind() > Kind::lane_offer)
    return std::nullopt;
  return stamp;
}

}  // namespace gex::net::ucx
