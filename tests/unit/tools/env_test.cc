#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

constexpr const char* key = "GASNET_TOOLS_TEST";

std::int64_t integer(const char* value, std::uint64_t multiplier) {
  gasnett_setenv(key, value);
  return gasnett_getenv_int_withdefault(key, -77, multiplier);
}

double decimal(const char* value) {
  gasnett_setenv(key, value);
  return gasnett_getenv_dbl_withdefault(key, -77);
}

int yes(const char* value) {
  gasnett_setenv(key, value);
  return gasnett_getenv_yesno_withdefault(key, -77);
}

std::string number(std::int64_t value, bool memory) {
  char text[32];
  return gasnett_format_number(value, text, sizeof text, memory);
}

TEST(ToolsEnv, UnsetGivesTheDefault) {
  gasnett_unsetenv(key);
  EXPECT_EQ(gasnett_getenv(key), nullptr);
  EXPECT_STREQ(gasnett_getenv_withdefault(key, "d"), "d");
  EXPECT_EQ(gasnett_getenv_withdefault(key, nullptr), nullptr);
  EXPECT_EQ(gasnett_getenv_yesno_withdefault(key, 1), 1);
  EXPECT_EQ(gasnett_getenv_yesno_withdefault(key, 0), 0);
  EXPECT_EQ(gasnett_getenv_int_withdefault(key, -5, 0), -5);
  EXPECT_EQ(gasnett_getenv_dbl_withdefault(key, 0.5), 0.5);
  gasnett_setenv(key, "  ");
  EXPECT_EQ(gasnett_getenv_int_withdefault(key, 6, 0), 6);
  EXPECT_STREQ(gasnett_getenv(key), "  ");
}

TEST(ToolsEnv, SetAndUnsetChangeTheProcessEnvironment) {
  gasnett_setenv(key, "a");
  gasnett_setenv(key, "b");
  EXPECT_STREQ(std::getenv(key), "b");
  EXPECT_STREQ(gasnett_getenv_withdefault(key, "d"), "b");
  gasnett_unsetenv(key);
  EXPECT_EQ(std::getenv(key), nullptr);
  EXPECT_EXIT(gasnett_setenv("A=B", "1"), testing::ExitedWithCode(1), "gasnett_setenv");
}

TEST(ToolsEnv, Yesno) {
  for (const char* text : {"1", "y", "Y", "yes", "YES", "on", "true"}) EXPECT_EQ(yes(text), 1);
  for (const char* text : {"0", "n", "N", "no", "NO", "off", "False"}) EXPECT_EQ(yes(text), 0);
  for (const char* text : {"2", "maybe", "yes no"}) {
    EXPECT_EXIT(yes(text), testing::ExitedWithCode(1),
                "^gex: GASNET_TOOLS_TEST='.*' is not understood: expected 1, 0, yes");
  }
}

TEST(ToolsEnv, WholeNumbers) {
  EXPECT_EQ(integer("12", 0), 12);
  EXPECT_EQ(integer("-12", 0), -12);
  EXPECT_EQ(integer("0x10", 0), 16);
  EXPECT_EQ(integer("9223372036854775807", 0), INT64_MAX);
  EXPECT_EQ(integer("-9223372036854775808", 0), INT64_MIN);
  for (const char* text : {"1K", "1.5", "abc", "1 2", "9223372036854775808", "0x", "--1"}) {
    EXPECT_EXIT(integer(text, 0), testing::ExitedWithCode(1),
                "is not understood: expected a whole number");
  }
}

TEST(ToolsEnv, MemorySizes) {
  EXPECT_EQ(integer("12", 1), 12);
  EXPECT_EQ(integer("12", 1024), 12 * 1024);
  EXPECT_EQ(integer("1.5", 1 << 20), 3 << 19);
  EXPECT_EQ(integer("12B", 1024), 12);
  EXPECT_EQ(integer("1.5K", 1), 1536);
  EXPECT_EQ(integer("64KB", 1), 65536);
  EXPECT_EQ(integer("64 kb", 1), 65536);
  EXPECT_EQ(integer("2MiB", 1), 2 << 20);
  EXPECT_EQ(integer("1gb", 1), 1 << 30);
  EXPECT_EQ(integer("1T", 1), std::int64_t{1} << 40);
  EXPECT_EQ(integer("-2KB", 1), -2048);
  EXPECT_EQ(integer("-8388608 TB", 1), INT64_MIN);
  for (const char* text :
       {"K", "1X", "1KBB", "1.5", "1.2.3", "8388608TB", "1e3", "0x10", "-", "."}) {
    EXPECT_EXIT(integer(text, 1), testing::ExitedWithCode(1),
                "is not understood: expected a memory size");
  }
  EXPECT_EXIT(integer("10000000000000000", 1024), testing::ExitedWithCode(1), "not understood");
}

TEST(ToolsEnv, Decimals) {
  EXPECT_EQ(decimal("1.5"), 1.5);
  EXPECT_EQ(decimal("-1e4"), -1e4);
  EXPECT_EQ(decimal("3/8"), 0.375);
  EXPECT_EQ(decimal("-3 / 8"), -0.375);
  EXPECT_EQ(decimal("+2"), 2);
  EXPECT_EQ(decimal(".5"), 0.5);
  for (const char* text : {"x", "1.5x", "1/0", "1/", "/2", "nan", "inf", "1e999", "--1", "1/2/3"}) {
    EXPECT_EXIT(decimal(text), testing::ExitedWithCode(1),
                "is not understood: expected a number, such as");
  }
}

TEST(ToolsEnv, ParseInt) {
  EXPECT_EQ(gasnett_parse_int("7", 0), 7);
  EXPECT_EQ(gasnett_parse_int("7", 1024), 7168);
  EXPECT_EXIT(gasnett_parse_int("seven", 0), testing::ExitedWithCode(1), "'seven'");
}

TEST(ToolsEnv, NumbersAsPeopleWriteThem) {
  EXPECT_EQ(number(-1234, false), "-1234");
  EXPECT_EQ(number(0, true), "0 B");
  EXPECT_EQ(number(1023, true), "1023 B");
  EXPECT_EQ(number(1024, true), "1 KB");
  EXPECT_EQ(number(1536, true), "1.5 KB");
  EXPECT_EQ(number(1280, true), "1.25 KB");
  EXPECT_EQ(number(1537, true), "1537 B");
  EXPECT_EQ(number(-(std::int64_t{3} << 29), true), "-1.5 GB");
  EXPECT_EQ(number(INT64_MIN, true), "-8388608 TB");
  char small[4];
  EXPECT_STREQ(gasnett_format_number(123456, small, sizeof small, 0), "123");
}

TEST(ToolsEnv, FormattedSizesParseBack) {
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int shift = static_cast<int>(state >> 58);
    auto value = static_cast<std::int64_t>(state << 6 >> shift << (shift / 2));
    ASSERT_EQ(gasnett_parse_int(number(value, true).c_str(), 1), value) << number(value, true);
  }
}

TEST(ToolsEnv, VerboseReportsOnceAndNamesDefaults) {
  EXPECT_EXIT(
      {
        gasnett_setenv("GASNET_VERBOSEENV", "1");
        gasnett_setenv(key, "2K");
        if (!gasnett_verboseenv()) _exit(3);
        gasnett_getenv_int_withdefault(key, 0, 1);
        gasnett_getenv_int_withdefault(key, 0, 1);
        gasnett_getenv_yesno_withdefault("GASNET_TOOLS_OTHER", 1);
        gasnett_envdbl_display("GASNET_TOOLS_THIRD", 0.25, 0);
        gasnett_envstr_display("GASNET_TOOLS_FOURTH", "text", 1);
        _exit(0);
      },
      testing::ExitedWithCode(0),
      "^gex: GASNET_TOOLS_TEST = 2 KB\n"
      "gex: GASNET_TOOLS_OTHER = YES \\(default\\)\n"
      "gex: GASNET_TOOLS_THIRD = 0.25\n"
      "gex: GASNET_TOOLS_FOURTH = text \\(default\\)\n$");
}

TEST(ToolsEnv, SilentWithoutVerbose) {
  EXPECT_EXIT(
      {
        gasnett_unsetenv("GASNET_VERBOSEENV");
        gasnett_envint_display(key, 1, 1, 0);
        _exit(gasnett_verboseenv());
      },
      testing::ExitedWithCode(0), "^$");
}

}  // namespace
