// With which ranks a rank exchanges handshakes when a job begins.

#include "net/kit/handshakes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace gex::net {
namespace {

/// The ranks to which rank 1 of six sends, of which rank 5 shares its memory.
std::vector<std::uint32_t> sent_to(bool with_all) {
  Host host{};
  host.rank = 1;
  host.size = 6;
  host.shares_memory = [](std::uint32_t peer) -> std::uint32_t { return peer == 5 ? 1 : 0; };
  Handshakes handshakes(host);
  std::vector<std::uint32_t> to;
  handshakes.exchange({.name = "test",
                       .remedy = "",
                       .send =
                           [&](std::uint32_t peer) {
                             to.push_back(peer);
                             return true;
                           },
                       .advance =
                           [&] {
                             for (const std::uint32_t peer : {0, 2, 3, 4}) handshakes.came(peer);
                             return true;
                           },
                       .refusing = [] { return std::nullopt; },
                       .with_all = with_all});
  return to;
}

TEST(Handshakes, GoToRanksAPowerOfTwoAwayThatDoNotShareMemory) {
  EXPECT_EQ(sent_to(false), (std::vector<std::uint32_t>{2, 3}));
}

TEST(Handshakes, GoToAllOthersOverANetworkThatNeedsIt) {
  EXPECT_EQ(sent_to(true), (std::vector<std::uint32_t>{2, 3, 4, 0}));
}

}  // namespace
}  // namespace gex::net
