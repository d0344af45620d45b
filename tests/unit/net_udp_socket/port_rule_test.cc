// Which ports the ranks of several hosts try first, and what is left of them in tables of all
// ranks.

#include "net/udp/port_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "job/packed_table.h"
#include "net/address.h"
#include "net/udp/kernel_socket.h"

namespace gex::net::udp {
namespace {

constexpr PortRange usual{32768, 60999};

TEST(PortRule, RanksOfAMachineDoNotCollide) {
  std::set<std::uint16_t> ports;
  constexpr std::uint32_t hosts = 4;
  constexpr std::uint32_t ranks = 128;
  constexpr std::uint32_t lanes = 8;
  for (std::uint32_t host = 0; host < hosts; ++host)
    for (std::uint32_t index = 0; index < ranks; ++index)
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint16_t port = preferred_port(usual, 7, {host, ranks, index, lanes}, lane);
        EXPECT_GE(port, usual.first);
        EXPECT_LE(port, usual.last);
        ports.insert(port);
      }
  EXPECT_EQ(ports.size(), hosts * ranks * lanes);
  // Another job begins elsewhere.
  EXPECT_NE(preferred_port(usual, 7, {0, ranks, 0, 1}, 0),
            preferred_port(usual, 8, {0, ranks, 0, 1}, 0));
}

TEST(PortRule, ThereIsNoneWhereTheRangeHasNoChoice) {
  const std::uint16_t of_two = preferred_port({40000, 40015}, 1, {0, 8, 7, 1}, 0);
  EXPECT_TRUE(of_two == 40007 || of_two == 40015) << of_two;
  EXPECT_EQ(preferred_port({40000, 40014}, 1, {0, 8, 7, 1}, 0), 0);
  EXPECT_EQ(preferred_port(usual, 1, {0, 8192, 0, 8}, 0), 0);
}

TEST(PortRule, PortsOfAMillionRanksTakeLessThanAByteAHost) {
  constexpr std::uint32_t hosts = 8192;
  constexpr std::uint32_t ranks = 128;
  std::vector<std::uint16_t> distances;
  for (std::uint32_t host = 0; host < hosts; ++host)
    for (std::uint32_t index = 0; index < ranks; ++index) {
      const std::uint32_t rank = host * ranks + index;
      const std::uint16_t port = preferred_port(usual, 1, {host, ranks, index, 1}, 0);
      distances.push_back(distance_of(port, rank));
      ASSERT_EQ(port_at(distances.back(), rank), port);
    }
  // The ports of hosts that follow one another do so too, until the range is at its end.
  EXPECT_LE(job::pack_rows(distances).size(), hosts / 8);
}

TEST(PortRule, ReadsTheSettingsOfTheSystem) {
  const auto range = parse_system_ports("32768\t60999\n");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 32768);
  EXPECT_EQ(range->last, 60999);
  for (const char* const text : {"", "\n", "1024", "0\t5", "5\t4", "1\t2\t3", "1-2\t3", "1\t70000"})
    EXPECT_FALSE(parse_system_ports(text)) << text;
  EXPECT_FALSE(is_reserved("\n", 8080));
  EXPECT_FALSE(is_reserved("8079,8081-8090\n", 8080));
  EXPECT_TRUE(is_reserved("1,8080\n", 8080));
  EXPECT_TRUE(is_reserved("8000-8090,9000\n", 8080));
  EXPECT_TRUE(is_reserved("what is this", 8080));
}

TEST(PortRule, AnotherPortServesWhereThatOneIsTaken) {
  const Address loopback = Address::parse("127.0.0.1", 0);
  std::string error;
  const auto first = KernelSocket::open({.bind = loopback}, error);
  ASSERT_TRUE(first) << error;
  const std::uint16_t taken = first->address().port();
  const auto second = KernelSocket::open({.bind = loopback, .preferred_port = taken}, error);
  ASSERT_TRUE(second) << error;
  EXPECT_NE(second->address().port(), taken);
  EXPECT_NE(second->address().port(), 0);
}

TEST(PortRule, ThePreferredPortIsTakenWhereItIsFree) {
  const Address loopback = Address::parse("127.0.0.1", 0);
  std::string error;
  // Some port is free that was free a moment ago.
  for (unsigned tries = 0; tries < 100; ++tries) {
    const std::uint16_t port = KernelSocket::open({.bind = loopback}, error)->address().port();
    const auto socket = KernelSocket::open({.bind = loopback, .preferred_port = port}, error);
    ASSERT_TRUE(socket) << error;
    if (socket->address().port() == port) return;
  }
  FAIL() << "a preferred port is never taken";
}

}  // namespace
}  // namespace gex::net::udp
