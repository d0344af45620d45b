// Constants that C++ clients copy, cast and assert: values, widths and types as they see them.
#define GASNET_CONDUIT_SMP 1  // as some builds name the network once more on the command line
#define GASNET_PAR
#include <gasnetex.h>

#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <type_traits>

namespace {

#define IS(...) static_assert(__VA_ARGS__, #__VA_ARGS__)

template <class Handle>
constexpr bool is_pointer() {
  return std::is_pointer<Handle>::value && sizeof(Handle) == sizeof(void*);
}
IS(is_pointer<gex_Client_t>() && is_pointer<gex_EP_t>() && is_pointer<gex_TM_t>());
IS(is_pointer<gex_Segment_t>() && is_pointer<gex_MK_t>() && is_pointer<gex_Event_t>());
IS(is_pointer<gex_AM_SrcDesc_t>() && is_pointer<gex_Token_t>() && is_pointer<gex_AD_t>());
IS(std::is_same<gex_Addr_t, void*>::value);
IS(std::is_same<gex_AM_Arg_t, int32_t>::value);
IS(std::is_same<gex_EP_Index_t, uint16_t>::value);
IS(GASNET_RELEASE_VERSION_MAJOR * 10000 + GASNET_RELEASE_VERSION_MINOR * 100 +
       GASNET_RELEASE_VERSION_PATCH >=
   20210803);

// Layers above keep handles as addresses.
int a_word;

TEST(Values, AreWhatClientsHoldCopiesOf) {
  for (const void* nothing :
       {static_cast<const void*>(GEX_CLIENT_INVALID), static_cast<const void*>(GEX_EP_INVALID),
        static_cast<const void*>(GEX_SEGMENT_INVALID), static_cast<const void*>(GEX_TM_INVALID),
        static_cast<const void*>(GEX_MK_INVALID), static_cast<const void*>(GEX_EVENT_INVALID),
        static_cast<const void*>(GEX_AD_INVALID), static_cast<const void*>(GEX_AM_SRCDESC_NO_OP)}) {
    EXPECT_EQ(nothing, nullptr);
  }
  const auto number = [](const void* value) { return reinterpret_cast<uintptr_t>(value); };
  EXPECT_EQ(number(GEX_EVENT_NO_OP), 1u);
  EXPECT_EQ(number(GEX_EVENT_NOW), 1u);
  EXPECT_EQ(number(GEX_EVENT_DEFER), 2u);
  EXPECT_EQ(number(GEX_EVENT_GROUP), 3u);
  EXPECT_EQ(number(GEX_MK_HOST), 1u);
}

TEST(Values, HandlesAreMadeFromAddresses) {
  void* const address = &a_word;
  EXPECT_EQ(static_cast<gex_TM_t>(address), reinterpret_cast<gex_TM_t>(&a_word));
  EXPECT_EQ(static_cast<void*>(static_cast<gex_Event_t>(address)), address);
}

TEST(Values, NamesThatClientsTakeAddressesOf) {
  EXPECT_NE((void*)&_gasneti_threadkey_init, nullptr);
  EXPECT_NE((void*)&_gasnett_trace_printf_noop, nullptr);
}

}  // namespace
