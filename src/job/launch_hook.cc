#include "job/launch_hook.h"

#include "base/error.h"

namespace gex::job {

namespace {

constinit LaunchHook registered{};

}  // namespace

void set_launch_hook(const LaunchHook& hook) noexcept {
  registered = hook;
}

const LaunchHook& launch_hook() {
  if (registered.fork_ranks == nullptr) {
    fatal(
        "this program is linked without libgex's launcher: start it with gexrun, not with "
        "GASNET_PSHM_NODES or another launcher");
  }
  return registered;
}

}  // namespace gex::job
