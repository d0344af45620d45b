#pragma once
// What a process does between the guardian's fork and being a rank.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/os_file.h"
#include "boot/launch_spec.h"
#include "boot/launcher_signals.h"
#include "boot/protocol.h"

namespace gex::boot {

/// What the guardian found when it started and took over, and every rank gets back.
struct Inheritance {
  pid_t guardian = 0;
  SignalState signals;
  rlimit descriptors{};
  std::string process_name;
};

/// A rank's ends of what connects it to the guardian.
struct Connection {
  os::FileDescriptor control;
  os::FileDescriptor output;  ///< none: the rank keeps the launcher's
  os::FileDescriptor error;
};

/// In the child: makes this process the rank, bound to these processors if there are any. Returns
/// its membership, or executes the command and does not return; when that fails, the guardian is
/// told and the process ends.
Membership become_rank(const Launch& launch, std::uint32_t rank, const Inheritance& inheritance,
                       Connection connection, std::span<const std::uint32_t> cores);

/// The exit status of a command that could not be executed, as shells have it.
int exec_failure_status(int error) noexcept;

}  // namespace gex::boot
