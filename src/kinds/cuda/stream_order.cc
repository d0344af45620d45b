#include "kinds/cuda/stream_order.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/cache_line.h"

namespace gex::kinds::cuda {

namespace {
constexpr std::size_t block_bytes = 4096;
constexpr std::size_t words_apart = cache_line / sizeof(std::uint32_t);
}  // namespace

StreamOrder::Word* StreamOrder::new_word(const Driver& driver) noexcept {
  if (words_left_ == 0) {
    void* memory = nullptr;
    if (driver.allocate_host(&memory, block_bytes, host_memory_portable) != success) return nullptr;
    words_ = static_cast<Word*>(memory);
    words_left_ = block_bytes / cache_line;
  }
  --words_left_;
  return new (std::exchange(words_, words_ + words_apart)) Word(0);
}

Result StreamOrder::follow(const Driver& driver, Event event, CompletionTarget happened,
                           const char*& function) noexcept {
  const std::lock_guard lock(lock_);
  auto found = std::find_if(streams_.begin(), streams_.end(),
                            [](const auto& stream) { return stream->is_idle(); });
  if (found == streams_.end()) {
    function = "cuMemHostAlloc";
    Word* const flag = new_word(driver);
    if (flag == nullptr) return error_out_of_memory;
    auto made = std::make_unique<CopyStream>();
    function = "cuStreamCreate";
    if (const Result error = made->open(driver, reinterpret_cast<std::uint32_t*>(flag)))
      return error;
    found = streams_.insert(streams_.end(), std::move(made));
    has_streams_.store(true, std::memory_order_relaxed);
  }
  const Result error = (*found)->begin_after(event, happened);
  function = (*found)->failed_function();
  return error;
}

Result StreamOrder::hold(const Driver& driver, Stream stream, std::atomic<std::uint32_t>*& gate,
                         const char*& function) noexcept {
  const std::lock_guard lock(lock_);
  const auto found = std::find_if(gates_.begin(), gates_.end(), [](const Word* one) {
    // Acquire: the stream has passed, and reads it no more.
    return one->load(std::memory_order_acquire) == gate_passed;
  });
  function = "cuMemHostAlloc";
  Word* const word = found != gates_.end() ? *found : new_word(driver);
  if (word == nullptr) return error_out_of_memory;
  if (found == gates_.end()) gates_.push_back(word);
  word->store(0, std::memory_order_relaxed);
  function = "cuStreamWaitValue32";
  if (const Result error =
          driver.wait_value(stream, address_of(word), gate_open, wait_until_at_least))
    return error;
  gate = word;
  function = "cuStreamWriteValue32";
  return driver.write_value(stream, address_of(word), gate_passed, 0);
}

Result StreamOrder::poll(Context context, bool& progressed) noexcept {
  // Relaxed: the thread that has followed an event polls behind that.
  if (!has_streams_.load(std::memory_order_relaxed) || !lock_.try_lock()) return success;
  const std::lock_guard lock(lock_, std::adopt_lock);
  for (const auto& stream : streams_)
    if (const Result error = stream->poll(context, progressed)) return error;
  return success;
}

}  // namespace gex::kinds::cuda
