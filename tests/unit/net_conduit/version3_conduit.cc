// A plug-in as version 3 of the interface had them, with that version's table and entry point, for
// the registry to refuse. It includes nothing of libgex, whose header has no such table any more.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

namespace {

struct ConduitOfVersion3 {
  uint32_t version;
  const char* name;
  const char* description;
  int (*attach)(const void* host, void* limits);
  int (*send)(uint32_t channel, uint32_t peer, const void* pieces, size_t count);
  size_t (*poll)(uint32_t channels, size_t max);
  void (*detach)();
  void* optional[9];
};

constexpr ConduitOfVersion3 conduit = {
    .version = 3,
    .name = "former",
    .description = "as it was",
    .attach = [](const void*, void*) -> int { abort(); },
    .send = [](uint32_t, uint32_t, const void*, size_t) -> int { abort(); },
    .poll = [](uint32_t, size_t) -> size_t { abort(); },
    .detach = [] { abort(); },
    .optional = {},
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const ConduitOfVersion3* gex_conduit_v1() {
  return &conduit;
}
