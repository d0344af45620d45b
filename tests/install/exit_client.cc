// A client whose final output waits in std::cout when it ends the job: libgex writes them out,
// though its archive brings a C++ runtime of its own. It also throws, with the runtime that it was
// linked with.
#include <gasnetex.h>

#include <iostream>
#include <stdexcept>

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  gex_Client_Init(&client, &endpoint, &team, "INSTALLED", &argc, &argv, 0);
  try {
    throw std::runtime_error("final output");
  } catch (const std::exception& error) {
    std::cout << error.what() << " of rank " << gex_TM_QueryRank(team) << '\n';
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
