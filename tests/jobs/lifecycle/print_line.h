#pragma once
// Printing beside other ranks.

#include <cstdarg>
#include <cstdio>

/// One whole line, whichever other process writes.
[[gnu::format(printf, 1, 2)]] inline void print(const char* format, ...) {
  char line[256];
  std::va_list values;
  va_start(values, format);
  const int length = std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  std::fwrite(line, 1, static_cast<std::size_t>(length), stdout);
  std::fflush(stdout);
}
