// The variables that libfabric gets from a job: identity, size, and what follows from libgex's
// messages.

#include "net/ofi/job_variables.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <regex>

#include "net/ofi/default_variable.h"
#include "net/ofi/wire.h"

namespace gex::net::ofi {
namespace {

std::map<std::string, std::string> variables(std::uint64_t cookie, std::uint32_t ranks,
                                             std::optional<PortRange> ports = std::nullopt) {
  std::map<std::string, std::string> all;
  for (const JobVariable& one : job_variables(cookie, ranks, ports)) all[one.name] = one.value;
  return all;
}

TEST(JobVariables, GiveEachJobAnIdentityOfItsOwn) {
  const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}");
  for (const char* name : {"FI_PSM2_UUID", "FI_PSM3_UUID", "FI_OPX_UUID"}) {
    const std::string one = variables(0x123456789abcdef0, 2)[name];
    EXPECT_TRUE(std::regex_match(one, uuid)) << one;
    EXPECT_EQ(variables(0x123456789abcdef0, 2)[name], one);
    EXPECT_NE(variables(0x123456789abcdef1, 2)[name], one);
    EXPECT_NE(variables(0x023456789abcdef0, 2)[name], one);
  }
}

TEST(JobVariables, MakeQueuesForTheJob) {
  EXPECT_EQ(variables(1, 2)["FI_UNIVERSE_SIZE"], "256");
  EXPECT_EQ(variables(1, 5000)["FI_UNIVERSE_SIZE"], "5000");
}

TEST(JobVariables, ShareReceiveBuffersOfManyConnections) {
  EXPECT_FALSE(variables(1, 64).contains("FI_OFI_RXM_USE_SRX"));
  EXPECT_EQ(variables(1, 64)["FI_OFI_RXM_MSG_RX_SIZE"], "128");
  EXPECT_EQ(variables(1, 65)["FI_OFI_RXM_USE_SRX"], "1");
  EXPECT_EQ(variables(1, 65)["FI_OFI_RXM_MSG_RX_SIZE"], "1024");
}

TEST(JobVariables, LetTheLargestMessageGoAtOnce) {
  EXPECT_EQ(variables(1, 2)["FI_OFI_RXM_BUFFER_SIZE"], std::to_string(max_wire));
  EXPECT_EQ(variables(1, 2)["FI_CXI_RDZV_THRESHOLD"], std::to_string(max_wire));
}

TEST(JobVariables, NameThePortsThatTheUserAllows) {
  EXPECT_FALSE(variables(1, 2).contains("FI_TCP_PORT_LOW_RANGE"));
  EXPECT_EQ(variables(1, 2, PortRange{7, 9})["FI_TCP_PORT_LOW_RANGE"], "7");
  EXPECT_EQ(variables(1, 2, PortRange{7, 9})["FI_TCP_PORT_HIGH_RANGE"], "9");
}

TEST(JobVariables, LeaveAPeerTime) {
  EXPECT_GE(std::stoi(variables(1, 2)["FI_PSM2_CONN_TIMEOUT"]), 3600);
  EXPECT_GE(std::stoi(variables(1, 2)["FI_PSM3_CONN_TIMEOUT"]), 3600);
}

TEST(JobVariables, AreTheUsersWhereTheyAreSet) {
  setenv("FI_OPX_UUID", "the user's", 1);
  {
    const DefaultVariable set("FI_OPX_UUID", "the job's"), unset("FI_UNIVERSE_SIZE", "2");
    EXPECT_STREQ(std::getenv("FI_OPX_UUID"), "the user's");
    EXPECT_STREQ(std::getenv("FI_UNIVERSE_SIZE"), "2");
  }
  EXPECT_STREQ(std::getenv("FI_OPX_UUID"), "the user's");
  EXPECT_EQ(std::getenv("FI_UNIVERSE_SIZE"), nullptr);
  unsetenv("FI_OPX_UUID");
}

}  // namespace
}  // namespace gex::net::ofi
