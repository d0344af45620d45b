// The grammars of environment values: what they accept and what they refuse.

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/env.h"
#include "base/env_grammar.h"

namespace gex::env {
namespace {

constexpr std::uint64_t KiB = 1024, MiB = KiB * 1024, GiB = MiB * 1024;

TEST(ParseBoolean, AcceptsEveryWordInAnyCase) {
  for (const char* text : {"1", "y", "Y", "yes", "YES", "Yes", "on", "ON", "true", "True", " 1 "}) {
    EXPECT_EQ(parse_boolean(text), true) << text;
  }
  for (const char* text : {"0", "n", "N", "no", "NO", "off", "Off", "false", "FALSE", "\t0"}) {
    EXPECT_EQ(parse_boolean(text), false) << text;
  }
}

TEST(ParseBoolean, RefusesEverythingElse) {
  for (const char* text : {"", " ", "2", "-1", "10", "yess", "ye", "tru", "maybe", "0x1", "1.0"}) {
    EXPECT_EQ(parse_boolean(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, AcceptsDecimalAndHexadecimalWithSign) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("42"), 42);
  EXPECT_EQ(parse_integer("+42"), 42);
  EXPECT_EQ(parse_integer("-42"), -42);
  EXPECT_EQ(parse_integer("007"), 7);
  EXPECT_EQ(parse_integer("0x1F"), 31);
  EXPECT_EQ(parse_integer("0Xff"), 255);
  EXPECT_EQ(parse_integer("-0x10"), -16);
  EXPECT_EQ(parse_integer(" 5 "), 5);
}

TEST(ParseInteger, ReachesBothEndsOfTheRangeAndNotBeyond) {
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_integer("-9223372036854775809"), std::nullopt);
  EXPECT_EQ(parse_integer("99999999999999999999999"), std::nullopt);
}

TEST(ParseInteger, RefusesWhatIsNoWholeNumber) {
  for (const char* text :
       {"", "-", "+", "0x", "x1", "1.5", "1e3", "12abc", "--1", "+-1", "1 2", "0x1G", "1K"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
}

TEST(ParseSeconds, AcceptsFractionsAndRefusesSignsUnitsAndWords) {
  EXPECT_EQ(parse_seconds("0"), 0.0);
  EXPECT_EQ(parse_seconds("2.5"), 2.5);
  EXPECT_EQ(parse_seconds(".25"), 0.25);
  EXPECT_EQ(parse_seconds("3."), 3.0);
  for (const char* text : {"", ".", "-1", "+1", "1s", "1e3", "inf", "nan", "1.2.3", "1,5"}) {
    EXPECT_EQ(parse_seconds(text), std::nullopt) << text;
  }
}

TEST(ParseSize, TakesEveryUnit) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("65536"), 65536u);
  EXPECT_EQ(parse_size("7B"), 7u);
  for (const char* text : {"64K", "64k", "64KB", "64kb", "64KiB", "64 KB", "64.0K"}) {
    EXPECT_EQ(parse_size(text), 64 * KiB) << text;
  }
  EXPECT_EQ(parse_size("128.0MB"), 128 * MiB);
  EXPECT_EQ(parse_size("1.5G"), 3 * GiB / 2);
  EXPECT_EQ(parse_size("2TiB"), 2048 * GiB);
  EXPECT_EQ(parse_size(".5M"), MiB / 2);
}

TEST(ParseSize, RoundsAFractionDownToWholeBytes) {
  EXPECT_EQ(parse_size("0.3K"), 307u);
  EXPECT_EQ(parse_size("2.0"), 2u);
  EXPECT_EQ(parse_size("0.5"), std::nullopt) << "half a byte";
  EXPECT_EQ(parse_size("2.5"), std::nullopt) << "a forgotten unit";
  EXPECT_EQ(parse_size("0.0001K"), std::nullopt) << "less than a byte";
}

TEST(ParseSize, IsExactToTheEndOfTheRangeAndRefusesMore) {
  EXPECT_EQ(parse_size("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_size("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_size("16777215T"), std::uint64_t{16777215} << 40);
  EXPECT_EQ(parse_size("16777216T"), std::nullopt);
  EXPECT_EQ(parse_size("16777216.0T"), std::nullopt);
  EXPECT_EQ(parse_size("9007199254740993"), 9007199254740993u) << "not through a double";
}

TEST(ParseSize, RefusesWhatIsNoSize) {
  for (const char* text : {"", "MB", "-1", "+1", "1X", "1KBB", "1KK", "1BB", "1iB", "1 2K", "1e6",
                           "0x10", "1.2.3M", ".", ".K", "inf", "256MB/P"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

struct MemoryCase {
  const char* text;
  double amount;
  bool is_fraction, per_host;
};

TEST(ParseMemory, FollowsGasnetsGrammar) {
  constexpr double megabyte = 1 << 20;
  const MemoryCase cases[] = {
      {"256MB", 256 * megabyte, false, false},
      {"128.0MB/P", 128 * megabyte, false, false},
      {"64MB/H", 64 * megabyte, false, true},
      {"0.5/H", 0.5, true, true},
      {"0.5/h", 0.5, true, true},
      {"0.85", 0.85, true, true},
      {"0.25/P", 0.25, true, false},
      {".5/p", 0.5, true, false},
      {"4096", 4096, false, false},
      {"4096/H", 4096, false, true},
      {"0", 0, false, false},
      {"0.5K", 512, false, false},
      {" 1 MB / P ", megabyte, false, false},
      {"1G", 1024 * megabyte, false, false},
  };
  for (const MemoryCase& expected : cases) {
    const std::optional<Memory> memory = parse_memory(expected.text);
    ASSERT_TRUE(memory) << expected.text;
    EXPECT_EQ(memory->amount, expected.amount) << expected.text;
    EXPECT_EQ(memory->is_fraction, expected.is_fraction) << expected.text;
    EXPECT_EQ(memory->per_host, expected.per_host) << expected.text;
  }
}

TEST(ParseMemory, RefusesWhatIsNoAmount) {
  for (const char* text : {"", "/P", "/H", "P", "256MB/", "256MB/Q", "256MB/PP", "256MB/P/H", "1.0",
                           "1.5/H", "0.0", "-1MB", "lots", "85%", "256MB P", "0.5.5"}) {
    EXPECT_EQ(parse_memory(text), std::nullopt) << text;
  }
}

TEST(Memory, IsSharedOutAmongTheProcessesOfAHost) {
  const std::uint64_t physical = 16 * GiB;
  EXPECT_EQ(parse_memory("0.5/H")->bytes_per_process(physical, 4), 2 * GiB);
  EXPECT_EQ(parse_memory("0.5/P")->bytes_per_process(physical, 4), 8 * GiB);
  EXPECT_EQ(parse_memory("0.5")->bytes_per_process(physical, 4), 2 * GiB);
  EXPECT_EQ(parse_memory("256MB")->bytes_per_process(physical, 4), 256 * MiB);
  EXPECT_EQ(parse_memory("256MB/H")->bytes_per_process(physical, 4), 64 * MiB);
  EXPECT_EQ(parse_memory("256MB/H")->bytes_per_process(physical, 1), 256 * MiB);
  EXPECT_EQ(parse_memory("100/H")->bytes_per_process(physical, 3), 33u);
  EXPECT_EQ(parse_memory("18446744073709551615")->bytes_per_process(physical, 1),
            std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace gex::env
