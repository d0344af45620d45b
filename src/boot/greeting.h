#pragma once
// How a guardian and the root of its job make sure of each other when the guardian connects.
//
//   root      -> guardian   a nonce
//   guardian  -> root       which host it is of, a nonce, and the proof that it knows the secret
//   root      -> guardian   the proof that the root knows it too
//
// Each proof covers both nonces and the direction, so none can be used twice. From then on the
// connection is trusted; who can change packets on the way can take it over.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/os_file.h"
#include "boot/deadline.h"
#include "boot/secret.h"

namespace gex::boot {

/// A connection to the root's port that has not shown yet that it knows the secret.
class Greeting {
 public:
  /// Sends the nonce.
  Greeting(os::FileDescriptor socket, std::string address);

  int socket() const noexcept { return socket_.get(); }
  const std::string& address() const noexcept { return address_; }
  /// Until then it must have shown it.
  const Deadline& limit() const noexcept { return limit_; }
  /// From then on it may be given up for a newer one: a guardian needs no second.
  Clock::time_point may_go_at() const noexcept { return may_go_at_; }

  enum class State { incomplete, proven, refused, left };
  /// Takes what there is to read. `proven`: the peer knows the secret and has been shown that this
  /// side does. `left`: it went away without a word, as a guardian does that has found the root at
  /// another of its addresses, or after a true one, because that took too long.
  State hear(const Secret& secret);

  /// The host that a proven peer says it is of.
  std::uint32_t host() const noexcept { return host_; }
  os::FileDescriptor take_socket() noexcept { return std::move(socket_); }

 private:
  os::FileDescriptor socket_;
  std::string address_;
  Deadline limit_;
  Clock::time_point may_go_at_;
  Secret::Bytes nonce_{};
  std::vector<std::byte> heard_;
  std::uint32_t host_ = 0;
};

/// Where the root of a job can be reached.
struct RootAddress {
  std::vector<std::string> hosts;  ///< numeric addresses, any of which may be it
  std::uint16_t port = 0;
};

/// From where guardians come.
enum class Reach { this_host, all_hosts };

/// Listens on a port that the kernel chooses, on all addresses of this host or on that of its
/// loopback alone; empty with errno on failure.
os::FileDescriptor listen_for_guardians(RootAddress& address, Reach reach);

/// How many seconds a guardian goes on to try a root that is stopped, or that lets go of it before
/// it has spoken because there are too many.
inline constexpr double connect_patience = 30;

/// Connects to the root as the guardian of `host`. Empty with a text in `why` when none of the
/// addresses is it.
os::FileDescriptor connect_to_root(const RootAddress& address, const Secret& secret,
                                   std::uint32_t host, std::string& why,
                                   double patience = connect_patience);

}  // namespace gex::boot
