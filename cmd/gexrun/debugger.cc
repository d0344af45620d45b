#include "debugger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/os_memory.h"

namespace gexrun {

namespace {

constexpr const char* valgrind_error_status = "99";

/// Runs the program; on a crash prints every thread's stack. gdb exits with the program's status,
/// 128 plus the signal's number if it was killed. Signals that are not crashes are the program's.
constexpr std::string_view gdb_script = R"(set pagination off
set confirm off
set width 0
set print inferior-events off
set debuginfod enabled off
handle all nostop noprint pass
handle SIGSEGV SIGBUS SIGILL SIGFPE SIGABRT SIGSYS stop print
run
if ! $_isvoid($_exitcode)
  quit $_exitcode
end
if ! $_isvoid($_exitsignal)
  quit 128 + $_exitsignal
end
set $status = 128 + $_siginfo.si_signo
thread apply all backtrace
kill
quit $status
)";

/// Creates an unnamed file with the text, which stays open for the ranks. Returns its path, or an
/// empty one and sets errno.
std::string inherited_file(std::string_view text) {
  gex::os::MemoryFile file = gex::os::create_memory_file("gexrun-gdb-script", 0);
  const int number = file.descriptor.get();
  if (!file.descriptor || fcntl(number, F_SETFD, 0) != 0) return {};
  if (write(number, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return {};
  return "/proc/self/fd/" + std::to_string(file.descriptor.release());
}

/// Returns 0, or the error number for which the file cannot be executed.
int executable_error(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != name.npos) {
    errno = executable_error(name);
    return errno == 0 ? name : std::string();
  }
  const char* const path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  int error = ENOENT;
  for (;;) {
    const std::size_t colon = rest.find(':');
    std::string candidate(rest.substr(0, colon));
    if (!candidate.empty()) candidate += '/';
    candidate += name;
    const int found = name.empty() ? ENOENT : executable_error(candidate);
    if (found == 0) return candidate;
    // Prefer the error of a file that exists but is not executable to that of a missing one.
    if (found == EACCES) error = EACCES;
    if (colon == rest.npos) break;
    rest.remove_prefix(colon + 1);
  }
  errno = error;
  return {};
}

std::vector<std::string> under_debugger(Debugger debugger, const std::vector<std::string>& command,
                                        std::string& why) {
  if (debugger == Debugger::none) return command;
  const char* const name = debugger == Debugger::gdb ? "gdb" : "valgrind";
  std::string tool = find_program(name);
  if (tool.empty()) {
    why = std::string("--debugger ") + name + ": " + name + " is not installed";
    return {};
  }
  std::vector<std::string> whole = {std::move(tool)};
  if (debugger == Debugger::gdb) {
    const std::string script = inherited_file(gdb_script);
    if (script.empty()) {
      why = std::string("cannot make the script for gdb: ") + std::strerror(errno);
      return {};
    }
    whole.insert(whole.end(), {"-nx", "-quiet", "-batch", "-x", script, "--args"});
  } else {
    whole.insert(whole.end(),
                 {"--quiet", std::string("--error-exitcode=") + valgrind_error_status,
                  // With --quiet valgrind reports no leaks, but would read whole segments for them.
                  "--leak-check=no", "--child-silent-after-fork=yes"});
  }
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

}  // namespace gexrun
