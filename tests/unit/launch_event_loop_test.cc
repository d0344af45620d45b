// The event loop of guardians and roots.

#include "launch/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace gex::launch {
namespace {

struct Pair {
  os::FileDescriptor ours;
  os::FileDescriptor theirs;
};

Pair make_pair_of_sockets() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
  return {os::FileDescriptor(ends[0]), os::FileDescriptor(ends[1])};
}

void write_byte(const os::FileDescriptor& descriptor) {
  EXPECT_EQ(write(descriptor.get(), "x", 1), 1);
}

void read_byte(const os::FileDescriptor& descriptor) {
  char byte = 0;
  EXPECT_EQ(read(descriptor.get(), &byte, 1), 1);
}

/// Records when it acts, and makes each turn end.
class Recorder final : public Timed {
 public:
  Deadline next_deadline() const override { return at; }
  void meet_deadlines() override {
    if (met(at)) log->push_back(name);
  }

  std::string name;
  std::vector<std::string>* log = nullptr;
  Deadline at;
};

class EventLoopTest : public testing::Test {
 protected:
  EventLoopTest() { EXPECT_EQ(loop_.open(), 0); }

  EventLoop loop_;
  std::vector<std::string> log_;
};

TEST_F(EventLoopTest, CallsTheHandlersOfWhatIsReady) {
  const Pair one = make_pair_of_sockets();
  const Pair other = make_pair_of_sockets();
  const auto note = [this](const char* what) { return [this, what] { log_.emplace_back(what); }; };
  const EventLoop::Watch first = loop_.watch(one.ours.get(), note("one"));
  const EventLoop::Watch second = loop_.watch(other.ours.get(), note("other"));
  write_byte(other.theirs);
  loop_.turn();
  EXPECT_EQ(log_, std::vector<std::string>{"other"});
}

TEST_F(EventLoopTest, CallsAHandlerWhenThePeerHasClosed) {
  Pair pair = make_pair_of_sockets();
  const EventLoop::Watch watch =
      loop_.watch(pair.ours.get(), [this] { log_.emplace_back("closed"); });
  pair.theirs.reset();
  loop_.turn();
  EXPECT_EQ(log_, std::vector<std::string>{"closed"});
}

TEST_F(EventLoopTest, CallsTheWritingHandlerFirstAndWhileItIsWanted) {
  const Pair pair = make_pair_of_sockets();
  write_byte(pair.theirs);
  EventLoop::Watch watch = loop_.watch(
      pair.ours.get(), [this] { log_.emplace_back("read"); },
      [this] { log_.emplace_back("write"); });
  loop_.turn();
  EXPECT_EQ(log_, (std::vector<std::string>{"read"}));
  watch.want_writable(true);
  loop_.turn();
  EXPECT_EQ(log_, (std::vector<std::string>{"read", "write", "read"}));
  watch.want_writable(false);
  loop_.turn();
  EXPECT_EQ(log_, (std::vector<std::string>{"read", "write", "read", "read"}));
}

// Two connections are ready in one turn, and the handler of one closes the other one; the next
// descriptor that is opened gets its number, and no event of the closed one.
TEST_F(EventLoopTest, AnEventOfAClosedDescriptorReachesNoHandler) {
  Pair pairs[2] = {make_pair_of_sockets(), make_pair_of_sockets()};
  Pair later = make_pair_of_sockets();
  EventLoop::Watch watches[2];
  EventLoop::Watch reused;
  for (int i : {0, 1}) {
    watches[i] = loop_.watch(pairs[i].ours.get(), [&, i] {
      log_.emplace_back("first");
      const int closed = pairs[1 - i].ours.get();
      watches[1 - i].reset();
      pairs[1 - i].ours.reset();
      EXPECT_EQ(fcntl(later.ours.get(), F_DUPFD_CLOEXEC, closed), closed);
      pairs[1 - i].ours.reset(closed);
      reused = loop_.watch(closed, [this] { log_.emplace_back("reused"); });
      read_byte(pairs[i].ours);
    });
  }
  for (const Pair& pair : pairs) write_byte(pair.theirs);
  loop_.turn();
  EXPECT_EQ(log_, std::vector<std::string>{"first"});
  write_byte(later.theirs);
  loop_.turn();
  EXPECT_EQ(log_, (std::vector<std::string>{"first", "reused"}));
}

TEST_F(EventLoopTest, AHandlerMayEndItsOwnWatch) {
  const Pair pair = make_pair_of_sockets();
  write_byte(pair.theirs);
  std::string captured = "a text that lives in the handler and is too long for a small string";
  EventLoop::Watch watch = loop_.watch(
      pair.ours.get(), [this] { log_.emplace_back("read"); },
      [this, &watch, captured] {
        watch.reset();
        log_.push_back(captured);
      });
  watch.want_writable(true);
  Recorder end;
  end.log = &log_;
  end.name = "end";
  end.at = Clock::now();
  loop_.add(end);
  loop_.turn();
  EXPECT_EQ(log_, (std::vector<std::string>{captured, "end"}));
}

TEST_F(EventLoopTest, WaitsForTheFirstDeadlineOfAnyPart) {
  Recorder soon;
  Recorder late;
  soon.name = "soon";
  late.name = "late";
  soon.log = late.log = &log_;
  soon.at = after(0.02);
  late.at = after(3600);
  const Clock::time_point due = *soon.at;
  loop_.add(late);
  loop_.add(soon);
  loop_.turn();
  EXPECT_EQ(log_, std::vector<std::string>{"soon"});
  EXPECT_GE(Clock::now(), due);
}

// A frame that has arrived in time is read before its deadline expires.
TEST_F(EventLoopTest, HandlersRunBeforeDeadlinesAndPartsInOrder) {
  const Pair pair = make_pair_of_sockets();
  write_byte(pair.theirs);
  Recorder parts[2];
  for (Recorder& part : parts) {
    part.name = &part == &parts[0] ? "first" : "second";
    part.log = &log_;
    part.at = Clock::now();
    loop_.add(part);
  }
  const EventLoop::Watch watch =
      loop_.watch(pair.ours.get(), [this] { log_.emplace_back("read"); });
  loop_.turn();
  EXPECT_EQ(log_, (std::vector<std::string>{"read", "first", "second"}));
}

}  // namespace
}  // namespace gex::launch
