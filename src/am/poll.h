#pragma once
// The part of a poll in active messages: it delivers what has arrived over rings and networks, what
// this process has sent to itself, and what was set aside.

#include <cstdint>

namespace gex::am {

/// The Deliverer (core/progress.h) of active messages.
bool deliver_messages(std::uint32_t quiet) noexcept;

}  // namespace gex::am
