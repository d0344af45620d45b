// Conduits that cannot be used, each for another reason, and one that prints: plug-ins that gexinfo
// must describe and survive. ODD_CONDUIT_KIND chooses which one this is.

#include <gex/plugin/conduit.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace {

using namespace gex::net;

enum Kind { refuses, aborts, hangs, prints };

int attach(const Host* host, Limits* limits) {
  switch (ODD_CONDUIT_KIND) {
    case refuses:
      host->warn("odd: there is no such network card here");
      return 1;
    case aborts:
      abort();
    case hangs:
      for (;;) pause();
    case prints:
      puts("odd: chatter on standard output");
      fflush(stdout);
      break;
  }
  *limits = {2048, 3};
  return 0;
}
SendResult send(Channel, uint32_t, const Piece*, size_t) {
  return would_block;
}
size_t poll(uint32_t, size_t) {
  return 0;
}
void detach() {
}

constexpr Conduit table{
    .version = interface_version,
    .name = "odd",
    .description = "an odd one",
    .attach = attach,
    .send = send,
    .poll = poll,
    .detach = detach,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v4() {
  return &table;
}
