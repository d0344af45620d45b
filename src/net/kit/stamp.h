#pragma once
// The words in front of every message on the wire where ports are open to others.
//
// Any process can send to such a port. The stamp's cookie, a random number of the job's, identifies
// messages of peers. Messages are filled up to a multiple of 16 bytes, so that those that are
// packed into one buffer all begin at the alignment that `Host::deliver` promises.
//
// `Kind` is the conduit's: an enumeration that begins with the two channels and goes on with
// messages of its own, of which there is room for six.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace gex::net {

inline constexpr std::size_t message_alignment = 16;

constexpr std::size_t filled_up(std::size_t size) noexcept {
  return (size + message_alignment - 1) & ~(message_alignment - 1);
}

template <class Kind>
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

/// The stamp of what arrived, or nothing when no peer of this job can have sent it.
template <class Kind>
std::optional<Stamp<Kind>> read_stamp(const Host& host, const void* data, std::size_t size,
                                      std::size_t max_message, Kind last_kind) noexcept {
  Stamp<Kind> stamp;
  static_assert(sizeof stamp == message_alignment);
  if (size < sizeof stamp) return std::nullopt;
  std::memcpy(&stamp, data, sizeof stamp);
  if (stamp.cookie != host.cookie || stamp.source >= host.size || stamp.source == host.rank ||
      stamp.size() > max_message || stamp.kind() > last_kind ||
      sizeof stamp + filled_up(stamp.size()) != size)
    return std::nullopt;
  return stamp;
}

}  // namespace gex::net
