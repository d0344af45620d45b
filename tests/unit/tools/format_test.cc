// The interface's constants come from gasnet_fwd.h, which needs no mode; the token items and
// regions are in gasnetex.h.
#define GASNET_SEQ 1
#include <gasnetex.h>

#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

template <class Format>
std::string formatted(Format format, std::uint32_t bits) {
  const std::size_t needed = format(nullptr, bits);
  std::vector<char> buffer(needed + 1, 'x');
  EXPECT_EQ(format(buffer.data(), bits), needed);
  EXPECT_EQ(std::strlen(buffer.data()) + 1, needed);
  EXPECT_EQ(buffer.back(), 'x');
  return buffer.data();
}

TEST(ToolsFormat, Datatypes) {
  EXPECT_EQ(formatted(gasnett_format_dt, GEX_DT_I32), "GEX_DT_I32");
  EXPECT_EQ(formatted(gasnett_format_dt, GEX_DT_U64 | GEX_DT_DBL | GEX_DT_USER),
            "GEX_DT_U64|GEX_DT_DBL|GEX_DT_USER");
  EXPECT_EQ(formatted(gasnett_format_dt, 0), "0");
  EXPECT_EQ(formatted(gasnett_format_dt, GEX_DT_FLT | 1u << 31), "GEX_DT_FLT|0x80000000");
}

TEST(ToolsFormat, Operations) {
  EXPECT_EQ(formatted(gasnett_format_op, GEX_OP_AND), "GEX_OP_AND");
  EXPECT_EQ(formatted(gasnett_format_op, GEX_OP_SWAP | GEX_OP_CAS | GEX_OP_GET | GEX_OP_USER_NC),
            "GEX_OP_CAS|GEX_OP_SWAP|GEX_OP_GET|GEX_OP_USER_NC");
  EXPECT_EQ(formatted(gasnett_format_op, GEX_OP_TO_FETCHING(GEX_OP_ADD)), "GEX_OP_FADD");
}

TEST(ToolsFormat, TokenItems) {
  EXPECT_EQ(formatted(gasnett_format_ti, GEX_TI_ALL),
            "GEX_TI_SRCRANK|GEX_TI_EP|GEX_TI_ENTRY|GEX_TI_IS_REQ|GEX_TI_IS_LONG");
}

void* pointer(std::uintptr_t value) {
  return reinterpret_cast<void*>(value);
}

TEST(ToolsFormat, Lists) {
  const gex_Memvec_t regions[] = {{pointer(0x1000), 16}, {pointer(0x2000), 8}};
  std::vector<char> buffer(gasnett_format_memveclist_bufsz(2));
  EXPECT_EQ(gasnett_format_memveclist(buffer.data(), 2, regions), buffer.data());
  EXPECT_STREQ(buffer.data(), "2 regions, 24 bytes: [0x1000,16] [0x2000,8]");
  void* const addresses[] = {pointer(0x1000), pointer(0x2000)};
  buffer.assign(gasnett_format_addrlist_bufsz(2), 'x');
  EXPECT_EQ(gasnett_format_addrlist(buffer.data(), 2, addresses, 8), buffer.data());
  EXPECT_STREQ(buffer.data(), "2 regions of 8 bytes: 0x1000 0x2000");
  EXPECT_STREQ(gasnett_format_memveclist(buffer.data(), 0, nullptr), "0 regions, 0 bytes:");
}

TEST(ToolsFormat, TheLargestValuesFitTheBuffersAskedFor) {
  constexpr std::size_t many = 50;
  const std::vector<gex_Memvec_t> regions(many,
                                          gex_Memvec_t{pointer(~std::uintptr_t{0}), SIZE_MAX});
  std::vector<char> buffer(gasnett_format_memveclist_bufsz(many));
  std::string text = gasnett_format_memveclist(buffer.data(), many, regions.data());
  EXPECT_EQ(text.substr(text.size() - 41), "[0xffffffffffffffff,18446744073709551615]");
  const std::vector<void*> addresses(many, pointer(~std::uintptr_t{0}));
  buffer.assign(gasnett_format_addrlist_bufsz(many), 'x');
  text = gasnett_format_addrlist(buffer.data(), many, addresses.data(), SIZE_MAX);
  EXPECT_EQ(text.substr(text.size() - 18), "0xffffffffffffffff");
  const std::vector<std::ptrdiff_t> strides(many, PTRDIFF_MIN);
  const std::vector<std::size_t> counts(many, SIZE_MAX);
  buffer.assign(gasnett_format_putsgets_bufsz(many), 'x');
  text = gasnett_format_putsgets(
      buffer.data(), nullptr, pointer(~std::uintptr_t{0}), UINT32_MAX, pointer(~std::uintptr_t{0}),
      strides.data(), pointer(~std::uintptr_t{0}), strides.data(), SIZE_MAX, counts.data(), many);
  EXPECT_EQ(text.substr(text.size() - 22), ",18446744073709551615)");
}

TEST(ToolsFormat, StridedTransfers) {
  const std::ptrdiff_t there[] = {64, -4096}, here[] = {8, 80};
  const std::size_t counts[] = {10, 3};
  std::vector<char> buffer(gasnett_format_putsgets_bufsz(2));
  gasnett_format_putsgets(buffer.data(), nullptr, pointer(0x10), 3, pointer(0x1000), there,
                          pointer(0x2000), here, 8, counts, 2);
  EXPECT_STREQ(
      buffer.data(),
      "team 0x10 rank 3 destination 0x1000 strides (64,-4096) source 0x2000 strides (8,80) "
      "element 8 bytes, counts (10,3)");
}

}  // namespace
