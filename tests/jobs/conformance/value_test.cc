// Values in registers: 1 to 8 bytes, in the machine's order, the rest zero.

#include <cstring>

#include "transfer.h"

namespace conformance::value_test {
namespace {

constexpr gex_RMA_Value_t value = 0xF1E2D3C4B5A69788U;

gex_RMA_Value_t low_bytes(gex_RMA_Value_t whole, std::size_t bytes) {
  return bytes == 8 ? whole : whole & ((gex_RMA_Value_t{1} << (8 * bytes)) - 1);
}

/// Puts with one of the three forms, complete on return.
void put_value(int form, std::byte* to, gex_RMA_Value_t what, std::size_t bytes,
               gex_Flags_t flags = 0) {
  if (form == 0) {
    ASSERT_EQ(gex_RMA_PutBlockingVal(team(), next(), to, what, bytes, flags), 0);
  } else if (form == 1) {
    ASSERT_EQ(gex_RMA_PutNBIVal(team(), next(), to, what, bytes, flags), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  } else {
    gex_Event_Wait(gex_RMA_PutNBVal(team(), next(), to, what, bytes, flags));
  }
}

TEST(Value, PutsTheLowBytesInTheMachinesOrderAndNoOthers) {
  for (int form = 0; form < 3; ++form) {
    std::memset(own_segment(), 0xEE, 4096);
    barrier();
    for (std::size_t bytes = 1; bytes <= 8; ++bytes)
      for (std::size_t alignment = 0; alignment < 8; ++alignment)
        put_value(form, segment_of(next()) + bytes * 256 + alignment * 24 + alignment,
                  value ^ previous(), bytes);
    barrier();
    for (std::size_t bytes = 1; bytes <= 8; ++bytes) {
      for (std::size_t alignment = 0; alignment < 8; ++alignment) {
        const std::byte* at = own_segment() + bytes * 256 + alignment * 24 + alignment;
        // What the peer's previous() is, is what our own previous' previous is.
        const gex_Rank_t before = (previous() + size() - 1) % size();
        // As an unsigned integer of that width in memory would lie, where there is one.
        const gex_RMA_Value_t whole = value ^ before;
        const std::uint8_t as8 = static_cast<std::uint8_t>(whole);
        const std::uint16_t as16 = static_cast<std::uint16_t>(whole);
        const std::uint32_t as32 = static_cast<std::uint32_t>(whole);
        if (bytes == 1) {
          EXPECT_EQ(std::memcmp(at, &as8, 1), 0);
        }
        if (bytes == 2) {
          EXPECT_EQ(std::memcmp(at, &as16, 2), 0);
        }
        if (bytes == 4) {
          EXPECT_EQ(std::memcmp(at, &as32, 4), 0);
        }
        if (bytes == 8) {
          EXPECT_EQ(std::memcmp(at, &whole, 8), 0);
        }
#if PLATFORM_ARCH_LITTLE_ENDIAN
        EXPECT_EQ(std::memcmp(at, &whole, bytes), 0) << bytes << " bytes, form " << form;
#endif
        EXPECT_EQ(at[-1], std::byte{0xEE}) << bytes << " bytes, form " << form;
        EXPECT_EQ(at[bytes], std::byte{0xEE}) << bytes << " bytes, form " << form;
      }
    }
    barrier();
  }
}

TEST(Value, GetsTheBytesAndZeroesTheRest) {
  std::memset(own_segment(), 0xEE, 4096);
  barrier();
  for (std::size_t bytes = 1; bytes <= 8; ++bytes)
    for (std::size_t alignment = 0; alignment < 8; ++alignment)
      put_value(0, segment_of(next()) + bytes * 256 + alignment * 25, value, bytes);
  for (std::size_t bytes = 1; bytes <= 8; ++bytes) {
    for (std::size_t alignment = 0; alignment < 8; ++alignment) {
      EXPECT_EQ(gex_RMA_GetBlockingVal(team(), next(),
                                       segment_of(next()) + bytes * 256 + alignment * 25, bytes, 0),
                low_bytes(value, bytes))
          << bytes << " bytes at alignment " << alignment;
    }
  }
}

TEST(Value, GetsWhatTheOwnerStored) {
  auto* own = reinterpret_cast<std::uint32_t*>(own_segment());
  own[0] = 0xCAFE0000U + rank();
  own[1] = 0xFFFFFFFFU;
  barrier();
  EXPECT_EQ(gex_RMA_GetBlockingVal(team(), next(), segment_of(next()), 4, 0), 0xCAFE0000U + next());
  EXPECT_EQ(gex_RMA_GetBlockingVal(team(), next(), segment_of(next()) + 4, 1, 0), 0xFFU);
}

TEST(Value, ToAndFromSelf) {
  ASSERT_EQ(gex_RMA_PutBlockingVal(team(), rank(), own_segment() + 8, value, 8, 0), 0);
  EXPECT_EQ(look_at<std::uint64_t>(own_segment() + 8), value);
  EXPECT_EQ(gex_RMA_GetBlockingVal(team(), rank(), own_segment() + 8, 8, 0), value);
}

TEST(Value, WithFlags) {
  // A value is in no buffer of this process, whatever the flags ask for.
  for (const gex_Flags_t flags :
       {GEX_FLAG_PEER_SEG_BOUND, GEX_FLAG_PEER_SEG_SOME, GEX_FLAG_PEER_SEG_UNKNOWN,
        GEX_FLAG_SELF_SEG_UNKNOWN, GEX_FLAG_SELF_SEG_SOME, GEX_FLAG_SELF_SEG_BOUND,
        GEX_FLAG_SELF_SEG_OFFSET}) {
    for (int form = 0; form < 3; ++form) {
      put_value(form, segment_of(next()) + 16, value + flags, 8, flags);
      EXPECT_EQ(gex_RMA_GetBlockingVal(team(), next(), segment_of(next()) + 16, 8, flags),
                value + flags);
    }
  }
  for (int form = 0; form < 3; ++form) {
    auto* offset = static_cast<std::byte*>(nullptr);
    put_value(form, offset + 24 * form, value - form, 8, GEX_FLAG_PEER_SEG_OFFSET);
    EXPECT_EQ(
        gex_RMA_GetBlockingVal(team(), next(), offset + 24 * form, 8, GEX_FLAG_PEER_SEG_OFFSET),
        value - form);
    EXPECT_EQ(gex_RMA_GetBlockingVal(team(), next(), segment_of(next()) + 24 * form, 8, 0),
              value - form);
  }
  if (next() != rank()) {
    put_value(0, segment_of(next()) + 64, value, 8, GEX_FLAG_PEER_NEVER_SELF);
    EXPECT_EQ(gex_RMA_GetBlockingVal(team(), next(), segment_of(next()) + 64, 8,
                                     GEX_FLAG_PEER_NEVER_SELF),
              value);
  }
  if (!in_neighborhood(next())) {
    put_value(0, segment_of(next()) + 72, value, 8, GEX_FLAG_PEER_NEVER_NBRHD);
    EXPECT_EQ(gex_RMA_GetBlockingVal(team(), next(), segment_of(next()) + 72, 8,
                                     GEX_FLAG_PEER_NEVER_NBRHD),
              value);
  }
}

TEST(Value, ManyInFlight) {
  constexpr std::size_t count = 2000;
  std::vector<gex_Event_t> events;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 2 == 0)
      events.push_back(
          gex_RMA_PutNBVal(team(), next(), segment_of(next()) + 4 * i, i + rank(), 4, 0));
    else
      gex_RMA_PutNBIVal(team(), next(), segment_of(next()) + 4 * i, i + rank(), 4, 0);
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  barrier();
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(look_at<std::uint32_t>(own_segment() + 4 * i), i + previous());
}

}  // namespace
}  // namespace conformance::value_test
