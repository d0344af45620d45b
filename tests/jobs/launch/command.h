#pragma once
// Running a command and checking its complete outcome.
//
//   const Outcome outcome = Command({gexrun, "-n", "2", probe, "who"}).run();
//   EXPECT_EQ(outcome.status, 0);
//
// Every process of the command carries a mark in its environment, by which a test detects processes
// that were left behind, whatever their parent is then. A command that does not end in a time much
// longer than any run is killed together with them, and the outcome is marked as hung.

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace launch_test {

struct Outcome {
  int status = -1;  ///< exit status, 128 plus the signal for a death by signal
  std::string output;
  std::string error;
  bool hung = false;
  /// Processes that were still there after the command had ended, as "PID NAME", and the files of
  /// own_files.h.
  std::vector<std::string> left_behind;
};

/// Number of lines of `text` that contain `part`.
int lines_with(const std::string& text, const std::string& part);

/// The processes that carry `mark`, the zombies excepted.
std::vector<pid_t> processes_marked(const std::string& mark);

/// A command under way. Ends and reaps all of it when it goes out of scope.
class Running {
 public:
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t process() const noexcept { return process_; }
  const std::string& mark() const noexcept { return mark_; }

  /// Waits until standard output has `count` lines with `part`; false if the command ends first.
  bool wait_for(const std::string& part, int count);
  /// Waits for the end of the command itself.
  Outcome finish();
  /// Waits until none of the command's processes is left; for a command that was killed.
  bool wait_until_all_gone();
  const std::string& output() const noexcept { return outcome_.output; }

 private:
  friend class Command;
  Running() = default;
  bool read_some(int milliseconds);

  pid_t process_ = -1;
  int output_ = -1;
  int error_ = -1;
  bool reaped_ = false;
  std::string mark_;
  Outcome outcome_;
};

class Command {
 public:
  explicit Command(std::vector<std::string> words) : words_(std::move(words)) {}

  Command& variable(std::string name, std::string value) {
    variables_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  Command& input(std::string text) {
    input_ = std::move(text);
    return *this;
  }
  /// Standard output to this file instead of the outcome; "" closes it.
  Command& output_to(std::string path) {
    output_path_ = std::move(path);
    redirected_ = true;
    return *this;
  }
  /// Hard and soft limit of open files.
  Command& open_files(unsigned long limit) {
    open_files_ = limit;
    return *this;
  }

  std::unique_ptr<Running> start();
  Outcome run() { return start()->finish(); }

 private:
  std::vector<std::string> words_;
  std::vector<std::pair<std::string, std::string>> variables_;
  std::string input_;
  std::string output_path_;
  bool redirected_ = false;
  unsigned long open_files_ = 0;
};

}  // namespace launch_test
