#pragma once
// The page of memory that all processes of the job on a host share: whether the job is ending, and
// with what code; which rank may report an error; and after it the last call of each rank.
//
// The end is one word, so that `ending` is one load and "the first code wins" is a
// compare-exchange. Other bits of that word, which polls read anyway, are set once a rank has left,
// and while the guardian wants to see polls.
// The page is a sealed memory file, which no process can truncate, if the kernel has memory files.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/os_file.h"
#include "base/os_process.h"
#include "job/last_call.h"

namespace gex::job {

/// The end of the job: its status and its cause.
struct Ending {
  /// The value of `rank` if the job is not ended by a rank.
  static constexpr std::uint32_t by_guardian = 0xffffff;

  int code = 0;
  std::uint32_t rank = by_guardian;
  /// The rank died rather than ending the job. A foreign launcher detects that itself.
  bool death = false;
};

class JobPage {
 public:
  /// A private page, for a job of one rank; never fails.
  JobPage() = default;
  JobPage(const JobPage&) = delete;
  JobPage& operator=(const JobPage&) = delete;
  ~JobPage();

  /// Creates a shared page for that many ranks. Returns 0 or errno, with the reason in `why`.
  /// Called before the page is used.
  int create(os::FileDescriptor& file, std::uint32_t ranks, std::string* why = nullptr);
  /// Maps the page behind `file`, created for at least that many ranks, in place of the private
  /// one. Returns 0 or errno.
  int map(int file, std::uint32_t ranks) noexcept;

  /// Ends the job unless it is ending already. Returns the end that counts, with a code 0..255.
  /// Lock-free and async-signal-safe. Relaxed: the word publishes no other data.
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

  /// Some rank has left the job before all others: a wait may be for a rank that has left.
  void note_absence() noexcept { words_->end.fetch_or(absence_bit, std::memory_order_relaxed); }

  /// The guardian looks for polls without progress, for the `number`-th time, below 2^16; 0: no
  /// longer. Every poll of the host's ranks is a call meanwhile (observe/looked_at.h).
  void show_look(std::uint32_t number) noexcept {
    std::uint64_t seen = words_->end.load(std::memory_order_relaxed);
    std::uint64_t wanted = 0;
    do {
      wanted = (seen & ~look_bits) | (std::uint64_t{number} << look_shift & look_bits);
    } while (!words_->end.compare_exchange_weak(seen, wanted, std::memory_order_relaxed));
  }
  /// Returns the number of the look in the word, or 0; and whether another bit is set.
  static std::uint32_t look_in(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>((word & look_bits) >> look_shift);
  }
  static bool is_about_an_end(std::uint64_t word) noexcept { return (word & ~look_bits) != 0; }

  /// The word itself, which is not 0 once the job is ending or a rank has left it, and while the
  /// guardian looks.
  const std::atomic<std::uint64_t>& word() const noexcept { return words_->end; }

  bool ending() const noexcept {
    return (words_->end.load(std::memory_order_relaxed) & claimed_bit) != 0;
  }

  /// The end that counts, with a code 0..255. Requires `ending`.
  Ending end() const noexcept { return decode(words_->end.load(std::memory_order_relaxed)); }

  /// Returns true if the caller is the first on this host to report an error. Same rules as
  /// `claim`.
  bool claim_error() noexcept { return words_->error.exchange(1, std::memory_order_relaxed) == 0; }

  /// This decides if the rank that `claim_error` has chosen may report its error. With several
  /// hosts the root decides that.
  enum class ErrorReport : std::uint64_t { undecided, allowed, refused };
  void decide_error_report(ErrorReport error_report) noexcept {
    words_->error_report.store(static_cast<std::uint64_t>(error_report), std::memory_order_relaxed);
  }
  ErrorReport error_report() const noexcept {
    return static_cast<ErrorReport>(words_->error_report.load(std::memory_order_relaxed));
  }

  /// The last call of the host's `index`-th rank; null if the page is private or has fewer ranks.
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
  static constexpr unsigned look_shift = 32;
  static constexpr std::uint64_t look_bits = std::uint64_t{0xffff} << look_shift;

  static Ending decode(std::uint64_t word) noexcept {
    return {static_cast<int>(word & 0xff), static_cast<std::uint32_t>(word >> 8) & 0xffffff,
            (word & death_bit) != 0};
  }

  struct Words {
    Word end{0};
    Word error{0};
    Word error_report{0};
  };
  Words private_words_;
  Words* words_ = &private_words_;
  LastCall* last_calls_ = nullptr;
  std::uint32_t last_call_count_ = 0;
};

}  // namespace gex::job
