#include "launch/agents/task_shell.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "base/os_file.h"
#include "base/os_process.h"
#include "base/os_thread.h"
#include "base/shell_word.h"
#include "launch/agents/host_start.h"
#include "launch/agents/input_feed.h"
#include "launch/event_loop.h"
#include "launch/hosts/authentication.h"
#include "launch/hosts/launch_ports.h"
#include "launch/hosts/root_place.h"
#include "launch/report.h"

namespace gex::launch {

namespace {

constexpr int failed_status = 255;

/// By the number under which the task connects.
using Streams = std::array<os::FileDescriptor, 3>;

/// How the names of the files of a gexrun's remote shells begin.
std::string start_of_name(pid_t launcher) {
  return ".gexrun-task-" + std::to_string(launcher) + "-";
}

/// Removes the file when it is destroyed.
class StartFile {
 public:
  /// Returns 0 or errno.
  int write(const std::string& folder, const std::string& content) {
    std::string path = folder + "/" + start_of_name(getppid()) + "XXXXXX";
    const os::FileDescriptor file(mkostemp(path.data(), O_CLOEXEC));  // of mode 0600
    if (!file) return errno;
    path_ = std::move(path);
    return os::write_fully(file.get(), content.data(), content.size());
  }
  StartFile() = default;
  StartFile(const StartFile&) = delete;
  StartFile& operator=(const StartFile&) = delete;
  ~StartFile() { remove(); }

  void remove() {
    if (!path_.empty()) unlink(path_.c_str());
    path_.clear();
  }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// Where the file may be: the working folder, or else the home folder.
std::array<std::string, 2> folders() {
  char* const working = get_current_dir_name();
  const char* const home = std::getenv("HOME");
  std::array<std::string, 2> found{working != nullptr ? working : "", home != nullptr ? home : ""};
  std::free(working);
  return found;
}

bool write_start(const char* program_name, const std::string& content, StartFile& file) {
  int error = EACCES;
  for (const std::string& one : folders()) {
    if (!is_plain_path(one)) continue;
    error = file.write(one, content);
    if (error == 0) return true;
    file.remove();
  }
  report(program_name,
         "cannot write a file for a task of the batch system in '%s' or the home folder: %s; --rsh "
         "ssh does without",
         folders()[0].c_str(), std::strerror(error));
  return false;
}

/// Starts the command. `ended`: its end closes the other end of this pipe.
pid_t start(const std::vector<std::string>& words, os::FileDescriptor ended) {
  const pid_t parent = getpid();
  const pid_t starter = fork();
  if (starter != 0) return starter;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(failed_status);
  const os::FileDescriptor nothing = os::open_empty_input();
  dup2(nothing.get(), STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  fcntl(ended.get(), F_SETFD, 0);
  signal(SIGPIPE, SIG_DFL);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(failed_status);
}

int exit_status_of(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void copy(int from, int to) {
  char piece[65536];
  for (;;) {
    const ssize_t got = read(from, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || os::write_fully(to, piece, static_cast<std::size_t>(got)) != 0) return;
  }
}

/// Waits until the task has connected, or the starter has failed.
bool wait_for_task(const char* program_name, const Secret& secret, os::FileDescriptor listener,
                   int ended, pid_t starter, int& status, Streams& streams) {
  EventLoop loop;
  if (loop.open() != 0) return false;
  Authentication authentication(
      program_name, static_cast<std::uint32_t>(streams.size()), loop,
      [&streams](std::uint32_t number, os::FileDescriptor socket, const LinkKeys&) {
        if (number < streams.size() && !streams[number]) streams[number] = std::move(socket);
      });
  authentication.serve(secret, std::move(listener));
  loop.add(authentication);
  bool failed = false;
  EventLoop::Watch watch;
  watch = loop.watch(ended, [&] {
    watch.reset();
    status = exit_status_of(starter);
    // One that does not wait for its task has not failed.
    failed = status != 0;
  });
  const auto connected = [&streams] {
    return std::ranges::all_of(streams, [](const auto& one) { return static_cast<bool>(one); });
  };
  while (!failed && !connected()) loop.turn();
  return connected();
}

}  // namespace

bool is_plain_path(const std::string& path) {
  return path.starts_with('/') && shell_word(path) == path;
}

int run_task_shell(const char* program_name, std::vector<std::string> words) {
  signal(SIGPIPE, SIG_IGN);  // of a task that has ended
  std::string message;
  const std::string why = read_start_message(STDIN_FILENO, message);
  const auto secret = Secret::generate();
  if (!why.empty() || !secret || words.size() < 3) {
    report(program_name, "%s", why.empty() ? "cannot draw a secret" : why.c_str());
    return reported_status;
  }
  RootPlace place{{}, *secret};
  os::FileDescriptor listener =
      listen_for_guardians(place.address, Reach::all_hosts, launch_ports());
  if (!listener) {
    report(program_name, "%s: %s", cannot_listen().c_str(), std::strerror(errno));
    return failed_status;
  }
  StartFile file;
  if (!write_start(program_name, text_of(place) + "\n" + message, file)) return reported_status;
  words.back() += "=" + file.path();
  words.insert(words.end() - 2, "--");

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed_status;
  const os::FileDescriptor ended(ends[0]);
  const pid_t starter = start(words, os::FileDescriptor(ends[1]));
  if (starter < 0) return failed_status;
  int status = -1;
  Streams streams;
  const bool connected = wait_for_task(program_name, *secret, std::move(listener), ended.get(),
                                       starter, status, streams);
  file.remove();
  if (!connected) return failed_status;
  for (const auto& one : streams) fcntl(one.get(), F_SETFL, 0);  // blocking
  std::thread output;
  if (copy_input(std::move(streams[STDIN_FILENO])) != 0 ||
      os::start_thread(output, [&] { copy(streams[STDOUT_FILENO].get(), STDOUT_FILENO); }) != 0)
    return reported_status;
  copy(streams[STDERR_FILENO].get(), STDERR_FILENO);
  output.join();
  return status >= 0 ? status : exit_status_of(starter);
}

void remove_start_files() {
  const std::string start = start_of_name(getpid());
  for (const std::string& folder : folders()) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      if (entry.path().filename().string().starts_with(start)) unlink(entry.path().c_str());
  }
}

std::string enter_task(const std::string& file, std::string& message) {
  auto content = os::read_file(file);
  if (!content) return "cannot read " + file + ": " + std::strerror(errno);
  unlink(file.c_str());
  const std::size_t line = content->find('\n');
  const auto place = root_of(std::string_view(*content).substr(0, line));
  if (!place || content->size() < line + start_prefix) return file + " is not a file of gexrun's";
  for (std::uint32_t stream = 0; stream < std::tuple_size_v<Streams>; ++stream) {
    std::string why;
    const RootConnection made = connect_to_root(place->address, place->secret, stream, why);
    if (!made) return "cannot connect to the gexrun that started the job: " + why;
    fcntl(made.socket.get(), F_SETFL, 0);  // blocking
    dup2(made.socket.get(), static_cast<int>(stream));
  }
  message = content->substr(line + 1);
  return {};
}

}  // namespace gex::launch
