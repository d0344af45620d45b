#include "net/kit/fatal.h"

#include <cstdarg>
#include <cstdio>

namespace gex::net {

namespace {

[[noreturn]] void end_with(void (*end)(const char*), const char* format, va_list arguments) {
  char text[400];
  std::vsnprintf(text, sizeof text, format, arguments);
  end(text);
  __builtin_unreachable();
}

}  // namespace

void fatal(const Host& host, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_with(host.fatal, format, arguments);
}

void lost_peer(const Host& host, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_with(host.lost_peer, format, arguments);
}

}  // namespace gex::net
