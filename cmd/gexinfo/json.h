#pragma once
// gexinfo's report for programs: one JSON value on standard output. README.md names the keys.

#include <vector>

#include "environment.h"
#include "facts.h"
#include "pairs.h"

namespace gexinfo {

void print_json(const Facts& facts);
void print_json(const PairsFacts& facts);
void print_json(const std::vector<EnvironmentRow>& rows);

}  // namespace gexinfo
