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
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <type_traits>

#include "launch/hosts/address_text.h"

namespace gex::launch {

namespace {

/// Time for one handshake: three messages and two hashes, possibly over an intercontinental link.
constexpr double handshake_timeout = 5;

/// Seconds for which addresses have a chance although the attempt at another may be repeated.
constexpr double min_retry_time = 0.5;

/// Seconds for the root's proof.
constexpr double answer_timeout = 2;

constexpr auto retry_interval = std::chrono::milliseconds(200);

constexpr char magic[8] = {'g', 'e', 'x', 'h', 'o', 's', 't', '2'};

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

enum class Direction : std::uint32_t { to_root, to_guardian, frames_to_root, frames_to_guardian };

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

/// The guardian's; the root's are the other way round.
LinkKeys derive_keys(const Secret& secret, std::uint32_t host, const Secret::Bytes& roots_nonce,
                     const Secret::Bytes& guardians_nonce) {
  return {prove(secret, Direction::frames_to_root, host, roots_nonce, guardians_nonce),
          prove(secret, Direction::frames_to_guardian, host, roots_nonce, guardians_nonce)};
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

/// This host's addresses, those of interfaces without a carrier after the others, since there may
/// be room for a part of them only. The loopback address is the last; it serves guardians on this
/// host.
std::vector<std::string> own_addresses() {
  std::vector<std::string> found;
  std::vector<std::string> without_carrier;
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
      if (text.empty()) continue;
      ((at->ifa_flags & IFF_RUNNING) != 0 ? found : without_carrier).push_back(std::move(text));
    }
    freeifaddrs(all);
  }
  found.insert(found.end(), without_carrier.begin(), without_carrier.end());
  found.emplace_back(loopback);
  return found;
}

}  // namespace

AuthHandshake::AuthHandshake(os::FileDescriptor socket, std::string address)
    : socket_(std::move(socket)), address_(std::move(address)), limit_(after(handshake_timeout)) {
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
  const LinkKeys of_guardian = derive_keys(secret, host_, nonce_, response.nonce);
  keys_ = {of_guardian.receive, of_guardian.send};
  const Secret::Bytes answer =
      prove(secret, Direction::to_guardian, response.host, nonce_, response.nonce);
  return send_whole(socket_.get(), answer) ? State::authenticated : State::refused;
}

os::FileDescriptor listen_for_guardians(RootAddress& address, Reach reach,
                                        const std::optional<PortRange>& ports) {
  const bool here = reach == Reach::this_host;
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  if (here) any4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  os::FileDescriptor listener;
  if (!here) listener.reset(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int off = 0;
  const auto bind_to = [&listener, &ports](const auto& any) {
    if (!listener) return false;
    // The connections of an earlier job leave its port in use for a minute.
    const int on = 1;
    if (ports) setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const PortRange range = ports.value_or(PortRange{});
    for (unsigned port = range.first; port <= range.last; ++port) {
      auto to = any;
      auto& place = [&to]() -> in_port_t& {
        if constexpr (std::is_same_v<decltype(to), sockaddr_in6>)
          return to.sin6_port;
        else
          return to.sin_port;
      }();
      place = htons(static_cast<std::uint16_t>(port));
      if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return true;
      if (errno != EADDRINUSE && errno != EACCES) return false;
    }
    return false;
  };
  if (!listener || setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0 ||
      !bind_to(any6)) {
    // There is no IPv6, or only the loopback is wanted, which usually has an IPv4 address.
    listener.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!bind_to(any4)) {
      if (!here) return {};
      any6.sin6_addr = in6addr_loopback;
      listener.reset(socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (!bind_to(any6)) return {};
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

/// Returns true if a retry may succeed: the root dropped the connection or did not answer in time.
bool is_transient(int error) noexcept {
  return error == ECONNRESET || error == ETIME;
}

/// A guardian's connection to an address that may be the root's.
class Attempt {
 public:
  enum class State { connecting, unchallenged, challenged, answered, connected };

  explicit Attempt(os::FileDescriptor socket) : socket_(std::move(socket)) {}

  State state() const noexcept { return state_; }
  int socket() const noexcept { return socket_.get(); }
  RootConnection release(const Secret& secret, std::uint32_t host) {
    return {std::move(socket_), derive_keys(secret, host, challenge_.nonce, nonce_)};
  }
  void close() noexcept { socket_.reset(); }
  short events() const noexcept {
    return state_ == State::connecting ? POLLOUT : state_ == State::challenged ? 0 : POLLIN;
  }

  /// After an event. Returns 0 or an error number: ECONNRESET if the peer has closed the
  /// connection, EACCES if it is not the root.
  int advance(const Secret& secret, std::uint32_t host) {
    if (state_ == State::connecting) {
      int error = 0;
      socklen_t length = sizeof error;
      getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
      if (error == 0) state_ = State::unchallenged;
      return error;
    }
    const std::size_t wanted =
        state_ == State::answered ? sizeof(Secret::Bytes) : sizeof(Challenge);
    const ssize_t got =
        recv(socket_.get(), received_.data() + filled_, wanted - filled_, MSG_DONTWAIT);
    if (got == 0) return ECONNRESET;
    if (got < 0) return errno == EAGAIN || errno == EINTR ? 0 : errno;
    filled_ += static_cast<std::size_t>(got);
    if (filled_ < wanted) return 0;
    filled_ = 0;
    if (state_ == State::unchallenged) {
      std::memcpy(&challenge_, received_.data(), sizeof challenge_);
      state_ = State::challenged;
      return std::memcmp(challenge_.name, magic, sizeof magic) == 0 ? 0 : EACCES;
    }
    Secret::Bytes proof;
    std::memcpy(proof.data(), received_.data(), sizeof proof);
    state_ = State::connected;
    return equal(proof, prove(secret, Direction::to_guardian, host, challenge_.nonce, nonce_))
               ? 0
               : EACCES;
  }

  /// Sends the response, once challenged.
  int answer(const Secret& secret, std::uint32_t host) {
    if (!generate(nonce_)) return EIO;
    Response response{};
    std::memcpy(response.name, magic, sizeof magic);
    response.host = host;
    response.nonce = nonce_;
    response.proof = prove(secret, Direction::to_root, host, challenge_.nonce, nonce_);
    state_ = State::answered;
    answered_at_ = after(answer_timeout);
    return send_whole(socket_.get(), response) ? 0 : ECONNRESET;
  }
  /// When the root's proof is due, of one that has answered.
  const Deadline& proof_due() const noexcept { return answered_at_; }

 private:
  os::FileDescriptor socket_;
  State state_ = State::connecting;
  Challenge challenge_{};
  Secret::Bytes nonce_{};
  Deadline answered_at_;
  std::size_t filled_ = 0;
  std::array<std::byte, sizeof(Challenge)> received_{};
};

/// Connections to all addresses of the root at once, so that one that is unreachable, or at which
/// something else listens that is silent, does not delay another. The first that is challenged
/// answers, and no other does meanwhile: the root takes the first answer.
class Attempts {
 public:
  Attempts(const RootAddress& address, const Secret& secret, std::uint32_t host)
      : secret_(secret), host_(host) {
    for (const std::string& text : address.hosts) {
      const auto to = parse(text, address.port);
      if (!to) continue;
      os::FileDescriptor made(
          socket(to->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (made &&
          (connect(made.get(), reinterpret_cast<const sockaddr*>(&to->storage), to->length) == 0 ||
           errno == EINPROGRESS))
        open_.emplace_back(std::move(made));
      else
        note(errno);
    }
  }

  /// Returns 0 and sets `connected`, or returns an error number, a transient one if any address
  /// failed so.
  int run(RootConnection& connected) {
    const Deadline limit = after(2 * handshake_timeout);
    const Deadline retry_at = after(min_retry_time);
    std::vector<pollfd> waiting;
    while (!open_.empty() && Clock::now() < *limit) {
      // Do not wait for the addresses that are silent where one that was not is worth a retry.
      const bool can_retry = is_transient(failure_) && !has(Attempt::State::answered);
      if (can_retry && Clock::now() >= *retry_at) break;
      waiting.clear();
      Deadline due = can_retry ? retry_at : limit;
      for (const Attempt& one : open_) {
        waiting.push_back({one.socket(), one.events(), 0});
        due = earlier(due, one.proof_due());
      }
      poll(waiting.data(), waiting.size(), milliseconds_until(due));
      for (std::size_t i = 0; i < open_.size(); ++i) {
        Attempt& one = open_[i];
        int error = waiting[i].revents != 0 ? one.advance(secret_, host_) : 0;
        if (error == 0 && one.state() == Attempt::State::connected) {
          connected = one.release(secret_, host_);
          return 0;
        }
        if (error == 0 && one.proof_due() && Clock::now() >= *one.proof_due()) error = ETIME;
        if (error != 0) drop(one, error);
      }
      std::erase_if(open_, [](const Attempt& one) { return one.socket() < 0; });
      answer_one();
    }
    return !open_.empty() && !is_transient(failure_) ? ETIMEDOUT : failure_;
  }

 private:
  void note(int error) {
    if (!is_transient(failure_)) failure_ = error;
  }
  void drop(Attempt& one, int error) {
    note(error);
    one.close();
  }
  bool has(Attempt::State state) const {
    return std::any_of(open_.begin(), open_.end(),
                       [state](const Attempt& one) { return one.state() == state; });
  }
  void answer_one() {
    if (has(Attempt::State::answered)) return;
    const auto next = std::find_if(open_.begin(), open_.end(), [](const Attempt& one) {
      return one.state() == Attempt::State::challenged;
    });
    if (next == open_.end()) return;
    if (const int error = next->answer(secret_, host_); error != 0) {
      drop(*next, error);
      open_.erase(next);
    }
  }

  const Secret& secret_;
  const std::uint32_t host_;
  std::vector<Attempt> open_;
  int failure_ = EADDRNOTAVAIL;
};

}  // namespace

RootConnection connect_to_root(const RootAddress& address, const Secret& secret, std::uint32_t host,
                               std::string& why, double timeout) {
  RootConnection connected;
  const Deadline limit = after(timeout);
  int error = 0;
  for (;;) {
    error = Attempts(address, secret, host).run(connected);
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
