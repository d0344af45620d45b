// libgex-tcp.so: a network between hosts for tests: two TCP connections for each pair of ranks, one
// for each channel. It is written to be short, not fast.

#include <gex/plugin/conduit.h>
#include <gex/plugin/table.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace {

using namespace gex::net;

constexpr size_t max_message = 65536;
constexpr uint32_t depth = 8;

/// The first bytes of the rank that connects.
struct Handshake {
  uint64_t cookie;
  uint32_t rank;
  uint32_t channel;
};

struct Stream {
  int socket = -1;
  std::vector<char> out;  ///< sent messages that the kernel has not taken yet
  size_t out_count = 0;   ///< how many, at most
  std::vector<char> in;   ///< what has arrived of messages not delivered yet
};
void flush(Stream& to) {
  while (!to.out.empty()) {
    const ssize_t sent = ::send(to.socket, to.out.data(), to.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    // A peer that has gone is the launcher's to notice.
    if (sent < 0) return;
    to.out.erase(to.out.begin(), to.out.begin() + sent);
  }
  to.out_count = 0;
}

void fill(Stream& from) {
  char piece[16384];
  while (from.in.size() < 2 * max_message) {
    const ssize_t got = recv(from.socket, piece, sizeof piece, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    from.in.insert(from.in.end(), piece, piece + got);
  }
}

/// The address by which other hosts reach this one; of one machine alone the loopback's.
in_addr own_address(const Host& host) {
  in_addr found{htonl(INADDR_LOOPBACK)};
  ifaddrs* all = nullptr;
  bool several = false;
  for (uint32_t rank = 0; rank < host.size; ++rank) {
    several = several || host.host_of(rank) != host.host_of(0);
  }
  if (!several || getifaddrs(&all) != 0) return found;
  for (const ifaddrs* at = all; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr != nullptr && at->ifa_addr->sa_family == AF_INET &&
        (at->ifa_flags & IFF_LOOPBACK) == 0) {
      found = reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr;
      break;
    }
  }
  freeifaddrs(all);
  return found;
}

[[noreturn]] void fail(const Host& host, const char* what) {
  char text[200];
  snprintf(text, sizeof text, "tcp: %s: %s", what, strerror(errno));
  host.fatal(text);
  _exit(1);
}

/// This process's end of the network.
class Tcp {
 public:
  static std::unique_ptr<Tcp> attach(const Host& host, Limits& limits);
  explicit Tcp(const Host& host) : host_(host), streams_(size_t{host.size} * 2) {}

  SendResult send(Channel channel, uint32_t peer, std::span<const Piece> pieces);
  size_t poll(uint32_t channels, size_t max);
  void leave();

 private:
  void connect_all();
  void adopt(int socket, uint32_t peer, uint32_t channel);
  std::unique_ptr<char[]> take(Stream& from, uint32_t& size) const;
  Stream& stream(uint32_t peer, uint32_t channel) { return streams_[peer * 2 + channel]; }

  const Host& host_;
  std::mutex lock_;
  std::vector<Stream> streams_;  // [peer][channel]
  uint32_t next_stream_ = 0;
};

void Tcp::adopt(int socket, uint32_t peer, uint32_t channel) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(socket, F_SETFL, O_NONBLOCK);
  stream(peer, channel).socket = socket;
}

std::unique_ptr<Tcp> Tcp::attach(const Host& host, Limits& limits) {
  auto made = std::make_unique<Tcp>(host);
  made->connect_all();
  limits = {.max_message = max_message, .reply_depth = depth};
  return made;
}

void Tcp::connect_all() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr = own_address(host_);
  socklen_t length = sizeof own;
  if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 ||
      listen(listener, SOMAXCONN) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&own), &length) != 0)
    fail(host_, "listening");
  std::vector<sockaddr_in> all(host_.size);
  host_.exchange(&own, sizeof own, all.data());

  // The higher rank connects; the kernel accepts for the lower one, which need not wait for it.
  for (uint32_t peer = 0; peer < host_.rank; ++peer) {
    for (const uint32_t channel : {request_channel, reply_channel}) {
      const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const Handshake handshake{host_.cookie, host_.rank, channel};
      if (one < 0 || connect(one, reinterpret_cast<sockaddr*>(&all[peer]), sizeof all[peer]) != 0 ||
          write(one, &handshake, sizeof handshake) != sizeof handshake)
        fail(host_, "connecting");
      adopt(one, peer, channel);
    }
  }
  for (uint32_t missing = 2 * (host_.size - host_.rank - 1); missing > 0; --missing) {
    const int one = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    Handshake handshake{};
    if (one < 0 || recv(one, &handshake, sizeof handshake, MSG_WAITALL) != sizeof handshake ||
        handshake.cookie != host_.cookie || handshake.rank >= host_.size || handshake.channel > 1)
      fail(host_, "accepting");
    adopt(one, handshake.rank, handshake.channel);
  }
  close(listener);
}

SendResult Tcp::send(Channel channel, uint32_t peer, std::span<const Piece> pieces) {
  const std::lock_guard<std::mutex> held(lock_);
  Stream& to = stream(peer, channel);
  flush(to);
  if (to.out_count >= depth) return would_block;
  uint32_t size = 0;
  for (const Piece& piece : pieces) size += static_cast<uint32_t>(piece.size);
  const auto add = [&to](const void* data, size_t bytes) {
    const char* const first = static_cast<const char*>(data);
    to.out.insert(to.out.end(), first, first + bytes);
  };
  add(&size, sizeof size);
  for (const Piece& piece : pieces) add(piece.data, piece.size);
  ++to.out_count;
  flush(to);
  return sent;
}

/// Takes a whole message out of a stream; nullptr when there is none.
std::unique_ptr<char[]> Tcp::take(Stream& from, uint32_t& size) const {
  fill(from);
  if (from.in.size() < sizeof size) return nullptr;
  memcpy(&size, from.in.data(), sizeof size);
  if (size > max_message) host_.fatal("tcp: received a size above the limit");
  if (from.in.size() < sizeof size + size) return nullptr;
  std::unique_ptr<char[]> message(new char[size + 1]);
  memcpy(message.get(), from.in.data() + sizeof size, size);
  from.in.erase(from.in.begin(), from.in.begin() + static_cast<ptrdiff_t>(sizeof size + size));
  return message;
}

size_t Tcp::poll(uint32_t channels, size_t max) {
  size_t delivered = 0;
  const uint32_t count = host_.size * 2;
  for (uint32_t looked = 0; looked < count && delivered < max; ++looked) {
    uint32_t size = 0;
    uint32_t index;
    std::unique_ptr<char[]> message;
    {
      const std::lock_guard<std::mutex> held(lock_);
      index = next_stream_++ % count;
      Stream& one = streams_[index];
      if (one.socket < 0) continue;
      flush(one);
      if ((channels >> (index % 2) & 1) != 0) message = take(one, size);
    }
    if (!message) continue;
    host_.deliver(index / 2, index % 2 == 0 ? request_channel : reply_channel, message.get(), size);
    ++delivered;
  }
  return delivered;
}

void Tcp::leave() {
  const std::lock_guard<std::mutex> held(lock_);
  for (Stream& one : streams_) {
    if (one.socket < 0) continue;
    for (int round = 0; !one.out.empty() && round < 1000; ++round) {
      pollfd writable{one.socket, POLLOUT, 0};
      ::poll(&writable, 1, 10);
      flush(one);
    }
    close(one.socket);
  }
}

constexpr Conduit table = table_of<Tcp>("tcp", "TCP between all ranks, for tests", 0);

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v4(void) {
  return &table;
}
