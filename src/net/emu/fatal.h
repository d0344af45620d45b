#pragma once
// Ends the job with one line, as printf would write it.

#include <gex/plugin/conduit.h>

#include <cstdio>

namespace gex::net::emu {

template <class... Values>
[[noreturn, gnu::cold]] void fatal(const Host& host, const char* format, Values... values) {
  char text[400];
  std::snprintf(text, sizeof text, format, values...);
  host.fatal(text);
  __builtin_unreachable();
}

}  // namespace gex::net::emu
