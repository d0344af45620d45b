#pragma once
// What the ranks print, passed on in whole lines.
//
// The guardian reads each rank's standard output and error through pipes of its own and writes to
// the launcher's, so that no line is split by another rank's. A thread does it: whoever reads the
// launcher's output may stop reading for as long as it likes, and the guardian must not wait.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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
  /// `program` names the launcher in messages. With `tag`, each line begins "[rank] ".
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
  int finished_event() const noexcept { return finished_event_.get(); }
  bool finished() const noexcept { return finished_.load(std::memory_order_acquire); }

  /// Whether something that ranks printed could not be written.
  bool lost_output() const noexcept { return lost_.load(std::memory_order_relaxed); }
  /// Whether the reader of the launcher's output went away; ranks that print die of SIGPIPE then.
  bool reader_gone() const noexcept { return reader_gone_.load(std::memory_order_relaxed); }

 private:
  struct Source {
    std::uint32_t rank;
    Stream stream;
    os::FileDescriptor pipe;
    LineBuffer lines;
  };
  struct Destination {
    int descriptor;
    const char* name;
    bool failed = false;
    /// Source whose unfinished line stands last in the destination.
    const Source* unfinished = nullptr;
  };

  void run();
  /// Passes on what a source has; false once it has ended.
  bool pass_on(Source& source);
  void write(Source& source, std::string_view text);
  void fail(Destination& destination, int error);

  const char* program_;
  bool tag_;
  std::vector<Source> sources_;
  std::array<Destination, 2> destinations_;
  os::FileDescriptor epoll_;
  os::FileDescriptor finished_event_;
  std::size_t open_ = 0;
  std::vector<char> room_;
  std::string ready_;
  std::atomic<bool> finished_{false};
  std::atomic<bool> lost_{false};
  std::atomic<bool> reader_gone_{false};
  std::thread thread_;
};

}  // namespace gex::boot
