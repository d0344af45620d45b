#pragma once
// A stream of a device's with the copies that are under way in it.
//
// The driver is not asked whether copies are done: behind them it writes a number to memory of the
// host, which polls read. Copies that are begun before the next poll share that write. Small ones
// that would wait for others in the stream anyway are kept back until that write, and given to the
// driver in one call, where it has such a call.
//
// Thread rules: any.

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>

#include "base/spin_lock.h"
#include "core/thread.h"
#include "kinds/cuda/driver.h"

namespace gex::kinds::cuda {

class CopyStream {
 public:
  /// Makes the stream in the current context, with `flag`, a word of memory that the device and the
  /// host write and read; returns the error of the driver.
  Result open(const Driver& driver, volatile std::uint32_t* flag) noexcept;

  /// Begins a copy in the current context. `done` and, unless that is null, `local_done` are
  /// completed once by a poll.
  Result begin(void* to, const void* from, std::size_t bytes, CompletionTarget done,
               CompletionTarget local_done) noexcept;

  /// Begins a copy of rows, or of planes, and completes those as `begin` does.
  Result begin_rows(const RowsCopy& rows, CompletionTarget done,
                    CompletionTarget local_done) noexcept;
  Result begin_planes(const PlanesCopy& planes, CompletionTarget done,
                      CompletionTarget local_done) noexcept;
  /// Has a poll complete `happened` once an event that was recorded in some stream has happened.
  Result begin_after(Event event, CompletionTarget happened) noexcept;
  /// The driver's function that returned the last error.
  const char* failed_function() const noexcept { return failed_.load(std::memory_order_relaxed); }

  /// Nothing is under way.
  bool is_idle() noexcept;

  /// Copies, and waits for it without polling.
  Result copy(void* to, const void* from, std::size_t bytes) noexcept;

  /// Completes what is done. Sets `progressed` if anything was.
  Result poll(Context context, bool& progressed) noexcept;

 private:
  struct Copy {
    CompletionTarget done;
    CompletionTarget local_done;
  };
  struct Batch {
    std::uint32_t number;  ///< which the flag has, or has passed, once the copies are done
    std::size_t copies;
  };

  /// So many copies share a write of the flag at most.
  static constexpr std::size_t max_batch = 32;
  /// A longer copy takes longer than a call of the driver does.
  static constexpr std::size_t max_kept_back = 4096;

  /// Copies that the driver has not been given yet.
  struct KeptBack {
    std::array<DeviceAddress, max_batch> to;
    std::array<DeviceAddress, max_batch> from;
    std::array<std::size_t, max_batch> bytes;
    std::size_t count = 0;
  };

  // Under the lock.
  /// The targets are completed by the copies that have just been given to the stream, or kept back.
  Result add(CompletionTarget done, CompletionTarget local_done, std::size_t batch) noexcept;
  Result give_kept_back() noexcept;
  Result end_batch() noexcept;

  Result noted(const char* function, Result error) noexcept {
    // Relaxed: the thread that gets the error reads it.
    if (error != success) failed_.store(function, std::memory_order_relaxed);
    return error;
  }

  std::atomic<const char*> failed_{""};
  const Driver* driver_ = nullptr;
  Stream stream_ = nullptr;
  volatile std::uint32_t* flag_ = nullptr;
  SpinLock lock_;
  bool has_batches_ = false;
  KeptBack kept_back_;
  std::deque<Copy> copies_;
  std::deque<Batch> batches_;
  std::size_t unnumbered_ = 0;  ///< the last copies, behind which no write of the flag is yet
  std::uint32_t last_number_ = 0;
};

}  // namespace gex::kinds::cuda
