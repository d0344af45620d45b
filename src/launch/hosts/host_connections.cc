#include "launch/hosts/host_connections.h"

#include <sys/socket.h>

#include <string>
#include <utility>

#include "launch/hosts/address_text.h"

namespace gex::launch {

namespace {

/// Seconds from a guardian's authentication to its first frame.
constexpr double first_frame_timeout = 20;

/// Returns the address of one end of a connection; "" if there is none.
std::string end_of(int socket, int (*query)(int, sockaddr*, socklen_t*)) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  return query(socket, address, &size) == 0 ? address_text(address) : "";
}

}  // namespace

HostConnections::HostConnections(const RootHosts& hosts, EventLoop& loop, HostEvents& events)
    : loop_(loop),
      events_(events),
      lines_(hosts.size()),
      heartbeat_at_(after(job::heartbeat_interval)) {
}

void HostConnections::connect(std::uint32_t host, os::FileDescriptor socket, const LinkKeys& keys) {
  Line& line = lines_[host];
  line.link = Link(std::move(socket), keys);
  line.link.allow_silence(first_frame_timeout);
  line.watch = loop_.watch(
      line.link.socket(), [this, host] { receive_from(host); }, [this, host] { flush(host); });
}

void HostConnections::close(std::uint32_t host) {
  lines_[host].watch.reset();
  lines_[host].link.close();
}

bool HostConnections::is_here(std::uint32_t host) const {
  const int socket = lines_[host].link.socket();
  const std::string peer = end_of(socket, getpeername);
  return !peer.empty() && peer == end_of(socket, getsockname);
}

void HostConnections::send(std::uint32_t host, const job::FrameHeader& header) {
  lines_[host].link.queue(header);
  flush(host);
}

void HostConnections::send_all(const job::FrameHeader& header) {
  for (std::uint32_t host = 0; host < lines_.size(); ++host) send(host, header);
}

void HostConnections::send_all(const job::FrameHeader& header, const SharedBytes& body) {
  for (std::uint32_t host = 0; host < lines_.size(); ++host) {
    lines_[host].link.queue(header, body);
    flush(host);
  }
}

void HostConnections::flush(std::uint32_t host) {
  lines_[host].watch.want_writable(!lines_[host].link.flush());
}

void HostConnections::receive_from(std::uint32_t host) {
  Link& link = lines_[host].link;
  while (link.open()) {
    const job::Received frame = link.receive();
    switch (frame.outcome) {
      case job::Received::Outcome::would_block:
        return;
      case job::Received::Outcome::closed:
        events_.lose_host(host, "the connection to it has ended");
        return;
      case job::Received::Outcome::malformed:
        events_.lose_host(host, "it sent data that is not a message of the control protocol");
        return;
      case job::Received::Outcome::frame:
        if (!events_.handle_frame(host, frame))
          events_.lose_host(host, "it sent a malformed message");
        break;
    }
  }
}

Deadline HostConnections::next_deadline() const {
  Deadline next = heartbeat_at_;
  for (const Line& line : lines_) next = earlier(next, line.link.timeout_at());
  return next;
}

void HostConnections::send_heartbeats() {
  heartbeat_at_ = after(job::heartbeat_interval);
  for (std::uint32_t host = 0; host < lines_.size(); ++host) {
    if (!lines_[host].link.open()) continue;
    lines_[host].link.queue_heartbeat();
    flush(host);
  }
}

void HostConnections::meet_deadlines() {
  if (met(heartbeat_at_)) send_heartbeats();
  for (std::uint32_t host = 0; host < lines_.size(); ++host) {
    if (const auto silence = lines_[host].link.timed_out()) {
      events_.lose_host(host, "no heartbeat from it for " + std::to_string(*silence) + " s");
    }
  }
}

}  // namespace gex::launch
