#include "launch/agents/launch_agents.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/os_host.h"
#include "base/shell_word.h"
#include "launch/agents/host_part_run.h"
#include "launch/agents/host_start.h"
#include "launch/agents/input_feed.h"
#include "launch/hosts/root.h"
#include "launch/launcher_signals.h"
#include "launch/report.h"
#include "launch/terminal.h"

namespace gex::launch {

namespace {

/// Seconds from the loss of a host to the end of its launch agent.
constexpr double kill_agent_after = 0.5;

/// Seconds for the last output of a host whose launch agent has failed.
constexpr double output_drain_limit = 1;

/// Whether the name is this host's, where gexrun is started without the remote shell.
bool is_here(const std::string& name) {
  const std::string own = os::hostname();
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

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "gexrun";
}

int run_root(const Launch& launch, const RemoteStart& remote) {
  take_over_signals();
  LaunchAgents agents(launch, remote);
  return Root(launch, agents).run();
}

LaunchAgents::LaunchAgents(const Launch& launch, const RemoteStart& remote)
    : launch_(launch),
      remote_(remote),
      agents_(launch.hosts.size()),
      // The hosts' guardians tag the lines.
      relay_(launch.program_name, /*tag=*/false, launch.terminals) {
  getrlimit(RLIMIT_NOFILE, &descriptors_before_);
}

Reach LaunchAgents::reach() const {
  const auto host_is_here = [](const job::HostPart& part) { return is_here(part.name); };
  const bool all = std::all_of(launch_.hosts.begin(), launch_.hosts.end(), host_is_here);
  return all ? Reach::this_host : Reach::all_hosts;
}

std::vector<std::string> LaunchAgents::command_for(std::uint32_t host) const {
  const std::string& name = launch_.hosts[host].name;
  if (is_here(name)) return {own_path(), host_part_argument};
  std::vector<std::string> words = remote_.rsh;
  // The remote shell splits the command into words.
  words.insert(words.end(), {name, shell_word(remote_.gexrun), host_part_argument});
  return words;
}

std::optional<std::string> LaunchAgents::start(const RootHosts& hosts, HostEvents& events,
                                               const RootPlace& root) {
  hosts_ = &hosts;
  events_ = &events;
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    if (start_one(host, root)) continue;
    const int error = errno;
    return "cannot start the job's part on host " + launch_.hosts[host].name + ": " +
           std::strerror(error);
  }
  if (const int error = relay_.start(); error != 0) {
    return std::string("cannot start the thread that passes on output: ") + std::strerror(error);
  }
  return std::nullopt;
}

bool LaunchAgents::start_one(std::uint32_t host, const RootPlace& root) {
  HostStart begin;
  begin.launch = launch_;
  begin.launch.host = host;
  begin.root = root.address;
  begin.secret = root.secret;
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
  const pid_t parent = getpid();
  const pid_t agent = fork();
  if (agent < 0) return false;
  if (agent == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    execute(host, input.get(), output_end.get(), error_end.get());
  }
  agents_[host].process = agent;
  if (launch_.verbose) {
    std::string line;
    for (const std::string& word : command_for(host)) line += ' ' + word;
    report(launch_.program_name, "host %s:%s", launch_.hosts[host].name.c_str(), line.c_str());
  }
  return true;
}

void LaunchAgents::execute(std::uint32_t host, int input, int output, int error) {
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

void LaunchAgents::kill(std::uint32_t host) {
  const Agent& agent = agents_[host];
  if (agent.process == 0 || agent.exited) return;
  // The agent may not have made its process group yet.
  if (::kill(-agent.process, SIGKILL) != 0) ::kill(agent.process, SIGKILL);
}

void LaunchAgents::handle_exit(pid_t process, int status) {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    if (agents_[host].process == process) handle_exit_of(host, status);
  }
}

void LaunchAgents::handle_exit_of(std::uint32_t host, int status) {
  Agent& self = agents_[host];
  self.exited = true;
  if ((*hosts_)[host].done) return;
  const std::string how = WIFEXITED(status)
                              ? "ended with status " + std::to_string(WEXITSTATUS(status))
                              : "was killed by " + describe_signal(WTERMSIG(status));
  self.exit = "'" + command_for(host).front() + "' " + how;
  if (!(*hosts_)[host].connected) {
    const bool reported = WIFEXITED(status) && WEXITSTATUS(status) == reported_status;
    events_->lose_host(host, reported ? "" : self.exit + " before the job had begun there");
  } else if (status != 0) {
    // The host's further output is lost, unless the host has just finished.
    self.lost_at = after(output_drain_limit);
  }
}

void LaunchAgents::retire(std::uint32_t host, bool finished) {
  agents_[host].lost_at.reset();
  if (!finished) agents_[host].kill_at = after(kill_agent_after);
}

Deadline LaunchAgents::next_deadline() const {
  Deadline next;
  for (const Agent& agent : agents_) next = earlier(next, earlier(agent.kill_at, agent.lost_at));
  return next;
}

void LaunchAgents::meet_deadlines() {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    Agent& self = agents_[host];
    if (met(self.kill_at)) kill(host);
    if (met(self.lost_at)) events_->lose_host(host, self.exit + ", through which its output came");
  }
}

}  // namespace gex::launch
