#pragma once
// The steps of a child process between the guardian's fork and the rank's program.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/os_file.h"
#include "job/protocol.h"
#include "launch/launch_spec.h"
#include "launch/launcher_signals.h"

namespace gex::launch {

/// The state that the guardian has changed for itself, and that every rank restores.
struct Inheritance {
  pid_t guardian = 0;
  SignalState signals;
  rlimit descriptors{};
  std::string process_name;
};

/// A rank's ends of its connections to the guardian.
struct Connection {
  os::FileDescriptor control;
  os::FileDescriptor output;  ///< empty: the rank keeps the launcher's
  os::FileDescriptor error;
};

/// Turns the child process into the rank, bound to these processors if there are any. Executes the
/// command, or returns the rank's membership if there is none. On failure reports the error to the
/// guardian and ends the process.
job::Membership become_rank(const Launch& launch, std::uint32_t rank,
                            const Inheritance& inheritance, Connection connection,
                            std::span<const std::uint32_t> cores);

/// The exit status of a command that could not be executed, as in shells.
int exec_failure_status(int error) noexcept;

}  // namespace gex::launch
