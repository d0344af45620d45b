#pragma once
// The environment table with the values that are in force here.

#include <string>
#include <vector>

#include "base/env.h"

namespace gexinfo {

struct EnvironmentRow {
  std::string name;  ///< the description's, but for a member of a family
  const gex::env::Description* description;
  bool is_set;        ///< in the environment; else the default is in force
  std::string value;  ///< in force; "" when unset and without a default
};

/// By category, otherwise in the table's order; a family's members that are set follow it.
std::vector<EnvironmentRow> environment();

}  // namespace gexinfo
