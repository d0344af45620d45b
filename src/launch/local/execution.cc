#include "launch/local/execution.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/os_file.h"

namespace gex::launch {

namespace {

constexpr const char* shell = "/bin/sh";

/// The beginning of a file; empty if it cannot be read.
std::string beginning_of(const std::string& path) {
  const os::FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  char bytes[256];
  const ssize_t got = file ? read(file.get(), bytes, sizeof bytes) : 0;
  return {bytes, got > 0 ? static_cast<std::size_t>(got) : 0};
}

/// The files that a shell would try for this name, in order.
std::vector<std::string> candidates(const std::string& name) {
  if (name.find('/') != name.npos) return {name};
  const char* const path = std::getenv("PATH");
  std::vector<std::string> found;
  for (std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";;) {
    const std::size_t colon = rest.find(':');
    std::string file(rest.substr(0, colon));
    if (!file.empty()) file += '/';
    found.push_back(file.append(name));
    if (colon == rest.npos) return found;
    rest.remove_prefix(colon + 1);
  }
}

int execute_by_shell(const std::string& path, char* const* arguments) {
  std::vector<char*> words = {const_cast<char*>(shell), const_cast<char*>(path.c_str())};
  while (*++arguments != nullptr) words.push_back(*arguments);
  words.push_back(nullptr);
  execv(shell, words.data());
  return errno;
}

}  // namespace

int execute(char* const* arguments) {
  int error = ENOENT;
  for (const std::string& path : candidates(arguments[0])) {
    execv(path.c_str(), arguments);
    if (errno == ENOEXEC) {
      // As shells do, take what has a zero in its beginning for a program.
      const bool is_text = beginning_of(path).find('\0') == std::string::npos;
      return is_text ? execute_by_shell(path, arguments) : ENOEXEC;
    }
    if (errno == EACCES)
      error = EACCES;
    else if (errno != ENOENT && errno != ENOTDIR)
      return errno;
  }
  return error;
}

std::string describe_execution_error(const std::string& program, int error) {
  std::string text = std::strerror(error);
  if (error == ENOEXEC) return text + " (a program for another processor, or none)";
  if (error != ENOENT) return text;
  for (const std::string& path : candidates(program)) {
    const std::string begin = beginning_of(path);
    if (begin.starts_with("\x7f"
                          "ELF")) {
      return text.append(": the loader that '")
          .append(path)
          .append("' needs (it is built for another system)");
    }
    if (!begin.starts_with("#!")) continue;
    std::string interpreter = begin.substr(2, begin.find('\n') - 2);
    interpreter.erase(0, interpreter.find_first_not_of(" \t"));
    interpreter.erase(std::min(interpreter.find_first_of(" \t"), interpreter.size()));
    const bool returned = interpreter.ends_with('\r');
    if (returned) interpreter.pop_back();
    text.append(": its interpreter '").append(interpreter).append("'");
    return returned ? text.append(" with a carriage return behind it (its lines end as on Windows)")
                    : text;
  }
  return text;
}

}  // namespace gex::launch
