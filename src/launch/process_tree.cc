#include "launch/process_tree.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "base/os_proc.h"

namespace gex::launch {

void kill_descendants(const std::vector<pid_t>& spared, const Reaped& reaped) {
  const auto is_spared = [&spared](pid_t process) {
    return std::find(spared.begin(), spared.end(), process) != spared.end();
  };
  for (;;) {
    std::vector<pid_t> targets = os::children();
    std::erase_if(targets, is_spared);
    if (targets.empty()) return;
    for (const pid_t process : targets) kill(process, SIGKILL);
    for (const pid_t process : targets) {
      int status = 0;
      pid_t got;
      do {
        got = waitpid(process, &status, 0);
      } while (got < 0 && errno == EINTR);
      if (got == process) reaped(process, status);
    }
  }
}

}  // namespace gex::launch
