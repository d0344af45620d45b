// libgex-tcp.so: a network between hosts for tests: two TCP connections for each pair of ranks, one
// for each channel. It is written to be short, not fast.

#include <gex/plugin/conduit.h>

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
#include <vector>

namespace {

using namespace gex::net;

constexpr size_t max_message = 65536;
constexpr uint32_t depth = 8;

const Host* host;
std::mutex lock;

/// What the rank that connects says first.
struct Greeting {
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
/// [peer][channel]. Outlives all destructors, since a rank polls until its very end.
std::vector<Stream>& streams = *new std::vector<Stream>;
uint32_t next_stream;

Stream& stream(uint32_t peer, uint32_t channel) {
  return streams[peer * 2 + channel];
}

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
in_addr own_address() {
  in_addr found{htonl(INADDR_LOOPBACK)};
  ifaddrs* all = nullptr;
  bool several = false;
  for (uint32_t rank = 0; rank < host->size; ++rank) {
    several = several || host->host_of(rank) != host->host_of(0);
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

[[noreturn]] void fail(const char* what) {
  char text[200];
  snprintf(text, sizeof text, "tcp: %s: %s", what, strerror(errno));
  host->fatal(text);
  _exit(1);
}

void adopt(int socket, uint32_t peer, uint32_t channel) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(socket, F_SETFL, O_NONBLOCK);
  stream(peer, channel).socket = socket;
}

int attach(const Host* given, Limits* limits) {
  host = given;
  streams = std::vector<Stream>(size_t{host->size} * 2);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr = own_address();
  socklen_t length = sizeof own;
  if (listener < 0 || bind(listener, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 ||
      listen(listener, SOMAXCONN) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&own), &length) != 0)
    fail("listening");
  std::vector<sockaddr_in> all(host->size);
  host->exchange(&own, sizeof own, all.data());

  // The higher rank connects; the kernel accepts for the lower one, which need not wait for it.
  for (uint32_t peer = 0; peer < host->rank; ++peer) {
    for (const uint32_t channel : {request_channel, reply_channel}) {
      const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const Greeting greeting{host->cookie, host->rank, channel};
      if (one < 0 || connect(one, reinterpret_cast<sockaddr*>(&all[peer]), sizeof all[peer]) != 0 ||
          write(one, &greeting, sizeof greeting) != sizeof greeting)
        fail("connecting");
      adopt(one, peer, channel);
    }
  }
  for (uint32_t missing = 2 * (host->size - host->rank - 1); missing > 0; --missing) {
    const int one = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    Greeting greeting{};
    if (one < 0 || recv(one, &greeting, sizeof greeting, MSG_WAITALL) != sizeof greeting ||
        greeting.cookie != host->cookie || greeting.rank >= host->size || greeting.channel > 1)
      fail("accepting");
    adopt(one, greeting.rank, greeting.channel);
  }
  close(listener);
  *limits = {.max_message = max_message, .reply_depth = depth};
  return 0;
}

SendResult send(Channel channel, uint32_t peer, const Piece* pieces, size_t count) {
  const std::lock_guard<std::mutex> held(lock);
  Stream& to = stream(peer, channel);
  flush(to);
  if (to.out_count >= depth) return would_block;
  uint32_t size = 0;
  for (size_t i = 0; i < count; ++i) size += static_cast<uint32_t>(pieces[i].size);
  const auto add = [&to](const void* data, size_t bytes) {
    const char* const first = static_cast<const char*>(data);
    to.out.insert(to.out.end(), first, first + bytes);
  };
  add(&size, sizeof size);
  for (size_t i = 0; i < count; ++i) add(pieces[i].data, pieces[i].size);
  ++to.out_count;
  flush(to);
  return sent;
}

/// Takes a whole message out of a stream; nullptr when there is none.
std::unique_ptr<char[]> take(Stream& from, uint32_t& size) {
  fill(from);
  if (from.in.size() < sizeof size) return nullptr;
  memcpy(&size, from.in.data(), sizeof size);
  if (size > max_message) host->fatal("tcp: received a size above the limit");
  if (from.in.size() < sizeof size + size) return nullptr;
  std::unique_ptr<char[]> message(new char[size + 1]);
  memcpy(message.get(), from.in.data() + sizeof size, size);
  from.in.erase(from.in.begin(), from.in.begin() + static_cast<ptrdiff_t>(sizeof size + size));
  return message;
}

size_t poll(uint32_t channels, size_t most) {
  size_t delivered = 0;
  const uint32_t count = host->size * 2;
  for (uint32_t looked = 0; looked < count && delivered < most; ++looked) {
    uint32_t size = 0;
    uint32_t index;
    std::unique_ptr<char[]> message;
    {
      const std::lock_guard<std::mutex> held(lock);
      index = next_stream++ % count;
      Stream& one = streams[index];
      if (one.socket < 0) continue;
      flush(one);
      if ((channels >> (index % 2) & 1) != 0) message = take(one, size);
    }
    if (!message) continue;
    host->deliver(index / 2, index % 2 == 0 ? request_channel : reply_channel, message.get(), size);
    ++delivered;
  }
  return delivered;
}

void detach() {
  const std::lock_guard<std::mutex> held(lock);
  for (Stream& one : streams) {
    if (one.socket < 0) continue;
    for (int round = 0; !one.out.empty() && round < 1000; ++round) {
      pollfd writable{one.socket, POLLOUT, 0};
      ::poll(&writable, 1, 10);
      flush(one);
    }
    close(one.socket);
  }
  streams.clear();
}

constexpr Conduit conduit = {
    .version = interface_version,
    .name = "tcp",
    .description = "TCP between all ranks, for tests",
    .attach = attach,
    .send = send,
    .poll = poll,
    .detach = detach,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v4(void) {
  return &conduit;
}
