#include "net/emu/receiving_port.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/random.h"

namespace gex::net::emu {
namespace {

/// The first free slots from one on, in a row of slots of 16 ticks.
class Row {
 public:
  Tick reserve(Tick earliest, Tick duration) {
    std::size_t slot = earliest / slot_ticks;
    for (Tick left = duration; left != 0; ++slot) {
      if (slot >= taken_.size()) taken_.resize(slot + 1);
      if (taken_[slot]) continue;
      taken_[slot] = true;
      left -= slot_ticks;
    }
    return slot * slot_ticks;
  }
  static constexpr Tick slot_ticks = 16;

 private:
  std::vector<bool> taken_;
};

TEST(EmuReceivingPort, TakesTheFirstTimeThatIsFree) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const auto port = std::make_unique<ReceivingPort>();
    Row row;
    SplitMix64 random(seed);
    // As many as there can be gaps.
    for (int i = 0; i < 60; ++i) {
      const Tick earliest = random() % 400 * Row::slot_ticks;
      const Tick duration = (1 + random() % 12) * Row::slot_ticks;
      EXPECT_EQ(port->reserve(0, earliest, duration), row.reserve(earliest, duration));
    }
  }
}

}  // namespace
}  // namespace gex::net::emu
