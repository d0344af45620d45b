// The system's own datagrams over the loopback, without libgex: the limits of the rows over udp.
//
//   gexperf-udp-bare ping_pong BYTES COUNT PROCESSOR PROCESSOR
//   gexperf-udp-bare flood BYTES COUNT PROCESSOR PROCESSOR
//   gexperf-udp-bare single_flood BYTES COUNT PROCESSOR PROCESSOR
//
// Prints the microseconds that a message took one way. A flood is sent in batches which the system
// would cut into packets of an Ethernet (GSO), and received joined (GRO), 2 MiB under way. A flood
// of single ones is sent and received as such packets, many in a call.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int udp_segment = 103;
constexpr int udp_gro = 104;
constexpr std::size_t packet = 1472;
constexpr std::size_t batch = 44 * packet;
constexpr std::size_t largest = 65535;
constexpr std::size_t under_way = std::size_t{2} << 20;
constexpr std::size_t acknowledged = std::size_t{512} << 10;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "gexperf-udp-bare: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

void set(int socket, int level, int name, int value) {
  if (setsockopt(socket, level, name, &value, sizeof value) != 0) fail("setsockopt");
}

int open_socket(sockaddr_in& address) {
  const int made = socket(AF_INET, SOCK_DGRAM, 0);
  address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (made < 0 || bind(made, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      getsockname(made, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    fail("socket");
  const int room = 8 << 20;
  if (setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
    set(made, SOL_SOCKET, SO_RCVBUF, room);
  // What is lost never comes: the run fails.
  const timeval patience{.tv_sec = 5, .tv_usec = 0};
  setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return made;
}

void connect_to(int socket, const sockaddr_in& peer) {
  if (connect(socket, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0) fail("connect");
}

void bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("cannot bind to a processor");
}

std::size_t take(int socket, std::vector<char>& bytes, int flags) {
  for (;;) {
    const ssize_t size = recv(socket, bytes.data(), bytes.size(), flags);
    if (size >= 0) return static_cast<std::size_t>(size);
    // Polls, as a rank does.
    if (errno != EAGAIN || flags == 0) fail("recv");
  }
}

void give(int socket, const char* bytes, std::size_t size) {
  if (send(socket, bytes, size, 0) < 0) fail("send");
}

void ping_pong(int socket, std::size_t bytes, std::uint64_t count, bool first) {
  std::vector<char> message(std::max(bytes, std::size_t{64}));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (first) give(socket, message.data(), bytes);
    take(socket, message, MSG_DONTWAIT);
    if (!first) give(socket, message.data(), bytes);
  }
}

/// Many datagrams of one packet each, to be sent or received by one call.
class Packets {
 public:
  static constexpr std::size_t count = batch / packet;

  Packets() : bytes_(batch), pieces_(count), headers_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      pieces_[i] = {bytes_.data() + i * packet, packet};
      headers_[i].msg_hdr.msg_iov = &pieces_[i];
      headers_[i].msg_hdr.msg_iovlen = 1;
    }
  }
  /// Sends `size` bytes, at most a batch.
  void send(int socket, std::size_t size) {
    const std::size_t all = (size + packet - 1) / packet;
    pieces_[all - 1].iov_len = size - (all - 1) * packet;
    for (std::size_t done = 0; done < all;) {
      const int more =
          sendmmsg(socket, headers_.data() + done, static_cast<unsigned>(all - done), 0);
      if (more < 0) fail("sendmmsg");
      done += static_cast<std::size_t>(more);
    }
    pieces_[all - 1].iov_len = packet;
  }
  /// How many bytes have come; polls, as a rank does.
  std::size_t receive(int socket) {
    int some = 0;
    while ((some = recvmmsg(socket, headers_.data(), count, MSG_DONTWAIT, nullptr)) < 0)
      if (errno != EAGAIN) fail("recvmmsg");
    std::size_t size = 0;
    for (int i = 0; i < some; ++i) size += headers_[static_cast<std::size_t>(i)].msg_len;
    return size;
  }

 private:
  std::vector<char> bytes_;
  std::vector<iovec> pieces_;
  std::vector<mmsghdr> headers_;
};

void send_flood(int socket, std::uint64_t total, bool single) {
  if (!single) set(socket, IPPROTO_UDP, udp_segment, packet);
  std::vector<char> bytes(batch);
  Packets packets;
  std::vector<char> answer(sizeof(std::uint64_t));
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
  while (arrived < total) {
    if (sent < total && sent - arrived < under_way) {
      const std::size_t size = std::min<std::uint64_t>(batch, total - sent);
      if (single)
        packets.send(socket, size);
      else
        give(socket, bytes.data(), size);
      sent += size;
    } else if (take(socket, answer, 0) == answer.size()) {
      std::memcpy(&arrived, answer.data(), sizeof arrived);
    }
  }
}

void receive_flood(int socket, std::uint64_t total, bool single) {
  if (!single) set(socket, IPPROTO_UDP, udp_gro, 1);
  std::vector<char> bytes(largest);
  Packets packets;
  std::uint64_t arrived = 0;
  std::uint64_t answered = 0;
  while (arrived < total) {
    arrived += single ? packets.receive(socket) : take(socket, bytes, MSG_DONTWAIT);
    if (arrived - answered < acknowledged && arrived < total) continue;
    answered = arrived;
    std::array<char, sizeof arrived> answer;
    std::memcpy(answer.data(), &arrived, sizeof arrived);
    give(socket, answer.data(), answer.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 6 ? argv[1] : "";
  const std::size_t bytes = argc == 6 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const std::uint64_t count = argc == 6 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const bool single = what == "single_flood";
  if ((what != "ping_pong" && what != "flood" && !single) || bytes == 0 || count == 0) {
    std::fputs(
        "Usage: gexperf-udp-bare ping_pong|flood|single_flood BYTES COUNT PROCESSOR PROCESSOR\n",
        stderr);
    return 2;
  }
  std::array<sockaddr_in, 2> addresses;
  const std::array<int, 2> sockets = {open_socket(addresses[0]), open_socket(addresses[1])};
  connect_to(sockets[0], addresses[1]);
  connect_to(sockets[1], addresses[0]);
  const pid_t child = fork();
  if (child < 0) fail("fork");
  const bool first = child != 0;
  if (!first) prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int socket = sockets[first ? 0 : 1];
  bind_to(std::atoi(argv[first ? 4 : 5]));
  const auto begun = std::chrono::steady_clock::now();
  if (what == "ping_pong")
    ping_pong(socket, bytes, count, first);
  else if (first)
    send_flood(socket, bytes * count, single);
  else
    receive_flood(socket, bytes * count, single);
  if (!first) return 0;
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 1;
  const double messages = static_cast<double>(count) * (what == "ping_pong" ? 2 : 1);
  std::printf("%.6f\n", took.count() / messages);
  return 0;
}
