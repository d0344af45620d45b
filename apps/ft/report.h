#pragma once
// The root's output.

#include <string>
#include <vector>

#include "outcome.h"

namespace ft {

struct Run {
  const Problem& problem;
  std::size_t ranks;
  std::size_t padding;
  int iterations;
};

/// Returns true if every checksum of the run agrees with the published one.
bool is_verified(const Run& run, const Outcome& outcome);

void print_heading(const Run& run);

/// Checksums, verdict, rate and communication of one variant; with `ranks_info` a line for each
/// rank.
void print_outcome(const Run& run, const Outcome& outcome, bool ranks_info);

/// One line for each variant.
void print_comparison(const Run& run, const std::vector<Outcome>& outcomes);

/// All of it as one JSON object.
std::string to_json(const Run& run, const std::vector<Outcome>& outcomes);

}  // namespace ft
