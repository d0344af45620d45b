#pragma once
// The limits of the machine: the measurements that libgex is compared with. None of them uses
// libgex but for the memory, which is rank 0's segment.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "job.h"
#include "sampling.h"

namespace gexperf {

inline constexpr std::size_t large_bytes = 65536;
inline constexpr std::size_t copy_bytes = 1U << 20;

/// A word in a cache line of its own, with no other in the lines that a prefetcher fetches along.
struct alignas(256) Line {
  std::atomic<std::uint32_t> word;
  /// In the line behind.
  alignas(64) std::uint64_t payload[8];
};

/// As many large payloads as are in turn: a line that was written and read just before is slower to
/// write again than one whose turn has come.
inline constexpr unsigned large_count = 8;

/// State that the ranks share, at the beginning of rank 0's segment, which starts as zeros.
struct Board {
  Line word;                                         ///< written by both
  Line there;                                        ///< written by rank 0
  Line back;                                         ///< written by rank 1
  Line handover;                                     ///< written by ranks of one processor
  Line processor[16];                                ///< of each rank, plus 1
  Line asleep;                                       ///< ranks wait on it in the kernel
  Line released;                                     ///< a rank waits for it without polling
  alignas(256) std::atomic<std::uint64_t> accepted;  ///< messages that found room
  alignas(4096) std::uint64_t large[large_count][large_bytes / sizeof(std::uint64_t)];
};

/// Bytes that every rank's segment needs: the board, and room for the largest copy.
inline constexpr std::size_t segment_bytes = sizeof(Board) + copy_bytes + 4096;

class MachineLimits {
 public:
  explicit MachineLimits(const Job& job);

  Board& board() const { return board_; }

  /// A cache line goes from rank 0 to rank 1, and one comes back: each rank writes a word that the
  /// other waits for, in turn. What a request and its reply cannot do without.
  void bounce(std::uint64_t repetitions);
  /// A bounce with 64 bytes of payload, written and read, in a second line each way.
  void bounce_two_lines(std::uint64_t repetitions);
  /// Both ranks in turn write the same word. Cheaper than `bounce`, because the line
  /// comes with the right to write it; but a message and its reply are not in one place.
  void bounce_word(std::uint64_t repetitions);
  /// Ranks 0 and 1 each write a word and wait for the other's, at the same time.
  void exchange(std::uint64_t repetitions);
  /// Rank 0 writes 64 KiB, rank 1 reads it once, and each writes a word then.
  void write_and_read(std::uint64_t repetitions);
  /// Rank 0 and a rank on the same processor in turn give the processor to the other; one
  /// repetition is one such hand-over. All others sleep.
  void yield(std::uint64_t repetitions);

 private:
  /// Words there and back; `write(line, i)` before a rank writes its word, `read(line, i)` when it
  /// has seen the other's.
  template <class Write, class Read>
  void round_trips(std::uint64_t repetitions, Write write, Read read);

  const Job& job_;
  Board& board_;
  std::uint32_t trips_ = 0;
  std::uint32_t turns_ = 0;
  std::uint32_t handed_over_ = 0;
};

/// Fills a large payload with numbers that begin with `seed`.
void fill(std::uint64_t* words, std::uint64_t seed);
/// Reads all of it.
std::uint64_t sum(const std::uint64_t* words);

}  // namespace gexperf
