#include "load.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "child.h"

namespace gexperf {

namespace {

constexpr unsigned mixed_sessions = 12;
constexpr unsigned mixed_in_session = 4;

void compute_for(double nanoseconds) {
  for (const double end = monotonic_ns() + nanoseconds; monotonic_ns() < end;) {
  }
}

void sleep_for(long nanoseconds) {
  const timespec nap{0, nanoseconds};
  nanosleep(&nap, nullptr);
}

void compute(unsigned) {
  for (;;) compute_for(1e9);
}

/// Some compute; some, as those that wait for files or messages, now and then; some, as builds do,
/// in short-lived processes.
void act_mixed(unsigned number) {
  for (;;) {
    switch (number % mixed_in_session) {
      case 0:
        compute_for(1e7);
        break;
      case 1:
        compute_for(2e5);
        sleep_for(300'000);
        break;
      case 2:
        compute_for(5e6);
        sleep_for(5'000'000);
        break;
      default: {
        const pid_t process = fork();
        if (process == 0) {
          prctl(PR_SET_PDEATHSIG, SIGKILL);
          compute_for(5e6);
          _exit(0);
        }
        if (process > 0)
          waitpid(process, nullptr, 0);
        else
          sleep_for(5'000'000);
      }
    }
  }
}

/// Writes a setting of a control group; false with errno on failure.
bool write_setting(const std::string& path, const std::string& value) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, value.data(), value.size()) >= 0;
  const int error = errno;
  close(file);
  errno = error;
  return written;
}

}  // namespace

void Load::start(unsigned in_session, void (*act)(unsigned number)) {
  const pid_t parent = getpid();
  const pid_t leader = fork();
  if (leader < 0) trouble_ = std::string("cannot start a process: ") + std::strerror(errno);
  if (leader > 0) sessions_.push_back(leader);
  if (leader != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  for (unsigned number = 1; number < in_session; ++number) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    act(number);
  }
  act(0);
}

Load Load::spinning(unsigned processes) {
  Load load;
  for (unsigned i = 0; i < processes; ++i) load.start(1, compute);
  return load;
}

Load Load::mixed() {
  Load load;
  for (unsigned i = 0; i < mixed_sessions; ++i) load.start(mixed_in_session, act_mixed);
  return load;
}

Load::~Load() {
  // The leader's death ends the others of its session (PR_SET_PDEATHSIG).
  for (const pid_t leader : sessions_) kill(leader, SIGKILL);
  for (const pid_t leader : sessions_)
    while (waitpid(leader, nullptr, 0) < 0 && errno == EINTR) {
    }
}

ProcessorQuota::ProcessorQuota() {
  const std::string name = "/gexperf-" + std::to_string(getpid());
  // The settings of control groups of version 1 and of version 2.
  const struct {
    const char* hierarchy;
    const char* setting;
    const char* value;
  } ways[] = {{"/sys/fs/cgroup/cpu", "/cpu.cfs_quota_us", "100000"},
              {"/sys/fs/cgroup", "/cpu.max", "100000 100000"}};
  for (const auto& [hierarchy, setting, value] : ways) {
    const std::string folder = hierarchy + name;
    if (mkdir(folder.c_str(), 0755) == 0) {
      if (write_setting(folder + setting, value)) {
        folder_ = folder;
        trouble_.clear();
        return;
      }
      trouble_ = "cannot write " + folder + setting + ": " + std::strerror(errno);
      rmdir(folder.c_str());
    } else if (trouble_.empty() || errno != ENOENT) {
      trouble_ = "cannot make the control group " + folder + ": " + std::strerror(errno);
    }
  }
}

ProcessorQuota::~ProcessorQuota() {
  if (!folder_.empty()) rmdir(folder_.c_str());
}

std::vector<std::string> ProcessorQuota::within(const std::vector<std::string>& command) const {
  std::vector<std::string> all{"sh", "-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"", folder_};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

}  // namespace gexperf
