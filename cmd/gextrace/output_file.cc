#include "output_file.h"

#include <cerrno>
#include <cstring>

#include "../output.h"
#include "base/trace_format.h"

namespace gextrace {

namespace {

constexpr const char* name = "gextrace";

}  // namespace

int write_output(const std::string& path, const std::function<void(std::FILE*)>& write) {
  if (path == "-") {
    write(stdout);
    return gex::cmd::finish_output(name);
  }
  std::FILE* file = std::fopen(path.c_str(), "we");
  bool written = false;
  if (file != nullptr) {
    write(file);
    written = std::ferror(file) == 0;
    written = std::fclose(file) == 0 && written;
  }
  if (written) return 0;
  std::fprintf(stderr, "%s: cannot write %s: %s\n", name, path.c_str(), std::strerror(errno));
  return 1;
}

bool would_overwrite_a_trace(const char* option, const std::string& path) {
  char start[sizeof gex::trace::magic] = {};
  std::FILE* const file = path.empty() || path == "-" ? nullptr : std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  const bool is_trace = std::fread(start, 1, sizeof start, file) == sizeof start &&
                        std::memcmp(start, gex::trace::magic, sizeof start) == 0;
  std::fclose(file);
  if (is_trace)
    std::fprintf(stderr, "%s: %s %s: it is a trace, which is not overwritten; name another file\n",
                 name, option, path.c_str());
  return is_trace;
}

}  // namespace gextrace
