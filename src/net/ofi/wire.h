#pragma once
// What lies in front of every message on the wire.
//
// libfabric owns the ports, so anybody can send to them. The stamp's cookie, a random number of the
// job's, tells a message of a peer from anything else. Messages are filled up to a multiple of 16
// bytes, so that those that a provider packs into one buffer all begin at the alignment that
// `Host::deliver` promises.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace gex::net::ofi {

inline constexpr std::size_t message_alignment = 16;

/// Payload that am/ can build in place or send in one message, beside `header_room` for its header.
inline constexpr std::size_t payload_room = 16384;
inline constexpr std::size_t header_room = 240;
inline constexpr std::size_t max_message = payload_room + header_room;

enum class Kind : std::uint8_t {
  request = request_channel,
  reply = reply_channel,
  farewell = 2,  ///< empty; the last that its sender sends
  tally = 3,     ///< see loss_detector.h
  greeting = 4,  ///< empty; the first that its sender sends, see Network::greet
};
constexpr bool is_for_am(Kind kind) noexcept {
  return kind == Kind::request || kind == Kind::reply;
}

struct Stamp {
  std::uint64_t cookie;
  std::uint32_t source;
  std::uint32_t size_and_kind;  ///< bytes of the message without filling, and 3 bits of its kind

  static constexpr unsigned kind_shift = 29;
  static Stamp of(std::uint64_t cookie, std::uint32_t source, Kind kind,
                  std::size_t size) noexcept {
    return {cookie, source,
            static_cast<std::uint32_t>(size) | static_cast<std::uint32_t>(kind) << kind_shift};
  }
  Kind kind() const noexcept { return static_cast<Kind>(size_and_kind >> kind_shift); }
  std::size_t size() const noexcept { return size_and_kind & ((1U << kind_shift) - 1); }
};
static_assert(sizeof(Stamp) == message_alignment);

constexpr std::size_t filled_up(std::size_t size) noexcept {
  return (size + message_alignment - 1) & ~(message_alignment - 1);
}
/// Bytes of the largest message on the wire.
inline constexpr std::size_t max_wire = sizeof(Stamp) + filled_up(max_message);

/// What a tally says, see loss_detector.h.
struct Tally {
  std::uint64_t round;     ///< of the question's sender
  std::uint64_t received;  ///< answer: messages that have come from the question's sender
  std::uint64_t answers;   ///< 0: a question, 1: an answer
  std::uint64_t unused;
};
static_assert(sizeof(Tally) % message_alignment == 0);

/// The stamp of what arrived, or nothing when no peer of this job can have sent it.
inline std::optional<Stamp> read_stamp(const Host& host, const void* data,
                                       std::size_t size) noexcept {
  Stamp stamp;
  if (size < sizeof stamp) return std::nullopt;
  std::memcpy(&stamp, data, sizeof stamp);
  if (stamp.cookie != host.cookie || stamp.source >= host.size || stamp.source == host.rank ||
      stamp.size() > max_message || stamp.kind() > Kind::greeting ||
      (stamp.kind() == Kind::tally && stamp.size() != sizeof(Tally)) ||
      sizeof stamp + filled_up(stamp.size()) != size)
    return std::nullopt;
  return stamp;
}

}  // namespace gex::net::ofi
