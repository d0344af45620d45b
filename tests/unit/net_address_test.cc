// Addresses as text and as bytes.

#include "net/address.h"

#include <gtest/gtest.h>

namespace gex::net {
namespace {

TEST(Address, IsParsedAndPrinted) {
  const Address v4 = Address::parse("10.1.2.3", 4711);
  EXPECT_EQ(v4.text(), "10.1.2.3:4711");
  EXPECT_EQ(v4.host_text(), "10.1.2.3");
  EXPECT_EQ(v4.port(), 4711);
  EXPECT_EQ(v4.family(), AF_INET);
  const Address v6 = Address::parse("fd00:0::1", 80);
  EXPECT_EQ(v6.text(), "[fd00::1]:80");
  EXPECT_EQ(v6.with_port(81).text(), "[fd00::1]:81");
}

TEST(Address, OtherTextIsEmpty) {
  for (const char* text : {"", "10.1.2", "localhost", "10.1.2.3.4", "fd00::1%eth0", "::g",
                           "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0001"})
    EXPECT_TRUE(Address::parse(text, 1).is_empty()) << text;
  EXPECT_EQ(Address().text(), "no address");
}

TEST(Address, TheLoopbackIsKnown) {
  EXPECT_TRUE(Address::parse("127.0.0.1", 1).is_loopback());
  EXPECT_TRUE(Address::parse("127.3.4.5", 1).is_loopback());
  EXPECT_TRUE(Address::parse("::1", 1).is_loopback());
  EXPECT_FALSE(Address::parse("10.0.0.1", 1).is_loopback());
  EXPECT_FALSE(Address::parse("fd00::1", 1).is_loopback());
  EXPECT_FALSE(Address().is_loopback());
}

TEST(Address, EqualsByHostAndPort) {
  const Address one = Address::parse("10.0.0.1", 1);
  EXPECT_EQ(one, Address::parse("10.0.0.1", 1));
  EXPECT_FALSE(one == Address::parse("10.0.0.1", 2));
  EXPECT_FALSE(one == Address::parse("10.0.0.2", 1));
  EXPECT_FALSE(one == Address::parse("::1", 1));
  EXPECT_FALSE(one == Address());
  EXPECT_EQ(Address(), Address());
}

}  // namespace
}  // namespace gex::net
