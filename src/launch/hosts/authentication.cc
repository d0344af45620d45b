#include "launch/hosts/authentication.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "launch/hosts/address_text.h"
#include "launch/report.h"

namespace gex::launch {

namespace {

/// How many unauthenticated connections are kept at a time: a base number, and more for each host,
/// whose guardian tries all addresses of this one at once.
constexpr std::size_t max_unauthenticated = 128;
constexpr std::size_t max_unauthenticated_per_host = 8;

/// Connections that are accepted before those that are pending get a turn.
constexpr int max_accepted_a_turn = 256;

/// An address that has had this many connections evicted is no guardian's.
constexpr std::size_t min_evicted_to_report = 100;
/// Addresses of which these are counted.
constexpr std::size_t max_counted = 1024;

/// Seconds for which accepting is paused when no connection can be accepted.
constexpr double listen_pause = 0.1;

std::string address_of(const sockaddr_storage& from) {
  const std::string text = address_text(reinterpret_cast<const sockaddr*>(&from));
  // A socket of IPv6 shows addresses of IPv4 so.
  constexpr std::string_view mapped = "::ffff:";
  if (text.starts_with(mapped) && text.find('.') != text.npos) return text.substr(mapped.size());
  return text.empty() ? "?" : text;
}

}  // namespace

Authentication::Authentication(const char* program, std::uint32_t hosts, EventLoop& loop,
                               Authenticated authenticated)
    : program_(program), hosts_(hosts), loop_(loop), authenticated_(std::move(authenticated)) {
}

void Authentication::serve(const Secret& secret, os::FileDescriptor listener) {
  secret_ = secret;
  listener_ = std::move(listener);
  watch_listener();
}

void Authentication::watch_listener() {
  listener_watch_ = loop_.watch(listener_.get(), [this] { accept_connections(); });
}

void Authentication::stop() {
  listener_watch_.reset();
  listener_.reset();
}

/// Evicts a connection if there are as many as may be.
void Authentication::make_room() {
  if (pending_connections_.size() < max_unauthenticated + max_unauthenticated_per_host * hosts_)
    return;
  std::map<std::string_view, std::size_t> of_address;
  for (const auto& one : pending_connections_) ++of_address[one.handshake->address()];
  const auto commonest = std::max_element(
      of_address.begin(), of_address.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  const std::string address(commonest->first);
  pending_connections_.erase(
      std::find_if(pending_connections_.begin(), pending_connections_.end(),
                   [&](const auto& one) { return one.handshake->address() == address; }));
  if (evicted_.size() >= max_counted) evicted_.clear();
  if (++evicted_[address] >= min_evicted_to_report) report_refused(address);
}

/// Pending connections stay in the listen backlog meanwhile.
void Authentication::pause() {
  listener_watch_.reset();
  listen_at_ = after(listen_pause);
}

void Authentication::accept_connections() {
  for (int accepted = 0; listener_ && accepted < max_accepted_a_turn; ++accepted) {
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    os::FileDescriptor socket(accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &length,
                                      SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) pause();
      return;
    }
    make_room();
    const int number = socket.get();
    EventLoop::Watch watch = loop_.watch(number, [this, number] { continue_handshake(number); });
    pending_connections_.push_back(
        {std::make_unique<AuthHandshake>(std::move(socket), address_of(from)), std::move(watch)});
  }
}

void Authentication::continue_handshake(int socket) {
  const auto at = std::find_if(
      pending_connections_.begin(), pending_connections_.end(),
      [socket](const auto& connection) { return connection.handshake->socket() == socket; });
  if (at == pending_connections_.end()) return;
  const AuthHandshake::State state = at->handshake->receive(secret_);
  if (state == AuthHandshake::State::incomplete) return;
  PendingConnection connection = std::move(*at);
  pending_connections_.erase(at);
  connection.watch.reset();
  if (state == AuthHandshake::State::refused) {
    report_refused(connection.handshake->address());
  } else if (state == AuthHandshake::State::authenticated) {
    authenticated_(connection.handshake->host(), connection.handshake->release_socket(),
                   connection.handshake->keys());
  }
}

void Authentication::report_refused(const std::string& address) {
  if (std::exchange(refusal_reported_, true)) return;
  report(program_, "refused a connection from %s that did not authenticate (reported once)",
         address.c_str());
}

Deadline Authentication::next_deadline() const {
  Deadline next = listen_at_;
  for (const auto& connection : pending_connections_)
    next = earlier(next, connection.handshake->limit());
  return next;
}

void Authentication::meet_deadlines() {
  if (met(listen_at_) && listener_) watch_listener();
  const auto now = Clock::now();
  std::erase_if(pending_connections_, [this, now](const auto& connection) {
    if (now < *connection.handshake->limit()) return false;
    report_refused(connection.handshake->address());
    return true;
  });
}

}  // namespace gex::launch
