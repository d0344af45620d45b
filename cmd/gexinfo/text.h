#pragma once
// gexinfo's report for people, on standard output.

#include <vector>

#include "environment.h"
#include "facts.h"

namespace gexinfo {

void print_text(const Facts& facts);
void print_text(const std::vector<EnvironmentRow>& rows);

}  // namespace gexinfo
