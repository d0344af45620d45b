#include "transfer.h"

#include <cstring>
#include <string>

namespace conformance {

const char* name(Put form) {
  switch (form) {
    case Put::blocking:
      return "PutBlocking";
    case Put::nb_now:
      return "PutNB NOW";
    case Put::nb_defer:
      return "PutNB DEFER";
    case Put::nb_leaf:
      return "PutNB leaf";
    case Put::nbi_now:
      return "PutNBI NOW";
    case Put::nbi_defer:
      return "PutNBI DEFER";
    case Put::nbi_group:
      return "PutNBI GROUP";
  }
  return "?";
}

const char* name(Get form) {
  switch (form) {
    case Get::blocking:
      return "GetBlocking";
    case Get::nb:
      return "GetNB";
    case Get::nbi:
      return "GetNBI";
  }
  return "?";
}

void put(Put form, gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, std::size_t bytes,
         gex_Flags_t flags) {
  gex_Event_t leaf = GEX_EVENT_NO_OP;
  switch (form) {
    case Put::blocking:
      ASSERT_EQ(gex_RMA_PutBlocking(tm, rank, dest, src, bytes, flags), 0);
      return;
    case Put::nb_now:
      gex_Event_Wait(gex_RMA_PutNB(tm, rank, dest, src, bytes, GEX_EVENT_NOW, flags));
      return;
    case Put::nb_defer:
      gex_Event_Wait(gex_RMA_PutNB(tm, rank, dest, src, bytes, GEX_EVENT_DEFER, flags));
      return;
    case Put::nb_leaf: {
      const gex_Event_t root = gex_RMA_PutNB(tm, rank, dest, src, bytes, &leaf, flags);
      ASSERT_NE(leaf, GEX_EVENT_NO_OP) << "PutNB did not write its leaf";
      gex_Event_Wait(leaf);
      gex_Event_Wait(root);
      return;
    }
    case Put::nbi_now:
      ASSERT_EQ(gex_RMA_PutNBI(tm, rank, dest, src, bytes, GEX_EVENT_NOW, flags), 0);
      gex_NBI_Wait(GEX_EC_PUT, 0);
      return;
    case Put::nbi_defer:
      ASSERT_EQ(gex_RMA_PutNBI(tm, rank, dest, src, bytes, GEX_EVENT_DEFER, flags), 0);
      gex_NBI_Wait(GEX_EC_PUT, 0);
      return;
    case Put::nbi_group:
      ASSERT_EQ(gex_RMA_PutNBI(tm, rank, dest, src, bytes, GEX_EVENT_GROUP, flags), 0);
      gex_NBI_Wait(GEX_EC_PUT | GEX_EC_LC, 0);
      return;
  }
}

void get(Get form, gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, std::size_t bytes,
         gex_Flags_t flags) {
  switch (form) {
    case Get::blocking:
      ASSERT_EQ(gex_RMA_GetBlocking(tm, dest, rank, src, bytes, flags), 0);
      return;
    case Get::nb:
      gex_Event_Wait(gex_RMA_GetNB(tm, dest, rank, src, bytes, flags));
      return;
    case Get::nbi:
      ASSERT_EQ(gex_RMA_GetNBI(tm, dest, rank, src, bytes, flags), 0);
      gex_NBI_Wait(GEX_EC_GET, 0);
      return;
  }
}

std::vector<std::byte> patterned(std::uint64_t seed, std::size_t bytes) {
  std::vector<std::byte> memory(bytes);
  fill(memory.data(), seed, bytes);
  return memory;
}

testing::AssertionResult holds(const void* memory, std::uint64_t seed, std::size_t bytes) {
  const std::size_t i = first_difference(memory, seed, bytes);
  if (i == bytes) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "byte " << i << " of " << bytes << " is "
         << std::to_integer<int>(static_cast<const std::byte*>(memory)[i]) << ", not "
         << std::to_integer<int>(pattern(seed, i)) << " of pattern " << seed;
}

testing::AssertionResult same_bytes(const void* memory, const void* expected, std::size_t bytes) {
  if (bytes == 0 || std::memcmp(memory, expected, bytes) == 0) return testing::AssertionSuccess();
  const auto* at = static_cast<const std::byte*>(memory);
  const auto* wanted = static_cast<const std::byte*>(expected);
  std::size_t i = 0;
  while (at[i] == wanted[i]) ++i;
  return testing::AssertionFailure()
         << "byte " << i << " of " << bytes << " is " << std::to_integer<int>(at[i]) << ", not "
         << std::to_integer<int>(wanted[i]);
}

bool in_neighborhood(gex_Rank_t peer) {
  gex_RankInfo_t* members = nullptr;
  gex_Rank_t count = 0;
  gex_System_QueryNbrhdInfo(&members, &count, nullptr);
  for (gex_Rank_t i = 0; i < count; ++i)
    if (members[i].gex_jobrank == peer) return true;
  return false;
}

}  // namespace conformance
