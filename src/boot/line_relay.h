#pragma once
// What the ranks print, passed on in whole lines.
//
// The guardian reads each rank's standard output and error through pipes of its own and writes to
// the launcher's, so that no line is split by another rank's. A thread does it: whoever reads the
// launcher's output may stop reading for as long as it likes, and the guardian must not wait.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/os_file.h"

namespace gex::boot {

/// Cuts one stream of bytes into what may be written: whole lines, each begun with a prefix. A
/// line longer than `longest` is given out in pieces rather than kept.
class LineBuffer {
 public:
  static constexpr std::size_t longest = 1024 * 1024;

  explicit LineBuffer(std::string prefix = {}) : prefix_(std::move(prefix)) {}

  /// Takes `bytes` and appends to `ready` what may be written now.
  void add(std::string_view bytes, std::string& ready);
  /// Appends what is left, a line without an end.
  void finish(std::string& ready);

 private:
  void give(std::string_view text, std::string& ready);

  std::string prefix_;
  std::string kept_;
  bool at_line_start_ = true;
};

/// The relay of a host: sources are added, then `start`ed. Thread rules: one thread, but for the
/// queries, which are for any.
class LineRelay {
 public:
  /// `program` names the launcher in messages, to the end of the process. With `tag`, each line
  /// begins "[rank] ".
  LineRelay(const char* program, bool tag);
  LineRelay(const LineRelay&) = delete;
  LineRelay& operator=(const LineRelay&) = delete;
  ~LineRelay() { let_go(); }

  enum Stream : std::uint8_t { output, error };
  void add(std::uint32_t rank, Stream stream, os::FileDescriptor pipe);

  /// Starts the thread; 0 or errno.
  int start();
  /// Done with it: a thread that has not finished is left to end with the process.
  void let_go();

  /// Readable once every source has ended and all is written.
  int finished_event() const noexcept;
  bool finished() const noexcept;

  /// Whether something that ranks printed could not be written.
  bool lost_output() const noexcept;
  /// Whether the reader of the launcher's output went away; ranks that print die of SIGPIPE then.
  bool reader_gone() const noexcept;

 private:
  class Work;

  bool tag_;
  /// The thread has a share in it, and may outlive this object.
  std::shared_ptr<Work> work_;
  std::thread thread_;
};

}  // namespace gex::boot
