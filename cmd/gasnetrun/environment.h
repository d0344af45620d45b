#pragma once
// Environment variables. As in libgex, blanks around a value are ignored, and a value of blanks
// counts as unset.

#include <cstdlib>
#include <string>

namespace gasnetrun {

/// The value, or "".
inline std::string variable(const std::string& name) {
  constexpr const char* blanks = " \t\r\n";
  const char* const value = std::getenv(name.c_str());
  const std::string text = value != nullptr ? value : "";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// The value of the first variable that is set, or "".
inline std::string either_variable(const std::string& first, const std::string& second) {
  std::string value = variable(first);
  return value.empty() ? variable(second) : value;
}

}  // namespace gasnetrun
