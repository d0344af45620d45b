#pragma once
// The files that gextrace writes.

#include <cstdio>
#include <string>

namespace gextrace {

/// A file that is written, or standard output for "-".
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  /// Null if it cannot be created.
  std::FILE* stream() const noexcept { return stream_; }
  /// Closes it, and prints why it could not be written. The status to exit with.
  int finish();

 private:
  std::string path_;
  std::FILE* stream_;
  int error_ = 0;
};

/// Returns true if an output of that name would overwrite a trace; printed if so.
bool would_overwrite_a_trace(const char* option, const std::string& path);

}  // namespace gextrace
