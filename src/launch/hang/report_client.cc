#include "launch/hang/report_client.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <set>
#include <vector>

#include "base/os_abstract_name.h"
#include "base/os_file.h"
#include "launch/hang/report_server.h"

namespace gex::launch {

namespace {

/// A server that does not answer by then is not waited for.
constexpr time_t answer_limit_s = 10;

/// The abstract names of this user's jobs.
std::set<std::string> server_names() {
  std::set<std::string> names;
  std::ifstream sockets("/proc/net/unix");
  const std::string prefix = "@" + report_socket_prefix();
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t at = line.rfind(' ');
    if (at != std::string::npos && line.compare(at + 1, prefix.size(), prefix) == 0)
      names.insert(line.substr(at + 2));
  }
  return names;
}

/// "" if the server has gone, or has no answer.
std::string ask(const std::string& name, const std::string& request) {
  const os::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{answer_limit_s, 0};
  if (!socket || setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0 ||
      os::connect_abstract(socket.get(), name) != 0) {
    return {};
  }
  const std::string line = request + "\n";
  if (send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(line.size())) {
    return {};
  }
  std::string answer;
  std::vector<char> bytes(65536);
  for (;;) {
    const ssize_t got = read(socket.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return answer;
    answer.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string list_jobs() {
  std::string list;
  for (const std::string& name : server_names()) list += ask(name, "list");
  return list;
}

std::optional<std::string> report_of(pid_t process, ReportFormat format) {
  const char* const verb = format == ReportFormat::json ? "json " : "text ";
  for (const std::string& name : server_names()) {
    std::string answer = ask(name, verb + std::to_string(process));
    if (!answer.empty()) return answer;
  }
  return std::nullopt;
}

}  // namespace gex::launch
