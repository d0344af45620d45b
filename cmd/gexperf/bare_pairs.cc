#include "bare_pairs.h"

#include <arpa/inet.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/cache_line.h"
#include "base/os_file.h"
#include "child.h"

namespace gexperf {

namespace {

/// A word of each process, by which the other one finds the number of the last message.
struct Words {
  alignas(gex::cache_line) std::atomic<std::uint32_t> of[2];
};

void wait_in_futex(std::atomic<std::uint32_t>& word, std::uint32_t number) {
  for (std::uint32_t seen; (seen = word.load(std::memory_order_acquire)) != number;)
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, nullptr, nullptr, 0);
}

gex::os::FileDescriptor bind_socket(sockaddr_in& address) {
  gex::os::FileDescriptor made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!made || bind(made.get(), generic, length) != 0 ||
      getsockname(made.get(), generic, &length) != 0)
    return {};
  return made;
}

/// One end of the two.
struct End {
  BareWait wait;
  Words& words;
  unsigned side;
  int socket;

  void send(std::uint32_t number) {
    if (wait == BareWait::socket) {
      while (::send(socket, &number, sizeof number, 0) < 0 && errno == EINTR) {
      }
      return;
    }
    words.of[1 - side].store(number, std::memory_order_release);
    if (wait == BareWait::futex)
      syscall(SYS_futex, &words.of[1 - side], FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
  void receive(std::uint32_t number) {
    if (wait == BareWait::socket) {
      std::uint32_t got = 0;
      while (recv(socket, &got, sizeof got, 0) < 0 && errno == EINTR) {
      }
    } else if (wait == BareWait::futex) {
      wait_in_futex(words.of[side], number);
    } else {
      while (words.of[side].load(std::memory_order_acquire) != number) {
      }
    }
  }
};

}  // namespace

const char* name_of(BareWait wait) {
  switch (wait) {
    case BareWait::spin:
      return "spin";
    case BareWait::socket:
      return "socket";
    case BareWait::futex:
      return "futex";
  }
  return "";
}

double bare_round_trip(BareWait wait, double milliseconds, std::string& trouble) {
  const auto failed = [&](const char* what) {
    trouble = std::string("cannot ") + what + ": " + std::strerror(errno);
    return 0.0;
  };
  sockaddr_in addresses[2];
  gex::os::FileDescriptor sockets[2];
  for (unsigned side = 0; side < 2; ++side) {
    sockets[side] = bind_socket(addresses[side]);
    if (!sockets[side]) return failed("open a socket");
  }
  for (unsigned side = 0; side < 2; ++side)
    if (connect(sockets[side].get(), reinterpret_cast<const sockaddr*>(&addresses[1 - side]),
                sizeof *addresses) != 0)
      return failed("connect a socket");
  void* const memory =
      mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return failed("map memory");
  Words& words = *new (memory) Words{};
  const pid_t peer = fork();
  if (peer == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    End end{wait, words, 1, sockets[1].get()};
    for (std::uint32_t number = 1;; ++number) {
      end.receive(number);
      end.send(number);
    }
  }
  if (peer < 0) {
    munmap(memory, sizeof(Words));
    return failed("start a process");
  }
  End end{wait, words, 0, sockets[0].get()};
  std::uint32_t number = 0;
  const auto round_trips = [&](unsigned count) {
    for (; count != 0; --count) {
      ++number;
      end.send(number);
      end.receive(number);
    }
  };
  round_trips(1);
  const double begin = monotonic_ns();
  double end_ns = begin;
  std::uint32_t before = number;
  for (unsigned step = 1; end_ns - begin < milliseconds * 1e6; step = step < 64 ? 2 * step : step) {
    round_trips(step);
    end_ns = monotonic_ns();
  }
  kill(peer, SIGKILL);
  while (waitpid(peer, nullptr, 0) < 0 && errno == EINTR) {
  }
  munmap(memory, sizeof(Words));
  return (end_ns - begin) / (number - before);
}

}  // namespace gexperf
