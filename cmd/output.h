#pragma once
// Standard output of the programs: what could not be written is an error of the program.

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace gex::cmd {

/// Flushes standard output. The status to exit with: 0, or 1 after one line on standard error that
/// gives the reason, when this or an earlier write failed.
inline int finish_output(const char* program) noexcept {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  std::fprintf(stderr, "%s: cannot write standard output: %s\n", program, std::strerror(errno));
  return 1;
}

/// Prints `text` on standard output, and finishes it.
inline int print_output(const char* program, const std::string& text) noexcept {
  std::fputs(text.c_str(), stdout);
  return finish_output(program);
}

/// The text as one line: control characters, which come in with a user's value, show as '?'.
inline std::string printable(std::string_view text) {
  std::string line(text);
  for (char& one : line)
    if (std::iscntrl(static_cast<unsigned char>(one)) != 0) one = '?';
  return line;
}

}  // namespace gex::cmd
