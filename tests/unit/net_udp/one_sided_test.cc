// Which puts a flush waits for, whose data complete a get, and what is refused.

#include "net/udp/one_sided.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "net/kit/segments.h"

namespace gex::net::udp {
namespace {

std::vector<int> completed;

class OneSidedTest : public testing::Test {
 protected:
  OneSidedTest() { completed.clear(); }

  Stream* put(std::uint32_t peer, void* done = nullptr) {
    const Remote remote{peer, &key, 0x1000};
    return one_sided.begin_put(remote, bytes.data(), bytes.size(), done, nullptr);
  }
  void arrive(Stream& stream) {
    stream.packets = 1;
    stream.cut = stream.size;
    one_sided.arrived(stream);
  }
  bool take(std::uint32_t peer, std::uint32_t get, std::uint64_t offset, std::size_t size) {
    const GetDataDetails details{offset, get, 0, 0};
    const bool is_expected = one_sided.expects(peer, details, size);
    one_sided.handle_data(peer, details, bytes.data() + offset, size);
    return is_expected;
  }

  static Host make_host() {
    Host host{};
    host.size = 3;
    host.complete = [](void* number) { completed.push_back(*static_cast<int*>(number)); };
    return host;
  }

  const Host host = make_host();
  const SegmentKey key{5, 0, 0};
  std::array<std::byte, 64> bytes{};
  std::array<int, 4> numbers = {0, 1, 2, 3};
  OneSided one_sided{host, 3};
};

TEST_F(OneSidedTest, AFlushWaitsForThePutsBeforeItAndNoOthers) {
  Stream* const first = put(1);
  Stream* const second = put(1);
  Stream* const elsewhere = put(2);
  ASSERT_TRUE(one_sided.flush(1, &numbers[0]));
  Stream* const third = put(1);
  ASSERT_TRUE(one_sided.flush(1, &numbers[1]));
  ASSERT_TRUE(one_sided.flush(1, &numbers[2]));
  ASSERT_TRUE(one_sided.flush(0, &numbers[3]));
  EXPECT_EQ(completed, std::vector({3}));
  // Flushes complete in their order, whichever puts arrive first.
  arrive(*third);
  arrive(*second);
  EXPECT_EQ(completed, std::vector({3}));
  arrive(*first);
  EXPECT_EQ(completed, std::vector({3, 0, 1, 2}));
  arrive(*elsewhere);
  EXPECT_EQ(one_sided.puts(), 0U);
}

TEST_F(OneSidedTest, APutThatIsCancelledHoldsNoFlushUp) {
  one_sided.cancel_put(*put(1));
  ASSERT_TRUE(one_sided.flush(1, &numbers[0]));
  EXPECT_EQ(completed, std::vector({0}));
  EXPECT_EQ(one_sided.puts(), 0U);
}

TEST_F(OneSidedTest, APutWithACompletionOfItsOwnIsInNoFlush) {
  Stream* const one = put(1, &numbers[1]);
  ASSERT_TRUE(one_sided.flush(1, &numbers[0]));
  EXPECT_EQ(completed, std::vector({0}));
  arrive(*one);
  EXPECT_EQ(completed, std::vector({0, 1}));
}

TEST_F(OneSidedTest, AGetTakesItsOwnDataInAnyOrder) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i + 1);
  std::array<std::byte, 64> to{};
  const GetDetails asked =
      one_sided.begin_get({1, &key, 0x1000}, to.data(), to.size(), &numbers[2]);
  EXPECT_EQ(asked.address, 0x1000U);
  EXPECT_EQ(asked.size, to.size());
  EXPECT_EQ(asked.segment, key.segment);
  const std::uint32_t get = asked.get;
  EXPECT_FALSE(take(2, get, 0, 8)) << "of another peer";
  EXPECT_FALSE(take(1, get + 1, 0, 8)) << "of another get";
  EXPECT_FALSE(take(1, ~0U, 0, 8)) << "of none";
  EXPECT_FALSE(take(1, get, 60, 8)) << "beyond its end";
  EXPECT_FALSE(take(1, get, ~std::uint64_t{0}, 8)) << "far beyond its end";
  EXPECT_FALSE(take(1, get, 0, 0)) << "empty";
  EXPECT_TRUE(take(1, get, 40, 24));
  EXPECT_TRUE(completed.empty());
  EXPECT_TRUE(take(1, get, 0, 40));
  EXPECT_EQ(completed, std::vector({2}));
  EXPECT_EQ(std::memcmp(to.data(), bytes.data(), to.size()), 0);
  EXPECT_FALSE(take(1, get, 0, 40)) << "complete";
}

TEST_F(OneSidedTest, IsBounded) {
  std::vector<Stream*> all;
  while (Stream* const one = put(1)) all.push_back(one);
  EXPECT_EQ(all.size(), one_sided.puts());
  for (Stream* const one : all) arrive(*one);
  EXPECT_NE(put(1), nullptr);
  std::size_t gets = 0;
  for (; one_sided.may_get(); ++gets)
    one_sided.begin_get({1, &key, 0x1000}, bytes.data(), 8, &numbers[0]);
  const std::size_t answers = one_sided.answers_left();
  const GetDetails details{.address = 0, .size = 8, .segment = 0, .get = 0, .unused = 0};
  for (std::size_t i = 0; i < answers; ++i)
    EXPECT_NE(one_sided.begin_answer(1, details, bytes.data()), nullptr);
  EXPECT_EQ(one_sided.begin_answer(1, details, bytes.data()), nullptr);
  EXPECT_EQ(one_sided.answers_left(), 0U);
  EXPECT_GT(gets, 0U);
}

}  // namespace
}  // namespace gex::net::udp
