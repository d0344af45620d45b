// Frames over a stream, and the handshake before them, also with peers that are not libgex.

#include "launch/hosts/link.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/port_range.h"
#include "job/limits.h"
#include "launch/agents/host_start.h"
#include "launch/hosts/auth_handshake.h"
#include "launch_tcp_pair.h"

namespace gex::launch {
namespace {

std::pair<os::FileDescriptor, os::FileDescriptor> socket_pair() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {os::FileDescriptor(ends[0]), os::FileDescriptor(ends[1])};
}

job::FrameHeader header_of(job::FrameKind kind, std::uint32_t first) {
  job::FrameHeader header;
  header.kind = kind;
  header.first = first;
  return header;
}

TEST(Link, CarriesFramesWholeAndInOrder) {
  auto [one, other] = socket_pair();
  Link sender(std::move(one));
  Link receiver(std::move(other));
  std::vector<std::byte> large(5 * job::max_payload + 7);
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<std::byte>(i * 31);
  sender.queue(header_of(job::FrameKind::host_end, 3), "it went wrong");
  sender.queue(header_of(job::FrameKind::host_gather, 0),
               std::make_shared<const std::vector<std::byte>>(large));
  sender.queue(header_of(job::FrameKind::host_left, 7));

  std::vector<std::byte> gathered;
  int frames = 0;
  for (bool last = false; !last;) {
    // The socket holds less than was queued.
    sender.flush();
    for (;;) {
      const job::Received frame = receiver.receive();
      if (frame.outcome == job::Received::Outcome::would_block) break;
      ASSERT_EQ(frame.outcome, job::Received::Outcome::frame);
      ++frames;
      if (frame.header.kind == job::FrameKind::host_end) {
        EXPECT_EQ(frames, 1);
        EXPECT_EQ(std::memcmp(frame.payload.data(), "it went wrong", frame.payload.size()), 0);
        EXPECT_EQ(frame.payload.size(), 13u);
      } else if (frame.header.kind == job::FrameKind::host_gather) {
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
  EXPECT_EQ(receiver.receive().outcome, job::Received::Outcome::closed);
}

TEST(Link, BeatsOnlyWhenNothingElseIsUnderWay) {
  auto [one, other] = socket_pair();
  Link sender(std::move(one));
  Link receiver(std::move(other));
  sender.queue(header_of(job::FrameKind::host_left, 1));
  sender.queue_heartbeat();
  sender.flush();
  EXPECT_EQ(receiver.receive().header.kind, job::FrameKind::host_left);
  EXPECT_EQ(receiver.receive().outcome, job::Received::Outcome::would_block);
  sender.queue_heartbeat();
  sender.flush();
  EXPECT_EQ(receiver.receive().header.kind, job::FrameKind::heartbeat);
}

TEST(Link, SendsWhatIsLostAgainAtEvenIntervals) {
  Link link(os::FileDescriptor(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
  int linear = 0;
  socklen_t length = sizeof linear;
  ASSERT_EQ(getsockopt(link.socket(), IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &linear, &length), 0);
  EXPECT_EQ(linear, 1);
}

/// Sends heartbeats and receives none, until the link times out. Returns the seconds of silence.
int silence_of_other_end(Link& link) {
  for (;;) {
    link.queue_heartbeat();
    link.flush();
    if (const auto silence = link.timed_out()) return *silence;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// The kernel acknowledges data for the other end of a TCP connection, and not of a Unix socket.
TEST(Link, BearsWithAProcessThatStandsStillAsLongAsItsKernelAcknowledges) {
  auto [one, other] = socket_pair();
  auto [far_one, far_other] = tcp_pair();
  Link link(std::move(one));
  Link far(std::move(far_one));
  int silence = 0;
  std::thread beside([&] { silence = silence_of_other_end(link); });
  // One end lacks a processor, and has sent nothing for as long.
  auto [third_one, third_other] = tcp_pair();
  Link third(std::move(third_one));
  third.queue_heartbeat();
  third.flush();
  std::optional<int> third_silence;
  std::thread starved([&] {
    std::this_thread::sleep_for(std::chrono::duration<double>(job::heartbeat_timeout + 1));
    third_silence = third.timed_out();
  });
  const int far_silence = silence_of_other_end(far);
  beside.join();
  starved.join();
  EXPECT_FALSE(third_silence);
  EXPECT_EQ(silence, job::heartbeat_timeout);
  EXPECT_EQ(far_silence, suspended_timeout);
}

TEST(FrameReader, FindsTheSameFramesHoweverTheStreamIsCut) {
  std::mt19937 random(1);
  std::string stream;
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 50; ++i) {
    job::FrameHeader header = header_of(job::FrameKind::host_end, static_cast<std::uint32_t>(i));
    header.bytes = random() % (i % 5 == 0 ? job::max_payload + 1 : 100);
    sizes.push_back(header.bytes);
    std::vector<std::byte> frame(sizeof header + header.bytes, static_cast<std::byte>(i));
    std::memcpy(frame.data(), &header, sizeof header);
    seal_frame(frame, Secret({}), static_cast<std::uint64_t>(i));
    stream.append(reinterpret_cast<const char*>(frame.data()), frame.size());
  }
  FrameReader reader;
  std::size_t found = 0;
  for (std::size_t at = 0; at < stream.size();) {
    const auto room = reader.free_space();
    ASSERT_FALSE(room.empty());
    const std::size_t piece =
        std::min({room.size(), stream.size() - at, std::size_t{1} + random() % 5000});
    std::memcpy(room.data(), stream.data() + at, piece);
    reader.commit(piece);
    at += piece;
    for (job::Received frame = reader.next(); frame.outcome == job::Received::Outcome::frame;
         frame = reader.next()) {
      EXPECT_EQ(frame.header.first, found);
      EXPECT_EQ(frame.payload.size(), sizes[found]);
      ++found;
    }
  }
  EXPECT_EQ(found, sizes.size());
}

/// The bytes that the reader of a stream finds at its beginning.
job::Received::Outcome first_of(FrameReader& reader, std::span<const std::byte> stream) {
  std::copy(stream.begin(), stream.end(), reader.free_space().begin());
  reader.commit(stream.size());
  return reader.next().outcome;
}

TEST(FrameReader, RefusesWhatIsChangedRepeatedLeftOutOrOfAnotherKey) {
  using Outcome = job::Received::Outcome;
  const Secret key = *Secret::generate();
  const auto frame = [&](std::uint64_t number) {
    job::FrameHeader header = header_of(job::FrameKind::host_end, 1);
    header.bytes = 5;
    std::vector<std::byte> bytes(sizeof header + header.bytes, std::byte{'x'});
    std::memcpy(bytes.data(), &header, sizeof header);
    seal_frame(bytes, key, number);
    return bytes;
  };
  FrameReader reader(key);
  EXPECT_EQ(first_of(reader, frame(0)), Outcome::frame);
  EXPECT_EQ(first_of(reader, frame(1)), Outcome::frame);
  EXPECT_EQ(first_of(reader, frame(1)), Outcome::malformed) << "repeated";
  FrameReader late(key);
  EXPECT_EQ(first_of(late, frame(1)), Outcome::malformed) << "the first one is left out";
  // As of the other direction, or of another connection of the same host.
  FrameReader other(*Secret::generate());
  EXPECT_EQ(first_of(other, frame(0)), Outcome::malformed) << "another key";
  for (std::size_t at = 0; at < frame(0).size(); ++at) {
    std::vector<std::byte> changed = frame(0);
    changed[at] ^= std::byte{1};
    FrameReader one(key);
    EXPECT_NE(first_of(one, changed), Outcome::frame) << "byte " << at;
  }
}

TEST(FrameReader, AnyBytesAreFramesOrMalformed) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    FrameReader reader;
    for (int round = 0; round < 20; ++round) {
      const auto room = reader.free_space();
      ASSERT_FALSE(room.empty());
      const std::size_t piece = std::min<std::size_t>(room.size(), random() % 300);
      // Small values make sizes that could be valid.
      for (std::size_t i = 0; i < piece; ++i) {
        room[i] = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
      }
      reader.commit(piece);
      job::Received frame = reader.next();
      while (frame.outcome == job::Received::Outcome::frame) {
        ASSERT_LE(frame.payload.size(), job::max_payload);
        frame = reader.next();
      }
      if (frame.outcome == job::Received::Outcome::malformed) break;
      ASSERT_EQ(frame.outcome, job::Received::Outcome::would_block);
    }
  }
}

class AuthHandshakeTest : public testing::Test {
 protected:
  AuthHandshakeTest() {
    auto [one, other] = socket_pair();
    handshake_.emplace(std::move(one), "somewhere");
    peer_ = std::move(other);
  }
  void send_bytes(const std::string& bytes) {
    EXPECT_EQ(write(peer_.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  Secret secret_ = *Secret::generate();
  std::optional<AuthHandshake> handshake_;
  os::FileDescriptor peer_;
};

TEST_F(AuthHandshakeTest, WaitsForTheRest) {
  EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::incomplete);
  send_bytes("gexh");
  EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::incomplete);
}

TEST_F(AuthHandshakeTest, RefusesWhatDoesNotBeginAsItShould) {
  send_bytes("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::refused);
}

TEST_F(AuthHandshakeTest, RefusesAPeerWithoutTheSecret) {
  send_bytes("gexhost2" + std::string(40, '\0'));
  EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::refused);
}

TEST_F(AuthHandshakeTest, NoticesAPeerThatDisconnectsBeforeItSendsAnything) {
  peer_.reset();
  EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::disconnected);
}

// A guardian's valid response, which may be altered in transit.
class ValidHandshakeTest : public AuthHandshakeTest {
 protected:
  static constexpr std::size_t challenge_bytes = 8 + Secret::size;
  static constexpr std::size_t response_bytes = 16 + 2 * Secret::size;
  static constexpr std::size_t reserved_begin = 12;
  static constexpr std::size_t reserved_end = 16;

  /// Begins a new handshake, and returns how the guardian of host 5 responds to its nonce.
  std::string response() {
    auto [one, other] = socket_pair();
    handshake_.emplace(std::move(one), "somewhere");
    peer_ = std::move(other);
    char challenge[challenge_bytes];
    EXPECT_EQ(read(peer_.get(), challenge, sizeof challenge), ssize_t{sizeof challenge});

    RootAddress address;
    os::FileDescriptor listener = listen_for_guardians(address, Reach::this_host);
    std::string why;
    std::thread guardian([&] { connect_to_root(address, secret_, 5, why, /*timeout=*/0); });
    pollfd readable{listener.get(), POLLIN, 0};
    poll(&readable, 1, 5000);
    const os::FileDescriptor connection(accept(listener.get(), nullptr, nullptr));
    EXPECT_EQ(write(connection.get(), challenge, sizeof challenge), ssize_t{sizeof challenge});
    std::string bytes(response_bytes, '\0');
    EXPECT_EQ(recv(connection.get(), bytes.data(), bytes.size(), MSG_WAITALL),
              ssize_t{response_bytes});
    // The guardian's next attempt finds no listener.
    listener.reset();
    shutdown(connection.get(), SHUT_RDWR);
    guardian.join();
    return bytes;
  }
};

TEST(Guardian, RetriesWhenTheRootDropsItsConnection) {
  const Secret secret = *Secret::generate();
  RootAddress address;
  const os::FileDescriptor listener = listen_for_guardians(address, Reach::this_host);
  ASSERT_TRUE(listener);
  std::string why;
  RootConnection root;
  std::thread guardian([&] { root = connect_to_root(address, secret, 3, why); });
  const auto take = [&] {
    pollfd readable{listener.get(), POLLIN, 0};
    EXPECT_EQ(poll(&readable, 1, 20000), 1);
    return os::FileDescriptor(accept(listener.get(), nullptr, nullptr));
  };
  take().reset();
  AuthHandshake handshake(take(), "somewhere");
  AuthHandshake::State state = AuthHandshake::State::incomplete;
  while (state == AuthHandshake::State::incomplete) state = handshake.receive(secret);
  guardian.join();
  EXPECT_EQ(state, AuthHandshake::State::authenticated);
  EXPECT_EQ(handshake.host(), 3u);
  EXPECT_TRUE(root) << why;
  EXPECT_EQ(handshake.keys().send, root.keys.receive);
  EXPECT_EQ(handshake.keys().receive, root.keys.send);
  EXPECT_NE(root.keys.send, root.keys.receive);
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

TEST_F(ValidHandshakeTest, IsAuthenticatedWhereverItIsCut) {
  std::mt19937 random(1);
  for (int round = 0; round < 10; ++round) {
    const std::string bytes = response();
    for (std::size_t at = 0; at < bytes.size();) {
      EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::incomplete);
      const std::size_t piece = 1 + random() % 40;
      send_bytes(bytes.substr(at, piece));
      at += piece;
    }
    EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::authenticated);
    EXPECT_EQ(handshake_->host(), 5u);
  }
}

TEST_F(ValidHandshakeTest, IsRefusedWithAnyBitChanged) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    std::string bytes = response();
    std::size_t at = random() % bytes.size();
    // The reserved bytes are not checked.
    if (at >= reserved_begin && at < reserved_end) at -= reserved_begin;
    bytes[at] = static_cast<char>(bytes[at] ^ 1 << random() % 8);
    send_bytes(bytes);
    EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::refused) << "byte " << at;
  }
}

TEST_F(ValidHandshakeTest, IsRefusedWhenItBreaksOff) {
  for (std::size_t size = 1; size < response_bytes; ++size) {
    send_bytes(response().substr(0, size));
    peer_.reset();
    EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::refused) << size;
  }
}

TEST_F(ValidHandshakeTest, IsRefusedForAnotherNonceOrSecret) {
  const std::string stale = response();
  response();
  send_bytes(stale);
  EXPECT_EQ(handshake_->receive(secret_), AuthHandshake::State::refused)
      << "an answer to another nonce";
  send_bytes(response());
  EXPECT_EQ(handshake_->receive(*Secret::generate()), AuthHandshake::State::refused)
      << "another secret";
}

TEST(PortRange, IsAPortOrAFirstAndALast) {
  const auto range = parse_port_range("41000-41010");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 41000);
  EXPECT_EQ(range->last, 41010);
  EXPECT_EQ(parse_port_range("7")->last, 7);
  EXPECT_EQ(parse_port_range(" 7-8 ")->last, 8);
  for (const char* const text :
       {"", "0", "x", "7-", "-7", "8-7", "1-65536", "65536", "1-2-3", "1 2"})
    EXPECT_FALSE(parse_port_range(text)) << text;
}

TEST(Listener, TakesTheFirstFreePortOfARange) {
  RootAddress address;
  std::vector<os::FileDescriptor> taken;
  taken.push_back(listen_for_guardians(address, Reach::this_host));
  ASSERT_TRUE(taken.front());
  const auto first = static_cast<std::uint16_t>(std::min<int>(address.port, 65000));
  const PortRange range{first, static_cast<std::uint16_t>(first + 20)};
  for (int i = 0; i < 2; ++i) {
    taken.push_back(listen_for_guardians(address, Reach::this_host, range));
    ASSERT_TRUE(taken.back());
    EXPECT_GE(address.port, range.first);
    EXPECT_LE(address.port, range.last);
  }
  const PortRange none{address.port, address.port};
  EXPECT_FALSE(listen_for_guardians(address, Reach::all_hosts, none));
  EXPECT_EQ(errno, EADDRINUSE);
}

TEST(HostStart, ComesOutAsItWentIn) {
  HostStart start;
  start.launch.hosts.add("one", 2);
  start.launch.hosts.add("two", 1);
  start.launch.hosts.place_next(0);
  start.launch.host = 1;
  start.launch.command = {"program", "", "an argument"};
  start.launch.tag_output = true;
  start.launch.terminals = {
      .output = true, .error = false, .same = false, .rows = 24, .columns = 80};
  start.launch.bind = Bind::core;
  start.root = {{"10.0.0.1", "fd00::1"}, 4711};
  start.secret = *Secret::generate();
  start.directory = "/somewhere";
  start.environment = {"A=1", "B="};
  start.remote = {
      .rsh = {"ssh", "-x"}, .words = {{"one", "1"}}, .by_shell = false, .gexrun = "/bin/gexrun"};
  start.below = {0};
  const std::string bytes = pack(start);
  const auto size = packed_size(std::string_view(bytes).substr(0, start_prefix));
  ASSERT_EQ(size, bytes.size() - start_prefix);
  const auto found = unpack(std::string_view(bytes).substr(start_prefix));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->launch.hosts.size(), 2u);
  EXPECT_EQ(found->launch.hosts[1].name, "two");
  EXPECT_EQ(found->launch.hosts.of(3).name, "one");
  EXPECT_EQ(found->launch.hosts[0].ranks, (job::RankSet{0, 1, 3}));
  EXPECT_EQ(found->launch.host, 1u);
  EXPECT_EQ(found->launch.command, start.launch.command);
  EXPECT_TRUE(found->launch.tag_output);
  EXPECT_TRUE(found->launch.terminals.output);
  EXPECT_FALSE(found->launch.terminals.error);
  EXPECT_EQ(found->launch.terminals.rows, 24);
  EXPECT_EQ(found->launch.terminals.columns, 80);
  EXPECT_EQ(found->launch.bind, Bind::core);
  EXPECT_EQ(found->root.hosts, start.root.hosts);
  EXPECT_EQ(found->root.port, 4711);
  EXPECT_TRUE(equal(found->secret.bytes(), start.secret.bytes()));
  EXPECT_EQ(found->directory, start.directory);
  EXPECT_EQ(found->environment, start.environment);
  EXPECT_EQ(found->remote.rsh, start.remote.rsh);
  EXPECT_EQ(found->remote.words, start.remote.words);
  EXPECT_FALSE(found->remote.by_shell);
  EXPECT_EQ(found->remote.gexrun, "/bin/gexrun");
  EXPECT_EQ(found->below, start.below);
}

// Every agent of a job has it, and the root sends it to each that it starts.
TEST(HostStart, GrowsWithTheHostsAndNotWithTheirRanks) {
  const auto size_of = [](std::uint32_t hosts, std::uint32_t ranks_of_host) {
    HostStart start;
    for (std::uint32_t host = 0; host < hosts; ++host) {
      start.launch.hosts.add("node" + std::to_string(1000 + host), ranks_of_host);
      start.below.push_back(host);
    }
    start.launch.command = {"program"};
    const std::string bytes = pack(start);
    const auto found = unpack(std::string_view(bytes).substr(start_prefix));
    EXPECT_TRUE(found);
    EXPECT_EQ(found ? found->launch.hosts.ranks() : 0, hosts * ranks_of_host);
    return bytes.size();
  };
  constexpr std::uint32_t ranks_of_host = 128;
  constexpr std::uint32_t hosts = job::max_ranks / ranks_of_host;
  // A name with its length, a number, and a run of three bytes.
  EXPECT_LE(size_of(hosts, ranks_of_host), 28 * hosts + 512);
  EXPECT_LE(size_of(hosts, ranks_of_host), size_of(hosts, 1) + 2 * hosts + 64);
}

TEST(HostStart, IsRefusedWhenAnythingIsMissingOrChanged) {
  HostStart start;
  start.launch.hosts.add("one", 3);
  start.launch.command = {"program"};
  const std::string body = pack(start).substr(start_prefix);
  ASSERT_TRUE(unpack(body));
  for (std::size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(unpack(body.substr(0, size)));
  EXPECT_FALSE(unpack(body + '\0'));
  for (const char* const prefix : {"", "gexrun6 0000000", "gexrun6 0000000x", "gexrun5 00000001",
                                   "gexrun6 ffffffff", "gexrun6 -0000001"}) {
    EXPECT_FALSE(packed_size(prefix)) << prefix;
  }
  // A changed byte never makes `unpack` accept what does not fit.
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = body;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
      changed[random() % changed.size()] = static_cast<char>(random() % 3 == 0 ? random() : 0);
    }
    const auto found = unpack(changed);
    if (!found) continue;
    EXPECT_LT(found->launch.host, found->launch.hosts.size());
    EXPECT_LE(found->launch.hosts.ranks(), job::max_ranks);
    for (const job::HostPart& part : found->launch.hosts) EXPECT_FALSE(part.ranks.empty());
  }
}

}  // namespace
}  // namespace gex::launch
