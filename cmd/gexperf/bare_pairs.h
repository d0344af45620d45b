#pragma once
// Two bare processes that wait for one another, in the three ways there are, or that only compute:
// what `gexperf busy` compares waiting with.

#include <string>
#include <vector>

namespace gexperf {

enum class BareWait {
  spin,    ///< by reading a word until it changes
  socket,  ///< in the kernel, for a datagram over the loopback
  futex,   ///< in the kernel, for a word of shared memory
};
inline constexpr BareWait bare_waits[] = {BareWait::spin, BareWait::socket, BareWait::futex};
const char* name_of(BareWait wait);

/// The nanoseconds of a round trip between two processes, on average over so many milliseconds; 0
/// with `trouble` on failure.
double bare_round_trip(BareWait wait, double milliseconds, std::string& trouble);

/// The median of the values, of which there must be at least one.
double median(std::vector<double> values);

/// Where the two run.
enum class Placing {
  bound,  ///< each on a processor of its own, as gexrun binds two ranks
  free,   ///< where the kernel puts them
};

/// The nanoseconds from when one of them sends until the other, which has slept for milliseconds,
/// goes on: the median. `wait`: one in the kernel.
double bare_wake_up(BareWait wait, Placing placing, double milliseconds, std::string& trouble);

/// The nanoseconds that a fixed piece of work takes each of them while both only compute: beside
/// other programs, the processor's share.
double bare_work(double milliseconds, std::string& trouble);

}  // namespace gexperf
