#pragma once
// Mutual authentication of a guardian and the root of its job, by a challenge and a response over
// the job's secret.
//
//   root      -> guardian   challenge: a nonce
//   guardian  -> root       response: its host's number, a nonce, and a proof of the secret
//   root      -> guardian   the root's proof of the secret
//
// A proof covers both nonces, the host and the direction, so that it cannot be replayed. From the
// same follow the keys by which the frames that come then are sealed (link.h): what relays a
// handshake that is not its own can send nothing afterwards.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "base/os_file.h"
#include "base/port_range.h"
#include "launch/hosts/secret.h"
#include "launch/link_keys.h"

namespace gex::launch {

/// The root's end of a connection that is not authenticated yet.
class AuthHandshake {
 public:
  /// Sends the nonce.
  AuthHandshake(os::FileDescriptor socket, std::string address);

  int socket() const noexcept { return socket_.get(); }
  const std::string& address() const noexcept { return address_; }
  /// The peer must be authenticated by then.
  const Deadline& limit() const noexcept { return limit_; }

  enum class State { incomplete, authenticated, refused, disconnected };
  /// Reads what has arrived. `authenticated`: the peer has proven that it has the secret, and the
  /// root's proof is sent. `disconnected`: the peer closed the connection before it sent anything,
  /// as guardians do once they have reached the root at another address, or after a valid response
  /// that came too late for it.
  State receive(const Secret& secret);

  /// The number of the host that an authenticated peer has named.
  std::uint32_t host() const noexcept { return host_; }
  os::FileDescriptor release_socket() noexcept { return std::move(socket_); }
  /// The root's keys for the frames of an authenticated connection.
  const LinkKeys& keys() const noexcept { return keys_; }

 private:
  os::FileDescriptor socket_;
  std::string address_;
  Deadline limit_;
  Secret::Bytes nonce_{};
  std::vector<std::byte> received_;
  std::uint32_t host_ = 0;
  LinkKeys keys_;
};

/// The network address of a job's root.
struct RootAddress {
  std::vector<std::string> hosts;  ///< numeric addresses; not all need be reachable
  std::uint16_t port = 0;
};

/// The hosts whose guardians may connect.
enum class Reach { this_host, all_hosts };

/// Listens on the first of these ports that is free, or on one that the kernel chooses, on all
/// addresses of this host or on its loopback address only. Returns an empty descriptor and sets
/// errno on failure.
os::FileDescriptor listen_for_guardians(RootAddress& address, Reach reach,
                                        const std::optional<PortRange>& ports = std::nullopt);

/// Seconds for which a guardian retries to connect to a root that is suspended, or that evicts its
/// connection because too many are pending.
inline constexpr double connect_timeout = 30;

/// A guardian's authenticated connection.
struct RootConnection {
  os::FileDescriptor socket;
  LinkKeys keys;

  explicit operator bool() const noexcept { return static_cast<bool>(socket); }
};

/// Connects to the root as the guardian of `host`. The result is empty, and `why` the reason, if
/// the root cannot be reached at any of the addresses.
RootConnection connect_to_root(const RootAddress& address, const Secret& secret, std::uint32_t host,
                               std::string& why, double timeout = connect_timeout);

}  // namespace gex::launch
