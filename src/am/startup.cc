#include "am/startup.h"

#include "am/cells.h"
#include "am/deferred_send.h"
#include "am/links.h"
#include "am/network.h"
#include "am/poll.h"
#include "am/serve.h"
#include "am/thread_messages.h"
#include "am/to_neighbor.h"
#include "core/process.h"
#include "core/progress.h"

namespace gex::am {

void start() {
  start_thread_messages();
  links().set_up();
  set_up_cells();
  receive_lanes();
  set_up_network();
  register_deliverer(deliver_messages);
  register_server(server);
  start_deferred_sends();
  // With more ranks than cores an idle poll is a call, too, which counts them (gex_poll_).
  if (process().conduit != nullptr || process().crowded) want_deliveries();
}

}  // namespace gex::am
