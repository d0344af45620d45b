// The part of the root that starts launch agents: see root.h.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/shell_word.h"
#include "boot/host_part_run.h"
#include "boot/host_start.h"
#include "boot/input_feed.h"
#include "boot/process_tree.h"
#include "boot/root.h"
#include "boot/terminal.h"

namespace gex::boot {

namespace {

/// Whether the name is this host's, where gexrun is started without the remote shell.
bool is_here(const std::string& name) {
  const std::string own = host_name();
  return name == "localhost" || name == own || name == own.substr(0, own.find('.'));
}

/// Whether the variable belongs to a login on one host rather than to the job.
bool is_of_one_host(const std::string& variable) {
  const auto begins = [&variable](const char* prefix) { return variable.starts_with(prefix); };
  return begins("HOSTNAME=") || begins("SSH_") || begins("XDG_") || begins("DBUS_");
}

std::vector<std::string> environment() {
  std::vector<std::string> found;
  for (char** at = environ; *at != nullptr; ++at) {
    if (!is_of_one_host(*at)) found.emplace_back(*at);
  }
  return found;
}

std::string working_folder() {
  char* const folder = get_current_dir_name();
  std::string path = folder != nullptr ? folder : "/";
  std::free(folder);
  return path;
}

}  // namespace

Reach Root::reach() const {
  const auto host_is_here = [](const HostPart& part) { return is_here(part.name); };
  const bool all = std::all_of(launch_.hosts.begin(), launch_.hosts.end(), host_is_here);
  return all ? Reach::this_host : Reach::all_hosts;
}

std::vector<std::string> Root::command_for(std::uint32_t host) const {
  const std::string& name = launch_.hosts[host].name;
  if (is_here(name)) return {own_path(), host_part_argument};
  std::vector<std::string> words = remote_->rsh;
  // The remote shell splits the command into words.
  words.insert(words.end(), {name, shell_word(remote_->gexrun), host_part_argument});
  return words;
}

bool Root::start(std::uint32_t host) {
  HostStart begin;
  begin.launch = launch_;
  begin.launch.host = host;
  begin.root = address_;
  begin.secret = secret_;
  begin.directory = working_folder();
  begin.environment = environment();
  std::string bytes = pack(begin);

  int output[2];
  int error[2];
  if (pipe2(output, O_CLOEXEC) != 0) return false;
  os::FileDescriptor output_end(output[1]);
  relay_.add(host, LineRelay::output, os::FileDescriptor(output[0]));
  if (pipe2(error, O_CLOEXEC) != 0) return false;
  os::FileDescriptor error_end(error[1]);
  relay_.add(host, LineRelay::error, os::FileDescriptor(error[0]));

  os::FileDescriptor input;
  if (host == launch_.hosts.host_of(0)) {
    // Rank 0's host also gets this process's standard input.
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    input.reset(ends[0]);
    errno = feed(os::FileDescriptor(ends[1]), std::move(bytes));
    if (errno != 0) return false;
  } else {
    input = input_of(bytes);
    if (!input) return false;
  }
  const pid_t root = getpid();
  const pid_t agent = fork();
  if (agent < 0) return false;
  if (agent == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != root) _exit(1);
    exec_agent(host, input.get(), output_end.get(), error_end.get());
  }
  hosts_[host].agent = agent;
  if (launch_.verbose) {
    std::string line;
    for (const std::string& word : command_for(host)) line += ' ' + word;
    report(launch_.program_name, "host %s:%s", launch_.hosts[host].name.c_str(), line.c_str());
  }
  return true;
}

void Root::exec_agent(std::uint32_t host, int input, int output, int error) {
  // The root forwards interrupts of the terminal.
  leave_terminal();
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  std::vector<std::string> words = command_for(host);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setrlimit(RLIMIT_NOFILE, &descriptors_before_);
  execvp(arguments[0], arguments.data());
  const int failure = errno;
  report(launch_.program_name, "cannot execute '%s' to reach host %s: %s", arguments[0],
         launch_.hosts[host].name.c_str(), std::strerror(failure));
  _exit(reported_status);
}

}  // namespace gex::boot
