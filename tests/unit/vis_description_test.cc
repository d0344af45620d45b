// Descriptions as they may arrive: cut, changed, invented. What is accepted of it lies in its
// message, and what is then moved lies in the segment; both are blocks of exactly their size, so
// that AddressSanitizer sees what does not.

#include "vis/description.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "vis_shapes.h"

namespace gex::vis {
namespace {

constexpr std::size_t segment_bytes = 4096;

/// A part of a put, or of a get: then the data is what it asks for.
struct Message {
  std::uint32_t layout = 0;
  std::uint32_t entries = 0;
  std::vector<std::byte> bytes;  ///< description and data
};

class Hostile : public testing::Test {
 protected:
  bool is_inside(const std::byte* start, std::size_t bytes) const {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(start) - reinterpret_cast<std::uintptr_t>(segment_.get());
    return offset <= segment_bytes && bytes <= segment_bytes - offset;
  }

  template <class Region>
  Message described(const Region& region, std::size_t bytes) {
    const Room room{600, 600, 1000};
    std::vector<std::uint64_t> out(room.both / 8);
    Cursor cursor;
    auto* const start = reinterpret_cast<std::byte*>(out.data());
    const Part part = describe(region, cursor, bytes, room, start);
    const auto size = part.description_bytes + part.data_bytes;
    return {static_cast<std::uint32_t>(part.layout), part.entries, {start, start + size}};
  }

  /// A part of a region that lies in the segment.
  Message valid(Random& random) {
    for (;;) {
      const std::uint64_t kind = random.below(3);
      if (kind == 0) {
        const Strided strided = random_strided(random, 5, 40);
        Shape shape;
        Extent extent{};
        if (!make_shape(shape, strided.element, strided.count.data(), strided.remote.data(),
                        strided.local.data(), strided.count.size(), remote_end) ||
            !extent_of(shape, remote_end, extent) || extent.bytes > segment_bytes)
          continue;
        return described(StridedRegion{&shape, remote_end, segment_.get() - extent.start},
                         shape.bytes());
      }
      const std::size_t count = 1 + random.below(6);
      const std::size_t length = 1 + random.below(60);
      std::vector<void*> addresses;
      std::vector<gex_Memvec_t> blocks;
      for (std::size_t i = 0; i < count; ++i) {
        addresses.push_back(segment_.get() + random.below(segment_bytes - length));
        blocks.push_back({addresses.back(), length - random.below(length)});
      }
      if (kind == 1) return described(BlockList(addresses.data(), count, length), count * length);
      const BlockList list(blocks.data(), count);
      std::size_t bytes = 0;
      EXPECT_TRUE(list.total(bytes));
      return described(list, bytes);
    }
  }

  /// A number that could be right, or just not.
  std::uint64_t likely(Random& random) const {
    const auto base = reinterpret_cast<std::uint64_t>(segment_.get());
    const std::uint64_t near = random.below(130) - 65;
    switch (random.below(6)) {
      case 0:
        return near;
      case 1:
        return base + near;
      case 2:
        return base + segment_bytes + near;
      case 3:
        return (std::uint64_t{1} << random.below(64)) + near;
      case 4:
        return std::uint64_t{0} - base + near;
      default:
        return random();
    }
  }

  /// Takes it as the owner of the segment does. Whether it was accepted.
  bool is_taken(const Message& message, std::size_t got) {
    const std::size_t size = message.bytes.size();
    const std::unique_ptr<std::byte[]> block(new std::byte[size]);
    std::copy(message.bytes.begin(), message.bytes.end(), block.get());
    Described part;
    std::size_t description_bytes = 0;
    if (!part.read(message.layout, message.entries, block.get(), size, description_bytes))
      return false;
    EXPECT_LE(description_bytes, size);
    if (description_bytes > size) return false;
    const auto inside = [this](const std::byte* start, std::size_t bytes) {
      return is_inside(start, bytes);
    };
    const std::size_t put = size - description_bytes;
    const bool is_put = part.lies_within(put, inside);
    if (is_put) part.scatter(put, block.get() + description_bytes);
    // A get may ask for more bytes than its own message has.
    const bool is_got = part.lies_within(got, inside);
    if (is_got) {
      const std::unique_ptr<std::byte[]> answer(new std::byte[got]);
      part.gather(got, answer.get());
    }
    return is_put || is_got;
  }

  std::unique_ptr<std::byte[]> segment_{new std::byte[segment_bytes]()};
};

TEST_F(Hostile, WhatIsValidIsTaken) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed, 8);
    ASSERT_TRUE(is_taken(valid(random), 1)) << "seed " << seed;
  }
}

TEST_F(Hostile, ADescriptionThatIsCutIsNot) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed, 9);
    Message message = valid(random);
    Described part;
    std::size_t description_bytes = 0;
    ASSERT_TRUE(part.read(message.layout, message.entries, message.bytes.data(),
                          message.bytes.size(), description_bytes));
    for (std::size_t size = description_bytes; size-- != 0;) {
      message.bytes.resize(size);
      ASSERT_FALSE(is_taken(message, 0)) << "seed " << seed << ", " << size;
    }
  }
}

TEST_F(Hostile, WhatIsTakenOfChangedMessagesMovesOnlyWhatIsInTheSegment) {
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 60'000; ++seed) {
    Random random(seed, 10);
    Message message = valid(random);
    for (std::uint64_t changes = 1 + random.below(3); changes != 0; --changes) {
      const std::size_t words = message.bytes.size() / 8;
      switch (random.below(8)) {
        case 0:
          message.layout = static_cast<std::uint32_t>(random.below(5));
          break;
        case 1:
          message.entries = static_cast<std::uint32_t>(likely(random));
          break;
        case 2:
          message.bytes.resize(random.below(message.bytes.size() + 1));
          break;
        case 3:
          message.bytes.resize(message.bytes.size() + random.below(100));
          break;
        default:
          if (words != 0) {
            const std::uint64_t word = likely(random);
            // Most of them in the description.
            std::memcpy(message.bytes.data() + random.below(std::min<std::size_t>(words, 12)) * 8,
                        &word, sizeof word);
          }
      }
    }
    taken += is_taken(message, random.below(2000)) ? 1 : 0;
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(taken, 1000u);
  EXPECT_LT(taken, 59'000u);
}

TEST_F(Hostile, WhatIsTakenOfInventedMessagesMovesOnlyWhatIsInTheSegment) {
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 60'000; ++seed) {
    Random random(seed, 11);
    Message message;
    message.layout = static_cast<std::uint32_t>(random.below(4));
    message.entries = static_cast<std::uint32_t>(random.below(5));
    message.bytes.resize(random.below(160));
    for (std::size_t at = 0; at + 8 <= message.bytes.size(); at += 8) {
      const std::uint64_t word = likely(random);
      std::memcpy(message.bytes.data() + at, &word, sizeof word);
    }
    taken += is_taken(message, random.below(100)) ? 1 : 0;
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(taken, 100u);
}

TEST_F(Hostile, ADimensionOfOneTurnMayHaveAnyStride) {
  const std::uint64_t words[] = {reinterpret_cast<std::uint64_t>(segment_.get()),
                                 8,
                                 0,
                                 0,
                                 2,
                                 16,
                                 1,
                                 std::uint64_t{1} << 63,
                                 3,
                                 64};
  Message message{static_cast<std::uint32_t>(Layout::strided), 3, {}};
  const auto bytes = std::as_bytes(std::span(words));
  message.bytes.assign(bytes.begin(), bytes.end());
  message.bytes.resize(bytes.size() + 48, std::byte{1});
  EXPECT_TRUE(is_taken(message, 48));
  for (const std::size_t at : {0, 16, 64, 80, 128, 144})
    EXPECT_EQ(segment_[at], std::byte{1}) << at;
}

}  // namespace
}  // namespace gex::vis
