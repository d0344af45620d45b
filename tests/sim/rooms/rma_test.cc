// Puts and gets made of messages: their parts, and what becomes of those that find no room. Below
// the interface, where they are made for neighbors too, whose memory is mapped.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "am/limits.h"
#include "conformance.h"
#include "observe/restricted.h"
#include "rma/messages.h"
#include "rma/rma.h"

namespace gex::rma {
namespace {

using conformance::barrier;
using conformance::next;
using conformance::own_segment;
using conformance::previous;
using conformance::rank;
using conformance::segment_of;

std::byte byte_at(gex_Rank_t owner, std::size_t offset) {
  return static_cast<std::byte>(owner * 37 + offset * 11 + offset / 4096);
}

std::vector<std::byte> pattern_of(gex_Rank_t owner, std::size_t bytes) {
  std::vector<std::byte> pattern(bytes);
  for (std::size_t i = 0; i < bytes; ++i) pattern[i] = byte_at(owner, i);
  return pattern;
}

class RmaReference : public testing::Test {
 protected:
  static ResolvedTransfer to_next(std::vector<std::byte>& local) {
    return resolve_transfer(conformance::team(), next(), local.data(), segment_of(next()),
                            local.size(), 0, Call::put_blocking);
  }
  static std::vector<std::byte> own_bytes(std::size_t bytes) {
    return {own_segment(), own_segment() + bytes};
  }
  StdCompletion::Word target{0};
};

TEST(Way, IsAProcessorsCopyOfMappedMemoryElseTheNetworks) {
  std::vector<std::byte> local(8);
  const auto way_to = [&](gex_Rank_t peer) {
    const Target target = resolve(conformance::team(), peer);
    const ResolvedTransfer put = resolve_transfer(target, local.data(), segment_of(peer),
                                                  local.size(), 0, Call::put_blocking);
    EXPECT_EQ(put.mapped, target.segment().mapped);
    EXPECT_EQ(put.kind, nullptr);
    return put.way;
  };
  EXPECT_EQ(way_to(rank()), Way::copy);
  const bool near = process().neighborhood.contains(next());
  const bool has_network = process().conduit != nullptr && process().conduit->put != nullptr;
  EXPECT_EQ(way_to(next()), near ? Way::copy : has_network ? Way::network : Way::messages);
}

TEST_F(RmaReference, APutCompletesOncePerPart) {
  const std::size_t bytes = 2 * am::max_medium(next()) + 1;
  std::vector<std::byte> source = pattern_of(rank(), bytes);
  const ResolvedTransfer put = to_next(source);
  ASSERT_EQ(message_parts_of(put), 3U);
  EXPECT_EQ(put_by_messages(put, &target, /*immediate=*/false).parts, message_parts_of(put));
  std::fill(source.begin(), source.end(), std::byte{});  // is the caller's again
  WAIT_UNTIL(target == 3);
  barrier();
  EXPECT_EQ(own_bytes(bytes), pattern_of(previous(), bytes));
  EXPECT_EQ(target, 3U);
}

TEST_F(RmaReference, AGetCompletesOncePerPart) {
  const std::size_t bytes = am::max_medium(next()) + 3;
  const std::vector<std::byte> mine = pattern_of(rank(), bytes);
  std::copy(mine.begin(), mine.end(), own_segment());
  barrier();
  std::vector<std::byte> destination(bytes);
  const ResolvedTransfer get = to_next(destination);
  ASSERT_EQ(message_parts_of(get), 2U);
  EXPECT_EQ(get_by_messages(get, &target, /*immediate=*/false).parts, message_parts_of(get));
  WAIT_UNTIL(target == 2);
  EXPECT_EQ(destination, pattern_of(next(), bytes));
  barrier();
  EXPECT_EQ(target, 2U);
}

// Each puts a number of its own. Without polls of its own a rank gets no reply, so that some put
// finds no room for one.
TEST_F(RmaReference, AnImmediatePutThatIsRefusedHasSentNothing) {
  constexpr std::size_t max_puts = conformance::segment_bytes / sizeof(std::uint64_t);
  auto* const numbers = reinterpret_cast<std::uint64_t*>(own_segment());
  std::fill(numbers, numbers + max_puts, std::uint64_t{0});
  barrier();
  std::uint32_t injected = 0;
  for (;; ++injected) {
    ASSERT_LT(injected, max_puts);
    std::uint64_t number = injected + 1;
    const ResolvedTransfer put = resolve_transfer(conformance::team(), next(), &number,
                                                  segment_of(next()) + injected * sizeof number,
                                                  sizeof number, 0, Call::put_blocking);
    if (put_by_messages(put, &target, /*immediate=*/true).parts == 0) break;
  }
  ASSERT_GT(injected, 0U);
  WAIT_UNTIL(target == injected);
  const std::uint32_t came = conformance::gather(injected)[previous()];
  for (std::uint32_t i = 0; i < came; ++i) EXPECT_EQ(numbers[i], i + 1);
  EXPECT_EQ(numbers[came], 0U);
  EXPECT_EQ(target, injected);
}

// It has more parts than a rank may have under way without polls of its own.
TEST_F(RmaReference, TheRestOfAnImmediatePutIsSentByPollsFromACopy) {
  const std::size_t bytes = conformance::segment_bytes;
  std::vector<std::byte> source = pattern_of(rank(), bytes);
  const ResolvedTransfer put = to_next(source);
  ASSERT_EQ(put_by_messages(put, &target, /*immediate=*/true).parts, message_parts_of(put));
  std::fill(source.begin(), source.end(), std::byte{});
  WAIT_UNTIL(target == message_parts_of(put));
  barrier();
  EXPECT_EQ(own_bytes(bytes), pattern_of(previous(), bytes));
}

}  // namespace
}  // namespace gex::rma
