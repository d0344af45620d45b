#include "core/observer.h"

namespace gex {

namespace {

void ignore_wait(WaitCause) noexcept {
}
FollowedTargets follow_nothing(CompletionTarget done, CompletionTarget local_done) noexcept {
  return {done, local_done};
}
void settle_nothing(const FollowedTargets&, std::uint32_t, std::uint32_t) noexcept {
}
void complete_nothing(CompletionTarget, std::uint32_t) noexcept {
}
void ignore_poll(std::uint32_t) noexcept {
}

}  // namespace

constinit Observer detail::the_observer{ignore_wait,    ignore_wait,      follow_nothing,
                                        settle_nothing, complete_nothing, ignore_poll};

}  // namespace gex
