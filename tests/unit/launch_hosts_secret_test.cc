#include "launch/hosts/secret.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/hex.h"

namespace gex::launch {
namespace {

Secret counting() {
  Secret::Bytes bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  return Secret(bytes);
}

TEST(Secret, ProvesAsSipHashDoes) {
  // The first of the published test vectors of SipHash-2-4 with 128 bits.
  EXPECT_EQ(hex(counting().prove({})), "a3817f04ba25a8e66df67214c7550293");
}

TEST(Secret, AProofDependsOnEveryByteOfKeyAndMessage) {
  std::vector<std::byte> message(39);
  const Secret::Bytes proof = counting().prove(message);
  EXPECT_TRUE(equal(proof, counting().prove(message)));
  for (std::byte& byte : message) {
    byte ^= std::byte{1};
    EXPECT_FALSE(equal(proof, counting().prove(message)));
    byte ^= std::byte{1};
  }
  EXPECT_FALSE(equal(proof, counting().prove(std::span(message).first(38))));
  for (std::size_t i = 0; i < Secret::size; ++i) {
    Secret::Bytes key = counting().bytes();
    key[i] ^= std::byte{0x80};
    EXPECT_FALSE(equal(proof, Secret(key).prove(message)));
  }
}

TEST(Secret, NoTwoAreTheSame) {
  const auto one = Secret::generate();
  const auto other = Secret::generate();
  ASSERT_TRUE(one && other);
  EXPECT_FALSE(equal(one->bytes(), other->bytes()));
}

}  // namespace
}  // namespace gex::launch
