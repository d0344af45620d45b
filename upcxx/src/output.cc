#include <upcxx/output.hpp>

#include <cstdio>
#include <iostream>

#include "process.h"

namespace upcxx::experimental {

namespace detail {

Line::Line(std::ostream& output, const char* prefix) : output_(&output) {
  for (const char* at = prefix; *at != 0; ++at) {
    if (at[0] == '%' && at[1] == 'd') {
      text_ << rank_me();
      ++at;
    } else {
      text_ << *at;
    }
  }
}

Line::Line(const char* prefix) : Line(std::cout, prefix) {
}

Line::~Line() {
  text_ << '\n';
  const std::string line = text_.str();
  output_->write(line.data(), std::streamsize(line.size()));
  output_->flush();
}

void refuse_environment(const char* name, const char* text) {
  const std::string message = std::string(name) + "=" + text + " is no value of the type asked for";
  fatal_error(message.c_str(), "upcxx::os_env");
}

std::int64_t size_of_environment(const char* name, const char* text, std::size_t unit) {
  double bytes = 0;
  if (!upcxx::detail::parse_size(text, double(unit), &bytes)) {
    const std::string message =
        std::string(name) + "=" + text + " is no size; write a number with K, M, G or T";
    fatal_error(message.c_str(), "upcxx::os_env");
  }
  return std::int64_t(bytes);
}

}  // namespace detail
}  // namespace upcxx::experimental
