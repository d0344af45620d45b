#include "launch/local/adopted_processes.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "base/os_file.h"

namespace gex::launch {

namespace {

/// Time in which ranks may end by themselves after their guardian was killed.
constexpr auto lost_guardian_grace = std::chrono::seconds(1);

}  // namespace

AdoptedProcesses::AdoptedProcesses(std::size_t ranks) : count_(ranks) {
  void* const memory = mmap(nullptr, count_ * sizeof(Process), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  processes_ = static_cast<Process*>(memory);
  std::uninitialized_value_construct_n(processes_, count_);
}

AdoptedProcesses::~AdoptedProcesses() {
  if (processes_ != nullptr) munmap(processes_, count_ * sizeof(Process));
}

void AdoptedProcesses::kill_later() const {
  // Open the pidfds at once, before a process id can be reused.
  std::vector<os::FileDescriptor> handles;
  for (std::size_t i = 0; i < count_; ++i) {
    const pid_t process = processes_[i];
    if (process > 0) handles.emplace_back(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  }
  std::this_thread::sleep_for(lost_guardian_grace);
  for (const os::FileDescriptor& handle : handles)
    if (handle) syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
}

}  // namespace gex::launch
