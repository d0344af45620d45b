// Which address a rank uses.

#include "net/udp/path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gex::net::udp {
namespace {

HostAddress on(const char* interface, const char* address, std::uint32_t prefix) {
  return {
      .interface = interface, .address = Address::parse(address, 0), .prefix = prefix, .mtu = 1500};
}

const std::vector<HostAddress>& machine() {
  static const std::vector<HostAddress> all = {
      on("lo", "127.0.0.1", 8),        on("ib0", "10.9.0.3", 16), on("eth0", "10.0.0.3", 24),
      on("docker0", "172.17.0.1", 16), on("eth0", "fd00::3", 64), on("lo", "::1", 128)};
  return all;
}

std::vector<std::string> names(const Candidates& candidates) {
  std::vector<std::string> result;
  for (const Candidate& one : candidates.all)
    if (!one.address.is_empty()) result.push_back(one.address.host_text());
  return result;
}

std::vector<std::string> offered(const char* interface, bool one_host = false) {
  std::string error;
  const Candidates found =
      candidates({.interface = interface, .one_host = one_host}, machine(), error);
  EXPECT_EQ(error.empty(), !names(found).empty()) << error;
  return names(found);
}

using List = std::vector<std::string>;

TEST(Candidates, OneHostUsesTheLoopback) {
  EXPECT_EQ(offered("", true), (List{"127.0.0.1", "::1"}));
}

TEST(Candidates, SeveralHostsUseEverythingElse) {
  EXPECT_EQ(offered(""), (List{"10.9.0.3", "10.0.0.3", "172.17.0.1", "fd00::3"}));
}

TEST(Candidates, TheUserNamesAnInterfaceAnAddressOrASubnet) {
  EXPECT_EQ(offered("eth0"), (List{"10.0.0.3", "fd00::3"}));
  EXPECT_EQ(offered("eth0", true), (List{"10.0.0.3", "fd00::3"}));
  EXPECT_EQ(offered("10.9.0.3"), (List{"10.9.0.3"}));
  EXPECT_EQ(offered("fd00::3"), (List{"fd00::3"}));
  EXPECT_EQ(offered("10.9.0.0/16"), (List{"10.9.0.3"}));
  EXPECT_EQ(offered("10.0.0.0/8"), (List{"10.9.0.3", "10.0.0.3"}));
  // As GASNET_WORKERIP: the number of a subnet, its bits as the interface has them.
  EXPECT_EQ(offered("10.0.0.0"), (List{"10.0.0.3"}));
  EXPECT_EQ(offered("lo"), (List{"127.0.0.1", "::1"}));
}

TEST(Candidates, WhatIsNotThereIsNamedBesideWhatIs) {
  for (const char* wrong : {"eth7", "10.0.0.4", "10.0.1.0", "10.0.0.0/x", "10.0.0.0/33", "/8"}) {
    std::string error;
    const Candidates none = candidates({.interface = wrong, .one_host = false}, machine(), error);
    EXPECT_TRUE(names(none).empty()) << wrong;
    EXPECT_NE(error.find(wrong), std::string::npos) << error;
    EXPECT_NE(error.find("eth0 (10.0.0.3)"), std::string::npos) << error;
    EXPECT_TRUE(error.ends_with("; GEX_UDP_INTERFACE or GASNET_WORKERIP asks for it")) << error;
  }
  std::string error;
  candidates({.interface = "", .one_host = false}, {}, error);
  EXPECT_EQ(error, "no interface to other hosts is up; no interface is up with an address");
  error.clear();
  candidates({.interface = "", .one_host = true}, {}, error);
  EXPECT_EQ(
      error,
      "no interface of the loopback (lo) is up; no interface is up with an address; bring it up "
      "(ip link set lo up), or, where all ranks share memory, choose no network "
      "(GEX_CONDUIT=smp)");
}

TEST(Candidates, TheLoopbackOfThisMachineIsFound) {
  std::string error;
  const Candidates found = candidates({}, host_addresses(), error);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(found.all[0].address.is_loopback());
}

Candidates offer(std::initializer_list<std::pair<const char*, std::uint32_t>> addresses) {
  Candidates result;
  std::size_t count = 0;
  for (const auto& [address, prefix] : addresses)
    result.all[count++] = {.address = Address::parse(address, 0), .prefix = prefix};
  return result;
}

std::string chosen(std::uint32_t rank, const std::vector<Candidates>& offers,
                   const std::vector<std::uint32_t>& host_of) {
  std::string error;
  const Address address = choose(rank, offers, host_of, error);
  return address.is_empty() ? error : address.host_text();
}

TEST(Choice, TheSubnetOfMostHostsWins) {
  const std::vector<Candidates> offers = {offer({{"10.9.0.1", 16}, {"10.0.0.1", 24}}),
                                          offer({{"10.0.0.2", 24}, {"10.9.0.2", 16}}),
                                          offer({{"10.0.0.3", 24}})};
  const std::vector<std::uint32_t> host_of = {0, 1, 2};
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(chosen(rank, offers, host_of), "10.0.0." + std::to_string(rank + 1));
}

TEST(Choice, OfEqualSubnetsThatWhichRank0NamesFirst) {
  const std::vector<Candidates> offers = {offer({{"10.9.0.1", 16}, {"10.0.0.1", 24}}),
                                          offer({{"10.0.0.2", 24}, {"10.9.0.2", 16}})};
  EXPECT_EQ(chosen(0, offers, {0, 1}), "10.9.0.1");
  EXPECT_EQ(chosen(1, offers, {0, 1}), "10.9.0.2");
}

TEST(Choice, AnAddressThatSeveralHostsHaveIsNotUsed) {
  const std::vector<Candidates> offers = {offer({{"172.17.0.1", 16}, {"10.0.0.1", 24}}),
                                          offer({{"172.17.0.1", 16}, {"10.0.0.2", 24}})};
  EXPECT_EQ(chosen(0, offers, {0, 1}), "10.0.0.1");
  EXPECT_EQ(chosen(1, offers, {0, 1}), "10.0.0.2");
  // Ranks of one host have the same ones.
  EXPECT_EQ(chosen(1, {offers[0], offers[0]}, {0, 0}), "172.17.0.1");
}

TEST(Choice, WhatSeveralHostsHaveIsUsedWhereTheyShareTheirStack) {
  std::vector<Candidates> offers = {offer({{"10.0.0.1", 24}}), offer({{"10.0.0.1", 24}}),
                                    offer({{"10.0.0.2", 24}})};
  for (const std::size_t one : {0, 1}) offers[one].stack = 7;
  offers[2].stack = 8;
  EXPECT_EQ(chosen(0, offers, {0, 1, 2}), "10.0.0.1");
  EXPECT_EQ(chosen(1, offers, {0, 1, 2}), "10.0.0.1");
  EXPECT_EQ(chosen(2, offers, {0, 1, 2}), "10.0.0.2");
  offers[1].stack = 9;
  EXPECT_EQ(chosen(0, offers, {0, 1, 1}),
            "rank 0 has no address that other hosts can reach: several hosts have 10.0.0.1, each "
            "on a network of its own");
}

TEST(Stack, IsThisProcesssOwn) {
  EXPECT_NE(ip_stack(), 0U);
  EXPECT_EQ(ip_stack(), ip_stack());
}

TEST(Choice, RanksOfManyOnAHostCountOnce) {
  const Candidates crowded = offer({{"10.9.0.1", 16}, {"10.0.0.1", 24}});
  const std::vector<Candidates> offers = {crowded, crowded, crowded, offer({{"10.0.0.2", 24}})};
  EXPECT_EQ(chosen(0, offers, {0, 0, 0, 1}), "10.0.0.1");
}

TEST(Choice, WithoutACommonSubnetRoutersHaveToDo) {
  const std::vector<Candidates> offers = {offer({{"10.1.0.1", 24}}),
                                          offer({{"fd00::2", 64}, {"10.2.0.2", 24}})};
  EXPECT_EQ(chosen(1, offers, {0, 1}), "10.2.0.2");
}

TEST(Choice, WhatCannotReachOneAnotherIsNamed) {
  EXPECT_EQ(
      chosen(1, {offer({{"10.1.0.1", 24}}), offer({{"fd00::2", 64}})}, {0, 1}),
      "rank 1 has no IPv4 address, which rank 0 uses; GEX_UDP_INTERFACE can name a subnet that "
      "all hosts have");
  EXPECT_EQ(chosen(0, {offer({}), offer({{"10.0.0.1", 8}})}, {0, 1}),
            "rank 0 has no address that other hosts can reach");
  // Each host has a loopback, which is not the others'.
  EXPECT_EQ(chosen(0, {offer({{"127.0.0.1", 8}}), offer({{"127.0.0.1", 8}})}, {0, 1}),
            "rank 0 has no address that other hosts can reach");
}

TEST(PathMtu, IsThatOfTheRoutesInterface) {
  const Address here = Address::parse("127.0.0.1", 0);
  for (const HostAddress& one : host_addresses()) {
    if (one.address == here) {
      EXPECT_EQ(path_mtu(here, Address::parse("127.0.0.1", 9)),
                std::min<std::size_t>(one.mtu, 65535));
    }
  }
  // No route from the loopback to elsewhere.
  EXPECT_EQ(path_mtu(here, Address::parse("192.0.2.77", 9)), 1500U);
}

TEST(PathMtu, OfTheLoopbackIsNotTooNarrow) {
  const Address here = Address::parse("127.0.0.1", 0);
  EXPECT_EQ(why_too_narrow(here, Address::parse("127.0.0.1", 9)), "");
}

}  // namespace
}  // namespace gex::net::udp
