// Plug-ins that the registry must refuse: of another interface version, and incomplete ones.

#include "net/conduit.h"

namespace {

using namespace gex::net;

constexpr Conduit conduit = {
#ifdef GEX_TEST_FUTURE_VERSION
    .version = interface_version + 1,
#else
    .version = interface_version,
#endif
    .name = "foreign",
    .description = "not to be used",
    .attach = nullptr,
    .send = nullptr,
    .poll = nullptr,
    .detach = nullptr,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v1(void) {
  return &conduit;
}
