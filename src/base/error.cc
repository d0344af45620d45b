#include "base/error.h"

#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "base/cancellation.h"
#include "base/os_process.h"

namespace gex {
namespace {

// Relaxed throughout: each word stands alone, and job writes it before there are other threads.
std::atomic<AbortHook> abort_hook{nullptr};
std::atomic<FirstErrorHook> first_error_hook{nullptr};
std::atomic<std::int64_t> message_rank{-1};

constexpr MessagePolicy plain_policy{.is_quiet = []() noexcept { return false; },
                                     .is_verbose = []() noexcept { return false; },
                                     .on_fatal = []() noexcept {}};
std::atomic<const MessagePolicy*> policy{&plain_policy};
const MessagePolicy& registered_policy() noexcept {
  return *policy.load(std::memory_order_relaxed);
}

/// The thread that is inside `fatal`, 0 if none: an AbortHook that fails must not start over.
std::atomic<int> ending_thread{0};

/// A message under construction, on the stack because it may be wanted in a signal handler. Below
/// PIPE_BUF, so that the kernel keeps messages of many ranks apart even in a pipe.
class Line {
 public:
  enum Origin {
    library,  ///< one line: what is no text in the values that it shows is replaced
    client  ///< a client's text: its lines stay lines, each with the rank, and nothing is replaced
  };

  explicit Line(Origin origin = library) noexcept : origin_(origin) { begin(); }

  [[gnu::format(printf, 2, 3)]] void append(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    append_list(format, arguments);
    va_end(arguments);
  }

  [[gnu::format(printf, 2, 0)]] void append_list(const char* format, va_list arguments) noexcept {
    const std::size_t from = length_;
    const std::size_t room = capacity - length_;
    const int wanted = std::vsnprintf(text_ + length_, room, format, arguments);
    if (wanted < 0) return;
    if (static_cast<std::size_t>(wanted) < room) {
      length_ += static_cast<std::size_t>(wanted);
    } else {
      length_ = capacity - 1;
      std::memcpy(text_ + length_ - 3, "...", 3);
    }
    while (length_ > from && text_[length_ - 1] == '\n') --length_;
    if (origin_ == client) return begin_lines(from);
    for (std::size_t i = from; i < length_; ++i) {
      const auto c = static_cast<unsigned char>(text_[i]);
      if (c < 0x20 || c == 0x7f) text_[i] = '?';
    }
  }

  void write() noexcept {
    text_[length_] = '\n';
    // Where standard error cannot be written, the failure cannot be reported either.
    static_cast<void>(os::write_fully(STDERR_FILENO, text_, length_ + 1));
  }

 private:
  void begin() noexcept {
    const std::int64_t rank = message_rank.load(std::memory_order_relaxed);
    const int written =
        rank < 0 ? std::snprintf(text_, capacity, "gex: ")
                 : std::snprintf(text_, capacity, "gex: rank %u: ", static_cast<unsigned>(rank));
    length_ = prefix_ = static_cast<std::size_t>(written);
  }

  /// Puts the prefix behind each line break from there on, as far as there is room.
  void begin_lines(std::size_t from) noexcept {
    for (std::size_t i = from; i < length_; ++i) {
      if (text_[i] != '\n' || length_ + prefix_ >= capacity) continue;
      std::memmove(text_ + i + 1 + prefix_, text_ + i + 1, length_ - i - 1);
      std::memcpy(text_ + i + 1, text_, prefix_);
      length_ += prefix_;
      i += prefix_;
    }
  }

  static constexpr std::size_t capacity = 2048;  // the terminating zero's place takes the newline
  char text_[capacity];
  std::size_t length_ = 0;
  std::size_t prefix_ = 0;
  Origin origin_;
  const CancellationDisabled uncancelled_;  ///< of the thread that writes it
};

bool is_first_error() noexcept {
  const FirstErrorHook hook = first_error_hook.load(std::memory_order_relaxed);
  return hook == nullptr || hook();
}

/// `reported`: the line is written, and help for debugging is given.
[[noreturn]] void end(Line& line, bool reported, int code = 1) noexcept {
  if (reported) line.write();
  const int self = os::thread_id();
  if (ending_thread.exchange(self, std::memory_order_relaxed) == self) os::exit_at_once(code);
  if (reported) registered_policy().on_fatal();
  if (const AbortHook hook = abort_hook.load(std::memory_order_relaxed)) hook(code);
  os::exit_at_once(code);
}

void write_line(const char* prefix, const char* format, va_list arguments) noexcept {
  Line line;
  line.append("%s", prefix);
  line.append_list(format, arguments);
  line.write();
}

}  // namespace

void set_abort_hook(AbortHook hook) noexcept {
  abort_hook.store(hook, std::memory_order_relaxed);
}

void set_message_policy(const MessagePolicy& wanted) noexcept {
  policy.store(&wanted, std::memory_order_relaxed);
}

void set_message_rank(std::uint32_t rank) noexcept {
  message_rank.store(rank, std::memory_order_relaxed);
}

void set_first_error_hook(FirstErrorHook hook) noexcept {
  first_error_hook.store(hook, std::memory_order_relaxed);
}

bool speaks_for_job() noexcept {
  return message_rank.load(std::memory_order_relaxed) <= 0;
}

void fatal(const char* format, ...) noexcept {
  Line line;
  va_list arguments;
  va_start(arguments, format);
  line.append_list(format, arguments);
  va_end(arguments);
  end(line, is_first_error());
}

void client_fatal(const char* place, const char* format, va_list arguments) noexcept {
  Line line(Line::client);
  line.append("%s", place);
  line.append_list(format, arguments);
  end(line, true, abort_status);
}

void warn(const char* format, ...) noexcept {
  if (registered_policy().is_quiet()) return;
  va_list arguments;
  va_start(arguments, format);
  write_line("warning: ", format, arguments);
  va_end(arguments);
}

void note(const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  write_line("", format, arguments);
  va_end(arguments);
}

void inform(const char* format, ...) noexcept {
  if (!registered_policy().is_verbose()) return;
  va_list arguments;
  va_start(arguments, format);
  write_line("", format, arguments);
  va_end(arguments);
}

void fatal_system(const char* what, int error) noexcept {
  // strerrordesc_np: constant strings, where strerror may allocate and translate.
  const char* description = ::strerrordesc_np(error);
  // The limit that a user can raise.
  const char* limit = error == EMFILE ? " (ulimit -n)" : error == ENFILE ? " (fs.file-max)" : "";
  Line line;
  if (description != nullptr) {
    line.append("%s: %s%s", what, description, limit);
  } else {
    line.append("%s: error %d", what, error);
  }
  end(line, is_first_error());
}

}  // namespace gex
