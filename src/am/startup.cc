#include "am/startup.h"

#include "am/links.h"
#include "am/local_send.h"
#include "am/network.h"
#include "am/slabs.h"
#include "core/process.h"
#include "core/progress.h"

namespace gex::am {

namespace {

bool poll_messages() noexcept {
  bool progressed = links().poll();
  if (process().conduit != nullptr) progressed |= poll_network();
  if (any_kept.load(std::memory_order_relaxed)) [[unlikely]]
    progressed |= flush_kept_replies();
  return progressed;
}

}  // namespace

void start() {
  links().set_up();
  slabs().set_up(process().neighborhood, process().threaded);
  set_up_network();
  register_poller(poll_messages);
}

}  // namespace gex::am
