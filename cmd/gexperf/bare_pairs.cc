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
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/cache_line.h"
#include "base/os_cpu.h"
#include "base/os_file.h"
#include "child.h"

namespace gexperf {

namespace {

constexpr std::uint32_t max_wake_ups = 4096;

/// Memory that the two processes share.
struct Words {
  /// Each process's word, in which the other one finds the number of the last message.
  alignas(gex::cache_line) std::atomic<std::uint32_t> of[2];
  // For wake-ups: when the last message was sent, how many have come, and what they took.
  alignas(gex::cache_line) std::atomic<double> sent_ns{0};
  alignas(gex::cache_line) std::atomic<std::uint32_t> woken{0};
  double took_ns[max_wake_ups];
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

/// A process that has forked another, which works until this one's object ends.
class Pair {
 public:
  /// `work(end)`: the other one's, endless.
  template <class Work>
  Pair(BareWait wait, std::string& trouble, Work work) : wait_(wait) {
    if (const char* const what = set_up()) {
      trouble = std::string("cannot ") + what + ": " + std::strerror(errno);
    } else if (peer_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      work(End{wait, *words_, 1, sockets_[1].get()});
      _exit(0);
    }
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    if (peer_ > 0) {
      kill(peer_, SIGKILL);
      while (waitpid(peer_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    if (words_ != nullptr) munmap(words_, sizeof(Words));
  }

  Words& words() const { return *words_; }
  End end() const { return {wait_, *words_, 0, sockets_[0].get()}; }

 private:
  /// Returns what failed, with errno; null: nothing did.
  const char* set_up() {
    sockaddr_in addresses[2];
    for (unsigned side = 0; side < 2; ++side) {
      sockets_[side] = bind_socket(addresses[side]);
      if (!sockets_[side]) return "open a socket";
    }
    for (unsigned side = 0; side < 2; ++side)
      if (connect(sockets_[side].get(), reinterpret_cast<const sockaddr*>(&addresses[1 - side]),
                  sizeof *addresses) != 0)
        return "connect a socket";
    void* const memory =
        mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return "map memory";
    words_ = new (memory) Words{};
    peer_ = fork();
    return peer_ < 0 ? "start a process" : nullptr;
  }

  const BareWait wait_;
  gex::os::FileDescriptor sockets_[2];
  Words* words_ = nullptr;
  pid_t peer_ = -1;
};

/// While it exists, the calling process is on the first of its processors.
class BoundToOne {
 public:
  explicit BoundToOne(bool binds) {
    if (!binds) return;
    processors_ = gex::os::affinity();
    bind(0);
  }
  BoundToOne(const BoundToOne&) = delete;
  BoundToOne& operator=(const BoundToOne&) = delete;
  ~BoundToOne() {
    if (!processors_.empty()) gex::os::bind_to_cores(processors_);
  }

  /// Binds the calling process to that one, if there are so many.
  void bind(std::size_t number) const {
    if (number < processors_.size()) gex::os::pin_to_core(processors_[number]);
  }

 private:
  std::vector<std::uint32_t> processors_;  ///< empty: nothing is bound
};

void work_a_little() {
  constexpr int turns = 10'000;
  for (int i = 0; i < turns; ++i) asm volatile("");
}

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

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double bare_round_trip(BareWait wait, double milliseconds, std::string& trouble) {
  const Pair pair(wait, trouble, [](End end) {
    for (std::uint32_t number = 1;; ++number) {
      end.receive(number);
      end.send(number);
    }
  });
  if (!trouble.empty()) return 0;
  End end = pair.end();
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
  const std::uint32_t before = number;
  for (unsigned step = 1; end_ns - begin < milliseconds * 1e6; step = step < 64 ? 2 * step : step) {
    round_trips(step);
    end_ns = monotonic_ns();
  }
  return (end_ns - begin) / (number - before);
}

double bare_wake_up(BareWait wait, Placing placing, double milliseconds, std::string& trouble) {
  const BoundToOne bound(placing == Placing::bound);
  const Pair pair(wait, trouble, [&bound](End end) {
    bound.bind(1);
    for (std::uint32_t number = 1;; ++number) {
      end.receive(number);
      Words& words = end.words;
      words.took_ns[number - 1] = monotonic_ns() - words.sent_ns.load();
      words.woken.store(number, std::memory_order_release);
    }
  });
  if (!trouble.empty()) return 0;
  End end = pair.end();
  const Words& words = pair.words();
  const timespec pause{0, 2'000'000};
  // A sender that goes on, as a rank does, does not leave its processor to the one that it wakes.
  constexpr double goes_on_ns = 200e3;
  const double begin = monotonic_ns();
  double sent_ns = 0;
  for (std::uint32_t number = 1;; ++number) {
    const auto is_woken = [&] { return words.woken.load(std::memory_order_acquire) == number - 1; };
    while (!is_woken() && monotonic_ns() - sent_ns < goes_on_ns) {
    }
    do {
      nanosleep(&pause, nullptr);
    } while (!is_woken());
    if (number > max_wake_ups || (number > 1 && monotonic_ns() - begin > milliseconds * 1e6))
      return median({words.took_ns, words.took_ns + number - 1});
    sent_ns = monotonic_ns();
    pair.words().sent_ns.store(sent_ns);
    end.send(number);
  }
}

double bare_work(double milliseconds, std::string& trouble) {
  const Pair pair(BareWait::spin, trouble, [](End) {
    for (;;) work_a_little();
  });
  if (!trouble.empty()) return 0;
  const double begin = monotonic_ns();
  double pieces = 0;
  double spent = 0;
  do {
    work_a_little();
    ++pieces;
    spent = monotonic_ns() - begin;
  } while (spent < milliseconds * 1e6);
  return spent / pieces;
}

}  // namespace gexperf
