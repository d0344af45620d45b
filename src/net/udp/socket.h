#pragma once
// `Socket`: what the protocol of udp sees of the network. It loses datagrams, repeats them, and
// delivers them in any order; it never waits.
//
// KernelSocket (kernel_socket.h) is the real one. With GEX_UDP_FAULTS, for tests, a LossySocket
// (lossy_socket.h) is put in front of it.
//
// Thread rules: one call of `send` or `connect` and one of `receive` at a time. The two may run at
// the same time; `limits`, `max_datagram`, `charge`, `counts` and
// `descriptor` any time.

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "net/address.h"

namespace gex::net::udp {

/// One datagram to one peer; or, with `segment`, several of that many bytes (the last may be
/// shorter), which the kernel or the card cuts (GSO).
struct Outgoing {
  const Address* to;
  const iovec* pieces;  ///< the bytes of one datagram, or of all its segments, one after the other
  std::uint32_t count;  ///< of pieces, at most `max_pieces`
  std::uint16_t segment = 0;  ///< 0: one datagram. At most `max_datagram(*to)`
  std::uint16_t route = 0;    ///< what `connect(*to)` has returned, or 0
};

/// Pieces of one Outgoing.
inline constexpr std::uint32_t max_pieces = 256;

/// A place for what arrives: one datagram, or several of `segment` bytes each (the last may be
/// shorter) from one peer, which the kernel has joined (GRO). What does not fit is lost.
struct Incoming {
  // The place, which the caller names; the pieces are filled one after the other.
  iovec pieces[3];
  std::uint32_t count;  ///< of pieces
  // The datagrams that arrived.
  Address from;           ///< only with `SocketLimits::names_senders`
  std::size_t bytes;      ///< in all
  std::uint16_t segment;  ///< 0: one datagram, or, in a call with one place, not known
  bool congested;         ///< a router has marked one of them (ECN CE)
  bool cut;               ///< there was more than the place holds: the last segment is not whole
};

/// Constant from the socket's start.
struct SocketLimits {
  /// The largest Outgoing with a `segment`, in bytes and in segments; 0: the kernel cuts nothing.
  std::size_t max_batch = 0;
  std::uint32_t max_segments = 0;
  /// The kernel joins what arrives: a place should have room for `max_joined` bytes then, and for
  /// one datagram otherwise.
  bool joins = false;
  std::size_t max_joined = 0;
  /// Each arrival comes with the address of its sender, at which that can be reached.
  bool names_senders = true;
  /// The room of the kernel for datagrams that wait to be received, in bytes as `charge` counts
  /// them.
  std::size_t receive_buffer = 0;
};

/// Datagrams that the system did not carry, since the start.
struct SocketCounts {
  std::uint64_t refused = 0;     ///< could not be sent: as good as lost
  std::uint64_t overflowed = 0;  ///< dropped because the receive buffer was full
};

class Socket {
 public:
  virtual ~Socket() = default;

  /// Hands over as many of `all`, from the first, as the kernel takes without waiting, and returns
  /// how many. What was handed over may be lost, as may be what the kernel cannot send at all.
  virtual std::size_t send(std::span<const Outgoing> all) = 0;

  /// Fills up to all.size() places with what has arrived, from the first; returns how many. Never
  /// waits.
  virtual std::size_t receive(std::span<Incoming> all) = 0;

  /// A shorter way to there, for `Outgoing::route`, or 0: there is none. For each address once.
  virtual std::uint16_t connect(const Address& /*to*/) { return 0; }

  virtual const SocketLimits& limits() const noexcept = 0;

  /// The largest datagram to there that no router has to cut, as far as has been reported to the
  /// system: the path's MTU without the headers of IP and UDP, at most 65507. It may change when
  /// the path does: a larger datagram is lost. Such a report may be forged.
  virtual std::size_t max_datagram(const Address& to) const = 0;
  /// The largest that the interface takes, whatever the path carries.
  virtual std::size_t interface_datagram(const Address& to) const { return max_datagram(to); }

  /// Returns what a peer's kernel charges its receive buffer for a datagram of `bytes` bytes while
  /// it waits there, at most. Of joined or batched ones for each segment.
  virtual std::size_t charge(std::size_t bytes) const noexcept = 0;

  virtual SocketCounts counts() const noexcept { return {}; }

  /// Can be read when `receive` would find something; -1: the kernel has no such socket.
  virtual int descriptor() const noexcept { return -1; }
};

}  // namespace gex::net::udp
