#include "launch/hosts/host_connections.h"

#include <sys/socket.h>

#include <algorithm>
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

HostConnections::HostConnections(const RootHosts& hosts, const HostTree& tree, EventLoop& loop,
                                 HostEvents& events)
    : hosts_(hosts),
      tree_(tree),
      loop_(loop),
      events_(events),
      lines_(hosts.size()),
      heartbeat_at_(after(job::heartbeat_interval)) {
}

std::optional<HostConnections::Peer> HostConnections::connect(std::uint32_t number,
                                                              os::FileDescriptor socket,
                                                              const LinkKeys& keys) {
  const bool is_agent = number >= hosts_.size();
  const std::uint32_t host = is_agent ? number - hosts_.size() : number;
  if (host >= hosts_.size() || tree_.parent(host) != HostTree::here ||
      tree_.is_branch(host) != is_agent || hosts_.unfinished_through(tree_, host).empty() ||
      (!is_agent && hosts_[host].connected)) {
    return std::nullopt;
  }
  // An agent that was replaced may have come so far.
  close_line(host);
  ++connected_count_;
  Line& line = lines_[host];
  line.link = Link(std::move(socket), keys);
  line.link.allow_silence(first_frame_timeout);
  line.watch = loop_.watch(
      line.link.socket(), [this, host] { receive_from(host); }, [this, host] { flush(host); });
  return Peer{host, is_agent};
}

void HostConnections::close(std::uint32_t host) {
  if (!tree_.is_branch(host)) close_line(host);
}

void HostConnections::close_line(std::uint32_t host) {
  Line& line = lines_[host];
  if (!line.link.open()) return;
  line.watch.reset();
  line.link.close();
  closed_.add(line.link.counts());
}

bool HostConnections::is_here(std::uint32_t host) const {
  const int socket = lines_[host].link.socket();
  const std::string peer = end_of(socket, getpeername);
  return !peer.empty() && peer == end_of(socket, getsockname);
}

void HostConnections::send(std::uint32_t host, job::FrameHeader header) {
  header.owner = host;
  const std::uint32_t way = tree_.first_hop(host);
  lines_[way].link.queue(header);
  flush(way);
}

void HostConnections::send_all(job::FrameHeader header) {
  send_all(header, std::make_shared<const std::vector<std::byte>>());
}

void HostConnections::send_all(job::FrameHeader header, const SharedBytes& body) {
  header.owner = job::every_host;
  for (std::uint32_t host = 0; host < lines_.size(); ++host) {
    lines_[host].link.queue(header, body);
    flush(host);
  }
}

void HostConnections::forward_all(const job::FrameHeader& header, const SharedBytes& payload) {
  for (std::uint32_t host = 0; host < lines_.size(); ++host) {
    lines_[host].link.forward(header, payload);
    flush(host);
  }
}

void HostConnections::send_to_agents(std::uint32_t host, job::FrameHeader header) {
  if (tree_.is_branch(tree_.first_hop(host))) send(host, header);
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
        lose(host, "the connection to it has ended");
        return;
      case job::Received::Outcome::malformed:
        lose(host, "it sent data that is not a message of the control protocol");
        return;
      case job::Received::Outcome::frame:
        if (!handle_frame(host, frame)) lose(host, "it sent a malformed message");
        break;
    }
  }
}

bool HostConnections::handle_frame(std::uint32_t host, const job::Received& frame) {
  if (frame.header.kind == job::FrameKind::heartbeat) return true;
  if (!tree_.is_branch(host)) return events_.handle_frame(host, frame);
  const std::uint32_t from = frame.header.owner;
  if (from >= hosts_.size() ||
      (from != host && !std::ranges::binary_search(tree_.below(host), from)))
    return false;
  // Another process has started it in the meantime.
  if (!tree_.is_through(host, from)) return true;
  return events_.handle_frame(from, frame);
}

/// The link to a host has ended, and with it what is reached through it.
void HostConnections::lose(std::uint32_t host, const std::string& why) {
  close_line(host);
  bool named = false;
  for (const std::uint32_t lost : hosts_.unfinished_through(tree_, host)) {
    const std::string cause = lost == host
                                  ? why
                                  : "the gexrun of host " + hosts_.launch.hosts[host].name +
                                        ", through which it is reached, is lost: " + why;
    events_.lose_host(lost, named ? "" : cause);
    named = true;
  }
}

std::string HostConnections::describe_counts() const {
  LinkCounts counts = closed_;
  for (const Line& line : lines_)
    if (line.link.open()) counts.add(line.link.counts());
  const auto text_of = [](const LinkCounts::Direction& one) {
    return std::to_string(one.frames) + " messages (" + std::to_string(one.exchange_frames) +
           " of exchanges), " + std::to_string(one.bytes) + " bytes";
  };
  return std::to_string(connected_count_) + " connections; received " + text_of(counts.received) +
         "; sent " + text_of(counts.sent);
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
  for (std::uint32_t host = 0; host < lines_.size(); ++host) {
    if (const auto silence = lines_[host].link.timed_out())
      lose(host, "no heartbeat from it for " + std::to_string(*silence) + " s");
  }
  if (met(heartbeat_at_)) send_heartbeats();
}

}  // namespace gex::launch
