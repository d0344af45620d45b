// Joining the job of a foreign launcher: how many values ranks read. The ranks are threads, and the
// launcher's process manager is a table that they share.

#include "job/foreign.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/os_abstract_name.h"
#include "job/launch_hook.h"

namespace gex::job {
namespace {

class Table {
 public:
  explicit Table(std::uint32_t ranks) : fence_(ranks) {}

  void put(std::uint32_t rank, const std::string& key, const std::string& value) {
    const std::lock_guard lock(mutex_);
    values_[{rank, key}] = value;
  }
  std::optional<std::string> get(std::uint32_t rank, const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = values_.find({rank, key});
    return found != values_.end() ? std::optional(found->second) : std::nullopt;
  }
  void fence() { fence_.arrive_and_wait(); }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::uint32_t, std::string>, std::string> values_;
  std::barrier<> fence_;
};

class Client final : public ProcessManager {
 public:
  Client(Table& table, std::uint32_t rank, std::vector<std::uint32_t> node_of, std::uint32_t size)
      : table_(table), rank_(rank), node_of_(std::move(node_of)), size_(size) {}

  const char* protocol() const noexcept override { return "a table"; }
  std::uint32_t rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return size_; }
  std::vector<std::uint32_t> node_of_ranks() override { return node_of_; }
  bool put(const std::string& key, const std::string& value, Reach reach) override {
    EXPECT_LE(value.size(), 1000U) << key;
    reach_ = std::max(reach_, reach);
    is_near_[key] = reach == Reach::node;
    table_.put(rank_, key, value);
    return true;
  }
  bool fence(Reach reach) override {
    EXPECT_GE(reach, std::exchange(reach_, Reach::node));
    table_.fence();
    return true;
  }
  std::optional<std::string> get(std::uint32_t rank, const std::string& key) override {
    ++gets;
    // Only this rank's own reach is known, but the same key has the same on all.
    const auto near = is_near_.find(key);
    if (near != is_near_.end() && near->second) {
      EXPECT_EQ(node_of_[rank], node_of_[rank_]) << key;
    }
    return table_.get(rank, key);
  }
  void leave() noexcept override {}

  std::uint32_t gets = 0;

 private:
  Table& table_;
  std::uint32_t rank_;
  std::vector<std::uint32_t> node_of_;
  std::uint32_t size_;
  Reach reach_ = Reach::node;
  std::map<std::string, bool> is_near_;
};

/// The guardian of all ranks, which run on this machine: a socket that listens.
struct Guardian {
  Guardian() {
    name = "gex-foreign-test." + std::to_string(getpid());
    socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    EXPECT_EQ(os::bind_abstract(socket, name), 0);
    EXPECT_EQ(listen(socket, 4096), 0);
    all = this;
    set_launch_hook({.fork_ranks = [](std::uint32_t) { return Membership(); },
                     .start_root = [](const HostParts&) { return std::string("root"); },
                     .start_guardian =
                         [](const HostParts& hosts, std::uint32_t host, const std::string&) {
                           all->hosts = hosts;
                           EXPECT_EQ(host, 0U);
                           ++all->started;
                           return all->name;
                         }});
  }
  ~Guardian() { close(socket); }

  std::string name;
  int socket;
  HostParts hosts;
  int started = 0;
  static inline Guardian* all = nullptr;
};

/// The numbers of values that the ranks read to join.
std::vector<std::uint32_t> values_read(std::uint32_t ranks, std::vector<std::uint32_t> node_of) {
  Guardian guardian;
  Table table(ranks);
  std::vector<std::uint32_t> gets(ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Client client(table, rank, node_of, ranks);
      const Membership joined = join_foreign(client);
      EXPECT_EQ(joined.rank, rank);
      EXPECT_EQ(joined.size, ranks);
      close(joined.control);
      gets[rank] = client.gets;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(guardian.started, 1);
  EXPECT_EQ(guardian.hosts.size(), 1U);
  EXPECT_EQ(guardian.hosts.ranks(), ranks);
  return gets;
}

/// The keys that a rank reads of the groups of a node: the number of pieces, and one piece.
constexpr std::uint32_t groups = 2;
/// Its host's first rank, and that one's guardian.
constexpr std::uint32_t of_its_guardian = 2;

TEST(Foreign, ARankReadsOfItsNodeAndTheLowestOfANodeOfEachNode) {
  constexpr std::uint32_t nodes = 8, ranks_each = 6, ranks = nodes * ranks_each;
  std::vector<std::uint32_t> node_of(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) node_of[rank] = rank / ranks_each;
  const std::vector<std::uint32_t> gets = values_read(ranks, node_of);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const bool is_lowest = rank % ranks_each == 0;
    EXPECT_EQ(gets[rank], groups + of_its_guardian + (is_lowest ? ranks_each + nodes * groups : 0))
        << rank;
  }
}

TEST(Foreign, WithoutAnAccountOfNodesOneRankReadsOfAll) {
  constexpr std::uint32_t ranks = 40;
  const std::vector<std::uint32_t> gets = values_read(ranks, {});
  EXPECT_EQ(gets[0], ranks + groups + groups + of_its_guardian);
  EXPECT_EQ(std::accumulate(gets.begin() + 1, gets.end(), 0U),
            (ranks - 1) * (groups + of_its_guardian));
}

}  // namespace
}  // namespace gex::job
