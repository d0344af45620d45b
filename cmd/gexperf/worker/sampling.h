#pragma once
// How something is timed: a number of repetitions that takes long enough for the clock, subject and
// limit in turn so that a drift of the machine's speed meets both.

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "job.h"

namespace gexperf {

/// Does something so many times. Every rank of the job calls it with the same number and plays its
/// own part; rank 0's time counts.
using Repeated = std::function<void(std::uint64_t repetitions)>;

/// The part of a measurement that is made.
enum class Wanted { subject_and_limit, subject, limit };

/// The request for a measurement.
struct Context {
  const Job& job;
  class MachineLimits& limits;
  unsigned rounds;
  Wanted wanted;
  std::vector<std::string_view> options;  ///< of the command line, if the measurement has any
};

/// Takes `rounds` pairs of samples and has rank 0 print each as a line: "sample", nanoseconds for
/// one repetition of the subject, and of the limit. One that was not measured is a 0: the limit
/// where it is empty, and what was not wanted. Collective.
void compare(const Context& context, const Repeated& subject, const Repeated& limit = {});
/// For a measurement that needs no MachineLimits.
void compare(const Job& job, unsigned rounds, const Repeated& subject, const Repeated& limit);

/// The candidate with the shortest time of one repetition. Collective.
std::size_t fastest_of(const Job& job, std::span<const Repeated> candidates);

/// Returns `value`, hidden from the compiler. All memory is read and written anew behind
/// it. The argument itself is not changed, so that no turn of a loop waits for the
/// one before.
template <class Value>
inline Value unknown(Value value) {
  asm volatile("" : "+r"(value) : : "memory");
  return value;
}

/// Keeps the computation of a value that is not used.
template <class Value>
inline void keep(const Value& value) {
  asm volatile("" : : "r"(value) : "memory");
}

}  // namespace gexperf
