#pragma once
// The report that gexperf prints: a table whose lines appear as they are measured, or JSON at the
// end.

#include <string>
#include <vector>

#include "measure.h"

namespace gexperf {

std::string table_heading();
std::string table_line(const Result& result);
/// Remarks to print below the table; empty: there are no remarks.
std::string table_remarks(const std::vector<Result>& results);

/// An array of objects.
std::string to_json(const std::vector<Result>& results);

}  // namespace gexperf
