// Plug-ins that the registry must refuse: of another interface version, and incomplete ones.

#include "net/conduit.h"

namespace {

using namespace gex::net;

#ifdef GEX_TEST_HALF
int attach(const Host*, Limits*) {
  return 1;
}
SendResult send(Channel, uint32_t, const Piece*, size_t) {
  return would_block;
}
size_t poll(uint32_t, size_t) {
  return 0;
}
void detach() {
}
int register_segment(void*, size_t, SegmentKey*) {
  return 1;
}
void deregister_segment(const SegmentKey*) {
}
SendResult put(const Remote*, const void*, size_t, void*, void*) {
  return would_block;
}
#endif

constexpr Conduit conduit = {
#ifdef GEX_TEST_FUTURE_VERSION
    .version = interface_version + 1,
#else
    .version = interface_version,
#endif
    .name = "foreign",
    .description = "not to be used",
#ifdef GEX_TEST_HALF
    .attach = attach,
    .send = send,
    .poll = poll,
    .detach = detach,
    .register_segment = register_segment,
    .deregister_segment = deregister_segment,
    .put = put,
#else
    .attach = nullptr,
    .send = nullptr,
    .poll = nullptr,
    .detach = nullptr,
#endif
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v1(void) {
  return &conduit;
}
