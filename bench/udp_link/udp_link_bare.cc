// The system's own datagrams between two hosts, without libgex: what udp is compared with.
//
//   udp_link_bare receive ADDRESS PORT
//   udp_link_bare send ADDRESS PORT PACKET SECONDS
//
// Sends batches that the system cuts into packets of so many bytes (GSO), 1 MiB under way, to a
// receiver that has them joined (GRO) and acknowledges each 256 KiB. Prints MB a second. What is
// lost is not sent again, and not waited for.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int udp_segment = 103;
constexpr int udp_gro = 104;
constexpr std::size_t largest = 65535;
constexpr std::uint64_t under_way = std::uint64_t{1} << 20;
constexpr std::uint64_t acknowledged = std::uint64_t{256} << 10;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "udp_link_bare: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

int open_socket() {
  const int made = socket(AF_INET, SOCK_DGRAM, 0);
  const int room = 8 << 20;
  if (made < 0) fail("socket");
  if (setsockopt(made, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
    setsockopt(made, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  return made;
}

sockaddr_in address_of(const char* host, const char* port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  if (inet_pton(AF_INET, host, &address.sin_addr) != 1) fail(host);
  return address;
}

/// Until its sender sends the last one: a datagram of one byte.
void receive(const sockaddr_in& own) {
  const int socket = open_socket();
  const int on = 1;
  if (bind(socket, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) fail("bind");
  if (setsockopt(socket, IPPROTO_UDP, udp_gro, &on, sizeof on) != 0) fail("UDP_GRO");
  std::puts("ready");
  std::fflush(stdout);
  std::vector<char> bytes(largest);
  std::uint64_t arrived = 0;
  std::uint64_t answered = 0;
  for (;;) {
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    // Polls, as a rank does.
    const ssize_t size = recvfrom(socket, bytes.data(), bytes.size(), MSG_DONTWAIT,
                                  reinterpret_cast<sockaddr*>(&peer), &length);
    if (size < 0) continue;
    if (size == 1) return;
    arrived += static_cast<std::uint64_t>(size);
    if (arrived - answered < acknowledged) continue;
    answered = arrived;
    sendto(socket, &arrived, sizeof arrived, 0, reinterpret_cast<sockaddr*>(&peer), length);
  }
}

void send(const sockaddr_in& peer, int packet, double seconds) {
  const int socket = open_socket();
  if (connect(socket, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0) fail("connect");
  if (setsockopt(socket, IPPROTO_UDP, udp_segment, &packet, sizeof packet) != 0)
    fail("UDP_SEGMENT");
  // What was lost does not stop it for good.
  const timeval patience{.tv_sec = 0, .tv_usec = 20'000};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const std::size_t segments = std::min<std::size_t>(64, 65507 / static_cast<std::size_t>(packet));
  const std::vector<char> batch(segments * static_cast<std::size_t>(packet), 'x');
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
  std::uint64_t lost = 0;
  const auto begin = Clock::now();
  const auto taken = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  while (taken() < seconds) {
    if (sent - arrived - lost < under_way) {
      if (::send(socket, batch.data(), batch.size(), 0) < 0) fail("send");
      sent += batch.size();
    } else if (std::uint64_t answer = 0;
               recv(socket, &answer, sizeof answer, 0) == static_cast<ssize_t>(sizeof answer)) {
      arrived = std::max(arrived, answer);
    } else {
      lost = sent - arrived;
    }
  }
  const double rate = static_cast<double>(arrived) / taken() / 1e6;
  const char end = 0;
  for (int i = 0; i < 3; ++i) ::send(socket, &end, 1, 0);
  std::printf("%.1f MB/s%s\n", rate, lost != 0 ? ", some of it lost" : "");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 3 ? argv[1] : "";
  if (what == "receive" && argc == 4) {
    receive(address_of(argv[2], argv[3]));
    return 0;
  }
  if (what == "send" && argc == 6) {
    send(address_of(argv[2], argv[3]), std::atoi(argv[4]), std::atof(argv[5]));
    return 0;
  }
  std::fputs("Usage: udp_link_bare receive ADDRESS PORT | send ADDRESS PORT PACKET SECONDS\n",
             stderr);
  return 2;
}
