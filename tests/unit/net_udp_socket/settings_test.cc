// The settings that the environment's variables become, and the lines that refuse a value.

#include "net/udp/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace gex::net::udp {
namespace {

std::map<std::string, std::string>& environment() {
  static std::map<std::string, std::string> variables;
  return variables;
}

Host host() {
  Host result{};
  result.env_text = [](const char* name) -> const char* {
    const auto found = environment().find(name);
    return found == environment().end() ? nullptr : found->second.c_str();
  };
  result.env_integer = [](const char* name) -> std::int64_t {
    const auto found = environment().find(name);
    return found == environment().end() ? 0 : std::atoll(found->second.c_str());
  };
  return result;
}

Settings settings(const std::map<std::string, std::string>& variables) {
  environment() = variables;
  Settings result;
  std::string error;
  EXPECT_TRUE(read_settings(host(), result, error)) << error;
  return result;
}

std::string refusal(const std::map<std::string, std::string>& variables) {
  environment() = variables;
  Settings result;
  std::string error;
  EXPECT_FALSE(read_settings(host(), result, error));
  return error;
}

TEST(Settings, HaveDefaults) {
  const Settings unset = settings({});
  EXPECT_EQ(unset.named, "");
  EXPECT_EQ(unset.first_port, 0);
  EXPECT_EQ(unset.socket.last_port, 0);
  EXPECT_EQ(unset.socket.receive_buffer, std::size_t{16} << 20);
  EXPECT_EQ(unset.socket.mtu, 0U);
  EXPECT_TRUE(unset.socket.cut_in_kernel && unset.socket.join && unset.socket.marks);
  EXPECT_TRUE(unset.covers_bulk);
  EXPECT_EQ(unset.depth, 0U);
  EXPECT_EQ(settings({{"GEX_UDP_PORTS", "  "}}).first_port, 0) << "blank is unset";
}

TEST(Settings, AreWhatIsSet) {
  const Settings set = settings({{"GEX_UDP_INTERFACE", " eth1 "},
                                 {"GEX_UDP_PORTS", "40000-40999"},
                                 {"GEX_UDP_RECEIVE_BUFFER", "2MB"},
                                 {"GEX_UDP_MTU", "9000"},
                                 {"GEX_UDP_GSO", "0"},
                                 {"GEX_UDP_GRO", "no"},
                                 {"GEX_UDP_ECN", "off"},
                                 {"GEX_UDP_AUTHENTICATE", "header"},
                                 {"GASNET_NETWORKDEPTH", "12"}});
  EXPECT_EQ(set.named, "eth1");
  EXPECT_EQ(set.first_port, 40000);
  EXPECT_EQ(set.socket.last_port, 40999);
  EXPECT_EQ(set.socket.receive_buffer, std::size_t{2} << 20);
  EXPECT_EQ(set.socket.mtu, 9000U);
  EXPECT_FALSE(set.socket.cut_in_kernel || set.socket.join || set.socket.marks);
  EXPECT_FALSE(set.covers_bulk);
  EXPECT_EQ(set.depth, 12U);
  EXPECT_EQ(settings({{"GEX_UDP_PORTS", "7"}}).socket.last_port, 7);
  EXPECT_EQ(settings({{"GEX_PORTS", "8-9"}}).socket.last_port, 9);
  EXPECT_EQ(settings({{"GEX_PORTS", "8-9"}, {"GEX_UDP_PORTS", "7"}}).socket.last_port, 7);
}

TEST(Settings, OfGasnetAreReadWhereOursAreNotSet) {
  const std::map<std::string, std::string> theirs = {{"GASNET_WORKERIP", "10.0.0.0"},
                                                     {"GASNET_SOCKETBUFFER_MAX", "4MB"}};
  EXPECT_EQ(settings(theirs).named, "10.0.0.0");
  EXPECT_EQ(settings(theirs).socket.receive_buffer, std::size_t{4} << 20);
  std::map<std::string, std::string> both = theirs;
  both["GEX_UDP_INTERFACE"] = "ib0";
  both["GEX_UDP_RECEIVE_BUFFER"] = "1MB";
  EXPECT_EQ(settings(both).named, "ib0");
  EXPECT_EQ(settings(both).socket.receive_buffer, std::size_t{1} << 20);
}

TEST(Settings, RefuseWhatMakesNoSense) {
  EXPECT_EQ(refusal({{"GEX_UDP_MTU", "575"}}),
            "GEX_UDP_MTU='575' is not a number of bytes from 576 to 65535, or 0");
  EXPECT_EQ(refusal({{"GEX_UDP_MTU", "-1"}}).find("GEX_UDP_MTU='-1'"), 0U);
  EXPECT_EQ(refusal({{"GEX_UDP_RECEIVE_BUFFER", "1K"}}),
            "GEX_UDP_RECEIVE_BUFFER='1K' is not a number of bytes of at least 64K");
  EXPECT_EQ(refusal({{"GEX_UDP_RECEIVE_BUFFER", "0.5"}}).find("GEX_UDP_RECEIVE_BUFFER='0.5'"), 0U);
  EXPECT_EQ(refusal({{"GEX_UDP_AUTHENTICATE", "all"}}),
            "GEX_UDP_AUTHENTICATE='all' is not payload or header");
  EXPECT_EQ(refusal({{"GASNET_NETWORKDEPTH", "1025"}}).find("GASNET_NETWORKDEPTH='1025'"), 0U);
}

}  // namespace
}  // namespace gex::net::udp
