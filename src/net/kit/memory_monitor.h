#pragma once
// Reports memory that has been unmapped, moved elsewhere, mapped anew or emptied (munmap, mremap,
// mmap with MAP_FIXED, madvise, brk), so that what is cached of it can be invalidated in time.
//
// By Linux's userfaultfd: a thread that unmaps watched memory waits inside its system call until
// the monitor's own thread has read the event. So when munmap has returned, a call of `changes`
// that begins afterwards reports it. While that thread waits, though, its addresses are free, and
// another may have mapped memory there and use it: a caller that has found something cached of an
// address calls `catch_up` before it asks for the changes. Memory is watched until it is unmapped;
// reading and writing it costs nothing more than before.
//
//   auto monitor = MemoryMonitor::start(why);
//   monitor->watch(pages);
//   ...
//   if (monitor->catch_up()) ... monitor->changes() ...
//
// Thread rules: any thread, at any time. What is called with a lock held must not have a thread
// wait for that lock inside an unmapping system call; `changes` itself unmaps nothing.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace gex::net {

/// Addresses [begin, end).
struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

class MemoryMonitor {
 public:
  struct Changes {
    static constexpr std::size_t max_ranges = 32;
    std::array<Range, max_ranges> ranges;
    std::size_t count = 0;
    bool all = false;  ///< there were more: anything may have changed
  };

  /// Null where the system has no userfaultfd or does not let this process use it, with the reason.
  static std::unique_ptr<MemoryMonitor> start(std::string& why);
  ~MemoryMonitor();
  MemoryMonitor(const MemoryMonitor&) = delete;
  MemoryMonitor& operator=(const MemoryMonitor&) = delete;

  /// Watches whole pages. False: this memory is of a kind that cannot be watched, or another
  /// userfaultfd watches it.
  bool watch(const Range& pages) noexcept;
  void unwatch(const Range& pages) noexcept;

  /// Waits until `changes` reports all that was unmapped before this call, also by threads that
  /// are still inside their system calls. False: it does not yet, after a long while.
  bool catch_up() noexcept;

  /// Returns the changes since the last call.
  Changes changes() noexcept;

 private:
  MemoryMonitor(int events, int end) : events_(events), end_(end) {}
  int start_listening() noexcept;
  void listen() noexcept;
  void read_events() noexcept;

  int events_;  ///< userfaultfd
  int end_;     ///< eventfd: the thread ends
  std::mutex mutex_;
  Changes changes_;
  std::thread thread_;
};

}  // namespace gex::net
