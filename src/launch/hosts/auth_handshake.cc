#include "launch/hosts/auth_handshake.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "launch/hosts/address_text.h"

namespace gex::launch {

namespace {

/// Time for one handshake: three messages and two hashes, possibly over an intercontinental link.
constexpr double handshake_timeout = 5;

/// The time that a connection has for its handshake before it may be evicted for a newer one.
constexpr double min_handshake_time = 1;

constexpr auto retry_interval = std::chrono::milliseconds(200);

constexpr char magic[8] = {'g', 'e', 'x', 'h', 'o', 's', 't', '1'};

struct Challenge {
  char name[sizeof magic];
  Secret::Bytes nonce;
};
struct Response {
  char name[sizeof magic];
  std::uint32_t host;
  std::uint32_t reserved;
  Secret::Bytes nonce;
  Secret::Bytes proof;
};

enum class Direction : std::uint32_t { to_root, to_guardian };

Secret::Bytes prove(const Secret& secret, Direction direction, std::uint32_t host,
                    const Secret::Bytes& roots_nonce, const Secret::Bytes& guardians_nonce) {
  struct {
    Direction direction;
    std::uint32_t host;
    Secret::Bytes roots_nonce;
    Secret::Bytes guardians_nonce;
  } const message{direction, host, roots_nonce, guardians_nonce};
  return secret.prove(std::as_bytes(std::span(&message, 1)));
}

bool generate(Secret::Bytes& nonce) {
  return getrandom(nonce.data(), nonce.size(), 0) == static_cast<ssize_t>(nonce.size());
}

/// Sends a message that fits the empty buffer of a new connection: all of it or nothing.
template <typename Message>
bool send_whole(int socket, const Message& message) {
  return send(socket, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(sizeof message);
}

/// Returns 0 or an error number: ETIME after the limit, ECONNRESET if the peer has closed the
/// connection.
template <typename Message>
int receive_whole(int socket, Message& message, const Deadline& limit) {
  auto* const bytes = reinterpret_cast<std::byte*>(&message);
  for (std::size_t got = 0; got < sizeof message;) {
    pollfd readable{socket, POLLIN, 0};
    if (poll(&readable, 1, milliseconds_until(limit)) == 0) return ETIME;
    const ssize_t more = recv(socket, bytes + got, sizeof message - got, MSG_DONTWAIT);
    if (more == 0) return ECONNRESET;
    if (more < 0 && errno != EAGAIN && errno != EINTR) return errno;
    if (more > 0) got += static_cast<std::size_t>(more);
  }
  return 0;
}

/// Returns 0 or an error number: EACCES if the peer is not the root.
int authenticate_to_root(int socket, const Secret& secret, std::uint32_t host) {
  const Deadline limit = after(handshake_timeout);
  Challenge challenge;
  if (const int error = receive_whole(socket, challenge, limit); error != 0) return error;
  if (std::memcmp(challenge.name, magic, sizeof magic) != 0) return EACCES;
  Response response{};
  std::memcpy(response.name, magic, sizeof magic);
  response.host = host;
  if (!generate(response.nonce)) return EIO;
  response.proof = prove(secret, Direction::to_root, host, challenge.nonce, response.nonce);
  if (!send_whole(socket, response)) return ECONNRESET;
  Secret::Bytes proof;
  if (const int error = receive_whole(socket, proof, limit); error != 0) return error;
  const Secret::Bytes expected =
      prove(secret, Direction::to_guardian, host, challenge.nonce, response.nonce);
  return equal(proof, expected) ? 0 : EACCES;
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

std::optional<SocketAddress> parse(const std::string& text, std::uint16_t port) {
  SocketAddress address;
  auto* const v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* const v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, text.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof *v4;
  } else if (inet_pton(AF_INET6, text.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof *v6;
  } else {
    return std::nullopt;
  }
  return address;
}

constexpr const char* loopback = "127.0.0.1";

/// This host's addresses. The loopback address is the last; it serves guardians on this host.
std::vector<std::string> own_addresses() {
  std::vector<std::string> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) == 0) {
    for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
      if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_UP) == 0) continue;
      if ((at->ifa_flags & IFF_LOOPBACK) != 0) continue;
      // A link-local address is useless without the interface's name on the other host.
      if (at->ifa_addr->sa_family == AF_INET6 &&
          IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(at->ifa_addr)->sin6_addr))
        continue;
      std::string text = address_text(at->ifa_addr);
      if (!text.empty()) found.push_back(std::move(text));
    }
    freeifaddrs(all);
  }
  found.emplace_back(loopback);
  return found;
}

}  // namespace

AuthHandshake::AuthHandshake(os::FileDescriptor socket, std::string address)
    : socket_(std::move(socket)),
      address_(std::move(address)),
      limit_(after(handshake_timeout)),
      evictable_at_(after(min_handshake_time)) {
  Challenge challenge{};
  std::memcpy(challenge.name, magic, sizeof magic);
  if (generate(nonce_)) {
    challenge.nonce = nonce_;
    send_whole(socket_.get(), challenge);
  } else {
    limit_ = Clock::now();
  }
}

AuthHandshake::State AuthHandshake::receive(const Secret& secret) {
  Response response;
  std::byte room[sizeof response];
  for (;;) {
    const ssize_t got = recv(socket_.get(), room, sizeof response - received_.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return State::incomplete;
    if (got <= 0) return received_.empty() ? State::disconnected : State::refused;
    received_.insert(received_.end(), room, room + got);
    // Refuse at once what does not begin with the magic.
    const std::size_t name = std::min(received_.size(), sizeof magic);
    if (std::memcmp(received_.data(), magic, name) != 0) return State::refused;
    if (received_.size() == sizeof response) break;
  }
  std::memcpy(&response, received_.data(), sizeof response);
  if (!equal(response.proof,
             prove(secret, Direction::to_root, response.host, nonce_, response.nonce))) {
    return State::refused;
  }
  if (recv(socket_.get(), room, 1, MSG_PEEK | MSG_DONTWAIT) == 0) return State::disconnected;
  host_ = response.host;
  const Secret::Bytes answer =
      prove(secret, Direction::to_guardian, response.host, nonce_, response.nonce);
  return send_whole(socket_.get(), answer) ? State::authenticated : State::refused;
}

os::FileDescriptor listen_for_guardians(RootAddress& address, Reach reach) {
  const bool here = reach == Reach::this_host;
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  if (here) any4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  os::FileDescriptor listener;
  if (!here) listener.reset(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int off = 0;
  const auto bind_to = [&listener](const void* to, socklen_t length) {
    return listener && bind(listener.get(), static_cast<const sockaddr*>(to), length) == 0;
  };
  if (!listener || setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0 ||
      !bind_to(&any6, sizeof any6)) {
    // There is no IPv6, or only the loopback is wanted, which usually has an IPv4 address.
    listener.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!bind_to(&any4, sizeof any4)) {
      if (!here) return {};
      any6.sin6_addr = in6addr_loopback;
      listener.reset(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (!bind_to(&any6, sizeof any6)) return {};
    }
  }
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (listen(listener.get(), SOMAXCONN) != 0 ||
      getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return {};
  }
  address.port =
      ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                        : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
  address.hosts = !here                         ? own_addresses()
                  : bound.ss_family == AF_INET6 ? std::vector<std::string>{"::1"}
                                                : std::vector<std::string>{loopback};
  return listener;
}

namespace {

/// Whether a retry may succeed: the root dropped the connection or did not answer in time.
bool is_transient(int error) noexcept {
  return error == ECONNRESET || error == ETIME;
}

/// Tries all addresses once. Returns 0 and sets `connected`, or returns an error number, a
/// transient one if any address failed so.
int try_to_connect(const RootAddress& address, const Secret& secret, std::uint32_t host,
                   os::FileDescriptor& connected) {
  // All at once, so that an unreachable address does not delay a reachable one.
  std::vector<os::FileDescriptor> sockets;
  std::vector<pollfd> waiting;
  int error = EADDRNOTAVAIL;
  for (const std::string& text : address.hosts) {
    const auto to = parse(text, address.port);
    if (!to) continue;
    os::FileDescriptor made(
        socket(to->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (made &&
        (connect(made.get(), reinterpret_cast<const sockaddr*>(&to->storage), to->length) == 0 ||
         errno == EINPROGRESS)) {
      waiting.push_back({made.get(), POLLOUT, 0});
      sockets.push_back(std::move(made));
    } else {
      error = errno;
    }
  }
  const Deadline limit = after(2 * handshake_timeout);
  std::size_t open = waiting.size();
  int failure = error;
  while (open > 0 && poll(waiting.data(), waiting.size(), milliseconds_until(limit)) > 0) {
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0) continue;
      socklen_t length = sizeof error;
      getsockopt(waiting[i].fd, SOL_SOCKET, SO_ERROR, &error, &length);
      if (error == 0) error = authenticate_to_root(waiting[i].fd, secret, host);
      if (error == 0) {
        connected = std::move(sockets[i]);
        return 0;
      }
      if (!is_transient(failure)) failure = error;
      waiting[i].fd = -1;
      --open;
    }
  }
  return open > 0 && !is_transient(failure) ? ETIMEDOUT : failure;
}

}  // namespace

os::FileDescriptor connect_to_root(const RootAddress& address, const Secret& secret,
                                   std::uint32_t host, std::string& why, double timeout) {
  os::FileDescriptor connected;
  const Deadline limit = after(timeout);
  int error = 0;
  for (;;) {
    error = try_to_connect(address, secret, host, connected);
    if (error == 0) return connected;
    if (!is_transient(error) || Clock::now() >= *limit) break;
    std::this_thread::sleep_for(retry_interval);
  }
  why = std::string(error == ETIME ? "no answer" : std::strerror(error)) + " at port " +
        std::to_string(address.port) + " of";
  for (const std::string& text : address.hosts) why += ' ' + text;
  return {};
}

}  // namespace gex::launch
