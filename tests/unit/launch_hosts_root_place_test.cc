// The address of a job's root as text, for a foreign launcher's key-value store.

#include "launch/hosts/root_place.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace gex::launch {
namespace {

RootPlace place() {
  Secret::Bytes bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(17 * i + 3);
  return {{{"10.0.0.1", "fe80::1"}, 40123}, Secret(bytes)};
}

TEST(RootPlace, ComesOutAsItWentIn) {
  const auto back = root_of(text_of(place()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->address.port, 40123);
  EXPECT_EQ(back->address.hosts, place().address.hosts);
  EXPECT_EQ(back->secret.bytes(), place().secret.bytes());
}

TEST(RootPlace, HasAsManyAddressesAsThereIsRoomFor) {
  RootPlace many = place();
  many.address.hosts.assign(100, "2001:db8::1234:5678:9abc:def0");
  const std::string text = text_of(many);
  EXPECT_LE(text.size(), 1000u);
  const auto back = root_of(text);
  ASSERT_TRUE(back);
  EXPECT_GE(back->address.hosts.size(), 10u);
}

TEST(RootPlace, IsInvalidForAnotherText) {
  const std::string secret(32, 'a');
  EXPECT_TRUE(root_of("1," + secret + ",a"));
  for (const std::string& text :
       {std::string(), std::string("1"), "1," + secret, "," + secret + ",a", "x," + secret + ",a",
        "12x," + secret + ",a", "0," + secret + ",a", "65536," + secret + ",a",
        "-1," + secret + ",a", "1," + secret + "a,a", "1," + secret.substr(1) + ",a",
        "1," + secret.substr(1) + "g,a"})
    EXPECT_FALSE(root_of(text)) << text;
}

TEST(RootPlace, TextsOfChanceDoNoHarm) {
  const std::string whole = text_of(place());
  Random random(7, 0);
  for (int i = 0; i < 20000; ++i) {
    std::string text = whole.substr(0, random.below(whole.size() + 1));
    for (std::uint64_t changes = random.below(4); changes != 0 && !text.empty(); --changes)
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    if (const auto root = root_of(text)) {
      EXPECT_NE(root->address.port, 0);
      EXPECT_FALSE(root->address.hosts.empty());
    }
  }
}

}  // namespace
}  // namespace gex::launch
