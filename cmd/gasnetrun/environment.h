#pragma once
// Variables of the environment, of which an empty one counts as unset.

#include <cstdlib>
#include <string>

namespace gasnetrun {

/// The value, or "".
inline std::string variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

/// The first that is set, or "".
inline std::string either_variable(const std::string& first, const std::string& second) {
  std::string value = variable(first);
  return value.empty() ? variable(second) : value;
}

}  // namespace gasnetrun
