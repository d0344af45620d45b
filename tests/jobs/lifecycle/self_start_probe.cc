// A client with the label udp, which starts its job itself: each rank prints its place and what is
// left of its arguments.

#include <gasnetex.h>

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  const bool without_arguments = std::getenv("PROBE_WITHOUT_ARGUMENTS") != nullptr;
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Client_Init(&client, &endpoint, &team, "PROBE", without_arguments ? nullptr : &argc,
                  without_arguments ? nullptr : &argv, 0);
  std::string line = "rank " + std::to_string(gex_System_QueryJobRank()) + " of " +
                     std::to_string(gex_System_QueryJobSize()) + ":";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  if (argv[argc] != nullptr) line += " (no end)";
  line += "\n";
  std::fputs(line.c_str(), stdout);
  return 0;
}
