#pragma once
// The process ids of adopted ranks, in memory that their guardian shares with the process that
// watches it: that one ends the ranks if the guardian is killed.

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gex::launch {

class AdoptedProcesses {
 public:
  explicit AdoptedProcesses(std::size_t ranks);
  ~AdoptedProcesses();
  AdoptedProcesses(const AdoptedProcesses&) = delete;
  AdoptedProcesses& operator=(const AdoptedProcesses&) = delete;

  /// Returns true if there is memory for them; errno is the reason if not.
  bool mapped() const noexcept { return processes_ != nullptr; }
  /// The process of the host's `index`-th rank; 0: it has none.
  void set(std::uint32_t index, pid_t process) noexcept { processes_[index] = process; }

  /// Kills all of them, after a grace period. Blocks for that time.
  void kill_later() const;

 private:
  using Process = std::atomic<pid_t>;
  static_assert(Process::is_always_lock_free);
  std::size_t count_;
  Process* processes_ = nullptr;
};

}  // namespace gex::launch
