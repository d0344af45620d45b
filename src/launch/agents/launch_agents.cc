#include "launch/agents/launch_agents.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/env.h"
#include "base/error.h"
#include "base/random.h"
#include "base/shell_word.h"
#include "job/limits.h"
#include "launch/agents/input_feed.h"
#include "launch/hosts/root.h"
#include "launch/launcher_signals.h"
#include "launch/map/this_host.h"
#include "launch/report.h"
#include "launch/terminal.h"

namespace gex::launch {

namespace {

/// Seconds from the loss of a host to the end of its launch agent.
constexpr double kill_agent_after = 0.5;

/// Seconds from the failure of an agent before its host has connected to the end of the job, in
/// which the other agents come to their hosts, or report why they do not.
constexpr double begin_grace = 0.2;

/// Seconds for the last output of a host whose launch agent has failed.
constexpr double output_drain_limit = 1;

/// Seconds to wait for what an agent that has failed has written, and between looks at it.
constexpr double cause_limit = 2;
constexpr double cause_interval = 0.02;

/// The exit status of an ssh that has failed itself.
constexpr int failed_ssh_status = 255;

/// The exit statuses of a shell that cannot execute a program, and that does not find it.
constexpr int cannot_execute_status = 126;
constexpr int not_found_status = 127;

/// Seconds from the start until hosts that have not joined are reported, but no more than that part
/// of the time that they have. Each further report comes after twice the time.
constexpr double first_report_after = 10;
constexpr double first_report_part = 1.0 / 12;

/// The number of hosts that such a report names.
constexpr std::uint32_t max_named = 8;

/// Seconds before an agent is started for the second time; each further pause is twice as long.
constexpr double first_pause = 0.5;

/// The value of a variable that is a number above 0.
std::uint32_t number_of(env::Variable variable) {
  const std::int64_t number = env::integer(variable);
  if (number < 1 || number > job::max_ranks) {
    fatal("%s=%lld is not a number from 1 to %u", env::describe(variable).name,
          static_cast<long long>(number), job::max_ranks);
  }
  return static_cast<std::uint32_t>(number);
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", seconds);
  return text;
}

/// Returns true if the variable belongs to a login on one host rather than to the job.
bool is_of_one_host(const std::string& variable) {
  const auto begins = [&variable](const char* prefix) { return variable.starts_with(prefix); };
  return begins("HOSTNAME=") || begins("SSH_") || begins("XDG_") || begins("DBUS_") ||
         begins("FLUX_URI=");
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

std::uint32_t fanout(const RemoteStart& remote) {
  constexpr env::Variable variable = env::Variable::launch_fanout;
  const std::int64_t number = env::integer(variable);
  if (number < 0 || number > job::max_ranks) {
    fatal("%s=%lld is not a number from 0 to %u", env::describe(variable).name,
          static_cast<long long>(number), job::max_ranks);
  }
  return remote.from_all_hosts ? static_cast<std::uint32_t>(number) : 0;
}

int run_root(const Launch& launch, const RemoteStart& remote) {
  take_over_signals();
  std::vector<std::uint32_t> here;
  std::vector<std::uint32_t> others;
  for (std::uint32_t host = 0; host < launch.hosts.size(); ++host)
    (is_this_host(launch.hosts[host].name) ? here : others).push_back(host);
  HostStart start;
  start.launch = launch;
  start.directory = working_folder();
  start.environment = environment();
  start.remote = remote;
  LaunchAgents agents(LaunchAgents::Place::root, std::move(start),
                      HostTree(launch.hosts.size(), here, others, fanout(remote)));
  return Root(launch, agents).run();
}

LaunchAgents::LaunchAgents(Place place, HostStart start, HostTree tree)
    : place_(place),
      start_(std::move(start)),
      launch_(start_.launch),
      remote_(start_.remote),
      tree_(std::move(tree)),
      max_tries_(number_of(env::Variable::rsh_tries)),
      max_connecting_(number_of(env::Variable::rsh_at_once)),
      connect_timeout_(env::seconds(env::Variable::connect_timeout)),
      agents_(launch_.hosts.size()),
      // The hosts' guardians tag the lines.
      relay_(launch_.program_name, /*tag=*/false, launch_.terminals) {
  getrlimit(RLIMIT_NOFILE, &descriptors_before_);
}

Reach LaunchAgents::reach() const {
  const auto host_is_here = [](const job::HostPart& part) { return is_this_host(part.name); };
  const bool all = std::all_of(launch_.hosts.begin(), launch_.hosts.end(), host_is_here);
  return all ? Reach::this_host : Reach::all_hosts;
}

std::vector<std::string> LaunchAgents::command_for(std::uint32_t host) const {
  const std::string& name = launch_.hosts[host].name;
  if ((place_ == Place::branch && host == launch_.host) || is_this_host(name))
    return {own_path(), host_part_argument};
  std::vector<std::string> words = remote_.rsh;
  const auto word = remote_.words.find(name);
  words.insert(words.end(), {word == remote_.words.end() ? name : word->second,
                             remote_.by_shell ? shell_word(remote_.gexrun) : remote_.gexrun,
                             host_part_argument});
  return words;
}

std::optional<std::string> LaunchAgents::start(const RootHosts& hosts, HostEvents& events,
                                               const RootPlace& root) {
  hosts_ = &hosts;
  events_ = &events;
  start_.root = root.address;
  start_.secret = root.secret;
  for (std::uint32_t host = 0; host < hosts.size(); ++host) {
    if (!in_tree(host)) continue;
    const bool starts_here = tree_.parent(host) == HostTree::here;
    if (starts_here) {
      agents_[host].state = State::waiting;
      agents_[host].unfinished = 1 + static_cast<std::uint32_t>(tree_.below(host).size());
    }
    // The root may have to take the others over.
    if ((!starts_here && place_ == Place::branch) || prepare(host)) continue;
    return "cannot make pipes for the output of host " + launch_.hosts[host].name + ": " +
           std::strerror(errno);
  }
  if (const int error = relay_.start(); error != 0) {
    return std::string("cannot start the thread that passes on output: ") + std::strerror(error);
  }
  if (place_ == Place::branch) return std::nullopt;
  waited_ = connect_timeout_ > 0
                ? std::min(first_report_after, connect_timeout_ * first_report_part)
                : first_report_after;
  still_starting_at_ = after(waited_);
  return std::nullopt;  // agents start in the first turn of the root's loop
}

/// Makes the pipes of the host's output, which outlive an agent that fails.
bool LaunchAgents::prepare(std::uint32_t host) {
  Agent& self = agents_[host];
  for (const auto stream : {LineRelay::output, LineRelay::error}) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    relay_.add(host, stream, os::FileDescriptor(ends[0]));
    (stream == LineRelay::output ? self.output : self.error).reset(ends[1]);
  }
  return true;
}

/// Starts agents that are waiting, in order, as many as may be connecting.
void LaunchAgents::start_waiting() {
  const auto now = Clock::now();
  for (std::uint32_t host = 0; host < agents_.size() && connecting_ < max_connecting_; ++host) {
    Agent& self = agents_[host];
    if (self.state != State::waiting || (self.start_at && now < *self.start_at)) continue;
    self.start_at.reset();
    if (start_one(host)) continue;
    const int error = errno;
    events_->lose_host(host,
                       std::string("cannot start the job's part there: ") + std::strerror(error));
  }
}

bool LaunchAgents::start_one(std::uint32_t host) {
  HostStart begin = start_;
  begin.launch.host = host;
  begin.below.assign(tree_.below(host).begin(), tree_.below(host).end());
  std::string bytes = pack(begin);

  Agent& self = agents_[host];
  os::FileDescriptor input;
  const std::uint32_t input_host = launch_.hosts.host_of(0);
  if (in_tree(input_host) && host == tree_.first_hop(input_host)) {
    // The way to rank 0's host also gets this process's standard input.
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    input.reset(ends[0]);
    self.input.reset(ends[1]);
    errno = send_bytes(self.input.duplicate(), std::move(bytes));
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
    execute(host, input.get(), self.output.get(), self.error.get());
  }
  self.process = agent;
  self.exited = false;
  self.state = State::connecting;
  ++self.tries;
  ++connecting_;
  if (connect_timeout_ > 0) self.connect_by = after(connect_timeout_);
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
  // A branch that is connected passes on the output of other hosts.
  if (tree_.is_branch(host) && agent.state == State::connected) return;
  kill_agent(host);
}

void LaunchAgents::kill_agent(std::uint32_t host) {
  const Agent& agent = agents_[host];
  if (agent.process == 0 || agent.exited) return;
  // The agent may not have made its process group yet.
  if (::kill(-agent.process, SIGKILL) != 0) ::kill(agent.process, SIGKILL);
}

void LaunchAgents::handle_connected(std::uint32_t host) {
  Agent& way = agents_[tree_.first_hop(host)];
  if (host == launch_.hosts.host_of(0) && way.input) {
    const int error = copy_input(std::move(way.input));
    if (error != 0)
      report(launch_.program_name, "cannot pass on standard input: %s", std::strerror(error));
  }
  if (!tree_.is_branch(host) || tree_.parent(host) != HostTree::here)
    leave_connecting(host, State::connected);
}

void LaunchAgents::handle_branch_connected(std::uint32_t host) {
  leave_connecting(host, State::connected);
}

void LaunchAgents::take_over(std::uint32_t host, const std::vector<std::uint32_t>& moved,
                             const std::string& why) {
  if (launch_.verbose) {
    report(launch_.program_name,
           "host %s is started from here, since host %s does not reach it: %s",
           launch_.hosts[host].name.c_str(), launch_.hosts[tree_.parent(host)].name.c_str(),
           why.c_str());
  }
  const std::uint32_t before = tree_.first_hop(host);
  const auto hosts = static_cast<std::uint32_t>(moved.size());
  tree_.take_over(host);
  agents_[host].state = State::waiting;
  agents_[host].unfinished = hosts;
  settle(before, hosts, /*finished=*/true);
}

/// The agent of the host is not connecting any more; others may be.
void LaunchAgents::leave_connecting(std::uint32_t host, State next) {
  Agent& self = agents_[host];
  if (self.state == State::connecting) --connecting_;
  self.state = next;
  self.connect_by.reset();
  self.start_at.reset();
  if (next == State::waiting) return;
  self.output.reset();
  self.error.reset();
}

/// Returns true if the agent, which has failed before its host has connected, is started again.
bool LaunchAgents::try_again(std::uint32_t host, int status) {
  Agent& self = agents_[host];
  if (!WIFEXITED(status) || WEXITSTATUS(status) != failed_ssh_status || self.tries >= max_tries_)
    return false;
  leave_connecting(host, State::waiting);
  // Agents that have failed together do not come together again.
  const double spread =
      static_cast<double>(SplitMix64(static_cast<std::uint64_t>(self.process))() >> 32) / 0x1p32;
  const double pause = first_pause * std::pow(2, self.tries - 1) * (1 + spread / 2);
  self.start_at = after(pause);
  if (launch_.verbose) {
    report(launch_.program_name, "host %s: '%s' ended with status %d; trying again in %.1f s",
           launch_.hosts[host].name.c_str(), command_for(host).front().c_str(), failed_ssh_status,
           pause);
  }
  return true;
}

void LaunchAgents::handle_exit(pid_t process, int status) {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    if (agents_[host].process == process) handle_exit_of(host, status);
  }
}

void LaunchAgents::handle_exit_of(std::uint32_t host, int status) {
  Agent& self = agents_[host];
  self.exited = true;
  if (self.state == State::ended) return;
  const bool connected = self.state == State::connected;
  const std::string end = WIFEXITED(status)
                              ? "ended with status " + std::to_string(WEXITSTATUS(status))
                              : "was killed by " + describe_signal(WTERMSIG(status));
  if (!connected && try_again(host, status)) return;
  const std::string how = "'" + command_for(host).front() + "' " + end;
  if (!connected) {
    const bool reported = WIFEXITED(status) && WEXITSTATUS(status) == reported_status;
    const std::string tries =
        self.tries > 1 ? " in each of " + std::to_string(self.tries) + " tries" : "";
    self.loss = reported ? "" : how + tries + " before the job had begun there";
    self.has_cause = !reported;
    self.unreached = WIFEXITED(status) && WEXITSTATUS(status) == failed_ssh_status;
    if (WIFEXITED(status) &&
        (WEXITSTATUS(status) == not_found_status || WEXITSTATUS(status) == cannot_execute_status)) {
      self.loss += " by " + remote_.gexrun + " (--prefix names another folder)";
    }
    self.lost_at = after(begin_grace);
    self.cause_by = after(cause_limit);
  } else if (status != 0) {
    // The host's further output is lost, unless the host has just finished.
    self.loss = how + ", through which its output came";
    self.lost_at = after(output_drain_limit);
  }
}

/// Reports the loss of a host whose agent has failed, with the last line that the agent has written
/// where that is the cause: ssh does not name the host in each of its lines.
void LaunchAgents::report_loss(std::uint32_t host) {
  Agent& self = agents_[host];
  int unread = 0;
  if (self.has_cause && self.error && !met(self.cause_by) &&
      ioctl(self.error.get(), FIONREAD, &unread) == 0 && unread > 0) {
    self.lost_at = after(cause_interval);
    return;
  }
  const std::string cause = self.has_cause ? relay_.last_error_line(host) : "";
  const std::string why = cause.empty() ? self.loss : self.loss + ": " + cause;
  if (self.unreached) {
    events_->cannot_reach(host, why);
    return;
  }
  const auto lost = hosts_->unfinished_through(tree_, host);
  if (!lost.empty()) events_->lose_host(lost.front(), why);
}

void LaunchAgents::report_still_starting() {
  std::string names;
  std::uint32_t missing = 0;
  for (std::uint32_t host = 0; host < hosts_->size(); ++host) {
    if ((*hosts_)[host].connected || (*hosts_)[host].done) continue;
    if (++missing <= max_named) names += (missing > 1 ? "," : "") + launch_.hosts[host].name;
  }
  still_starting_at_.reset();
  if (missing == 0) return;
  report(launch_.program_name,
         "still starting after %s s: %u of %u hosts have not joined yet (%s%s)",
         seconds_text(waited_).c_str(), missing, hosts_->size(), names.c_str(),
         missing > max_named ? ",..." : "");
  still_starting_at_ = after(waited_);
  waited_ *= 2;
}

void LaunchAgents::retire(std::uint32_t host, bool finished) {
  const std::uint32_t way = tree_.first_hop(host);
  if (way != host) leave_connecting(host, State::ended);
  settle(way, 1, finished);
}

/// So many hosts that are reached through the agent of `host` are done.
void LaunchAgents::settle(std::uint32_t host, std::uint32_t hosts, bool finished) {
  Agent& self = agents_[host];
  self.unfinished -= hosts;
  self.failed = self.failed || !finished;
  if (self.unfinished > 0) return;
  self.lost_at.reset();
  leave_connecting(host, State::ended);
  if (self.failed)
    self.kill_at = after(tree_.is_branch(host) ? 2 * kill_agent_after : kill_agent_after);
}

Deadline LaunchAgents::next_deadline() const {
  Deadline next = still_starting_at_;
  for (const Agent& agent : agents_) {
    next = earlier(next, earlier(agent.kill_at, agent.lost_at));
    next = earlier(next, agent.connect_by);
    if (agent.state == State::waiting && connecting_ < max_connecting_)
      next = earlier(next, agent.start_at ? agent.start_at : Clock::now());
  }
  return next;
}

void LaunchAgents::meet_deadlines() {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    Agent& self = agents_[host];
    if (met(self.kill_at)) kill_agent(host);
    if (met(self.connect_by)) {
      events_->lose_host(host, "it has not connected within " + seconds_text(connect_timeout_) +
                                   " s (GEX_CONNECT_TIMEOUT)");
    }
    if (met(self.lost_at)) report_loss(host);
  }
  if (met(still_starting_at_)) report_still_starting();
  start_waiting();
}

}  // namespace gex::launch
