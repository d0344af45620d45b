#pragma once
// How long a job would take with another number of ranks, from recordings of three or more sizes:
// every number of its phases (phases.h) is a law a * N^b * log2(N)^c that these sizes keep, or
// there is no estimate.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine.h"
#include "phases.h"

namespace gextrace {

/// A number that depends on the number of ranks.
struct Law {
  double factor = 0;
  double power = 0;
  double logarithms = 0;  ///< 0 or 1
  double misfit = 0;      ///< the largest relative error at the given sizes

  double at(double ranks) const;
};

/// The law with the smallest misfit. `sizes`: two or more, different; numbers are 0 all or none.
Law fit(std::span<const double> sizes, std::span<const double> numbers);

/// The power of the number of ranks with which computing times grow from those of the smallest
/// recording; nothing: a law of all recorded times.
using Work = std::optional<double>;
inline constexpr Work fitted_work{};
inline constexpr Work shared_work{-1.0};  ///< all ranks together compute as much as there
inline constexpr Work work_of_each{0.0};  ///< each rank does

struct Recorded {
  std::uint32_t ranks;
  std::vector<Phase> phases;
};

struct Estimate {
  double ns = 0;
  double computing_ns = 0;
  double collectives_ns = 0;
  double port_messages = 0;  ///< that a host sends
  double port_bytes = 0;
  double port_ns = 0;         ///< in which it sends
  double count_misfit = 0;    ///< of messages, bytes and rounds; the largest
  double compute_misfit = 0;  ///< of computing times that matter; the largest
};

/// `recorded`: in the order of their sizes. Nothing, and the reason in `why`, if the sizes keep no
/// common law.
std::optional<Estimate> estimate(const std::vector<Recorded>& recorded, std::uint32_t ranks,
                                 Work work, const Machine& machine, std::string& why);

}  // namespace gextrace
