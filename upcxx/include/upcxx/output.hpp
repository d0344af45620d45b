/// @file
/// Lines of output of several ranks, and variables of the environment as values. Part of
/// upcxx/upcxx.hpp.
#ifndef UPCXX_OUTPUT_HPP_
#define UPCXX_OUTPUT_HPP_

#include <iosfwd>
#include <sstream>
#include <string>

#include <upcxx/job.hpp>

namespace upcxx {
namespace experimental {

namespace detail {

class Line {
 public:
  /// In `prefix` %d stands for the rank.
  UPCXXI_EXPORT explicit Line(std::ostream& output, const char* prefix = "[%d] ");
  UPCXXI_EXPORT explicit Line(const char* prefix = "[%d] ");
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  UPCXXI_EXPORT ~Line();

  template <class T>
  Line& operator<<(const T& value) {
    text_ << value;
    return *this;
  }
  Line& operator<<(std::ostream& (*manipulator)(std::ostream&)) {
    text_ << manipulator;
    return *this;
  }

 private:
  std::ostream* output_;
  std::ostringstream text_;
};

UPCXXI_EXPORT std::int64_t size_of_environment(const char* name, const char* text,
                                               std::size_t unit);
[[noreturn]] UPCXXI_EXPORT void refuse_environment(const char* name, const char* text);

}  // namespace detail

/// Writes one line, in one piece, when the object is destroyed.
using say = detail::Line;

/// The value of a variable of the environment; otherwise T(), or `otherwise`.
template <class T>
T os_env(const std::string& name, const T& otherwise = T()) {
  const char* const text = getenv_console(name.c_str());
  if (text == nullptr || *text == 0) return otherwise;
  if constexpr (std::is_same<T, std::string>::value) {
    return text;
  } else {
    std::istringstream stream(text);
    T value;
    if (!(stream >> value)) detail::refuse_environment(name.c_str(), text);
    return value;
  }
}
/// A number of bytes, such as 4K; `unit` is that of a number without one.
inline std::int64_t os_env(const std::string& name, std::int64_t otherwise, std::size_t unit) {
  const char* const text = getenv_console(name.c_str());
  if (text == nullptr || *text == 0) return otherwise;
  return detail::size_of_environment(name.c_str(), text, unit);
}

}  // namespace experimental
}  // namespace upcxx

#endif
