#include "net/ofi/fatal.h"

#include <cstdarg>
#include <cstdio>

namespace gex::net::ofi {

void fatal(const Host& host, const char* format, ...) {
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  host.fatal(text);
  __builtin_unreachable();
}

}  // namespace gex::net::ofi
