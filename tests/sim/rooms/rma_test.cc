// The way of puts and gets, and those that are made of messages: their parts, and what becomes of
// those that find no room. Below the interface, where they are made for neighbors too, whose memory
// is mapped.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../../inert_kind.h"
#include "am/limits.h"
#include "conformance.h"
#include "observe/restricted.h"
#include "rma/messages.h"
#include "rma/rma.h"
#include "rma/way.h"

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

/// A device's memory, of which only the addresses are used.
struct Device final : InertKind {
  explicit Device(net::MemoryClass its_class) : InertKind(its_class) {
    add_memory(memory, sizeof memory, *this);
  }
  ~Device() { remove_memory(memory); }

  std::byte memory[64]{};
};

TEST(Way, OfMemoryOfDevicesIsTheirCopiesWhereTheseReachBothSidesOfOneClass) {
  Device here(net::cuda_memory);
  Device there(net::cuda_memory);
  Device of_other_class(net::hip_memory);
  std::byte host[64];
  const bool has_network = process().conduit != nullptr && process().conduit->put != nullptr;
  const void* const key = has_network ? host : nullptr;
  const PublishedSegment mapped{.owner_address = 0x1000, .size = 64, .mapped = host};
  const PublishedSegment reached{.owner_address = 0x1000,
                                 .size = 64,
                                 .reached = there.memory,
                                 .reached_by = &there,
                                 .memory_class = net::cuda_memory};
  const PublishedSegment unreached{
      .owner_address = 0x1000, .size = 64, .memory_class = net::cuda_memory};
  PublishedSegment with_key = unreached;
  with_key.key = key;
  PublishedSegment mapped_with_key = mapped;
  mapped_with_key.key = key;
  PublishedSegment reached_with_key = reached;
  reached_with_key.key = key;
  const Way by_key = has_network ? Way::network : Way::messages;
  const struct {
    const char* what;
    std::byte* local;
    const PublishedSegment& segment;
    Way way;
    const MemoryKind* kind;
  } rows[] = {
      {"host to mapped host", host, mapped, Way::copy, nullptr},
      {"host to mapped host with a key", host, mapped_with_key, Way::copy, nullptr},
      {"host to a device that copies reach", host, reached, Way::kind, &there},
      {"host to such a device with a key", host, reached_with_key, Way::kind, &there},
      {"host to a device that nothing reaches", host, unreached, Way::messages, nullptr},
      {"host to a device with a key", host, with_key, by_key, nullptr},
      {"a device to mapped host", here.memory, mapped, Way::kind, &here},
      {"a device to a device that copies reach", here.memory, reached, Way::kind, &here},
      {"a device to one of another class", of_other_class.memory, reached, Way::messages, nullptr},
      {"a device in no segment to one with a key", here.memory, with_key, Way::messages, nullptr},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    ResolvedTransfer put{.call = Call::put_blocking,
                         .peer = resolve(conformance::team(), rank()),
                         .local = row.local,
                         .remote = 0x1010,
                         .size = 16,
                         .local_kind = kind_at(row.local)};
    EXPECT_TRUE(choose_way(put, row.segment, put.size));
    EXPECT_EQ(put.way, row.way);
    EXPECT_EQ(put.kind, row.kind);
    std::byte* const reached = row.segment.mapped != nullptr ? host : there.memory;
    EXPECT_EQ(put.reached, row.way == Way::kind ? reached + 0x10 : nullptr);
  }
}

TEST(Way, OfWhatIsNotInThePeersSegmentIsMessagesWhoseOwnerChecks) {
  std::byte host[64];
  const PublishedSegment mapped{.owner_address = 0x1000, .size = 64, .mapped = host};
  ResolvedTransfer put{.call = Call::put_blocking,
                       .peer = resolve(conformance::team(), rank()),
                       .local = host,
                       .remote = 0x1038,
                       .size = 16};
  EXPECT_FALSE(choose_way(put, mapped, put.size));
  EXPECT_EQ(put.way, Way::messages);
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
