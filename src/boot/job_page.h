#pragma once
// The page of memory that every process of a host's part of the job maps: whether the job is being
// ended, and with what code; who tells of an error; and behind it the last call of each rank there.
//
// The end is one word, so that `ending` is one load and "the first code wins" is a
// compare-exchange. The same word, which polls read anyway, says that a rank has left. The page is
// a sealed memory file, which no process can shorten under another, where there are memory files.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/os_file.h"
#include "base/os_process.h"
#include "boot/last_call.h"

namespace gex::boot {

/// That the job ends: with what status, and by whom.
struct Ending {
  /// Stands for a rank where none ends the job.
  static constexpr std::uint32_t by_guardian = 0xffffff;

  int code = 0;
  std::uint32_t rank = by_guardian;
  /// The rank did not end the job, it died: what has started it sees that for itself.
  bool death = false;
};

class JobPage {
 public:
  /// A page that no other process sees (a job of one); never fails.
  JobPage() = default;
  JobPage(const JobPage&) = delete;
  JobPage& operator=(const JobPage&) = delete;
  ~JobPage();

  /// Makes the page a shared one, for that many ranks; 0 or errno, and the cause in `why`. Called
  /// before the page is used.
  int create(os::FileDescriptor& file, std::uint32_t ranks, std::string* why = nullptr);
  /// Maps the page behind `file`, which was made for at least that many ranks, instead of the
  /// private one; 0 or errno.
  int map(int file, std::uint32_t ranks) noexcept;

  /// Ends the job so, if nobody has before. Returns what counts, its code 0..255. Lock-free and
  /// async-signal-safe. The order is relaxed: the word says all there is to say.
  Ending claim(const Ending& ending) noexcept {
    std::uint64_t seen = words_->end.load(std::memory_order_relaxed);
    const std::uint64_t mine = claimed_bit | (ending.death ? death_bit : 0) |
                               (std::uint64_t{ending.rank} << 8) |
                               static_cast<unsigned>(os::exit_status(ending.code));
    while ((seen & claimed_bit) == 0) {
      if (words_->end.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) seen = mine;
    }
    return decode(seen);
  }

  /// Some rank has left the job and others have not: who waits may wait in vain.
  void note_absence() noexcept {
    std::uint64_t none = 0;
    words_->end.compare_exchange_strong(none, absence_bit, std::memory_order_relaxed);
  }

  /// The word itself, which is not 0 once the job is being ended or a rank has left it.
  const std::atomic<std::uint64_t>& word() const noexcept { return words_->end; }

  bool ending() const noexcept {
    return (words_->end.load(std::memory_order_relaxed) & claimed_bit) != 0;
  }

  /// What counts, its code 0..255, once `ending`.
  Ending end() const noexcept { return decode(words_->end.load(std::memory_order_relaxed)); }

  /// Asks to tell of an error: true for the first who does. Same rules as `claim`.
  bool claim_error() noexcept { return words_->error.exchange(1, std::memory_order_relaxed) == 0; }

  /// Whether the one whom `claim_error` chose on this host tells of its error: in a job of several
  /// hosts that is for the root to say.
  enum class Telling : std::uint64_t { undecided, allowed, refused };
  void decide_telling(Telling telling) noexcept {
    words_->telling.store(static_cast<std::uint64_t>(telling), std::memory_order_relaxed);
  }
  Telling telling() const noexcept {
    return static_cast<Telling>(words_->telling.load(std::memory_order_relaxed));
  }

  /// The last call of a rank, by its number among those of the host; null in a page that no other
  /// process sees, or that has not so many.
  LastCall* last_call(std::uint32_t index) noexcept {
    return index < last_call_count_ ? &last_calls_[index] : nullptr;
  }
  const LastCall* last_call(std::uint32_t index) const noexcept {
    return index < last_call_count_ ? &last_calls_[index] : nullptr;
  }

 private:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free);
  static constexpr std::uint64_t claimed_bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t death_bit = std::uint64_t{1} << 62;
  static constexpr std::uint64_t absence_bit = std::uint64_t{1} << 61;

  static Ending decode(std::uint64_t word) noexcept {
    return {static_cast<int>(word & 0xff), static_cast<std::uint32_t>(word >> 8) & 0xffffff,
            (word & death_bit) != 0};
  }

  struct Words {
    Word end{0};
    Word error{0};
    Word telling{0};
  };
  Words private_words_;
  Words* words_ = &private_words_;
  LastCall* last_calls_ = nullptr;
  std::uint32_t last_call_count_ = 0;
};

}  // namespace gex::boot
