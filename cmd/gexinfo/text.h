#pragma once
// gexinfo's report for people, on standard output.

#include <vector>

#include "environment.h"
#include "facts.h"
#include "pairs.h"

namespace gexinfo {

void print_text(const Facts& facts);
void print_text(const PairsFacts& facts);
void print_text(const std::vector<EnvironmentRow>& rows);

/// A part of the others.
void print_rule(const std::vector<RulePlace>& rule);

}  // namespace gexinfo
