// The model's times, on a clock that the test turns: one tick is a nanosecond.

#include "net/emu/ports.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "base/os_mapping.h"

namespace gex::net::emu {
namespace {

/// The ports of all ranks, over one memory.
class PortsOf {
 public:
  PortsOf(std::uint32_t ranks, const Model& model, std::uint64_t seed = 0)
      : layout_(ranks, 1), memory_(os::Mapping::anonymous(layout_.file_size())) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      ports_.emplace_back(timing_of(model, 1e9), layout_, memory_.bytes(), rank, seed);
  }
  Ports& operator[](std::uint32_t rank) { return ports_[rank]; }

 private:
  Layout layout_;
  os::Mapping memory_;
  std::deque<Ports> ports_;
};

constexpr Model usual_model{.latency = 1000,
                            .send_overhead = 100,
                            .receive_overhead = 200,
                            .bandwidth = 1e9,
                            .registration = 5000};

TEST(EmuPorts, APutIsReusableWhenItLeftAndCompleteARoundTripLater) {
  PortsOf ports(2, usual_model);
  const Ports::Put put = ports[0].put(1, 64, true, 10'000);
  EXPECT_EQ(put.left, 10'000u + 100 + 64);
  EXPECT_EQ(put.done, put.left + 2 * 1000);
}

TEST(EmuPorts, AGetTakesARoundTripAndItsBytesTheWayBack) {
  PortsOf ports(2, usual_model);
  EXPECT_EQ(ports[0].get(1, 64, true, 10'000), 10'000u + 100 + 2 * 1000 + 64);
}

TEST(EmuPorts, AMessageIsHandledAfterBothOverheads) {
  PortsOf ports(2, usual_model);
  EXPECT_EQ(ports[0].message(request_channel, 1, 0, 64, 10'000), 10'000u + 100 + 64 + 1000 + 200);
}

TEST(EmuPorts, MemoryThatIsNotRegisteredCostsItsRegistration) {
  PortsOf ports(2, usual_model);
  EXPECT_EQ(ports[0].put(1, 64, false, 0).left, 5000u + 100 + 64);
}

TEST(EmuPorts, AFloodIsPacedByTheBytes) {
  PortsOf ports(2, usual_model);
  Tick last = 0;
  for (int i = 0; i < 100; ++i) last = ports[0].put(1, 4096, true, 0).left;
  EXPECT_EQ(last, 100u + 100 * 4096);
}

TEST(EmuPorts, AFloodOfFewBytesIsPacedByTheOverhead) {
  PortsOf ports(2, usual_model);
  Tick last = 0;
  for (int i = 0; i < 100; ++i) last = ports[0].put(1, 8, true, 0).left;
  EXPECT_EQ(last, 100u * 100 + 8);
}

TEST(EmuPorts, TheGapHoldsBetweenTwoOfALinkAndTheRateBetweenTwoOfAPort) {
  PortsOf ports(3, Model{.gap = 300, .rate = 1e7});
  EXPECT_EQ(ports[0].message(request_channel, 1, 0, 8, 0), 0u);
  EXPECT_EQ(ports[0].message(request_channel, 2, 0, 8, 0), 100u);
  EXPECT_EQ(ports[0].message(request_channel, 1, 0, 8, 0), 300u);
  EXPECT_EQ(ports[0].message(request_channel, 2, 0, 8, 0), 400u);
}

TEST(EmuPorts, WhatTwoRanksSendToAThirdArrivesOneAfterTheOther) {
  PortsOf ports(3, Model{.latency = 1000, .bandwidth = 1e9});
  EXPECT_EQ(ports[0].message(request_channel, 2, 0, 4000, 0), 5000u);
  EXPECT_EQ(ports[1].message(request_channel, 2, 0, 4000, 0), 9000u);
  // Other ports do not wait for it.
  EXPECT_EQ(ports[1].message(request_channel, 0, 0, 4000, 4000), 9000u);
}

TEST(EmuPorts, WhatIsAtAPortFirstDoesNotWaitForWhatWaitsAtItsSenders) {
  PortsOf ports(4, Model{.latency = 1000, .bandwidth = 1e9});
  for (int i = 0; i < 10; ++i) ports[0].put(1, 4000, true, 0);
  EXPECT_EQ(ports[0].put(2, 4000, true, 0).done, 40'000u + 4000 + 2 * 1000);
  EXPECT_EQ(ports[1].message(request_channel, 2, 0, 100, 0), 1100u);
  EXPECT_EQ(ports[1].message(request_channel, 2, 1, 100, 500), 1600u);
  // The time before and between is free.
  EXPECT_EQ(ports[3].message(request_channel, 2, 0, 100, 200), 1300u);
  // From 21000 on 20000 are free before that put, the rest behind it.
  EXPECT_EQ(ports[3].message(request_channel, 2, 1, 25'000, 20'000), 50'000u);
}

TEST(EmuPorts, MoreGapsThanAPortKeepsCostNoMoreThanWaiting) {
  PortsOf ports(3, Model{.latency = 1000, .bandwidth = 1e9});
  Tick last = 0;
  for (int i = 0; i < 100; ++i) {
    ports[0].put(1, 100, true, 0);
    last = ports[0].put(2, 100, true, 0).done - 1000;
  }
  EXPECT_EQ(last, 100u * 200 + 1000);
  Tick end = 0;
  for (std::uint32_t i = 0; i < 100; ++i)
    end = std::max(end, ports[1].message(request_channel, 2, i, 100, 0));
  EXPECT_GE(end, last);
  EXPECT_LE(end, last + 40u * 100);
  // When their time is over there is room for others.
  EXPECT_EQ(ports[0].put(1, 5000, true, 100'000).left, 105'000u);
  EXPECT_EQ(ports[0].put(2, 5000, true, 100'000).left, 110'000u);
  EXPECT_EQ(ports[1].message(request_channel, 2, 100, 100, 100'000), 101'100u);
}

TEST(EmuPorts, GetsShareTheOwnersPort) {
  PortsOf ports(3, Model{.latency = 1000, .bandwidth = 1e9});
  EXPECT_EQ(ports[0].get(2, 4000, true, 0), 6000u);
  EXPECT_EQ(ports[1].get(2, 4000, true, 0), 10'000u);
}

TEST(EmuPorts, AllThatCrossesSharesTheBisection) {
  PortsOf ports(4, Model{.latency = 1000, .bandwidth = 1e9, .bisection = 5e8});
  EXPECT_EQ(ports[0].message(request_channel, 2, 0, 1000, 0), 3000u);
  EXPECT_EQ(ports[1].message(request_channel, 3, 0, 1000, 0), 5000u);
  // Within a half there is nothing to wait for.
  EXPECT_EQ(ports[2].message(request_channel, 3, 0, 1000, 5000), 7000u);
}

TEST(EmuPorts, ALoneTransferIsAsSlowAsTheBisection) {
  PortsOf ports(4, Model{.latency = 1000, .bandwidth = 1e9, .bisection = 1e8});
  EXPECT_EQ(ports[0].get(2, 10'000, true, 0), 2000u + 100'000);
  EXPECT_EQ(ports[1].put(3, 10'000, true, 1'000'000).done, 1'000'000u + 2000 + 100'000);
  // It limits, and does no more than that.
  PortsOf wide(4, Model{.latency = 1000, .bandwidth = 1e9, .bisection = 1e10});
  EXPECT_EQ(wide[0].get(2, 10'000, true, 0), 2000u + 10'000);
}

TEST(EmuPorts, JitterIsBoundedAndTheSameUnderTheSameSeed) {
  const Model model{.latency = 1000, .jitter = 500};
  PortsOf one(2, model, 7);
  PortsOf same(2, model, 7);
  PortsOf other(2, model, 8);
  std::set<Tick> seen;
  bool differs = false;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const Tick arrived = one[0].message(request_channel, 1, i, 8, 0);
    EXPECT_GE(arrived, 1000u);
    EXPECT_LE(arrived, 1500u);
    EXPECT_EQ(same[0].message(request_channel, 1, i, 8, 0), arrived);
    differs |= other[0].message(request_channel, 1, i, 8, 0) != arrived;
    seen.insert(arrived);
  }
  EXPECT_GT(seen.size(), 50u);
  EXPECT_TRUE(differs);
}

TEST(EmuPorts, JitterDoesNotHangOnWhatElseIsSent) {
  // Replies leave when their requests come, which is another moment in each run.
  const Model model{.latency = 1000, .jitter = 500};
  PortsOf one(3, model, 7);
  PortsOf same(3, model, 7);
  std::set<Tick> kinds;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const Tick now = Tick{i} * 10'000;
    same[0].message(reply_channel, 1, i, 8, now);
    same[0].message(request_channel, 2, i, 8, now);
    same[0].get(1, 8, true, now);
    EXPECT_EQ(same[0].message(request_channel, 1, i, 8, now),
              one[0].message(request_channel, 1, i, 8, now));
    EXPECT_EQ(same[0].put(1, 8, true, now).done, one[0].put(1, 8, true, now).done);
    kinds.insert(one[0].message(reply_channel, 1, i, 8, now) - now);
    kinds.insert(one[0].message(request_channel, 2, i, 8, now) - now);
  }
  // None of them draws another's.
  EXPECT_GT(kinds.size(), 100u);
}

}  // namespace
}  // namespace gex::net::emu
