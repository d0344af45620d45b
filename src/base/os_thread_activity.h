#pragma once
// The activity of a thread of another process at this moment, as /proc shows it, and whether a
// signal would disturb it. Looking changes nothing.
//
// Thread rules: any thread. Not async-signal-safe (allocates).

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace gex::os {

/// A system call in which a thread sleeps.
struct SystemCall {
  long number = 0;
  std::array<std::uint64_t, 6> arguments{};
};

struct ThreadActivity {
  char state = 0;  ///< as ProcessActivity::state
  /// Empty where it runs, and where the kernel does not show it to this process, which needs the
  /// right to trace that one.
  std::optional<SystemCall> call;
};

/// Empty if the process has no such thread.
std::optional<ThreadActivity> thread_activity(pid_t process, pid_t thread);

/// Returns true if a signal whose handler is installed with SA_RESTART leaves what the thread does
/// as it is. A sleep ends early, whatever its handler was installed with; so what is not known for
/// sure counts as disturbed.
bool bears_signals(pid_t process, const ThreadActivity& activity);

/// "clock_nanosleep"; "system call 400" for those in which threads seldom sleep.
std::string name_of(const SystemCall& call);

}  // namespace gex::os
