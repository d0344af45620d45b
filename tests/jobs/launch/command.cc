#include "command.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>

#include "own_files.h"

namespace launch_test {

std::vector<std::string> (*look_for_files)() = nullptr;

std::vector<std::string> files_left_behind() {
  return look_for_files != nullptr ? look_for_files() : std::vector<std::string>();
}

namespace {

using Clock = std::chrono::steady_clock;

/// Resets signals that the tests' parent has ignored, such as SIGINT of a shell's background or
/// SIGPIPE of Python: jobs would inherit that.
[[maybe_unused]] const bool signals_are_received = [] {
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGPIPE}) signal(number, SIG_DFL);
  return true;
}();

/// Much longer than any run, even with a sanitizer on a loaded machine.
constexpr std::chrono::seconds hang_limit{100};

constexpr const char* mark_variable = "LAUNCH_TEST_MARK";

std::string read_file(const std::filesystem::path& path) {
  // Called for /proc files of every process, repeatedly: a stream's buffers would be most of the
  // cost.
  std::string text;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char part[8192];
  for (ssize_t bytes; (bytes = read(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(bytes));
  close(file);
  return text;
}

std::string new_mark() {
  static std::atomic<int> count{0};
  return std::to_string(getpid()) + "-" + std::to_string(count++);
}

void kill_marked(const std::string& mark) {
  for (;;) {
    const std::vector<pid_t> processes = processes_marked(mark);
    if (processes.empty()) return;
    for (const pid_t process : processes) kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

int lines_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(part) != line.npos) ++count;
  }
  return count;
}

std::vector<pid_t> processes_marked(const std::string& mark) {
  std::vector<pid_t> found;
  const std::string wanted = std::string(mark_variable) + "=" + mark;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    const std::string variables = read_file(entry->path() / "environ");
    for (std::size_t at = 0; at < variables.size(); at += std::strlen(&variables[at]) + 1) {
      if (&variables[at] == wanted) {
        found.push_back(static_cast<pid_t>(std::stol(name)));
        break;
      }
    }
  }
  return found;
}

std::unique_ptr<Running> Command::start() {
  std::unique_ptr<Running> running(new Running);
  running->mark_ = new_mark();
  int output[2];
  int error[2];
  if (pipe2(output, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "pipe: " << std::strerror(errno);
    return running;
  }
  // A file can hold input of any length until it is read.
  const int input = memfd_create("input", MFD_CLOEXEC);
  if (write(input, input_.data(), input_.size()) != static_cast<ssize_t>(input_.size()) ||
      lseek(input, 0, SEEK_SET) != 0) {
    ADD_FAILURE() << "input: " << std::strerror(errno);
  }
  std::vector<char*> arguments;
  for (std::string& word : words_) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  running->process_ = fork();
  if (running->process_ == 0) {
    // The job must not inherit the tests' own launcher.
    for (const char* const name :
         {"GASNET_PSHM_NODES", "GEX_JOB", "GEX_EXIT_TIMEOUT", "GEX_EXIT_GRACE", "GEX_CONDUIT",
          "GASNET_SPAWNER", "GASNET_SPAWNFN", "GASNET_SSH_NODEFILE", "GASNET_SSH_SERVERS",
          "SSH_SERVERS", "GASNET_NODEFILE", "GASNET_SSH_CMD", "SSH_CMD", "GASNET_SSH_OPTIONS",
          "SSH_OPTIONS"}) {
      unsetenv(name);
    }
    setenv(mark_variable, running->mark_.c_str(), 1);
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
    dup2(input, STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    dup2(error[1], STDERR_FILENO);
    if (redirected_) {
      close(STDOUT_FILENO);
      if (!output_path_.empty()) open(output_path_.c_str(), O_WRONLY);
    }
    if (open_files_ != 0) {
      const rlimit limit{open_files_, open_files_};
      setrlimit(RLIMIT_NOFILE, &limit);
    }
    execvp(arguments[0], arguments.data());
    _exit(125);
  }
  close(input);
  close(output[1]);
  close(error[1]);
  running->output_ = output[0];
  running->error_ = error[0];
  return running;
}

Running::~Running() {
  kill_marked(mark_);
  if (!reaped_ && process_ > 0) waitpid(process_, nullptr, 0);
  if (output_ >= 0) close(output_);
  if (error_ >= 0) close(error_);
}

/// Reads available output. Returns false once both streams have ended.
bool Running::read_some(int milliseconds) {
  pollfd streams[] = {{output_, POLLIN, 0}, {error_, POLLIN, 0}};
  if (output_ < 0 && error_ < 0) return false;
  if (poll(streams, 2, milliseconds) <= 0) return true;
  const auto take = [](const pollfd& stream, int& descriptor, std::string& text) {
    if (descriptor < 0 || stream.revents == 0) return;
    char piece[65536];
    const ssize_t got = read(descriptor, piece, sizeof piece);
    if (got > 0) {
      text.append(piece, static_cast<std::size_t>(got));
    } else if (got == 0) {
      close(std::exchange(descriptor, -1));
    }
  };
  take(streams[0], output_, outcome_.output);
  take(streams[1], error_, outcome_.error);
  return true;
}

bool Running::wait_for(const std::string& part, int count) {
  const auto limit = Clock::now() + hang_limit;
  while (lines_with(outcome_.output, part) < count) {
    if (Clock::now() > limit || !read_some(100)) return false;
  }
  return true;
}

Outcome Running::finish() {
  const auto limit = Clock::now() + hang_limit;
  int status = 0;
  // Wait for the command's end rather than that of its output, which processes left behind keep
  // open.
  while (waitpid(process_, &status, WNOHANG) == 0) {
    if (Clock::now() > limit) {
      outcome_.hung = true;
      kill_marked(mark_);
      waitpid(process_, &status, 0);
      break;
    }
    if (!read_some(5)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  reaped_ = true;
  outcome_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  for (const pid_t process : processes_marked(mark_)) {
    const std::string directory = "/proc/" + std::to_string(process);
    outcome_.left_behind.push_back(std::to_string(process) + " " + read_file(directory + "/comm"));
  }
  if (outcome_.left_behind.empty()) {
    while (read_some(1000)) {
    }
  }
  for (std::string& file : files_left_behind()) outcome_.left_behind.push_back(std::move(file));
  return outcome_;
}

bool Running::wait_until_all_gone() {
  const auto limit = Clock::now() + hang_limit;
  // The command itself has the mark only once exec is complete.
  const auto has_ended = [this] {
    siginfo_t info{};
    if (reaped_) return true;
    return waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == process_;
  };
  while (!has_ended() || !processes_marked(mark_).empty()) {
    if (Clock::now() > limit) return false;
    read_some(1);
  }
  return true;
}

}  // namespace launch_test
