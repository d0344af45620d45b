// Hosts that ask one another whether they are reached; all of them in this process, on the
// loopback.

#include "net/address_probe.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/os_file.h"

namespace gex::net {
namespace {

OfferedAddress at(const char* address) {
  OfferedAddress candidate{.address = Address::parse(address, 0), .prefix = 8};
  candidate.interface[0] = 'x';
  return candidate;
}

using By = AddressProbe::By;

class Probe : public ::testing::TestWithParam<By> {
 protected:
  /// Adds a host with these addresses.
  void add(std::initializer_list<const char*> addresses) {
    HostOffer offer;
    for (const char* const one : addresses) offer.candidates.push_back(at(one));
    probes_.push_back(std::make_unique<AddressProbe>(GetParam(), 0, 0, offer.candidates));
    offers_.push_back(std::move(offer));
  }
  void start(std::uint32_t host, std::vector<Question> questions, SipKey key = {1, 2}) {
    EXPECT_EQ(probes_[host]->start(key, host, questions, offers_, limit_), 0);
  }

  std::chrono::milliseconds limit_ = AddressProbe::default_limit;
  std::vector<HostOffer> offers_;
  std::vector<std::unique_ptr<AddressProbe>> probes_;
};

TEST_P(Probe, HostsReachEachOtherAtEachAddress) {
  add({"127.0.0.1", "127.0.0.2"});
  add({"127.0.0.3"});
  start(0, {{1, 0}});
  start(1, {{0, 0}, {0, 1}});
  EXPECT_EQ(probes_[0]->final_outcomes(), std::vector<Outcome>{Outcome::reached});
  EXPECT_EQ(probes_[1]->final_outcomes(), (std::vector{Outcome::reached, Outcome::reached}));
}

TEST_P(Probe, FirstOutcomesDoNotWaitForAnAddressThatIsSilent) {
  limit_ = std::chrono::milliseconds(1000);
  add({"127.0.0.1"});
  add({"127.0.0.2"});
  // What comes there is not read.
  offers_[1].candidates.push_back(at("127.0.0.9"));
  const os::FileDescriptor full(
      socket(AF_INET, (GetParam() == By::datagrams ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0));
  Address place = offers_[1].candidates[1].address;
  ASSERT_EQ(bind(full.get(), place.data(), place.length()), 0);
  if (GetParam() == By::connections) {
    ASSERT_EQ(listen(full.get(), 4), 0);
  }
  socklen_t length = Address::max_length;
  ASSERT_EQ(getsockname(full.get(), place.data(), &length), 0);
  place.set_length(length);
  offers_[1].candidates[1].address = place;
  start(1, {});
  start(0, {{1, 0}, {1, 1}});
  EXPECT_EQ(probes_[0]->first_outcomes(), (std::vector{Outcome::reached, Outcome::pending}));
  EXPECT_EQ(probes_[0]->final_outcomes(), (std::vector{Outcome::reached, Outcome::silent}));
}

TEST_P(Probe, AnotherHostThanTheOneThatWasMeantDoesNotAnswer) {
  limit_ = std::chrono::milliseconds(200);
  add({"127.0.0.1"});
  add({"127.0.0.2"});
  add({"127.0.0.3"});
  // As where two hosts have one address: it leads to another host than the one it is of.
  offers_[1].candidates[0].address = offers_[2].candidates[0].address;
  start(2, {});
  start(0, {{1, 0}});
  EXPECT_NE(probes_[0]->final_outcomes(), std::vector<Outcome>{Outcome::reached});
}

TEST_P(Probe, AJobWithAnotherKeyDoesNotAnswer) {
  limit_ = std::chrono::milliseconds(200);
  add({"127.0.0.1"});
  add({"127.0.0.2"});
  start(1, {}, {3, 4});
  start(0, {{1, 0}});
  EXPECT_NE(probes_[0]->final_outcomes(), std::vector<Outcome>{Outcome::reached});
}

TEST_P(Probe, ManyWithoutTheKeyDoNotKeepItFromAnswering) {
  add({"127.0.0.1"});
  add({"127.0.0.2"});
  start(1, {});
  const Address& place = offers_[1].candidates[0].address;
  std::vector<os::FileDescriptor> others;
  for (int i = 0; i < 400; ++i) {
    os::FileDescriptor& one = others.emplace_back(socket(
        AF_INET, (GetParam() == By::datagrams ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(one.get(), place.data(), place.length()), 0);
    const std::array<char, 40> nothing{};
    if (GetParam() == By::datagrams) {
      EXPECT_EQ(send(one.get(), nothing.data(), nothing.size(), 0), 40);
    }
  }
  start(0, {{1, 0}});
  EXPECT_EQ(probes_[0]->final_outcomes(), std::vector<Outcome>{Outcome::reached});
}

TEST_P(Probe, AnAddressThatNoSocketCanHaveIsNotReached) {
  add({"127.0.0.1"});
  add({"127.0.0.2", "192.0.2.7"});
  start(1, {});
  start(0, {{1, 0}, {1, 1}});
  EXPECT_EQ(probes_[0]->final_outcomes(), (std::vector{Outcome::reached, Outcome::no_port}));
}

INSTANTIATE_TEST_SUITE_P(By, Probe, ::testing::Values(By::datagrams, By::connections),
                         [](const auto& by) {
                           return by.param == By::datagrams ? "Datagrams" : "Connections";
                         });

}  // namespace
}  // namespace gex::net
