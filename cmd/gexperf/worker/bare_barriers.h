#pragma once
// Barriers made of flags in shared memory and nothing else, by several algorithms: which of them is
// the fastest depends on the machine and on the number of ranks.

#include <atomic>
#include <cstdint>

#include "arena.h"
#include "job.h"
#include "sampling.h"
#include "spin.h"

namespace gexperf {

class BareBarriers {
 public:
  BareBarriers(const Job& job, Arena& arena);

  /// Times all algorithms, and uses the fastest from then on. Collective.
  void choose_fastest();

  /// One barrier by the chosen algorithm. Collective.
  void wait() { (this->*chosen_)(); }
  void wait(std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) wait();
  }

 private:
  /// In a line of its own.
  struct alignas(256) Flag {
    std::atomic<std::uint32_t> epoch;
  };
  static constexpr unsigned max_rounds = 10;  ///< 1024 ranks
  struct Flags {
    Flag arrived;
    Flag released;
    Flag round[max_rounds];
  };
  using Algorithm = void (BareBarriers::*)();

  static void set(Flag& flag, std::uint32_t epoch) {
    flag.epoch.store(epoch, std::memory_order_release);
  }
  static void await(const Flag& flag, std::uint32_t epoch) {
    spin_until_reached(flag.epoch, epoch);
  }

  /// Rank 0 waits for a flag of each rank; all wait for one flag of rank 0's.
  void gather();
  /// A rank waits for its children in a tree of four children each; all wait for one flag of rank
  /// 0's.
  void tree();
  /// In round k a rank sets a flag of the rank that is 2^k behind it.
  void dissemination();

  const Job& job_;
  Arena::Array<Flags> flags_;  ///< of each rank, in its segment
  std::uint32_t epoch_ = 0;    ///< goes on through all algorithms: flags only grow
  Algorithm chosen_ = &BareBarriers::gather;
};

}  // namespace gexperf
