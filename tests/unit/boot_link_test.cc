// Frames over a stream, and the greeting before them: also what others than libgex may send there.

#include "boot/link.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "boot/greeting.h"
#include "boot/host_start.h"
#include "boot_tcp_pair.h"

namespace gex::boot {
namespace {

std::pair<os::FileDescriptor, os::FileDescriptor> socket_pair() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {os::FileDescriptor(ends[0]), os::FileDescriptor(ends[1])};
}

FrameHeader header_of(FrameKind kind, std::uint32_t first) {
  FrameHeader header;
  header.kind = kind;
  header.first = first;
  return header;
}

TEST(Link, CarriesFramesWholeAndInOrder) {
  auto [one, other] = socket_pair();
  Link sender(std::move(one));
  Link receiver(std::move(other));
  std::vector<std::byte> large(5 * max_payload + 7);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::byte>(i * 31);
  sender.queue(header_of(FrameKind::host_end, 3), "it went wrong");
  sender.queue(header_of(FrameKind::host_gather, 0),
               std::make_shared<const std::vector<std::byte>>(large));
  sender.queue(header_of(FrameKind::host_left, 7));

  std::vector<std::byte> gathered;
  int frames = 0;
  for (bool last = false; !last;) {
    // The socket holds less than was queued.
    sender.flush();
    for (;;) {
      const Received frame = receiver.receive();
      if (frame.outcome == Received::Outcome::would_block) break;
      ASSERT_EQ(frame.outcome, Received::Outcome::frame);
      ++frames;
      if (frame.header.kind == FrameKind::host_end) {
        EXPECT_EQ(frames, 1);
        EXPECT_EQ(std::memcmp(frame.payload.data(), "it went wrong", frame.payload.size()), 0);
        EXPECT_EQ(frame.payload.size(), 13u);
      } else if (frame.header.kind == FrameKind::host_gather) {
        EXPECT_EQ(frame.header.total, large.size());
        EXPECT_EQ(frame.header.offset, gathered.size());
        gathered.insert(gathered.end(), frame.payload.begin(), frame.payload.end());
      } else {
        EXPECT_EQ(frame.header.first, 7u);
        last = true;
      }
    }
  }
  EXPECT_EQ(gathered, large);
  sender.close();
  EXPECT_EQ(receiver.receive().outcome, Received::Outcome::closed);
}

TEST(Link, BeatsOnlyWhenNothingElseIsUnderWay) {
  auto [one, other] = socket_pair();
  Link sender(std::move(one));
  Link receiver(std::move(other));
  sender.queue(header_of(FrameKind::host_left, 1));
  sender.beat();
  sender.flush();
  EXPECT_EQ(receiver.receive().header.kind, FrameKind::host_left);
  EXPECT_EQ(receiver.receive().outcome, Received::Outcome::would_block);
  sender.beat();
  sender.flush();
  EXPECT_EQ(receiver.receive().header.kind, FrameKind::heartbeat);
}

TEST(Link, SendsWhatIsLostAgainAtEvenIntervals) {
  Link link(os::FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  int linear = 0;
  socklen_t length = sizeof linear;
  ASSERT_EQ(getsockopt(link.socket(), IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &linear, &length), 0);
  EXPECT_EQ(linear, 1);
}

/// Sends heartbeats to who reads none, until that was silent for too long: how long.
int silence_of_other_end(Link& link) {
  for (;;) {
    link.beat();
    link.flush();
    if (const auto silence = link.too_silent()) return *silence;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// The test's own kernel acknowledges for the other end of a TCP connection, and for no other.
TEST(Link, BearsWithAProcessThatStandsStillAsLongAsItsKernelAcknowledges) {
  auto [one, other] = socket_pair();
  auto [far_one, far_other] = tcp_pair();
  Link link(std::move(one));
  Link far(std::move(far_one));
  int silence = 0;
  std::thread beside([&] { silence = silence_of_other_end(link); });
  const int far_silence = silence_of_other_end(far);
  beside.join();
  EXPECT_EQ(silence, silence_limit);
  EXPECT_EQ(far_silence, frozen_limit);
}

TEST(FrameReader, FindsTheSameFramesHoweverTheStreamIsCut) {
  std::mt19937 random(1);
  std::string stream;
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 50; ++i) {
    FrameHeader header = header_of(FrameKind::host_end, static_cast<std::uint32_t>(i));
    header.bytes = random() % (i % 5 == 0 ? max_payload + 1 : 100);
    sizes.push_back(header.bytes);
    stream.append(reinterpret_cast<const char*>(&header), sizeof header);
    stream.append(header.bytes, static_cast<char>(i));
  }
  FrameReader reader;
  std::size_t found = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const auto room = reader.room();
    ASSERT_FALSE(room.empty());
    const std::size_t piece =
        std::min({room.size(), stream.size() - at, std::size_t{1} + random() % 5000});
    std::memcpy(room.data(), stream.data() + at, piece);
    reader.took(piece);
    at += piece;
    for (Received frame = reader.next(); frame.outcome == Received::Outcome::frame;
         frame = reader.next()) {
      EXPECT_EQ(frame.header.first, found);
      EXPECT_EQ(frame.payload.size(), sizes[found]);
      ++found;
    }
  }
  EXPECT_EQ(found, sizes.size());
}

TEST(FrameReader, AnyBytesAreFramesOrMalformed) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    FrameReader reader;
    for (int round = 0; round < 20; ++round) {
      const auto room = reader.room();
      ASSERT_FALSE(room.empty());
      const std::size_t piece = std::min<std::size_t>(room.size(), random() % 300);
      // Small words are sizes that could be right.
      for (std::size_t i = 0; i < piece; ++i) {
        room[i] = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
      }
      reader.took(piece);
      Received frame = reader.next();
      while (frame.outcome == Received::Outcome::frame) {
        ASSERT_LE(frame.payload.size(), max_payload);
        frame = reader.next();
      }
      if (frame.outcome == Received::Outcome::malformed) break;
      ASSERT_EQ(frame.outcome, Received::Outcome::would_block);
    }
  }
}

class GreetingTest : public testing::Test {
 protected:
  GreetingTest() {
    auto [one, other] = socket_pair();
    guest_.emplace(std::move(one), "somewhere");
    stranger_ = std::move(other);
  }
  void say(const std::string& words) {
    EXPECT_EQ(write(stranger_.get(), words.data(), words.size()),
              static_cast<ssize_t>(words.size()));
  }

  Secret secret_ = *Secret::draw();
  std::optional<Greeting> guest_;
  os::FileDescriptor stranger_;
};

TEST_F(GreetingTest, WaitsForTheRest) {
  EXPECT_EQ(guest_->hear(secret_), Greeting::State::incomplete);
  say("gexh");
  EXPECT_EQ(guest_->hear(secret_), Greeting::State::incomplete);
}

TEST_F(GreetingTest, RefusesWhatDoesNotBeginAsItShould) {
  say("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(guest_->hear(secret_), Greeting::State::refused);
}

TEST_F(GreetingTest, RefusesWhoDoesNotKnowTheSecret) {
  say("gexhost1" + std::string(40, '\0'));
  EXPECT_EQ(guest_->hear(secret_), Greeting::State::refused);
}

TEST_F(GreetingTest, KnowsWhoLeftWithoutAWord) {
  stranger_.reset();
  EXPECT_EQ(guest_->hear(secret_), Greeting::State::left);
}

// A guardian's true words, on their way through somebody who may change them.
class TrueGreetingTest : public GreetingTest {
 protected:
  static constexpr std::size_t challenge_bytes = 8 + Secret::size;
  static constexpr std::size_t hello_bytes = 16 + 2 * Secret::size;
  static constexpr std::size_t reserved_begin = 12;
  static constexpr std::size_t reserved_end = 16;

  /// What a guardian of host 5 says to the nonce of a new greeting, which it makes.
  std::string hello() {
    auto [one, other] = socket_pair();
    guest_.emplace(std::move(one), "somewhere");
    stranger_ = std::move(other);
    char challenge[challenge_bytes];
    EXPECT_EQ(read(stranger_.get(), challenge, sizeof challenge), ssize_t{sizeof challenge});

    RootAddress address;
    os::FileDescriptor listener = listen_for_guardians(address, Reach::this_host);
    std::string why;
    std::thread guardian([&] { connect_to_root(address, secret_, 5, why, /*patience=*/0); });
    pollfd readable{listener.get(), POLLIN, 0};
    poll(&readable, 1, 5000);
    const os::FileDescriptor connection(accept(listener.get(), nullptr, nullptr));
    EXPECT_EQ(write(connection.get(), challenge, sizeof challenge), ssize_t{sizeof challenge});
    std::string words(hello_bytes, '\0');
    EXPECT_EQ(recv(connection.get(), words.data(), words.size(), MSG_WAITALL),
              ssize_t{hello_bytes});
    // Nobody is there any more when it tries again.
    listener.reset();
    shutdown(connection.get(), SHUT_RDWR);
    guardian.join();
    return words;
  }
};

TEST(Guardian, TriesAgainWhenTheRootLetsGoOfIt) {
  const Secret secret = *Secret::draw();
  RootAddress address;
  const os::FileDescriptor listener = listen_for_guardians(address, Reach::this_host);
  ASSERT_TRUE(listener);
  std::string why;
  os::FileDescriptor root;
  std::thread guardian([&] { root = connect_to_root(address, secret, 3, why); });
  const auto take = [&] {
    pollfd readable{listener.get(), POLLIN, 0};
    EXPECT_EQ(poll(&readable, 1, 20000), 1);
    return os::FileDescriptor(accept(listener.get(), nullptr, nullptr));
  };
  take().reset();
  Greeting greeting(take(), "somewhere");
  Greeting::State state = Greeting::State::incomplete;
  while (state == Greeting::State::incomplete) state = greeting.hear(secret);
  guardian.join();
  EXPECT_EQ(state, Greeting::State::proven);
  EXPECT_EQ(greeting.host(), 3u);
  EXPECT_TRUE(root) << why;
}

TEST(Listening, ForGuardiansOfThisHostIsOnTheLoopback) {
  RootAddress address;
  const os::FileDescriptor listener = listen_for_guardians(address, Reach::this_host);
  ASSERT_TRUE(listener);
  sockaddr_in bound{};
  socklen_t length = sizeof bound;
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &length), 0);
  EXPECT_EQ(bound.sin_family, AF_INET);
  EXPECT_EQ(bound.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
  EXPECT_EQ(address.hosts, std::vector<std::string>{"127.0.0.1"});
  EXPECT_NE(address.port, 0);
}

TEST_F(TrueGreetingTest, IsProvenWhereverItIsCut) {
  std::mt19937 random(1);
  for (int round = 0; round < 10; ++round) {
    const std::string words = hello();
    for (std::size_t at = 0; at < words.size();) {
      EXPECT_EQ(guest_->hear(secret_), Greeting::State::incomplete);
      const std::size_t piece = 1 + random() % 40;
      say(words.substr(at, piece));
      at += piece;
    }
    EXPECT_EQ(guest_->hear(secret_), Greeting::State::proven);
    EXPECT_EQ(guest_->host(), 5u);
  }
}

TEST_F(TrueGreetingTest, IsRefusedWithAnyBitChanged) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    std::string words = hello();
    std::size_t at = random() % words.size();
    // Nobody reads those.
    if (at >= reserved_begin && at < reserved_end) at -= reserved_begin;
    words[at] = static_cast<char>(words[at] ^ 1 << random() % 8);
    say(words);
    EXPECT_EQ(guest_->hear(secret_), Greeting::State::refused) << "byte " << at;
  }
}

TEST_F(TrueGreetingTest, IsRefusedWhenItBreaksOff) {
  for (std::size_t size = 1; size < hello_bytes; ++size) {
    say(hello().substr(0, size));
    stranger_.reset();
    EXPECT_EQ(guest_->hear(secret_), Greeting::State::refused) << size;
  }
}

TEST_F(TrueGreetingTest, IsRefusedBySomebodyElse) {
  const std::string heard = hello();
  hello();
  say(heard);
  EXPECT_EQ(guest_->hear(secret_), Greeting::State::refused) << "an answer to another nonce";
  say(hello());
  EXPECT_EQ(guest_->hear(*Secret::draw()), Greeting::State::refused) << "another secret";
}

TEST(HostStart, ComesOutAsItWentIn) {
  HostStart start;
  start.launch.hosts.add("one", 2);
  start.launch.hosts.add("two", 1);
  start.launch.hosts.place_next(0);
  start.launch.host = 1;
  start.launch.command = {"program", "", "an argument"};
  start.launch.tag_output = true;
  start.launch.bind = Bind::core;
  start.root = {{"10.0.0.1", "fd00::1"}, 4711};
  start.secret = *Secret::draw();
  start.directory = "/somewhere";
  start.environment = {"A=1", "B="};
  const std::string bytes = pack(start);
  const auto size = packed_size(std::string_view(bytes).substr(0, start_prefix));
  ASSERT_EQ(size, bytes.size() - start_prefix);
  const auto found = unpack(std::string_view(bytes).substr(start_prefix));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->launch.hosts.size(), 2u);
  EXPECT_EQ(found->launch.hosts[1].name, "two");
  EXPECT_EQ(found->launch.hosts.of(3).name, "one");
  EXPECT_EQ(found->launch.hosts[0].ranks, (RankSet{0, 1, 3}));
  EXPECT_EQ(found->launch.host, 1u);
  EXPECT_EQ(found->launch.command, start.launch.command);
  EXPECT_TRUE(found->launch.tag_output);
  EXPECT_EQ(found->launch.bind, Bind::core);
  EXPECT_EQ(found->root.hosts, start.root.hosts);
  EXPECT_EQ(found->root.port, 4711);
  EXPECT_TRUE(equal(found->secret.bytes(), start.secret.bytes()));
  EXPECT_EQ(found->directory, start.directory);
  EXPECT_EQ(found->environment, start.environment);
}

TEST(HostStart, IsRefusedWhenAnythingIsMissingOrChanged) {
  HostStart start;
  start.launch.hosts.add("one", 3);
  start.launch.command = {"program"};
  const std::string body = pack(start).substr(start_prefix);
  ASSERT_TRUE(unpack(body));
  for (std::size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(unpack(body.substr(0, size)));
  EXPECT_FALSE(unpack(body + '\0'));
  for (const char* const prefix : {"", "gexrun3 0000000", "gexrun3 0000000x", "gexrun2 00000001",
                                   "gexrun3 ffffffff", "gexrun3 -0000001"}) {
    EXPECT_FALSE(packed_size(prefix)) << prefix;
  }
  // Whatever is changed, nothing is believed that would not fit.
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = body;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      changed[random() % changed.size()] = static_cast<char>(random() % 3 == 0 ? random() : 0);
    }
    const auto found = unpack(changed);
    if (!found) continue;
    EXPECT_LT(found->launch.host, found->launch.hosts.size());
    EXPECT_LE(found->launch.hosts.ranks(), 1024u);
    for (const HostPart& part : found->launch.hosts) EXPECT_FALSE(part.ranks.empty());
  }
}

}  // namespace
}  // namespace gex::boot
