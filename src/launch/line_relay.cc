#include "launch/line_relay.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "base/os_thread.h"
#include "launch/report.h"

namespace gex::launch {

void LineBuffer::emit(std::string_view text, std::string& ready) {
  while (!text.empty()) {
    if (at_line_start_ || (after_return_ && text.front() != '\n')) ready += prefix_;
    const std::size_t end = text.find_first_of(ends_);
    const std::size_t length = end == text.npos ? text.size() : end + 1;
    ready += text.substr(0, length);
    at_line_start_ = end != text.npos && text[end] == '\n';
    after_return_ = end != text.npos && text[end] == '\r';
    text.remove_prefix(length);
  }
}

void LineBuffer::add(std::string_view bytes, std::string& ready) {
  const std::size_t newline = bytes.rfind('\n');
  if (newline != bytes.npos) {
    emit(kept_, ready);
    kept_.clear();
    emit(bytes.substr(0, newline + 1), ready);
    bytes.remove_prefix(newline + 1);
  }
  kept_ += bytes;
  if (kept_.size() > max_line) flush(ready);
}

void LineBuffer::flush(std::string& ready) {
  emit(kept_, ready);
  kept_.clear();
}

namespace {

/// The length at which a noted line is cut.
constexpr std::size_t max_noted_line = 300;

}  // namespace

/// The state of the thread.
class LineRelay::Work {
 public:
  Work(const char* program, const OutputTerminals& terminals)
      : program_(program),
        destinations_{Destination{STDOUT_FILENO, "standard output", terminals.output},
                      Destination{STDERR_FILENO, "standard error", terminals.error}},
        one_terminal_(terminals.same),
        room_(LineBuffer::max_line) {}

  void add(std::uint32_t rank, Stream stream, os::FileDescriptor pipe, std::string prefix) {
    Destination& destination = destinations_[stream];
    ++destination.sources;
    sources_.push_back(
        {rank, stream, std::move(pipe), LineBuffer(std::move(prefix), destination.terminal), {}});
  }
  /// Returns 0 or errno.
  int prepare();
  /// Forwards output until every source has ended.
  void run();

  int finished_event() const noexcept { return finished_event_.get(); }
  bool finished() const noexcept { return finished_.load(std::memory_order_acquire); }
  bool lost_output() const noexcept { return lost_.load(std::memory_order_relaxed); }
  bool reader_gone() const noexcept { return reader_gone_.load(std::memory_order_relaxed); }
  std::string last_error_line(std::uint32_t rank) {
    const std::lock_guard lock(noting_);
    const auto found = last_error_lines_.find(rank);
    return found == last_error_lines_.end() ? std::string() : found->second;
  }

 private:
  struct Source {
    std::uint32_t rank;
    Stream stream;
    os::FileDescriptor pipe;
    LineBuffer lines;
    Deadline flush_at;  ///< when the beginning of a line is written without its end
  };
  struct Destination {
    int descriptor;
    const char* name;
    bool terminal;
    std::size_t sources = 0;
    bool failed = false;
    /// The source of the unfinished line at the end of the destination, if any.
    Source* unfinished = nullptr;
    bool at_return = false;  ///< that line ends in a carriage return
  };

  void flush_partial_lines();
  /// Reads what a source has written, and notes its last line. Returns the result of `read`.
  ssize_t take(const Source& source);
  /// Forwards the available output of a source. Returns false once the source has ended.
  bool forward(Source& source);
  void write(Source& source, std::string_view text);
  void fail(Destination& destination, int error);

  const char* program_;
  std::vector<Source> sources_;
  std::array<Destination, 2> destinations_;
  bool one_terminal_;  ///< of both destinations
  os::FileDescriptor epoll_;
  os::FileDescriptor finished_event_;
  std::size_t open_ = 0;
  Deadline flush_at_;  ///< not later than the first of the sources'
  std::vector<char> room_;
  std::string ready_;
  /// Held from the reading of errors until they are noted: who finds a pipe empty finds its line.
  std::mutex noting_;
  std::map<std::uint32_t, std::string> last_error_lines_;  ///< by rank
  std::atomic<bool> finished_{false};
  std::atomic<bool> lost_{false};
  std::atomic<bool> reader_gone_{false};
};

int LineRelay::Work::prepare() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  finished_event_.reset(eventfd(0, EFD_CLOEXEC));
  if (!epoll_ || !finished_event_) return errno;
  for (Source& source : sources_) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &source;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, source.pipe.get(), &event) != 0) return errno;
    ++open_;
  }
  return 0;
}

void LineRelay::Work::run() {
  std::array<epoll_event, 64> events;
  while (open_ > 0) {
    const int count =
        epoll_wait(epoll_.get(), events.data(), events.size(), milliseconds_until(flush_at_));
    for (int i = 0; i < count; ++i) {
      Source& source = *static_cast<Source*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (!source.pipe) continue;  // `fail` has closed it after its event occurred
      if (!forward(source)) {
        source.pipe.reset();
        --open_;
      }
    }
    if (met(flush_at_)) flush_partial_lines();
  }
  finished_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  while (::write(finished_event_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void LineRelay::Work::flush_partial_lines() {
  flush_at_.reset();
  for (Source& source : sources_) {
    if (met(source.flush_at)) {
      ready_.clear();
      source.lines.flush(ready_);
      if (!ready_.empty()) write(source, ready_);
    }
    flush_at_ = earlier(flush_at_, source.flush_at);
  }
}

ssize_t LineRelay::Work::take(const Source& source) {
  if (source.stream == output) return read(source.pipe.get(), room_.data(), room_.size());
  const std::lock_guard lock(noting_);
  const ssize_t got = read(source.pipe.get(), room_.data(), room_.size());
  if (got <= 0) return got;
  std::string_view text(room_.data(), static_cast<std::size_t>(got));
  const std::size_t end = text.find_last_not_of("\r\n");
  if (end == text.npos) return got;
  text = text.substr(0, end + 1);
  const std::size_t begin = text.find_last_of("\r\n");
  text.remove_prefix(begin == text.npos ? 0 : begin + 1);
  last_error_lines_[source.rank] = text.substr(0, max_noted_line);
  return got;
}

bool LineRelay::Work::forward(Source& source) {
  const ssize_t got = take(source);
  if (got < 0 && errno == EINTR) return true;
  ready_.clear();
  if (got > 0) source.lines.add({room_.data(), static_cast<std::size_t>(got)}, ready_);
  const Destination& destination = destinations_[source.stream];
  // A pseudo-terminal ends with EIO.
  if (got <= 0 || destination.sources == 1) source.lines.flush(ready_);
  if (!source.lines.has_partial_line()) {
    source.flush_at.reset();
  } else if (destination.terminal && !(source.flush_at && ready_.empty())) {
    // Counted from the first byte of that line.
    source.flush_at = after(partial_line_seconds);
    flush_at_ = earlier(flush_at_, source.flush_at);
  }
  // `write` closes this source if the reader of its destination is gone.
  if (!ready_.empty()) write(source, ready_);
  if (!source.pipe) return true;
  return got > 0;
}

void LineRelay::Work::write(Source& source, std::string_view text) {
  Destination& destination = destinations_[source.stream];
  if (destination.failed) return;
  // True where the line goes to the terminal that has the launcher's own messages.
  const bool shared = destination.terminal && (source.stream == error || one_terminal_);
  if (shared && destination.unfinished != nullptr && !is_within_line()) {
    destination.unfinished->lines.interrupt();
    destination.unfinished = nullptr;
  }
  std::string separated;
  if (destination.unfinished != nullptr && destination.unfinished != &source) {
    // Progress bars of several ranks share a line; other text does not overwrite one.
    const bool over_bar = destination.terminal && destination.at_return &&
                          text.find('\n') == text.npos && text.back() == '\r';
    if (!over_bar) {
      separated.reserve(text.size() + 1);
      separated += '\n';
      separated += text;
      text = separated;
    }
    destination.unfinished->lines.interrupt();
  }
  destination.unfinished = text.back() == '\n' ? nullptr : &source;
  destination.at_return = text.back() == '\r';
  if (shared) set_within_line(destination.unfinished != nullptr);
  while (!text.empty()) {
    const ssize_t written = ::write(destination.descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      // Another process has made the shared open file non-blocking.
      pollfd writable{destination.descriptor, POLLOUT, 0};
      poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      fail(destination, errno);
      return;
    }
  }
}

void LineRelay::Work::fail(Destination& destination, int error) {
  destination.failed = true;
  lost_.store(true, std::memory_order_relaxed);
  if (error != EPIPE) {
    // The ranks continue, and their further output is dropped.
    report(program_, "cannot write %s: %s", destination.name, std::strerror(error));
    return;
  }
  // As in a shell's pipeline: writers end once the reader has closed the pipe.
  reader_gone_.store(true, std::memory_order_relaxed);
  const auto stream = static_cast<Stream>(&destination - destinations_.data());
  for (Source& source : sources_) {
    if (source.stream == stream && source.pipe) {
      source.pipe.reset();
      --open_;
    }
  }
}

LineRelay::LineRelay(const char* program, bool tag, const OutputTerminals& terminals)
    : tag_(tag), work_(std::make_shared<Work>(program, terminals)) {
}

void LineRelay::add(std::uint32_t rank, Stream stream, os::FileDescriptor source) {
  work_->add(rank, stream, std::move(source), tag_ ? "[" + std::to_string(rank) + "] " : "");
}

int LineRelay::start() {
  if (const int error = work_->prepare(); error != 0) return error;
  return os::start_thread(thread_, [work = work_] { work->run(); });
}

void LineRelay::detach() {
  if (!thread_.joinable()) return;
  if (finished()) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void LineRelay::wait_finished(double seconds) const noexcept {
  pollfd event{finished_event(), POLLIN, 0};
  if (thread_.joinable()) poll(&event, 1, static_cast<int>(seconds * 1000));
}

int LineRelay::finished_event() const noexcept {
  return work_->finished_event();
}
bool LineRelay::finished() const noexcept {
  return work_->finished();
}
bool LineRelay::lost_output() const noexcept {
  return work_->lost_output();
}
std::string LineRelay::last_error_line(std::uint32_t rank) const {
  return work_->last_error_line(rank);
}
bool LineRelay::reader_gone() const noexcept {
  return work_->reader_gone();
}

}  // namespace gex::launch
