#pragma once
// The explanations of rows, as `gexperf --list` prints them.

#include <span>
#include <string>
#include <string_view>

#include "catalogue.h"

namespace gexperf {

/// Rows, by a pattern of their names as of a shell, without the end `.par`.
struct Explanation {
  const char* rows;
  std::string_view subject;     ///< the operation that is timed
  std::string_view limit = "";  ///< the operation that it is compared with, or the row of that
};

/// The explanations, the first of which that matches a row is the row's.
std::span<const Explanation> explanations();

/// The explanation of a row; each has one (judgement_test.cc).
const Explanation& explanation_of(const Row& row);

/// The explanation as one line, with the threading mode where that is the row's own.
std::string explained(const Row& row);

}  // namespace gexperf
