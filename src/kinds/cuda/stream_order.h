#pragma once
// Order between streams of the client's and what libgex does: events of a device's that are
// followed, and streams that are held.
//
// Each event that is followed has a stream of its own until it has happened, since some may happen
// long after others that were followed later. A stream is held at a word of memory, its gate, which
// the stream itself marks once it has passed, so that it is used again.
//
// Thread rules: any.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/spin_lock.h"
#include "core/memory.h"
#include "kinds/cuda/copy_stream.h"
#include "kinds/cuda/driver.h"

namespace gex::kinds::cuda {

class StreamOrder {
 public:
  // Both in the device's context. Errors are the driver's, of the function that failed.
  Result follow(const Driver& driver, Event event, CompletionTarget happened,
                const char*& function) noexcept;
  Result hold(const Driver& driver, Stream stream, std::atomic<std::uint32_t>*& gate,
              const char*& function) noexcept;

  /// Completes what has happened.
  Result poll(Context context, bool& progressed) noexcept;

 private:
  using Word = std::atomic<std::uint32_t>;
  static constexpr std::uint32_t gate_passed = gate_open + 1;

  /// A new word of memory that the device and the host write and read; null: there is no more.
  Word* new_word(const Driver& driver) noexcept;

  SpinLock lock_;
  std::vector<std::unique_ptr<CopyStream>> streams_;
  std::atomic<bool> has_streams_{false};
  std::vector<Word*> gates_;
  Word* words_ = nullptr;  ///< of the last block, those that are left
  std::size_t words_left_ = 0;
};

}  // namespace gex::kinds::cuda
