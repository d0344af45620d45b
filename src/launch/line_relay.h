#pragma once
// Forwarding of the ranks' output, in whole lines.
//
// The guardian reads each rank's standard output and error from pipes or pseudo-terminals and
// writes whole lines to the launcher's, so that lines of different ranks do not mix. A thread of
// its own does so, since writes block while the reader of the launcher's output does not read.
//
// Where a user watches, on a terminal, the beginning of a line is written as well once nothing has
// completed it for a moment: prompts, and progress bars, which end in a carriage return. Output of
// another rank then begins on a line of its own. A file or a pipe gets each line whole, however
// long it takes; but with a single source there is nothing to mix, and all bytes are written at
// once.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/deadline.h"
#include "base/os_file.h"
#include "launch/terminal.h"

namespace gex::launch {

/// Splits a stream of bytes into whole lines and puts a prefix before each. A line longer than
/// `max_line` is written in pieces.
class LineBuffer {
 public:
  static constexpr std::size_t max_line = 1024 * 1024;

  /// On a terminal text after a carriage return begins with the prefix too, since it overwrites it.
  explicit LineBuffer(std::string prefix = {}, bool on_terminal = false)
      : prefix_(std::move(prefix)), ends_(on_terminal ? "\r\n" : "\n") {}

  /// Adds `bytes` to the stream, and appends the lines that are complete to `ready`.
  void add(std::string_view bytes, std::string& ready);
  /// Appends what there is of a line that has no newline yet.
  void flush(std::string& ready);
  /// Returns true if there is any.
  bool has_partial_line() const noexcept { return !kept_.empty(); }
  /// Marks that other output has followed the flushed part of a line: the rest begins a line.
  void interrupt() noexcept { at_line_start_ = true; }

 private:
  void emit(std::string_view text, std::string& ready);

  std::string prefix_;
  std::string_view ends_;
  std::string kept_;
  bool at_line_start_ = true;
  bool after_return_ = false;
};

/// The relay of a host: add the sources, then call `start`. Thread rules: one thread, but queries
/// from any.
class LineRelay {
 public:
  /// How long the beginning of a line may wait for the rest before a terminal's user sees it.
  static constexpr double partial_line_seconds = 0.1;

  /// `program` is the prefix of messages and must stay valid until the process ends. With `tag`,
  /// each line begins "[rank] ".
  LineRelay(const char* program, bool tag, const OutputTerminals& terminals);
  LineRelay(const LineRelay&) = delete;
  LineRelay& operator=(const LineRelay&) = delete;
  ~LineRelay() { detach(); }

  enum Stream : std::uint8_t { output, error };
  /// `source` is a pipe, or the reading side of a pseudo-terminal.
  void add(std::uint32_t rank, Stream stream, os::FileDescriptor source);

  /// Starts the thread; 0 or errno.
  int start();
  /// Joins the thread if it has finished. Otherwise detaches it; it then ends with the process.
  void detach();

  /// Readable once every source has ended and all output is written.
  int finished_event() const noexcept;
  bool finished() const noexcept;

  /// Waits until every source has ended and all output is written, at most so long.
  void wait_finished(double seconds) const noexcept;

  /// Returns true if some output of the ranks could not be written.
  bool lost_output() const noexcept;
  /// The last line that `rank` has written on standard error, as far as it has been read.
  std::string last_error_line(std::uint32_t rank) const;
  /// Returns true if the reader of the launcher's output has closed it; ranks that print then get
  /// SIGPIPE.
  bool reader_gone() const noexcept;

 private:
  class Work;

  bool tag_;
  /// Shared with the thread, which may outlive this object.
  std::shared_ptr<Work> work_;
  std::thread thread_;
};

}  // namespace gex::launch
