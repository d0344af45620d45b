#include "am/poll.h"

#include <memory>

#include "am/deliver.h"
#include "am/links.h"
#include "am/local_send.h"
#include "am/network.h"
#include "am/set_aside.h"
#include "am/to_self.h"
#include "core/process.h"

namespace gex::am {

namespace {

bool deliver_set_aside() noexcept {
  if (!any_set_aside_due()) return false;
  const auto due = take_set_aside();
  for (const std::unique_ptr<SetAsideMessage>& message : due) {
    const Arrived& arrived = message->arrived;
    if (!run_handler<Sender::anybody>(arrived, message->number)) continue;
    if (arrived.ring != nullptr)
      links().request_unanswered(*arrived.ring, arrived.header.source);
    else
      network_request_unanswered(arrived.header.source);
  }
  return !due.empty();
}

}  // namespace

bool deliver_messages(std::uint32_t quiet) noexcept {
  bool progressed = links().poll(quiet);
  if (process().conduit != nullptr) progressed |= poll_network();
  if (any_kept.load(std::memory_order_relaxed)) [[unlikely]]
    progressed |= flush_kept_replies();
  progressed |= deliver_own();
  progressed |= deliver_set_aside();
  return progressed;
}

}  // namespace gex::am
