#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

std::uint64_t checksum_of(const std::string& text) {
  return gasnett_checksum(text.data(), static_cast<int>(text.size()));
}

// Published values of CRC-64/XZ: programs compare checksums over machines and releases.
TEST(ToolsChecksum, NeverChanges) {
  EXPECT_EQ(checksum_of(""), 0u);
  EXPECT_EQ(checksum_of("123456789"), 0x995dc9bbdf1939fau);
}

TEST(ToolsChecksum, DoesNotDependOnAlignment) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(i * 37);
  for (std::size_t length = 0; length < 64; ++length) {
    const std::uint64_t expected = checksum_of(text.substr(0, length));
    for (std::size_t offset = 1; offset < 9; ++offset) {
      const std::string shifted = std::string(offset, 'x') + text;
      ASSERT_EQ(gasnett_checksum(shifted.data() + offset, static_cast<int>(length)), expected);
    }
  }
}

TEST(ToolsChecksum, SeesEveryBit) {
  std::string text(40, 'a');
  const std::uint64_t before = checksum_of(text);
  for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    ASSERT_NE(checksum_of(text), before) << bit;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  }
}

int zeros_of(std::uint64_t word, int bytes) {
  int zeros = 0;
  for (int i = 0; i < bytes; ++i) zeros += (word >> (8 * i) & 0xff) == 0;
  return zeros;
}

TEST(ToolsCount0s, OfWords) {
  std::uint64_t state = 1;
  for (int i = 0; i < 100000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::uint64_t word = state;
    // Make zeros, and the bytes that carry into their neighbours, likely.
    for (int byte = 0; byte < 8; ++byte) {
      const std::uint64_t pattern =
          std::uint64_t{0x0001807fff000100} >> (8 * (state >> (4 * byte) & 7)) & 0xff;
      word = (word & ~(std::uint64_t{0xff} << (8 * byte))) | pattern << (8 * byte);
    }
    ASSERT_EQ(gasnett_count0s_uint64_t(word), zeros_of(word, 8)) << std::hex << word;
    ASSERT_EQ(gasnett_count0s_uintptr_t(static_cast<std::uintptr_t>(word)), zeros_of(word, 8));
    ASSERT_EQ(gasnett_count0s_uint32_t(static_cast<std::uint32_t>(word)), zeros_of(word, 4));
  }
}

TEST(ToolsCount0s, OfBlocksOfAnyLengthAndAlignment) {
  std::vector<unsigned char> bytes(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = i % 3 == 0 || i % 7 == 0 ? 0 : 0x80;
  for (std::size_t from = 0; from < 10; ++from) {
    for (std::size_t length = 0; from + length <= bytes.size(); ++length) {
      std::size_t expected = 0;
      for (std::size_t i = from; i < from + length; ++i) expected += bytes[i] == 0;
      ASSERT_EQ(gasnett_count0s(&bytes[0] + from, length), expected);
      std::vector<unsigned char> copy(length + 1, 0x55);
      ASSERT_EQ(gasnett_count0s_copy(copy.data(), &bytes[0] + from, length), expected);
      ASSERT_EQ(std::memcmp(copy.data(), &bytes[0] + from, length), 0);
      ASSERT_EQ(copy[length], 0x55);
    }
  }
}

gasnett_heapstats_t stats() {
  gasnett_heapstats_t now;
  EXPECT_EQ(gasnett_getheapstats(&now), 0);
  return now;
}

TEST(ToolsHeap, CountsWhatLives) {
  const gasnett_heapstats_t before = stats();
  void* a = gasnett_debug_malloc(100);
  auto* b = static_cast<unsigned char*>(gasnett_debug_calloc(10, 5));
  EXPECT_EQ(gasnett_count0s(b, 50), 50u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % alignof(std::max_align_t), 0u);
  EXPECT_EQ(gasnett_debug_memcheck(b), 50u);
  gasnett_heapstats_t now = stats();
  EXPECT_EQ(now.live_bytes - before.live_bytes, 150u);
  EXPECT_EQ(now.live_objects - before.live_objects, 2u);
  EXPECT_GT(now.overhead_bytes, before.overhead_bytes);
  EXPECT_GE(now.live_bytes_max, now.live_bytes);
  gasnett_debug_free(a);
  gasnett_debug_free(b);
  gasnett_debug_free(nullptr);
  now = stats();
  EXPECT_EQ(now.live_bytes, before.live_bytes);
  EXPECT_EQ(now.freed_objects - before.freed_objects, 2u);
  EXPECT_EQ(now.allocated_bytes - before.allocated_bytes, 150u);
  EXPECT_EQ(now.overhead_bytes, before.overhead_bytes);
}

TEST(ToolsHeap, ReallocAndStringsKeepContents) {
  char* text = gasnett_debug_strdup("contents");
  text = static_cast<char*>(gasnett_debug_realloc(text, 1000));
  EXPECT_STREQ(text, "contents");
  text = static_cast<char*>(gasnett_debug_realloc(text, 3));
  EXPECT_EQ(std::memcmp(text, "con", 3), 0);
  gasnett_debug_free(text);
  text = gasnett_debug_strndup("contents", 4);
  EXPECT_STREQ(text, "cont");
  gasnett_debug_free(text);
  text = gasnett_debug_strndup("ab", 4);
  EXPECT_STREQ(text, "ab");
  gasnett_debug_free(text);
  void* fresh = gasnett_debug_realloc(nullptr, 4);
  EXPECT_EQ(gasnett_debug_memcheck(fresh), 4u);
  gasnett_debug_free(fresh);
}

TEST(ToolsHeap, DamageIsNamed) {
  const auto overrun = [] {
    auto* object = static_cast<volatile char*>(gasnett_debug_malloc(5));
    object[5] = 1;
    return const_cast<char*>(object);
  };
  EXPECT_EXIT(gasnett_debug_free(overrun()), testing::ExitedWithCode(1),
              "of 5 bytes, allocated at .*memory_test.cc:[0-9]+, was written past its end");
  EXPECT_EXIT(
      {
        overrun();
        gasnett_debug_memcheck_all();
      },
      testing::ExitedWithCode(1), "written past its end");
  EXPECT_EXIT(
      {
        overrun();
        for (int i = 0; i < 100; ++i) gasnett_debug_memcheck_one();
      },
      testing::ExitedWithCode(1), "written past its end");
  EXPECT_EXIT(
      {
        auto* object = static_cast<volatile char*>(gasnett_debug_malloc(5));
        object[-1] = 1;
        gasnett_debug_memcheck(const_cast<char*>(object));
      },
      testing::ExitedWithCode(1), "was not allocated here, or was written before its beginning");
  EXPECT_EXIT(gasnett_debug_malloc(SIZE_MAX), testing::ExitedWithCode(1), "no memory for");
  EXPECT_EXIT(gasnett_debug_calloc(SIZE_MAX / 2, 3), testing::ExitedWithCode(1), "no memory for");
}

TEST(ToolsHeap, ServesManyThreads) {
  const gasnett_heapstats_t before = stats();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      std::vector<void*> objects;
      for (int k = 0; k < 500; ++k) {
        objects.push_back(gasnett_debug_malloc(static_cast<std::size_t>(i * 500 + k)));
        if (k % 3 == 0) {
          gasnett_debug_free(objects.back());
          objects.pop_back();
        }
        if (k % 50 == 0) gasnett_debug_memcheck_one();
      }
      for (void* object : objects) gasnett_debug_free(object);
    });
  }
  for (std::thread& thread : threads) thread.join();
  gasnett_debug_memcheck_all();
  EXPECT_EQ(stats().live_objects, before.live_objects);
  EXPECT_EQ(stats().allocated_objects - before.allocated_objects, 2000u);
}

}  // namespace
