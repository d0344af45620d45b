#include "machine_limits.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <numeric>

#include "spin.h"

namespace gexperf {

namespace {

void wait_for(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load(std::memory_order_acquire) != value) {
  }
}

void wait_yielding(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load(std::memory_order_acquire) != value) sched_yield();
}

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  while (word.load(std::memory_order_acquire) == value)
    syscall(SYS_futex, &word, FUTEX_WAIT, value, nullptr, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

void fill(std::uint64_t* words, std::uint64_t seed) {
  std::iota(words, words + large_bytes / sizeof *words, seed);
}

std::uint64_t sum(const std::uint64_t* words) {
  return std::accumulate(words, words + large_bytes / sizeof *words, std::uint64_t{0});
}

MachineLimits::MachineLimits(const Job& job)
    : job_(job), board_(*reinterpret_cast<Board*>(job.segment_here(0))) {
  if (job.size() > std::size(board_.processor))
    job.fail("no measurement has more than " + std::to_string(std::size(board_.processor)) +
             " ranks");
  board_.processor[job.rank()].word.store(static_cast<std::uint32_t>(sched_getcpu()) + 1);
  job.barrier();
  for (gex_Rank_t rank = 0; rank < job.size(); ++rank)
    for (gex_Rank_t other = 0; other < rank; ++other)
      if (board_.processor[rank].word.load() == board_.processor[other].word.load())
        shares_processors = true;
}

template <class Write, class Read>
void MachineLimits::round_trips(std::uint64_t repetitions, Write write, Read read) {
  if (job_.rank() > 1) return;
  const bool first = job_.rank() == 0;
  Line& mine = first ? board_.there : board_.back;
  Line& theirs = first ? board_.back : board_.there;
  for (std::uint64_t i = 0; i < repetitions; ++i) {
    ++trips_;
    if (!first) {
      wait_for(theirs.word, trips_);
      read(theirs, i);
    }
    write(mine, i);
    mine.word.store(trips_, std::memory_order_release);
    if (first) {
      wait_for(theirs.word, trips_);
      read(theirs, i);
    }
  }
}

void MachineLimits::bounce(std::uint64_t repetitions) {
  const auto nothing = [](const Line&, std::uint64_t) {};
  round_trips(repetitions, nothing, nothing);
}

void MachineLimits::bounce_two_lines(std::uint64_t repetitions) {
  round_trips(
      repetitions,
      [](Line& line, std::uint64_t seed) { std::iota(line.payload, line.payload + 8, seed); },
      [](const Line& line, std::uint64_t) {
        keep(std::accumulate(line.payload, line.payload + 8, std::uint64_t{0}));
      });
}

void MachineLimits::write_and_read(std::uint64_t repetitions) {
  const bool writer = job_.rank() == 0;
  const auto large = [this](std::uint64_t i) { return board_.large[i % large_count]; };
  round_trips(
      repetitions,
      [&](const Line&, std::uint64_t i) {
        if (writer) fill(large(i), i);
      },
      [&](const Line&, std::uint64_t i) {
        if (!writer) keep(sum(large(i)));
      });
}

void MachineLimits::bounce_word(std::uint64_t repetitions) {
  if (job_.rank() > 1) return;
  auto& word = board_.word.word;
  for (std::uint64_t i = 0; i < repetitions; ++i, turns_ += 2) {
    if (job_.rank() == 1) wait_for(word, turns_ + 1);
    word.store(turns_ + 1 + job_.rank(), std::memory_order_release);
    if (job_.rank() == 0) wait_for(word, turns_ + 2);
  }
}

void MachineLimits::exchange(std::uint64_t repetitions) {
  if (job_.rank() > 1) return;
  auto& mine = (job_.rank() == 0 ? board_.there : board_.back).word;
  const auto& theirs = (job_.rank() == 0 ? board_.back : board_.there).word;
  for (std::uint64_t i = 0; i < repetitions; ++i) {
    mine.store(++trips_, std::memory_order_release);
    // The other may be one ahead, and no further.
    while (static_cast<std::int32_t>(theirs.load(std::memory_order_acquire) - trips_) < 0) {
    }
  }
}

void MachineLimits::yield(std::uint64_t repetitions) {
  gex_Rank_t partner = 1;
  while (partner < job_.size() &&
         board_.processor[partner].word.load() != board_.processor[0].word.load())
    ++partner;
  if (partner == job_.size()) job_.fail("no rank shares the processor of rank 0");

  // Read before the barrier, behind which rank 0 may change it.
  const std::uint32_t asleep = board_.asleep.word.load(std::memory_order_acquire);
  job_.barrier();
  auto& word = board_.handover.word;
  const std::uint64_t turns = (repetitions + 1) / 2;
  if (job_.rank() == 0) {
    for (std::uint64_t i = 0; i < turns; ++i, handed_over_ += 2) {
      word.store(handed_over_ + 1, std::memory_order_release);
      wait_yielding(word, handed_over_ + 2);
    }
    wake_all(board_.asleep.word);
  } else if (job_.rank() == partner) {
    for (std::uint64_t i = 0; i < turns; ++i, handed_over_ += 2) {
      wait_yielding(word, handed_over_ + 1);
      word.store(handed_over_ + 2, std::memory_order_release);
    }
  } else {
    sleep_while(board_.asleep.word, asleep);
  }
}

}  // namespace gexperf
