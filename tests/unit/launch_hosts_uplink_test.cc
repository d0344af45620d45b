// A guardian's validation of frames from the root.

#include "launch/hosts/uplink.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "job/packed_table.h"
#include "launch_tcp_pair.h"

namespace gex::launch {
namespace {

constexpr std::uint32_t ranks = 3;

/// A guardian that checks the arguments of its calls.
class CheckedGuardian final : public Guardians {
 public:
  void gathered(std::uint32_t, SharedBytes bytes) override {
    // A block of each rank, or numbers.
    EXPECT_TRUE(bytes->size() % ranks == 0 ||
                (bytes->size() % 8 == 0 && bytes->size() <= job::max_least));
    EXPECT_LE(bytes->size(), job::max_exchange);
    exchanges.push_back(*bytes);
    ++asked;
  }
  void absent(std::uint32_t rank, std::uint32_t) override {
    EXPECT_LT(rank, ranks);
    ++asked;
  }
  void release(bool) override { ++asked; }
  void end(const job::Ending&, Teardown teardown) override {
    EXPECT_LE(teardown, Teardown::immediate);
    ++asked;
  }
  void signal(int number) override {
    EXPECT_GT(number, 0);
    EXPECT_LT(number, SIGRTMIN);
    ++asked;
  }
  void observe(std::uint32_t interval_ms) override {
    EXPECT_GT(interval_ms, 0u);
    ++asked;
  }
  void collect(std::uint32_t, Collection) override { ++asked; }

  std::vector<std::vector<std::byte>> exchanges;
  std::size_t asked = 0;
};

class UplinkTest : public testing::Test {
 protected:
  UplinkTest() {
    hosts_.add("one", 1);
    hosts_.add("two", ranks - 1);
    connect();
  }
  void connect() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    root_.reset(ends[1]);
    uplink_.emplace(os::FileDescriptor(ends[0]), LinkKeys{}, hosts_, 1, guardian_, page_);
    number_ = 0;
  }
  void send_frame(job::FrameHeader header, const std::vector<std::byte>& payload) {
    header.bytes = static_cast<std::uint32_t>(payload.size());
    std::vector<std::byte> bytes(sizeof header + payload.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    std::copy(payload.begin(), payload.end(), bytes.begin() + sizeof header);
    seal_frame(bytes, Secret({}), number_++);
    EXPECT_EQ(send(root_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  /// Sends these bytes of the packed form of two bytes of each rank, which has eight.
  void send_piece(std::uint64_t total, std::uint64_t offset, std::size_t bytes,
                  std::uint32_t sequence = 0) {
    job::FrameHeader header;
    header.kind = job::FrameKind::job_gathered;
    header.sequence = sequence;
    header.total = total;
    header.offset = offset;
    std::vector<std::byte> all = job::pack_table(table_, ranks);
    EXPECT_EQ(all.size(), 8u);
    all.resize(offset + bytes);
    send_frame(header, {all.begin() + static_cast<std::ptrdiff_t>(offset), all.end()});
  }

  const std::vector<std::byte> table_ = {std::byte{1}, std::byte{2}, std::byte{3},
                                         std::byte{4}, std::byte{5}, std::byte{6}};
  job::HostParts hosts_;
  CheckedGuardian guardian_;
  job::JobPage page_;
  os::FileDescriptor root_;
  std::uint64_t number_ = 0;  ///< of the next frame
  std::optional<Uplink> uplink_;
};

TEST_F(UplinkTest, JoinsThePiecesOfAnExchange) {
  send_piece(8, 0, 5);
  EXPECT_TRUE(uplink_->receive());
  EXPECT_TRUE(guardian_.exchanges.empty());
  send_piece(8, 5, 3);
  send_piece(0, 0, 0, 1);
  EXPECT_TRUE(uplink_->receive());
  ASSERT_EQ(guardian_.exchanges.size(), 2u);
  EXPECT_EQ(guardian_.exchanges[0], table_);
  EXPECT_TRUE(guardian_.exchanges[1].empty());
}

TEST_F(UplinkTest, KeepsWhatStaysOnItsHost) {
  job::FrameHeader gathered;
  gathered.kind = job::FrameKind::job_gathered;
  gathered.count = static_cast<std::uint32_t>(job::Exchange::on_host);
  Link root(std::move(root_));
  uplink_->contribute(0, job::Exchange::on_host,
                      std::make_shared<const std::vector<std::byte>>(table_));
  job::Received frame;
  while ((frame = root.receive()).outcome == job::Received::Outcome::would_block) {
  }
  ASSERT_EQ(frame.outcome, job::Received::Outcome::frame);
  EXPECT_EQ(frame.header.count, gathered.count);
  EXPECT_TRUE(frame.payload.empty());
  root.queue(gathered);
  EXPECT_TRUE(root.flush());
  EXPECT_TRUE(uplink_->receive());
  ASSERT_EQ(guardian_.exchanges.size(), 1u);
  EXPECT_EQ(guardian_.exchanges[0], table_);
  // Nothing was given to another one.
  root.queue(gathered);
  EXPECT_TRUE(root.flush());
  EXPECT_FALSE(uplink_->receive());
}

TEST_F(UplinkTest, RefusesPiecesThatDoNotFit) {
  struct Piece {
    std::uint64_t total;
    std::uint64_t offset;
    std::size_t bytes;
  };
  const std::pair<Piece, const char*> wrong[] = {
      {{8, 3, 1}, "a hole"},
      {{8, 4, 5}, "beyond the end"},
      {{8, 4, 0}, "nothing"},
      {{3, 4, 2}, "of an exchange that is smaller than what is there already"},
      {{0, 4, 2}, "of an exchange of nothing"},
      {{9, 4, 2}, "of another size"},
      {{job::max_exchange + job::max_growth + 1, 4, 2}, "of more than there can be"},
  };
  for (const auto& [piece, why] : wrong) {
    connect();
    send_piece(8, 0, 4);
    EXPECT_TRUE(uplink_->receive());
    send_piece(piece.total, piece.offset, piece.bytes);
    EXPECT_FALSE(uplink_->receive()) << why;
  }
  connect();
  send_piece(8, 0, 4);
  send_piece(8, 4, 4, 1);
  EXPECT_FALSE(uplink_->receive()) << "of the next exchange";
  connect();
  send_piece(7, 0, 7);
  EXPECT_FALSE(uplink_->receive()) << "no table of the ranks";
  EXPECT_TRUE(guardian_.exchanges.empty());
}

// The root is authenticated, but may send invalid frames, as another version might.
TEST_F(UplinkTest, ForwardsOnlyValidRequests) {
  constexpr job::FrameKind kinds[] = {
      job::FrameKind::heartbeat,        job::FrameKind::job_gathered,
      job::FrameKind::job_absent,       job::FrameKind::job_release,
      job::FrameKind::job_end,          job::FrameKind::job_signal,
      job::FrameKind::job_error_report, job::FrameKind::gather,
      job::FrameKind::host_gather,      job::FrameKind{0},
      job::FrameKind{0xffffffffu}};
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    Random random(seed);
    const auto number = [&random]() -> std::uint64_t {
      return random.below(8) == 0 ? random() : random.below(10);
    };
    job::FrameHeader header;
    header.kind = kinds[random.below(std::size(kinds))];
    header.sequence = static_cast<std::uint32_t>(number());
    header.total = number();
    header.offset = random.below(3) == 0 ? number() : 0;
    header.first = static_cast<std::uint32_t>(number());
    header.count = static_cast<std::uint32_t>(number());
    header.code = static_cast<std::int32_t>(number());
    send_frame(header, std::vector<std::byte>(number() % 12));
    if (!uplink_->receive()) {
      ++refused;
      connect();
    }
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(guardian_.asked, 500u);
}

TEST_F(UplinkTest, SendsOnceWhatHappensToAllRanksOfItsHost) {
  Link root(std::move(root_));
  const auto next = [&root] {
    job::Received frame;
    while ((frame = root.receive()).outcome == job::Received::Outcome::would_block) {
    }
    EXPECT_EQ(frame.outcome, job::Received::Outcome::frame);
    return std::pair(frame.header.kind, frame.header.count);
  };
  using Frame = std::pair<job::FrameKind, std::uint32_t>;
  for (const std::uint32_t rank : hosts_[1].ranks) uplink_->joined(rank, 4711);
  EXPECT_EQ(next(), Frame(job::FrameKind::host_joined, hosts_[1].ranks.size()));
  // What happens to one: before another frame, and at the latest when it is due.
  uplink_->left(2, 7, job::Departure{.by_exit = true});
  uplink_->gone(2, 4711);
  EXPECT_EQ(next(), Frame(job::FrameKind::host_left, 1));
  uplink_->request_error_report();
  EXPECT_EQ(next(), Frame(job::FrameKind::host_gone, 1));
  EXPECT_EQ(next().first, job::FrameKind::host_error_report);
  uplink_->gone(1, 4711);
  EXPECT_EQ(root.receive().outcome, job::Received::Outcome::would_block);
  ASSERT_LE(*uplink_->next_deadline(), after(max_event_delay));
  std::this_thread::sleep_until(*uplink_->next_deadline());
  uplink_->meet_deadlines();
  EXPECT_EQ(next(), Frame(job::FrameKind::host_gone, 1));
}

// The uplink closes with an unread heartbeat, and with more data in flight than the root's kernel
// buffers.
TEST_F(UplinkTest, WaitsUntilTheRootHasReceivedTheEnd) {
  auto [guardians, roots] = tcp_pair();
  Link root(std::move(roots));
  uplink_.emplace(std::move(guardians), LinkKeys{}, hosts_, 1, guardian_, page_);
  root.queue_heartbeat();
  root.flush();
  constexpr std::uint32_t departures = 20000;
  for (std::uint32_t i = 0; i < departures; ++i)
    uplink_->left(1, i, job::Departure{.by_exit = true});
  std::thread end([this] {
    uplink_->finished(/*lost_output=*/false);
    uplink_.reset();
  });
  // The root is busy with other hosts.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::uint32_t received = 0;
  bool finished = false;
  while (!finished) {
    const job::Received frame = root.receive();
    if (frame.outcome == job::Received::Outcome::would_block) continue;
    if (frame.outcome != job::Received::Outcome::frame) break;
    received += frame.header.kind == job::FrameKind::host_left ? frame.header.count : 0;
    finished = frame.header.kind == job::FrameKind::host_finished;
  }
  root.close();
  end.join();
  EXPECT_EQ(received, departures);
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace gex::launch
