// The kernel's handling of datagrams, between two sockets of this process on the loopback.

#include "net/udp/kernel_socket.h"

#include <gtest/gtest.h>
#include <linux/sock_diag.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace gex::net::udp {
namespace {

struct Wished {
  const char* address;
  bool cut_in_kernel;
  bool join;
};

std::unique_ptr<KernelSocket> open_at(const SocketOptions& options) {
  std::string error;
  std::unique_ptr<KernelSocket> socket = KernelSocket::open(options, error);
  EXPECT_NE(socket, nullptr) << error;
  return socket;
}

/// Returns true if the host has IPv6 on its loopback; a kernel may be without.
bool has(const char* address) {
  std::string error;
  return KernelSocket::open({.bind = Address::parse(address, 0)}, error) != nullptr;
}

std::vector<std::byte> pattern(std::size_t size, unsigned start) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(start + i * 7 + i / 251);
  return bytes;
}

/// A place for one arrival, and what has come to lie there.
struct Place {
  std::vector<std::byte> bytes = std::vector<std::byte>(70000);
  Incoming incoming{};
  Place() { incoming.pieces[0] = {bytes.data(), bytes.size()}, incoming.count = 1; }
};

/// Receives until `wanted` bytes are here: as many datagrams as the sender has made, whether or not
/// they were joined.
using Datagrams = std::vector<std::vector<std::byte>>;
Datagrams receive_all(KernelSocket& socket, std::size_t wanted, std::size_t* arrivals = nullptr) {
  std::vector<std::vector<std::byte>> datagrams;
  std::vector<Place> places(8);
  std::size_t got = 0;
  while (got < wanted) {
    pollfd ready{.fd = socket.descriptor(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 5000) != 1) {
      ADD_FAILURE() << "nothing arrives after " << got << " of " << wanted << " bytes";
      break;
    }
    std::vector<Incoming> all;
    for (const Place& place : places) all.push_back(place.incoming);
    const std::size_t count = socket.receive(all);
    if (arrivals != nullptr) *arrivals += count;
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_FALSE(all[i].cut);
      got += all[i].bytes;
      const std::size_t segment = all[i].segment == 0 ? all[i].bytes : all[i].segment;
      for (std::size_t at = 0; at < all[i].bytes; at += segment) {
        const std::byte* const start = places[i].bytes.data() + at;
        datagrams.emplace_back(start, start + std::min(segment, all[i].bytes - at));
      }
    }
  }
  return datagrams;
}

class Sockets : public testing::TestWithParam<Wished> {
 protected:
  void SetUp() override {
    const Wished& wished = GetParam();
    if (!has(wished.address)) GTEST_SKIP() << "this host has no " << wished.address;
    const SocketOptions options{.bind = Address::parse(wished.address, 0),
                                .cut_in_kernel = wished.cut_in_kernel,
                                .join = wished.join};
    sender = open_at(options);
    receiver = open_at(options);
    ASSERT_TRUE(sender && receiver);
  }
  std::unique_ptr<KernelSocket> sender;
  std::unique_ptr<KernelSocket> receiver;
};

TEST_P(Sockets, ADatagramOfPiecesArrivesWhole) {
  const std::vector<std::byte> bytes = pattern(1000, 3);
  auto* const data = const_cast<std::byte*>(bytes.data());
  const std::array<iovec, 3> pieces = {{{data, 1}, {data + 1, 600}, {data + 601, 399}}};
  const Outgoing message{.to = &receiver->address(), .pieces = pieces.data(), .count = 3};
  ASSERT_EQ(sender->send({&message, 1}), 1U);
  EXPECT_EQ(receive_all(*receiver, bytes.size()), Datagrams{bytes});
}

TEST_P(Sockets, TheSenderIsNamed) {
  const std::vector<std::byte> bytes = pattern(8, 3);
  const iovec piece = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  const Outgoing message{.to = &receiver->address(), .pieces = &piece, .count = 1};
  ASSERT_EQ(sender->send({&message, 1}), 1U);
  pollfd ready{.fd = receiver->descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&ready, 1, 5000), 1);
  Place place;
  ASSERT_EQ(receiver->receive({&place.incoming, 1}), 1U);
  EXPECT_EQ(place.incoming.from, sender->address());
  EXPECT_EQ(place.incoming.bytes, 8U);
  EXPECT_EQ(place.incoming.segment, 0U);
  EXPECT_FALSE(place.incoming.congested);
  EXPECT_EQ(receiver->receive({&place.incoming, 1}), 0U) << "nothing more has come";
}

TEST_P(Sockets, MoreThanOneCallTakesAreAllSent) {
  constexpr std::size_t count = 150;
  std::vector<std::vector<std::byte>> sent;
  std::vector<iovec> pieces;
  std::vector<Outgoing> messages;
  for (std::size_t i = 0; i < count; ++i)
    sent.push_back(pattern(100 + i, static_cast<unsigned>(i)));
  for (std::vector<std::byte>& bytes : sent) pieces.push_back({bytes.data(), bytes.size()});
  for (const iovec& piece : pieces)
    messages.push_back({.to = &receiver->address(), .pieces = &piece, .count = 1});
  ASSERT_EQ(sender->send(messages), count);
  std::size_t total = 0;
  for (const auto& bytes : sent) total += bytes.size();
  EXPECT_EQ(receive_all(*receiver, total), sent);
}

TEST_P(Sockets, ABatchIsCutIntoSegments) {
  for (const std::size_t segment : {std::size_t{100}, std::size_t{1432}, std::size_t{9000}}) {
    const std::size_t size = segment * 5 + segment / 2;
    const std::vector<std::byte> bytes = pattern(size, 11);
    auto* const data = const_cast<std::byte*>(bytes.data());
    // Pieces that segments divide, and an empty one.
    const std::array<iovec, 3> pieces = {
        {{data, segment / 3}, {data, 0}, {data + segment / 3, size - segment / 3}}};
    const Outgoing message{.to = &receiver->address(),
                           .pieces = pieces.data(),
                           .count = 3,
                           .segment = static_cast<std::uint16_t>(segment)};
    ASSERT_EQ(sender->send({&message, 1}), 1U);
    std::size_t arrivals = 0;
    const auto datagrams = receive_all(*receiver, size, &arrivals);
    ASSERT_EQ(datagrams.size(), 6U) << segment;
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(datagrams[i].size(), i == 5 ? segment / 2 : segment);
      EXPECT_TRUE(std::ranges::equal(datagrams[i],
                                     std::span(bytes).subspan(i * segment, datagrams[i].size())));
    }
    if (sender->limits().max_batch != 0 && receiver->limits().joins) {
      EXPECT_EQ(arrivals, 1U) << "the kernel joins what it has not needed to cut";
    }
  }
}

TEST_P(Sockets, TheLargestDatagramPassesAndALargerOneIsLost) {
  const std::size_t largest = sender->max_datagram(receiver->address());
  EXPECT_EQ(largest, GetParam().address[0] == ':' ? 65487U : 65507U);
  const std::vector<std::byte> bytes = pattern(largest + 1, 5);
  const iovec whole = {const_cast<std::byte*>(bytes.data()), largest};
  const iovec larger = {const_cast<std::byte*>(bytes.data()), 65536};
  const std::array<Outgoing, 2> messages = {
      {{.to = &receiver->address(), .pieces = &larger, .count = 1},
       {.to = &receiver->address(), .pieces = &whole, .count = 1}}};
  ASSERT_EQ(sender->send(messages), 2U) << "what cannot be sent holds nothing up";
  EXPECT_EQ(sender->counts().refused, 1U);
  const auto datagrams = receive_all(*receiver, largest);
  ASSERT_EQ(datagrams.size(), 1U);
  EXPECT_TRUE(std::ranges::equal(datagrams[0], std::span(bytes).first(largest)));
}

TEST_P(Sockets, WhatHasNoPlaceIsCutAndReported) {
  const std::vector<std::byte> bytes = pattern(500, 5);
  const iovec piece = {const_cast<std::byte*>(bytes.data()), 500};
  const Outgoing message{.to = &receiver->address(), .pieces = &piece, .count = 1};
  ASSERT_EQ(sender->send({&message, 1}), 1U);
  pollfd ready{.fd = receiver->descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&ready, 1, 5000), 1);
  std::array<std::byte, 100> first;
  std::array<std::byte, 50> second;
  Incoming place{};
  place.pieces[0] = {first.data(), first.size()};
  place.pieces[1] = {second.data(), second.size()};
  place.count = 2;
  ASSERT_EQ(receiver->receive({&place, 1}), 1U);
  EXPECT_TRUE(place.cut);
  EXPECT_EQ(place.bytes, 150U);
  EXPECT_TRUE(std::ranges::equal(first, std::span(bytes).first(100)));
  EXPECT_TRUE(std::ranges::equal(second, std::span(bytes).subspan(100, 50)));
}

TEST_P(Sockets, NoRankAtThePeersPortIsALoss) {
  const Address gone = receiver->address();
  receiver.reset();
  const std::vector<std::byte> bytes = pattern(64, 5);
  const iovec piece = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  const Outgoing message{.to = &gone, .pieces = &piece, .count = 1};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(sender->send({&message, 1}), 1U);
  Place place;
  EXPECT_EQ(sender->receive({&place.incoming, 1}), 0U);
  // Nor does an answer of the kernel's keep the socket from anything else.
  receiver = open_at({.bind = sender->address().with_port(0)});
  const Outgoing next{.to = &receiver->address(), .pieces = &piece, .count = 1};
  ASSERT_EQ(sender->send({&next, 1}), 1U);
  EXPECT_EQ(receive_all(*receiver, bytes.size()), Datagrams{bytes});
}

TEST_P(Sockets, OverRoutesEverythingArrivesAndSendersAreNotNamed) {
  SocketOptions options{.bind = sender->address().with_port(0),
                        .cut_in_kernel = GetParam().cut_in_kernel,
                        .join = GetParam().join,
                        .connects = true};
  sender = open_at(options);
  receiver = open_at(options);
  const auto other = open_at(options);
  ASSERT_TRUE(sender && receiver && other);
  EXPECT_FALSE(receiver->limits().names_senders);
  const std::uint16_t route = sender->connect(receiver->address());
  const std::uint16_t other_route = sender->connect(other->address());
  ASSERT_NE(route, 0);
  ASSERT_NE(other_route, 0);
  ASSERT_NE(route, other_route);
  // By turns to both, with a route and without, alone, in pieces and cut.
  std::vector<std::byte> bytes = pattern(1000, 3);
  const std::array<iovec, 2> pieces = {{{bytes.data(), 300}, {bytes.data() + 300, 700}}};
  const iovec whole{bytes.data(), bytes.size()};
  const std::vector<Outgoing> messages = {
      {.to = &receiver->address(), .pieces = &whole, .count = 1, .route = route},
      {.to = &other->address(), .pieces = &whole, .count = 1, .route = other_route},
      {.to = &receiver->address(), .pieces = pieces.data(), .count = 2, .route = route},
      {.to = &other->address(),
       .pieces = pieces.data(),
       .count = 2,
       .segment = 200,
       .route = other_route},
      {.to = &receiver->address(), .pieces = &whole, .count = 1},
  };
  ASSERT_EQ(sender->send(messages), messages.size());
  EXPECT_EQ(receive_all(*receiver, 3000), (Datagrams{bytes, bytes, bytes}));
  const Datagrams cut = receive_all(*other, 2000);
  ASSERT_EQ(cut.size(), 6U);
  EXPECT_EQ(cut[0], bytes);
  EXPECT_EQ(cut[5], (std::vector<std::byte>(bytes.end() - 200, bytes.end())));
  ASSERT_EQ(sender->send(std::span(messages).first(1)), 1U);
  EXPECT_EQ(receive_all(*receiver, 1000), Datagrams{bytes}) << "with one place";

  // What is not received holds up nothing else, and does not count as refused.
  const Address gone = receiver->address();
  receiver.reset();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(sender->send(std::span(messages).first(1)), 1U);
  options.bind = gone;
  receiver = open_at(options);
  ASSERT_TRUE(receiver);
  ASSERT_EQ(sender->send(std::span(messages).first(1)), 1U);
  EXPECT_EQ(receive_all(*receiver, 1000), Datagrams{bytes});
  EXPECT_EQ(sender->counts().refused, 0U);
}

TEST(Open, OnlySocketsOnTheLoopbackThatAreToConnectDoAndNotToMany) {
  const Address address = Address::parse("127.0.0.1", 0);
  const auto plain = open_at({.bind = address});
  EXPECT_EQ(plain->connect(plain->address()), 0);
  EXPECT_TRUE(plain->limits().names_senders);
  const auto connecting = open_at({.bind = address, .connects = true});
  std::uint16_t routes = 0;
  for (int i = 0; i < 100; ++i) routes += connecting->connect(plain->address()) != 0 ? 1 : 0;
  EXPECT_EQ(routes, 32);
}

std::uint32_t held_by(const KernelSocket& socket) {
  std::uint32_t memory[SK_MEMINFO_VARS] = {};
  socklen_t length = sizeof memory;
  EXPECT_EQ(getsockopt(socket.descriptor(), SOL_SOCKET, SO_MEMINFO, memory, &length), 0);
  return memory[SK_MEMINFO_RMEM_ALLOC];
}

TEST_P(Sockets, ADatagramIsChargedNoMoreThanTheRule) {
  const std::vector<std::byte> bytes = pattern(65487, 5);
  for (std::size_t size = 1; size <= bytes.size(); size += 1 + size / 16) {
    const iovec piece = {const_cast<std::byte*>(bytes.data()), size};
    const Outgoing message{.to = &receiver->address(), .pieces = &piece, .count = 1};
    ASSERT_EQ(sender->send({&message, 1}), 1U);
    const std::uint32_t charged = held_by(*receiver);
    EXPECT_GE(receiver->charge(size), charged) << size;
    EXPECT_LE(receiver->charge(size), 2 * charged) << size;
    EXPECT_GE(charge_of(size, AF_INET6, false), charge_of(size, AF_INET, true));
    receive_all(*receiver, size);
  }
}

TEST_P(Sockets, SegmentsAreChargedNoMoreThanSingleDatagrams) {
  const std::vector<std::byte> bytes = pattern(60000, 5);
  for (const std::uint16_t segment : {100, 300, 1024, 1472, 4096, 9000, 20000}) {
    const std::size_t count = std::min<std::size_t>(bytes.size() / segment, 60);
    const iovec piece = {const_cast<std::byte*>(bytes.data()), count * segment};
    const Outgoing message{
        .to = &receiver->address(), .pieces = &piece, .count = 1, .segment = segment};
    ASSERT_EQ(sender->send({&message, 1}), 1U);
    EXPECT_GE(count * receiver->charge(segment), held_by(*receiver)) << segment;
    receive_all(*receiver, piece.iov_len);
  }
}

TEST_P(Sockets, AsManyDatagramsWaitAsTheBufferHolds) {
  for (const std::size_t size : {std::size_t{8}, std::size_t{1400}, std::size_t{32000}}) {
    SCOPED_TRACE(size);
    receiver = open_at({.bind = sender->address().with_port(0),
                        .receive_buffer = std::size_t{1} << 20,
                        .cut_in_kernel = GetParam().cut_in_kernel,
                        .join = GetParam().join});
    const std::size_t fit = receiver->limits().receive_buffer / receiver->charge(size);
    const std::vector<std::byte> bytes = pattern(size, 5);
    const iovec piece = {const_cast<std::byte*>(bytes.data()), size};
    const std::vector<Outgoing> messages(
        fit, {.to = &receiver->address(), .pieces = &piece, .count = 1});
    // Also when some were received before, whose room the kernel is slow to give back.
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(sender->send(messages), fit);
      EXPECT_EQ(receive_all(*receiver, fit / 2 * size).size() / 8, (fit / 2 + 7) / 8);
      ASSERT_EQ(sender->send(std::span(messages).first(fit / 2)), fit / 2);
      std::size_t left = (fit - fit / 2) + fit / 2;
      // receive_all takes 8 at a time, so it may have had up to 7 more.
      left -= (fit / 2 + 7) / 8 * 8 - fit / 2;
      receive_all(*receiver, left * size);
    }
    EXPECT_EQ(receiver->counts().overflowed, 0U);
    // And a flood over that is dropped and counted.
    for (int i = 0; i < 8; ++i) sender->send(messages);
    EXPECT_GT(receiver->counts().overflowed, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Sockets,
                         testing::Values(Wished{"127.0.0.1", true, true},
                                         Wished{"127.0.0.1", false, true},
                                         Wished{"127.0.0.1", true, false},
                                         Wished{"127.0.0.1", false, false},
                                         Wished{"::1", true, true}),
                         [](const testing::TestParamInfo<Wished>& info) {
                           std::string name = info.param.address[0] == ':' ? "IPv6" : "IPv4";
                           if (!info.param.cut_in_kernel) name += "WithoutGso";
                           if (!info.param.join) name += "WithoutGro";
                           return name;
                         });

TEST(Open, ATakenPortIsNamed) {
  const auto first = open_at({.bind = Address::parse("127.0.0.1", 0)});
  const std::string port = std::to_string(first->address().port());
  std::string error;
  EXPECT_EQ(KernelSocket::open({.bind = first->address()}, error), nullptr);
  EXPECT_EQ(error, "cannot bind to 127.0.0.1, port " + port +
                       ": Address already in use; GEX_UDP_PORTS names them: each rank of a host "
                       "takes one for each of its lanes (GEX_UDP_LANES)");
}

TEST(Open, TheFirstFreePortOfARangeIsTaken) {
  std::unique_ptr<KernelSocket> first;
  do first = open_at({.bind = Address::parse("127.0.0.1", 0)});
  while (first->address().port() > 65000);
  const auto last = static_cast<std::uint16_t>(first->address().port() + 200);
  const auto second = open_at({.bind = first->address(), .last_port = last});
  EXPECT_GT(second->address().port(), first->address().port());
  EXPECT_LE(second->address().port(), last);
}

TEST(Open, AnAddressOfAnotherHostIsNamed) {
  std::string error;
  EXPECT_EQ(KernelSocket::open({.bind = Address::parse("203.0.113.9", 0)}, error), nullptr);
  EXPECT_EQ(error, "cannot bind to 203.0.113.9: Cannot assign requested address");
}

TEST(Open, AnMtuOfTheUsersIsThatOfEveryPath) {
  const auto socket = open_at({.bind = Address::parse("127.0.0.1", 0), .mtu = 1500});
  EXPECT_EQ(socket->max_datagram(socket->address()), 1472U);
  // But for one that has less, on which nothing would arrive.
  const Address nowhere = Address::parse("192.0.2.77", 9);
  const auto larger = open_at({.bind = Address::parse("127.0.0.1", 0), .mtu = 9000});
  EXPECT_EQ(larger->max_datagram(nowhere), 1472U);
}

TEST(Open, AnMtuThatIsTooSmallIsRefused) {
  std::string error;
  EXPECT_EQ(KernelSocket::open({.bind = Address::parse("::1", 0), .mtu = 1279}, error), nullptr);
  EXPECT_EQ(error, "packets of 1279 bytes are too small for IPv6, which needs 1280");
}

TEST(Open, ASmallBufferIsWhatTheKernelGrants) {
  const auto socket =
      open_at({.bind = Address::parse("127.0.0.1", 0), .receive_buffer = std::size_t{1} << 20});
  EXPECT_EQ(socket->buffers().wanted_receive, std::size_t{1} << 20);
  EXPECT_LE(socket->limits().receive_buffer, socket->buffers().receive);
  EXPECT_GT(socket->limits().receive_buffer, 100000U);
}

}  // namespace
}  // namespace gex::net::udp
