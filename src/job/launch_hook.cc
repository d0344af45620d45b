#include "job/launch_hook.h"

#include "base/error.h"

namespace gex::job {

namespace {

constinit LaunchHook the_hook{};

}  // namespace

void set_launch_hook(const LaunchHook& hook) noexcept {
  the_hook = hook;
}

const LaunchHook& launch_hook() {
  if (the_hook.fork_ranks == nullptr) {
    fatal(
        "this program is linked without libgex's launcher: start it with gexrun, not with "
        "GASNET_PSHM_NODES or another launcher");
  }
  return the_hook;
}

}  // namespace gex::job
