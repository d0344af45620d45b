// Clients, endpoints, segments: queries, flags, client data, and the constants that clients hold
// copies of.

#include <type_traits>

#include "conformance.h"

namespace conformance::object_test {
namespace {

// Handles are pointers of the size of a pointer; quantities have the widths that clients assume.
template <typename T>
constexpr bool is_handle = std::is_pointer_v<T> && sizeof(T) == sizeof(void*);
template <typename T, std::size_t bytes>
constexpr bool is_unsigned_of = std::is_unsigned_v<T> && sizeof(T) == bytes;

static_assert(is_handle<gex_Client_t> && is_handle<gex_EP_t> && is_handle<gex_TM_t>);
static_assert(is_handle<gex_Segment_t> && is_handle<gex_MK_t> && is_handle<gex_Event_t>);
static_assert(is_handle<gex_AM_SrcDesc_t> && is_handle<gex_Addr_t>);
static_assert(is_unsigned_of<gex_Flags_t, 4> && is_unsigned_of<gex_Rank_t, 4>);
static_assert(is_unsigned_of<gex_DT_t, 4> && is_unsigned_of<gex_OP_t, 4>);
static_assert(is_unsigned_of<gex_EP_Capabilities_t, 4> && is_unsigned_of<gex_EP_Index_t, 2>);
static_assert(std::is_same_v<gex_AM_Arg_t, std::int32_t>);
static_assert(std::is_same_v<gex_AM_Index_t, std::uint8_t>);
static_assert(is_unsigned_of<gex_RMA_Value_t, SIZEOF_GEX_RMA_VALUE_T>);
static_assert(SIZEOF_GEX_RMA_VALUE_T == 8);

static_assert(GASNET_OK == 0 && GASNET_ERR_NOT_READY == 10004);
static_assert(GEX_DT_U64 == 1 << 3 && GEX_OP_ADD == 1 << 3);
static_assert(GEX_EP_CAPABILITY_RMA == 1 << 0);
static_assert(GEX_FLAG_IMMEDIATE == 1 << 0);
static_assert(GEX_FLAG_AM_PREPARE_LEAST_CLIENT == 1 << 11);
static_assert(GEX_FLAG_AM_PREPARE_LEAST_ALLOC == 1 << 12);
static_assert(GASNET_RELEASE_VERSION_MAJOR == 2025 && GASNET_RELEASE_VERSION_MINOR == 8);
static_assert(GEX_SPEC_VERSION_MAJOR == 0 && GEX_SPEC_VERSION_MINOR == 19);

TEST(Constants, InvalidHandlesAreNullAndEventValuesAreWhatClientsCopied) {
  EXPECT_EQ(reinterpret_cast<void*>(GEX_CLIENT_INVALID), nullptr);
  EXPECT_EQ(reinterpret_cast<void*>(GEX_EP_INVALID), nullptr);
  EXPECT_EQ(reinterpret_cast<void*>(GEX_TM_INVALID), nullptr);
  EXPECT_EQ(reinterpret_cast<void*>(GEX_SEGMENT_INVALID), nullptr);
  EXPECT_EQ(reinterpret_cast<void*>(GEX_MK_INVALID), nullptr);
  EXPECT_EQ(reinterpret_cast<void*>(GEX_EVENT_INVALID), nullptr);
  EXPECT_EQ(reinterpret_cast<void*>(GEX_AM_SRCDESC_NO_OP), nullptr);
  const auto number = [](auto* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
  EXPECT_EQ(number(GEX_EVENT_NO_OP), 1U);
  EXPECT_EQ(number(GEX_EVENT_NOW), 1U);
  EXPECT_EQ(number(GEX_EVENT_DEFER), 2U);
  EXPECT_EQ(number(GEX_EVENT_GROUP), 3U);
  EXPECT_EQ(number(GEX_MK_HOST), 1U);
}

TEST(Constants, FlagsThatOneCallTakesAreDistinctBits) {
  constexpr gex_Flags_t transfer[] = {
      GEX_FLAG_IMMEDIATE,        GEX_FLAG_LC_COPY_YES,      GEX_FLAG_LC_COPY_NO,
      GEX_FLAG_SELF_SEG_UNKNOWN, GEX_FLAG_SELF_SEG_SOME,    GEX_FLAG_SELF_SEG_BOUND,
      GEX_FLAG_SELF_SEG_OFFSET,  GEX_FLAG_PEER_SEG_UNKNOWN, GEX_FLAG_PEER_SEG_SOME,
      GEX_FLAG_PEER_SEG_BOUND,   GEX_FLAG_PEER_SEG_OFFSET,  GEX_FLAG_PEER_NEVER_SELF,
      GEX_FLAG_PEER_NEVER_NBRHD, GEX_FLAG_ENABLE_LEAF_LC};
  constexpr gex_Flags_t teams[] = {
      GEX_FLAG_RANK_IS_JOBRANK,      GEX_FLAG_TM_NO_SCRATCH,
      GEX_FLAG_TM_LOCAL_SCRATCH,     GEX_FLAG_TM_GLOBAL_SCRATCH,
      GEX_FLAG_TM_SYMMETRIC_SCRATCH, GEX_FLAG_SCRATCH_SEG_OFFSET,
      GEX_FLAG_TM_SCRATCH_SIZE_MIN,  GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED};
  const auto distinct = [](auto& flags) {
    gex_Flags_t together = 0;
    for (const gex_Flags_t flag : flags) {
      if (flag == 0 || (flag & (flag - 1)) != 0 || (flag & together) != 0) return false;
      together |= flag;
    }
    return true;
  };
  EXPECT_TRUE(distinct(transfer));
  EXPECT_TRUE(distinct(teams));
}

TEST(Client, AnswersWhatItWasMadeWith) {
  EXPECT_STREQ(gex_Client_QueryName(client()), "CONFORMANCE");
  EXPECT_EQ(gex_Client_QueryFlags(client()), GEX_FLAG_USES_GASNET1);
}

TEST(Endpoint, ThePrimordialOne) {
  EXPECT_NE(client(), GEX_CLIENT_INVALID);
  EXPECT_NE(endpoint(), GEX_EP_INVALID);
  EXPECT_NE(team(), GEX_TM_INVALID);
  EXPECT_EQ(gex_EP_QueryClient(endpoint()), client());
  EXPECT_EQ(gex_EP_QueryIndex(endpoint()), 0);
  EXPECT_EQ(gex_EP_QueryFlags(endpoint()), 0U);
  EXPECT_EQ(gex_EP_QuerySegment(endpoint()), segment());
  EXPECT_EQ(gex_TM_QueryEP(team()), endpoint());
  EXPECT_EQ(gex_TM_QueryClient(team()), client());
}

TEST(ClientData, StartsNullAndKeepsWhatIsSet) {
  int value = 0;
  EXPECT_EQ(gex_Client_QueryCData(client()), nullptr);
  EXPECT_EQ(gex_EP_QueryCData(endpoint()), nullptr);
  EXPECT_EQ(gex_Segment_QueryCData(segment()), nullptr);
  EXPECT_EQ(gex_TM_QueryCData(team()), nullptr);

  // One pointer for each object, independent of the others'.
  gex_Client_SetCData(client(), &value);
  EXPECT_EQ(gex_Client_QueryCData(client()), &value);
  EXPECT_EQ(gex_EP_QueryCData(endpoint()), nullptr);
  gex_EP_SetCData(endpoint(), &value + 1);
  EXPECT_EQ(gex_Segment_QueryCData(segment()), nullptr);
  gex_Segment_SetCData(segment(), reinterpret_cast<void*>(std::uintptr_t{1}));
  EXPECT_EQ(gex_TM_QueryCData(team()), nullptr);
  gex_TM_SetCData(team(), reinterpret_cast<void*>(~std::uintptr_t{0}));
  EXPECT_EQ(gex_Client_QueryCData(client()), &value);
  EXPECT_EQ(gex_EP_QueryCData(endpoint()), &value + 1);
  EXPECT_EQ(gex_Segment_QueryCData(segment()), reinterpret_cast<void*>(std::uintptr_t{1}));
  EXPECT_EQ(gex_TM_QueryCData(team()), reinterpret_cast<void*>(~std::uintptr_t{0}));

  gex_Client_SetCData(client(), nullptr);
  gex_EP_SetCData(endpoint(), nullptr);
  gex_Segment_SetCData(segment(), nullptr);
  gex_TM_SetCData(team(), nullptr);
  EXPECT_EQ(gex_Client_QueryCData(client()), nullptr);
  EXPECT_EQ(gex_EP_QueryCData(endpoint()), nullptr);
  EXPECT_EQ(gex_Segment_QueryCData(segment()), nullptr);
  EXPECT_EQ(gex_TM_QueryCData(team()), nullptr);
}

}  // namespace
}  // namespace conformance::object_test
