#include "units.h"

#include <cstdio>
#include <iterator>

namespace gextrace {

std::string time_text(std::int64_t ns) {
  char text[32];
  const auto value = static_cast<double>(ns);
  if (ns < 10'000)
    std::snprintf(text, sizeof text, "%.0f ns", value);
  else if (ns < 10'000'000)
    std::snprintf(text, sizeof text, "%.1f us", value * 1e-3);
  else if (ns < 10'000'000'000)
    std::snprintf(text, sizeof text, "%.1f ms", value * 1e-6);
  else
    std::snprintf(text, sizeof text, "%.2f s", value * 1e-9);
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  char text[32];
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  unsigned unit = 0;
  while (value >= 10'000 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace gextrace
