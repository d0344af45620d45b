#pragma once
// Times and sizes as people read them.

#include <cstdint>
#include <string>

namespace gextrace {

/// "1234 ns", "12.3 us".
std::string time_text(std::int64_t ns);
/// "1234 B", "12.3 KiB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace gextrace
