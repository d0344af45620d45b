#pragma once
// The environment table with the values that are in force here.

#include <string>
#include <vector>

#include "base/env.h"

namespace gexinfo {

struct EnvironmentRow {
  const gex::env::Description* description;
  bool is_set;        ///< in the environment; else the default is in force
  std::string value;  ///< in force; "" when unset and without a default
};

std::vector<EnvironmentRow> environment();

}  // namespace gexinfo
