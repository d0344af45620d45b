#include "forked_host.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

namespace gex::net::test {

thread_local Handler current_handler;

namespace {

constexpr std::size_t exchange_room = 4096;
constexpr unsigned seconds_until_stuck = 100;

/// The state that the processes of one job share.
struct Shared {
  std::atomic<std::uint32_t> arrived;
  std::atomic<std::uint32_t> generation;
  std::atomic<bool> spoken;
  char message[400];
  char exchanged[exchange_room];
};

struct Rank {
  Host host;
  const JobOptions* options;
  Shared* shared;
  std::vector<std::array<int, 2>>* sockets;  ///< per rank: rank 0's end, its own end
};
Rank self;

void print(const char* text) {
  if (self.shared->spoken.exchange(true)) return;
  std::snprintf(self.shared->message, sizeof self.shared->message, "%s", text);
}

void exchange(const void* mine, std::size_t bytes, void* all) {
  ASSERT_LE(bytes * self.host.size, exchange_room);
  barrier();
  std::memcpy(self.shared->exchanged + self.host.rank * bytes, mine, bytes);
  barrier();
  std::memcpy(all, self.shared->exchanged, bytes * self.host.size);
}

struct Envelope {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header() {
    msghdr result{};
    result.msg_iov = &data;
    result.msg_iovlen = 1;
    result.msg_control = control;
    result.msg_controllen = sizeof control;
    return result;
  }
};

int share_descriptor(int descriptor, std::uint32_t owner) {
  EXPECT_EQ(owner, 0u);
  Envelope envelope;
  msghdr header = envelope.header();
  if (self.host.rank != 0) {
    EXPECT_EQ(descriptor, -1);
    EXPECT_EQ(recvmsg((*self.sockets)[self.host.rank][1], &header, MSG_CMSG_CLOEXEC), 1);
    int received = -1;
    std::memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof received);
    return received;
  }
  EXPECT_GE(descriptor, 0);
  cmsghdr* control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(control), &descriptor, sizeof descriptor);
  for (std::uint32_t rank = 1; rank < self.host.size; ++rank)
    EXPECT_EQ(sendmsg((*self.sockets)[rank][0], &header, 0), 1);
  return descriptor;
}

std::uint32_t host_of(std::uint32_t rank) {
  return self.options->hosts.empty() ? 0 : self.options->hosts.at(rank);
}

std::int64_t env_integer(const char* name) {
  const auto& environment = self.options->environment;
  const auto own = environment.find(name + ("@" + std::to_string(self.host.rank)));
  if (own != environment.end()) return own->second;
  const auto common = environment.find(name);
  if (common != environment.end()) return common->second;
  return std::strcmp(name, "GEX_EMU_QUEUE") == 0 ? 16 : 0;
}

const char* env_text(const char* name) {
  const auto text = self.options->texts.find(name);
  return text == self.options->texts.end() ? nullptr : text->second.c_str();
}

void deliver(std::uint32_t source, Channel channel, const void* message, std::size_t size) {
  current_handler(source, channel, message, size);
}

void complete(void* target) {
  static_cast<Completion*>(target)->fetch_add(1);
}

void fatal(const char* text) {
  print(text);
  _exit(fatal_status);
}

const void* exchange_shared(const void* mine, std::size_t bytes) {
  static std::deque<std::vector<std::byte>> kept;
  auto& all = kept.emplace_back(bytes * self.host.size);
  exchange(mine, bytes, all.data());
  return all.data();
}

void least(std::uint64_t* numbers, std::size_t count) {
  std::vector<std::uint64_t> all(count * self.host.size);
  exchange(numbers, count * sizeof(std::uint64_t), all.data());
  for (std::size_t i = 0; i < all.size(); ++i)
    numbers[i % count] = std::min(numbers[i % count], all[i]);
}

[[noreturn]] void run_body(const std::function<void(const Host&)>& body) {
  alarm(seconds_until_stuck);
  body(self.host);
  std::fflush(stdout);
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

}  // namespace

void barrier() {
  barrier([] { std::this_thread::yield(); });
}

void barrier(const std::function<void()>& turn) {
  const std::uint32_t generation = self.shared->generation;
  if (++self.shared->arrived == self.host.size) {
    self.shared->arrived = 0;
    ++self.shared->generation;
    return;
  }
  while (self.shared->generation == generation) turn();
}

Outcome run_ranks(std::uint32_t ranks, const JobOptions& options,
                  const std::function<void(const Host&)>& body) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    ADD_FAILURE() << "mmap: " << std::strerror(errno);
    return {{1}, {}};
  }
  auto* shared = static_cast<Shared*>(memory);
  std::vector<std::array<int, 2>> sockets(ranks);
  for (auto& pair : sockets)
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);

  // What this process has not yet written would be written by every child again.
  std::fflush(nullptr);
  std::vector<pid_t> children(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      self = Rank{.host = {.version = interface_version,
                           .rank = rank,
                           .size = ranks,
                           .threaded = options.threaded,
                           .exchange = exchange,
                           .share_descriptor = share_descriptor,
                           .host_of = host_of,
                           .shares_memory =
                               [](std::uint32_t) { return self.options->shares_memory ? 1U : 0U; },
                           .env_integer = env_integer,
                           .env_text = env_text,
                           .cookie = 0x600df00d0ddba11,
                           .deliver = deliver,
                           .complete = complete,
                           .fatal = fatal,
                           .lost_peer = fatal,
                           .warn = print,
                           .inform = [](const char*) {},
                           .exchange_shared = exchange_shared,
                           .least = least},
                  .options = &options,
                  .shared = shared,
                  .sockets = &sockets};
      run_body(body);
    }
    EXPECT_GT(child, 0) << std::strerror(errno);
    children[rank] = child;
  }
  for (const auto& pair : sockets)
    for (const int end : pair) close(end);

  Outcome outcome;
  outcome.statuses.assign(ranks, -1);
  bool ended = false;
  for (std::uint32_t left = ranks; left > 0;) {
    int status = 0;
    const pid_t child = wait(&status);
    if (child < 0) break;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (children[rank] != child) continue;
      outcome.statuses[rank] = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      --left;
    }
    if (!ended && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
      ended = true;
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (outcome.statuses[rank] == -1) kill(children[rank], SIGKILL);
    }
  }
  outcome.message = shared->message;
  munmap(shared, sizeof(Shared));
  return outcome;
}

}  // namespace gex::net::test
