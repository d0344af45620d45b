#pragma once
// The threads of a rank, each bound to a processor of its own, which make a measurement together.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

#include "job.h"

namespace gexperf {

inline constexpr unsigned max_threads = 64;

/// The processors of a list "0,2,4"; empty if it is anything else.
std::vector<unsigned> parse_processors(std::string_view text);

/// `count` threads, of which the caller is the first. Between two runs the others spin on a word of
/// their own process and make no call of libgex. The caller's thread stays bound.
class BoundThreads {
 public:
  /// Thread t runs on `processors[t]`.
  BoundThreads(const Job& job, const std::vector<unsigned>& processors);
  ~BoundThreads();
  BoundThreads(const BoundThreads&) = delete;
  BoundThreads& operator=(const BoundThreads&) = delete;

  unsigned count() const { return static_cast<unsigned>(threads_.size()) + 1; }

  /// Runs `part(thread)` on all threads at once, and returns when all have returned. Everything
  /// written before is visible to them, and everything that they wrote to the caller.
  void run(const std::function<void(unsigned thread)>& part);

 private:
  struct alignas(256) Turn {
    std::atomic<std::uint32_t> number{0};
  };

  void serve(unsigned thread);
  void bind(unsigned processor) const;

  const Job& job_;
  Turn started_;                                         ///< written by the caller
  std::vector<Turn> finished_;                           ///< of each thread, written by it
  const std::function<void(unsigned)>* part_ = nullptr;  ///< null at the last turn: end
  std::vector<std::thread> threads_;
};

}  // namespace gexperf
