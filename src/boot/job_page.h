#pragma once
// The page of memory that every process of a host's part of the job maps: whether the job is being
// ended, and with what code.
//
// It is one word, so that `ending` is one load and "the first code wins" is one compare-exchange.
// The page is a sealed memory file: no process can shorten it under another.

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/os_file.h"

namespace gex::boot {

class JobPage {
 public:
  /// Who ended the job, where it was not a rank.
  static constexpr std::uint32_t by_guardian = 0xffffff;

  /// A page that no other process sees (a job of one); never fails.
  JobPage() = default;
  JobPage(const JobPage&) = delete;
  JobPage& operator=(const JobPage&) = delete;
  ~JobPage();

  /// Makes the page a shared one; 0 or errno. Called before the page is used.
  int create(os::FileDescriptor& file) noexcept;
  /// Maps the page behind `file` instead of the private one; 0 or errno.
  int map(int file) noexcept;

  /// Ends the job with `code`, if nobody has before. Returns the code that counts. Lock-free and
  /// async-signal-safe. The order is relaxed: the word says all there is to say.
  int claim(int code, std::uint32_t rank) noexcept {
    std::uint64_t seen = 0;
    const std::uint64_t mine = claimed_bit | (std::uint64_t{rank} << 8) | (code & 0xff);
    if (word_->compare_exchange_strong(seen, mine, std::memory_order_relaxed)) seen = mine;
    return static_cast<int>(seen & 0xff);
  }

  /// The word itself, which is not 0 once the job is being ended.
  const std::atomic<std::uint64_t>& word() const noexcept { return *word_; }

  bool ending() const noexcept { return word_->load(std::memory_order_relaxed) != 0; }

  /// The code that won, 0..255.
  int code() const noexcept {
    return static_cast<int>(word_->load(std::memory_order_relaxed) & 0xff);
  }

  /// The rank whose code won, or `by_guardian`.
  std::uint32_t winner() const noexcept {
    return static_cast<std::uint32_t>(word_->load(std::memory_order_relaxed) >> 8) & 0xffffff;
  }

 private:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free);
  static constexpr std::uint64_t claimed_bit = std::uint64_t{1} << 63;

  Word private_word_{0};
  Word* word_ = &private_word_;
};

}  // namespace gex::boot
