#pragma once
// Forwarding of the ranks' output, in whole lines.
//
// The guardian reads each rank's standard output and error from pipes and writes whole lines to the
// launcher's, so that lines of different ranks do not mix. A thread of its own does so, since
// writes block while the reader of the launcher's output does not read.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/os_file.h"

namespace gex::launch {

/// Splits a stream of bytes into whole lines and puts a prefix before each. A line longer than
/// `max_line` is written in pieces.
class LineBuffer {
 public:
  static constexpr std::size_t max_line = 1024 * 1024;

  explicit LineBuffer(std::string prefix = {}) : prefix_(std::move(prefix)) {}

  /// Adds `bytes` to the stream, and appends the lines that are complete to `ready`.
  void add(std::string_view bytes, std::string& ready);
  /// Appends the last line, which has no newline.
  void finish(std::string& ready);

 private:
  void emit(std::string_view text, std::string& ready);

  std::string prefix_;
  std::string kept_;
  bool at_line_start_ = true;
};

/// The relay of a host: add the sources, then call `start`. Thread rules: one thread, but queries
/// from any.
class LineRelay {
 public:
  /// `program` is the prefix of messages and must stay valid until the process ends. With `tag`,
  /// each line begins "[rank] ".
  LineRelay(const char* program, bool tag);
  LineRelay(const LineRelay&) = delete;
  LineRelay& operator=(const LineRelay&) = delete;
  ~LineRelay() { detach(); }

  enum Stream : std::uint8_t { output, error };
  void add(std::uint32_t rank, Stream stream, os::FileDescriptor pipe);

  /// Starts the thread; 0 or errno.
  int start();
  /// Joins the thread if it has finished. Otherwise detaches it; it then ends with the process.
  void detach();

  /// Readable once every source has ended and all output is written.
  int finished_event() const noexcept;
  bool finished() const noexcept;

  /// Whether some output of the ranks could not be written.
  bool lost_output() const noexcept;
  /// Whether the reader of the launcher's output has closed it; ranks that print then get SIGPIPE.
  bool reader_gone() const noexcept;

 private:
  class Work;

  bool tag_;
  /// Shared with the thread, which may outlive this object.
  std::shared_ptr<Work> work_;
  std::thread thread_;
};

}  // namespace gex::launch
