// Copies of a stream share writes of a flag, and polls read that and call no driver. Over functions
// of the test's instead of a driver's.

#include "kinds/cuda/copy_stream.h"

#include <gtest/gtest.h>

#include <array>

#include "core/progress.h"

namespace gex::kinds::cuda {
namespace {

/// Calls of the driver, and the value that the stream has been asked to write last.
struct {
  unsigned copies = 0;
  unsigned writes = 0;
  unsigned contexts = 0;
  unsigned batches = 0;
  std::size_t in_batches = 0;
  Result of_batches = success;
  std::uint32_t value = 0;
} calls;

class Copies : public testing::Test {
 protected:
  void SetUp() override {
    calls = {};
    driver_.create_stream = [](Stream*, unsigned flags) -> Result {
      return flags == stream_non_blocking ? 0 : 1;
    };
    driver_.copy = [](DeviceAddress, DeviceAddress, std::size_t, Stream) -> Result {
      ++calls.copies;
      return success;
    };
    driver_.write_value = [](Stream, DeviceAddress, std::uint32_t value, unsigned) -> Result {
      ++calls.writes;
      calls.value = value;
      return success;
    };
    driver_.push_context = [](Context) -> Result {
      ++calls.contexts;
      return success;
    };
    driver_.pop_context = [](Context*) -> Result { return success; };
    ASSERT_EQ(stream_.open(driver_, &flag_), success);
  }

  void begin(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      ASSERT_EQ(stream_.begin(bytes_.data(), bytes_.data() + 8, 8, &done_, nullptr), success);
  }
  void offer_batches() {
    driver_.copy_batch = [](const DeviceAddress*, const DeviceAddress*, const std::size_t*,
                            std::size_t count, const BatchAttributes*, const std::size_t*,
                            std::size_t, std::size_t*, Stream) -> Result {
      ++calls.batches;
      calls.in_batches += count;
      return calls.of_batches;
    };
    ASSERT_EQ(stream_.open(driver_, &flag_), success);
  }
  bool poll() {
    bool progressed = false;
    EXPECT_EQ(stream_.poll(nullptr, progressed), success);
    return progressed;
  }

  void finish() {
    EXPECT_FALSE(poll());
    flag_ = calls.value;
    EXPECT_TRUE(poll());
  }

  Driver driver_{};
  CopyStream stream_;
  std::uint32_t flag_ = 7;
  std::array<std::byte, 16> bytes_{};
  StdCompletion::Word done_{0};
};

TEST_F(Copies, ShareAWriteOfTheFlagUntilAPoll) {
  begin(3);
  EXPECT_EQ(calls.writes, 0U);
  EXPECT_FALSE(poll());
  EXPECT_EQ(calls.copies, 3U);
  EXPECT_EQ(calls.writes, 1U);
  flag_ = calls.value;
  EXPECT_TRUE(poll());
  EXPECT_EQ(done_, 3U);
}

TEST_F(Copies, ShareAWriteOfTheFlagUpToThirtyTwo) {
  begin(100);
  EXPECT_EQ(calls.writes, 3U);
  EXPECT_FALSE(poll());
  EXPECT_EQ(calls.writes, 4U);
  // The second batch is done.
  flag_ = calls.value - 2;
  EXPECT_TRUE(poll());
  EXPECT_EQ(done_, 64U);
  flag_ = calls.value;
  EXPECT_TRUE(poll());
  EXPECT_EQ(done_, 100U);
}

TEST_F(Copies, GoInBatchesBehindTheFirst) {
  offer_batches();
  begin(1);
  EXPECT_EQ(calls.copies, 1U);
  begin(2);
  EXPECT_EQ(calls.batches, 0U);
  EXPECT_FALSE(poll());
  EXPECT_EQ(calls.batches, 1U);
  EXPECT_EQ(calls.in_batches, 2U);
  EXPECT_EQ(calls.copies, 1U);
  begin(64);
  EXPECT_EQ(calls.batches, 3U);
  EXPECT_EQ(calls.in_batches, 66U);
  flag_ = calls.value;
  EXPECT_TRUE(poll());
  EXPECT_EQ(done_, 67U);
  // Nothing is under way: a copy begins at once, and so does one that is long.
  begin(1);
  EXPECT_EQ(calls.copies, 2U);
  ASSERT_EQ(stream_.begin(bytes_.data(), bytes_.data() + 8, 4097, &done_, nullptr), success);
  EXPECT_EQ(calls.copies, 3U);
  finish();
}

TEST_F(Copies, GoOneByOneOnceABatchIsRefused) {
  offer_batches();
  calls.of_batches = 801;
  begin(3);
  EXPECT_FALSE(poll());
  EXPECT_EQ(calls.batches, 1U);
  EXPECT_EQ(calls.copies, 3U);
  flag_ = calls.value;
  EXPECT_TRUE(poll());
  begin(3);
  finish();
  EXPECT_EQ(calls.batches, 1U);
  EXPECT_EQ(calls.copies, 6U);
}

TEST_F(Copies, AreAwaitedByPollsThatCallNoDriver) {
  begin(1);
  EXPECT_FALSE(poll());
  const auto before = calls;
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(poll());
  EXPECT_EQ(calls.writes, before.writes);
  EXPECT_EQ(calls.contexts, before.contexts);
  flag_ = calls.value;
  EXPECT_TRUE(poll());
  EXPECT_EQ(calls.contexts, before.contexts);
}

TEST_F(Copies, WantPollsWhileTheyAreUnderWay) {
  EXPECT_FALSE(are_polls_wanted());
  begin(2);
  EXPECT_TRUE(are_polls_wanted());
  EXPECT_FALSE(poll());
  flag_ = calls.value;
  EXPECT_TRUE(poll());
  EXPECT_FALSE(are_polls_wanted());
}

}  // namespace
}  // namespace gex::kinds::cuda
