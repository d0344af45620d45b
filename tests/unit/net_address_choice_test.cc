// Which address each host of a job uses.

#include "net/address_choice.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace gex::net {
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

using List = std::vector<std::string>;

List usable(const char* named, bool one_host = false,
            const std::vector<HostAddress>& here = machine()) {
  std::string error;
  List names;
  for (const HostAddress& one : usable_addresses(named, one_host, here, "GEX_X_INTERFACE", error))
    names.push_back(one.address.host_text());
  EXPECT_EQ(error.empty(), !names.empty()) << error;
  return names;
}

TEST(Usable, OneHostUsesTheLoopback) {
  EXPECT_EQ(usable("", true), (List{"127.0.0.1", "::1"}));
}

TEST(Usable, SeveralHostsUseEverythingElse) {
  EXPECT_EQ(usable(""), (List{"10.9.0.3", "10.0.0.3", "172.17.0.1", "fd00::3"}));
}

TEST(Usable, WithACarrierAndOnTheDefaultRouteFirst) {
  std::vector<HostAddress> here = machine();
  here[1].has_carrier = false;
  here[3].is_preferred = true;
  EXPECT_EQ(usable("", false, here), (List{"172.17.0.1", "10.0.0.3", "fd00::3", "10.9.0.3"}));
}

TEST(Usable, TheUserNamesAnInterfaceAnAddressOrASubnet) {
  EXPECT_EQ(usable("eth0"), (List{"10.0.0.3", "fd00::3"}));
  EXPECT_EQ(usable("eth0", true), (List{"10.0.0.3", "fd00::3"}));
  EXPECT_EQ(usable("10.9.0.3"), (List{"10.9.0.3"}));
  EXPECT_EQ(usable("fd00::3"), (List{"fd00::3"}));
  EXPECT_EQ(usable("10.9.0.0/16"), (List{"10.9.0.3"}));
  EXPECT_EQ(usable("10.0.0.0/8"), (List{"10.9.0.3", "10.0.0.3"}));
  // As GASNET_WORKERIP: the number of a subnet, its bits as the interface has them.
  EXPECT_EQ(usable("10.0.0.0"), (List{"10.0.0.3"}));
  EXPECT_EQ(usable("lo"), (List{"127.0.0.1", "::1"}));
}

TEST(Usable, WhatIsNotThereIsNamedBesideWhatIs) {
  for (const char* wrong : {"eth7", "10.0.0.4", "10.0.1.0", "10.0.0.0/x", "10.0.0.0/33", "/8"}) {
    std::string error;
    EXPECT_TRUE(usable_addresses(wrong, false, machine(), "GEX_X_INTERFACE", error).empty());
    EXPECT_NE(error.find(wrong), std::string::npos) << error;
    EXPECT_NE(error.find("eth0 (10.0.0.3)"), std::string::npos) << error;
    EXPECT_TRUE(error.ends_with("; GEX_X_INTERFACE asks for it")) << error;
  }
  std::string error;
  usable_addresses("", false, {}, "", error);
  EXPECT_EQ(error, "no interface to other hosts is up; no interface is up with an address");
  usable_addresses("", true, {}, "", error);
  EXPECT_EQ(
      error,
      "no interface of the loopback (lo) is up; no interface is up with an address; bring it up "
      "(ip link set lo up), or, where all ranks share memory, choose no network "
      "(GEX_CONDUIT=smp)");
}

TEST(Usable, TheLoopbackOfThisMachineIsFound) {
  std::string error;
  const auto found = usable_addresses("", true, host_addresses(error), "", error);
  EXPECT_EQ(error, "");
  EXPECT_TRUE(found.at(0).address.is_loopback());
  EXPECT_TRUE(found.at(0).has_carrier);
}

TEST(Addresses, ThatTheSystemDoesNotListAreAnError) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  std::string error;
  const auto found = host_addresses(error);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(error, "the system does not list the interfaces of this host: Too many open files");
}

TEST(Stack, IsThisProcesssOwn) {
  EXPECT_NE(ip_stack(), 0U);
  EXPECT_EQ(ip_stack(), ip_stack());
}

struct Interface {
  const char* name;
  const char* address;
  std::uint32_t prefix;
  std::uint32_t speed = 0;
};

/// A host with these interfaces.
HostOffer host(const char* name, std::initializer_list<Interface> interfaces,
               std::uint64_t stack = 0) {
  std::vector<HostAddress> addresses;
  for (const Interface& one : interfaces) {
    addresses.push_back(on(one.name, one.address, one.prefix));
    addresses.back().speed = one.speed;
  }
  return {name, stack, offered_addresses(addresses)};
}

/// Checks whether `from` reaches `to` at an address.
using Reach = std::function<Outcome(const std::string& from, const std::string& address)>;
const Reach everywhere = [](const std::string&, const std::string&) { return Outcome::reached; };

class Job {
 public:
  Job(std::vector<HostOffer> offers, const Reach& reach) : chooser_(std::move(offers)) {
    const auto all = chooser_.offers();
    for (std::uint32_t from = 0; from < all.size(); ++from) {
      auto& own = outcomes_.emplace_back();
      for (const Question& one : chooser_.questions_of(from)) {
        own.push_back(
            reach(all[from].name, all[one.host].candidates[one.candidate].address.host_text()));
      }
    }
    choice_ = chooser_.choose(outcomes_, "GEX_X_INTERFACE");
  }

  /// The addresses of all hosts, or why there is no choice.
  List chosen() const {
    if (choice_.of_host.empty()) return {choice_.why_not};
    List names;
    for (std::size_t i = 0; i < choice_.of_host.size(); ++i)
      names.push_back(chooser_.offers()[i].candidates[choice_.of_host[i]].address.host_text());
    return names;
  }
  std::string reason(std::uint32_t host) const {
    return chooser_.reason_of(host, choice_, outcomes_);
  }
  const AddressChooser& chooser() const { return chooser_; }

 private:
  AddressChooser chooser_;
  AddressChooser::Outcomes outcomes_;
  AddressChoice choice_;
};

TEST(Choice, TheSubnetOfMostHostsWins) {
  const Job job({host("a", {{"ib0", "10.9.0.1", 16}, {"eth0", "10.0.0.1", 24}}),
                 host("b", {{"eth0", "10.0.0.2", 24}, {"ib0", "10.9.0.2", 16}}),
                 host("c", {{"eth0", "10.0.0.3", 24}})},
                everywhere);
  EXPECT_EQ(job.chosen(), (List{"10.0.0.1", "10.0.0.2", "10.0.0.3"}));
}

TEST(Choice, OfEqualSubnetsTheFasterThenTheOneThatIsNamedFirst) {
  const Job equal({host("a", {{"ib0", "10.9.0.1", 16}, {"eth0", "10.0.0.1", 24}}),
                   host("b", {{"eth0", "10.0.0.2", 24}, {"ib0", "10.9.0.2", 16}})},
                  everywhere);
  EXPECT_EQ(equal.chosen(), (List{"10.9.0.1", "10.9.0.2"}));
  const Job faster({host("a", {{"ib0", "10.9.0.1", 16}, {"eth0", "10.0.0.1", 24, 1000}}),
                    host("b", {{"ib0", "10.9.0.2", 16}, {"eth0", "10.0.0.2", 24, 1000}})},
                   everywhere);
  EXPECT_EQ(faster.chosen(), (List{"10.0.0.1", "10.0.0.2"}));
}

TEST(Choice, ASubnetThatLeadsNowhereIsNotUsedAndTheReasonNamesIt) {
  // Both hosts have it, as that of their containers, and are joined by a router.
  const Job job({host("a", {{"br-x", "172.18.0.1", 16}, {"eth0", "10.1.0.2", 24}}),
                 host("b", {{"br-x", "172.18.0.2", 16}, {"eth0", "10.3.0.2", 24}})},
                [](const std::string&, const std::string& address) {
                  return address.starts_with("172.") ? Outcome::silent : Outcome::reached;
                });
  EXPECT_EQ(job.chosen(), (List{"10.1.0.2", "10.3.0.2"}));
  EXPECT_EQ(job.reason(0),
            "10.1.0.2 (eth0), where the other hosts reach it; not 172.18.0.1 (br-x): b has no "
            "answer");
}

TEST(Choice, AnAddressThatSeveralHostsHaveIsNotAskedFor) {
  const Job job({host("a", {{"docker0", "172.17.0.1", 16}, {"eth0", "10.0.0.1", 24}}),
                 host("b", {{"docker0", "172.17.0.1", 16}, {"eth0", "10.0.0.2", 24}})},
                [](const std::string&, const std::string& address) {
                  EXPECT_NE(address, "172.17.0.1");
                  return Outcome::reached;
                });
  EXPECT_EQ(job.chosen(), (List{"10.0.0.1", "10.0.0.2"}));
  EXPECT_EQ(job.reason(1),
            "10.0.0.2 (eth0), where the other hosts reach it; not 172.17.0.1 (docker0): several "
            "hosts have it");
}

TEST(Choice, WhatSeveralHostsHaveIsUsedWhereTheyShareTheirStack) {
  const auto offers = [](std::uint64_t stack_of_b) {
    return std::vector<HostOffer>{host("a", {{"eth0", "10.0.0.1", 24}}, 7),
                                  host("b", {{"eth0", "10.0.0.1", 24}}, stack_of_b),
                                  host("c", {{"eth0", "10.0.0.2", 24}}, 8)};
  };
  EXPECT_EQ(Job(offers(7), everywhere).chosen(), (List{"10.0.0.1", "10.0.0.1", "10.0.0.2"}));
  const List none = Job(offers(9), everywhere).chosen();
  ASSERT_EQ(none.size(), 1U);
  EXPECT_TRUE(none[0].starts_with(
      "hosts a and b do not reach each other: b at 10.0.0.1 (eth0): several hosts have it; a at "
      "10.0.0.1 (eth0): several hosts have it; GEX_X_INTERFACE chooses "))
      << none[0];
}

TEST(Choice, TheLoopbackJoinsHostsOfOneStackOnly) {
  const auto offers = [](std::uint64_t stack_of_b) {
    return std::vector<HostOffer>{host("a", {{"lo", "127.0.0.1", 8}}, 7),
                                  host("b", {{"lo", "127.0.0.1", 8}}, stack_of_b)};
  };
  EXPECT_EQ(Job(offers(7), everywhere).chosen(), (List{"127.0.0.1", "127.0.0.1"}));
  EXPECT_EQ(Job(offers(8), everywhere).chosen().size(), 1U);
}

TEST(Choice, WithoutACommonSubnetRoutersHaveToDo) {
  const Job job({host("a", {{"eth0", "10.1.0.1", 24}}),
                 host("b", {{"eth0", "fd00::2", 64}, {"eth0", "10.2.0.2", 24}})},
                everywhere);
  EXPECT_EQ(job.chosen(), (List{"10.1.0.1", "10.2.0.2"}));
}

TEST(Choice, BothDirectionsCount) {
  // b cannot reach a's first address, a reaches b everywhere.
  const Job job({host("a", {{"eth0", "10.0.0.1", 24}, {"eth1", "10.1.0.1", 24}}),
                 host("b", {{"eth0", "10.0.0.2", 24}, {"eth1", "10.1.0.2", 24}})},
                [](const std::string& from, const std::string& address) {
                  return from == "b" && address == "10.0.0.1" ? Outcome::refused : Outcome::reached;
                });
  EXPECT_EQ(job.chosen(), (List{"10.1.0.1", "10.1.0.2"}));
}

TEST(Choice, WhatCannotBeReachedIsNamedOnBothSidesWithTheVariable) {
  const Job job({host("a", {{"tun0", "10.9.0.1", 32}}), host("b", {{"tun0", "10.9.0.2", 32}})},
                [](const std::string& from, const std::string&) {
                  return from == "a" ? Outcome::no_route : Outcome::silent;
                });
  EXPECT_EQ(job.chosen(),
            (List{"hosts a and b do not reach each other: b at 10.9.0.2 (tun0): no route; a at "
                  "10.9.0.1 (tun0): no answer; GEX_X_INTERFACE chooses an interface, an address or "
                  "a subnet that joins them"}));
}

TEST(Choice, AFirewallIsSuspectedOnlyInsideASubnet) {
  const auto why = [](const char* of_b) {
    return Job({host("a", {{"eth0", "10.0.0.1", 24}}), host("b", {{"eth0", of_b, 24}})},
               [](const std::string&, const std::string&) { return Outcome::silent; })
        .chosen()
        .at(0);
  };
  EXPECT_NE(why("10.0.0.2").find("firewall"), std::string::npos);
  EXPECT_EQ(why("10.7.0.2").find("firewall"), std::string::npos);
}

TEST(Choice, OneAddressOfEachHostHasToServeAllOthers) {
  // Three hosts, each two of which are joined by a cable of their own.
  const Job job({host("a", {{"ab", "10.1.0.1", 24}, {"ac", "10.2.0.1", 24}}),
                 host("b", {{"ab", "10.1.0.2", 24}, {"bc", "10.3.0.1", 24}}),
                 host("c", {{"ac", "10.2.0.2", 24}, {"bc", "10.3.0.2", 24}})},
                [](const std::string& from, const std::string& address) {
                  const char* const own = from == "a" ? "12" : from == "b" ? "13" : "23";
                  return std::string(own).find(address[3]) != std::string::npos ? Outcome::reached
                                                                                : Outcome::no_route;
                });
  EXPECT_TRUE(job.chosen().at(0).starts_with("each two of the 3 hosts reach each other, but "));
}

TEST(Choice, AddressesInASubnetOfOnesOwnAreAskedForFirst) {
  // Containers' networks, of which there may be more than can be asked at a time.
  const Job job(
      {host("a", {{"br1", "172.20.0.1", 24}, {"eth0", "10.0.0.1", 24}}),
       host("b", {{"br1", "172.30.0.1", 24}, {"br2", "172.31.0.1", 24}, {"eth0", "10.0.0.2", 24}})},
      everywhere);
  EXPECT_EQ(job.chooser().questions_of(0).at(0).candidate, 2U);
  EXPECT_EQ(job.chooser().questions_of(0).size(), 3U);
}

TEST(Choice, QuestionsGrowWithTheLogarithmOfTheHosts) {
  std::vector<HostOffer> offers;
  for (int i = 0; i < 1000; ++i) {
    const std::string address = "10.0." + std::to_string(i / 200) + "." + std::to_string(i % 200);
    offers.push_back(host("x", {{"eth0", address.c_str(), 16}, {"lo0", "192.168.9.9", 24}}));
  }
  const Job job(std::move(offers), everywhere);
  EXPECT_EQ(job.chosen().size(), 1000U);
  EXPECT_LE(job.chooser().questions_of(0).size(), 20U);
}

}  // namespace
}  // namespace gex::net
