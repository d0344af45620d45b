#include "core/progress.h"

#include "base/error.h"
#include "boot/job.h"
#include "core/process.h"

namespace gex {

namespace detail {

namespace {
bool poll_nothing() noexcept {
  return false;
}

constexpr unsigned most_others = 4;
Poller others[most_others];
unsigned other_count = 0;
}  // namespace

Poller primary_poller = poll_nothing;
std::atomic<std::uint32_t> polls_wanted{0};

namespace {
constinit std::atomic<std::uint64_t> no_job{0};
}
const std::atomic<std::uint64_t>* ending = &no_job;

bool poll_others() noexcept {
  bool progressed = false;
  for (unsigned i = 0; i < other_count; ++i) progressed |= others[i]();
  return progressed;
}

void follow_ending() noexcept {
  // Another rank has ended the job: this one goes too, with its streams flushed.
  process().job->follow();
}

}  // namespace detail

void watch_job() noexcept {
  detail::ending = &process().job->ending_word();
}

void register_poller(Poller poller) noexcept {
  if (detail::primary_poller == detail::poll_nothing) {
    detail::primary_poller = poller;
    return;
  }
  if (detail::other_count == detail::most_others)
    fatal("more than %u pollers registered", detail::most_others + 1);
  detail::others[detail::other_count++] = poller;
}

}  // namespace gex
