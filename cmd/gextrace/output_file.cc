#include "output_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "../output.h"
#include "base/trace_format.h"

namespace gextrace {

namespace {

constexpr const char* name = "gextrace";

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)), stream_(path_ == "-" ? stdout : std::fopen(path_.c_str(), "we")) {
  if (stream_ == nullptr) error_ = errno;
}

OutputFile::~OutputFile() {
  if (stream_ != nullptr && stream_ != stdout) std::fclose(stream_);
}

int OutputFile::finish() {
  if (stream_ == stdout) return gex::cmd::finish_output(name);
  if (stream_ != nullptr) {
    const bool written = std::ferror(stream_) == 0;
    const bool closed = std::fclose(std::exchange(stream_, nullptr)) == 0;
    if (written && closed) return 0;
    error_ = errno;
  }
  std::fprintf(stderr, "%s: cannot write %s: %s\n", name, path_.c_str(), std::strerror(error_));
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
