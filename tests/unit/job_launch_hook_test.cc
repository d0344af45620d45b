// The hook by which ranks start the launcher's processes.

#include "job/launch_hook.h"

#include <gtest/gtest.h>

namespace gex::job {
namespace {

TEST(LaunchHook, AProgramWithoutTheLauncherIsShownHowToStart) {
  EXPECT_EXIT(launch_hook(), testing::ExitedWithCode(1),
              "^gex: this program is linked without libgex's launcher: start it with gexrun, not "
              "with GASNET_PSHM_NODES or another launcher\n$");
}

TEST(LaunchHook, IsTheOneThatWasRegistered) {
  set_launch_hook(
      {.fork_ranks =
           [](std::uint32_t ranks) {
             Membership membership;
             membership.size = ranks;
             return membership;
           },
       .start_root = [](const HostParts& hosts) { return std::to_string(hosts.size()); },
       .start_guardian = [](const HostParts&, std::uint32_t host,
                            const std::string& root) { return root + std::to_string(host); }});
  HostParts hosts;
  hosts.add("one", 1);
  EXPECT_EQ(launch_hook().fork_ranks(7).size, 7u);
  EXPECT_EQ(launch_hook().start_root(hosts), "1");
  EXPECT_EQ(launch_hook().start_guardian(hosts, 4, "root"), "root4");
}

}  // namespace
}  // namespace gex::job
