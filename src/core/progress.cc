#include "core/progress.h"

#include "base/error.h"
#include "boot/job.h"
#include "core/process.h"

namespace gex {

namespace {
constexpr unsigned most_pollers = 4;
Poller pollers[most_pollers];
unsigned poller_count = 0;
}  // namespace

void register_poller(Poller poller) noexcept {
  if (poller_count == most_pollers) fatal("more than %u pollers registered", most_pollers);
  pollers[poller_count++] = poller;
}

bool poll() noexcept {
  bool progressed = false;
  for (unsigned i = 0; i < poller_count; ++i) progressed |= pollers[i]();
  // Another rank has ended the job: this one goes too, with its streams flushed.
  if (!progressed && process().job->ending()) [[unlikely]]
    process().job->end(0);
  return progressed;
}

}  // namespace gex
