// Prints the library's own messages, HANDLER NAME on each line: which handler is whose is decided
// at start-up, by the order in which rooms register theirs.

#include <gasnetex.h>

#include <cstdio>

#include "am/internal.h"

int main(int count, char** arguments) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  if (gex_Client_Init(&client, &endpoint, &team, "messages", &count, &arguments, 0) != GASNET_OK)
    return 1;
  for (unsigned handler = 0; handler < GEX_AM_INDEX_BASE; ++handler) {
    const char* const name = gex::am::internal_name(static_cast<std::uint8_t>(handler));
    if (name != nullptr) std::printf("%u %s\n", handler, name);
  }
  std::fflush(stdout);
  gasnet_exit(0);
}
