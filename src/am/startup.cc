#include "am/startup.h"

#include "am/links.h"
#include "am/local_send.h"
#include "am/network.h"
#include "am/set_aside.h"
#include "am/slabs.h"
#include "am/to_self.h"
#include "core/process.h"
#include "core/progress.h"

namespace gex::am {

namespace {

bool deliver_messages(std::uint32_t quiet) noexcept {
  bool progressed = links().poll(quiet);
  if (process().conduit != nullptr) progressed |= poll_network();
  if (any_kept.load(std::memory_order_relaxed)) [[unlikely]]
    progressed |= flush_kept_replies();
  progressed |= deliver_own();
  progressed |= deliver_set_aside();
  return progressed;
}

}  // namespace

void start() {
  links().set_up();
  slabs().set_up(process().neighborhood, process().threaded);
  set_up_network();
  register_deliverer(deliver_messages);
  if (process().conduit != nullptr) want_deliveries();
}

}  // namespace gex::am
