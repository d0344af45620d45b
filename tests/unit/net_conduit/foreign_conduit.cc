// Plug-ins for the registry: of another interface version and incomplete ones, which it must
// refuse, and one with a shorter table, as a plug-in that was compiled against an older header has.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstring>

namespace {

using namespace gex::net;

#if defined(GEX_TEST_HALF) || defined(GEX_TEST_SHORT)
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
#endif
#ifdef GEX_TEST_HALF
int register_segment(const SegmentMemory*, void*) {
  return 1;
}
void deregister_segment(const void*) {
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
#elif defined(GEX_TEST_SHORT)
    .attach = attach,
    .send = send,
    .poll = poll,
    .detach = detach,
#else
    .attach = nullptr,
    .send = nullptr,
    .poll = nullptr,
    .detach = nullptr,
#endif
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v4(void) {
#ifdef GEX_TEST_SHORT
  // What lies behind the table is not part of it.
  constexpr uint32_t bytes = offsetof(Conduit, register_segment);
  alignas(Conduit) static unsigned char memory[sizeof(Conduit)];
  std::memset(memory, 0xff, sizeof memory);
  std::memcpy(memory, &conduit, bytes);
  std::memcpy(memory + offsetof(Conduit, bytes), &bytes, sizeof bytes);
  return reinterpret_cast<const Conduit*>(memory);
#else
  return &conduit;
#endif
}
