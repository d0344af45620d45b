// How large packets may be.

#include "net/udp/path.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "net/host_addresses.h"

namespace gex::net::udp {
namespace {

TEST(PathMtu, IsThatOfTheRoutesInterface) {
  const Address here = Address::parse("127.0.0.1", 0);
  std::string error;
  for (const HostAddress& one : host_addresses(error)) {
    if (one.address == here) {
      EXPECT_EQ(path_mtu(here, Address::parse("127.0.0.1", 9)),
                std::min<std::size_t>(one.mtu, 65535));
    }
  }
  // No route from the loopback to elsewhere.
  EXPECT_EQ(path_mtu(here, Address::parse("192.0.2.77", 9)), 1500U);
}

TEST(PathMtu, OfTheLoopbackIsNotTooNarrow) {
  const Address here = Address::parse("127.0.0.1", 0);
  EXPECT_EQ(why_too_narrow(here, Address::parse("127.0.0.1", 9)), "");
}

}  // namespace
}  // namespace gex::net::udp
