#include "launch/line_relay.h"

#include <gtest/gtest.h>

#include <random>

namespace gex::launch {
namespace {

std::string added(LineBuffer& lines, std::string_view bytes) {
  std::string ready;
  lines.add(bytes, ready);
  return ready;
}

std::string finished(LineBuffer& lines) {
  std::string ready;
  lines.flush(ready);
  return ready;
}

TEST(LineBuffer, GivesWholeLinesOnly) {
  LineBuffer lines;
  EXPECT_EQ(added(lines, "one\ntw"), "one\n");
  EXPECT_EQ(added(lines, "o"), "");
  EXPECT_EQ(added(lines, "\nthree\n\nfo"), "two\nthree\n\n");
  EXPECT_EQ(finished(lines), "fo");
  EXPECT_EQ(finished(lines), "");
}

TEST(LineBuffer, BeginsEachLineWithThePrefixOnce) {
  LineBuffer lines("[7] ");
  EXPECT_EQ(added(lines, "one\n\ntw"), "[7] one\n[7] \n");
  EXPECT_EQ(added(lines, "o\n"), "[7] two\n");
  EXPECT_EQ(added(lines, "end"), "");
  EXPECT_EQ(finished(lines), "[7] end");
}

TEST(LineBuffer, KeepsNoMoreThanTheLongestLine) {
  LineBuffer lines("> ");
  EXPECT_EQ(added(lines, std::string(LineBuffer::max_line, 'x')), "");
  const std::string piece = added(lines, "x");
  EXPECT_EQ(piece, "> " + std::string(LineBuffer::max_line + 1, 'x'));
  // The rest of the line has no prefix; the next line has one.
  EXPECT_EQ(added(lines, "y\nz\n"), "y\n> z\n");
}

TEST(LineBuffer, OnATerminalTextAfterAReturnHasThePrefixToo) {
  LineBuffer lines("[7] ", /*on_terminal=*/true);
  EXPECT_EQ(added(lines, "10%\r20%\r"), "");
  EXPECT_EQ(finished(lines), "[7] 10%\r[7] 20%\r");
  EXPECT_EQ(added(lines, "\none\r\n"), "\n[7] one\r\n");
}

TEST(LineBuffer, TheRestOfAnInterruptedLineBeginsWithThePrefix) {
  LineBuffer lines("[7] ");
  EXPECT_EQ(added(lines, "N = "), "");
  EXPECT_TRUE(lines.has_partial_line());
  EXPECT_EQ(finished(lines), "[7] N = ");
  EXPECT_FALSE(lines.has_partial_line());
  lines.interrupt();
  EXPECT_EQ(added(lines, "5\n"), "[7] 5\n");
}

TEST(LineBuffer, HowTheBytesArriveDoesNotMatter) {
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::string(random() % 100, 'a' + i % 26) + "\n";
  text += "without an end";
  for (int round = 0; round < 20; ++round) {
    LineBuffer lines;
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t piece = std::min<std::size_t>(text.size() - at, 1 + random() % 500);
      const std::size_t before = out.size();
      lines.add(std::string_view(text).substr(at, piece), out);
      if (out.size() > before) {
        ASSERT_EQ(out.back(), '\n');
      }
      at += piece;
    }
    lines.flush(out);
    ASSERT_EQ(out, text);
  }
}

}  // namespace
}  // namespace gex::launch
