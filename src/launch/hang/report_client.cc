#include "launch/hang/report_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <set>
#include <vector>

#include "base/os_abstract_name.h"
#include "base/os_file.h"
#include "launch/event_loop.h"
#include "launch/hang/report_server.h"

namespace gex::launch {

namespace {

/// A server that does not answer by then is not waited for.
constexpr double answer_limit_s = 10;
constexpr double connect_limit_s = 1;
constexpr int pause_ms = 10;

/// More than 1024 ranks with all stacks of 64 threads take.
constexpr std::size_t max_answer = std::size_t{256} << 20;

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

/// Any user may bind a name; the kernel has recorded whose socket it is. Root's are trusted.
bool is_trusted(int socket) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

/// Waits until the socket is ready for these events of poll. False: the time is over.
bool wait_for(int socket, short events, Deadline deadline) noexcept {
  pollfd waited{socket, events, 0};
  const int ready = poll(&waited, 1, milliseconds_until(deadline));
  return ready > 0 || (ready < 0 && errno == EINTR && Clock::now() < *deadline);
}

/// "" if the server has gone, has no answer, is another user's, or takes too long.
std::string ask(const std::string& name, const std::string& request) {
  const os::FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {};
  const Deadline deadline = after(answer_limit_s);
  const Deadline connected = after(connect_limit_s);
  while (os::connect_abstract(socket.get(), name) != 0) {
    // Its queue of connections is full.
    if (errno != EAGAIN || Clock::now() >= *connected) return {};
    poll(nullptr, 0, pause_ms);
  }
  if (!is_trusted(socket.get())) return {};
  const std::string line = request + "\n";
  if (send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(line.size())) {
    return {};
  }
  std::string answer;
  std::vector<char> bytes(65536);
  while (wait_for(socket.get(), POLLIN, deadline)) {
    const ssize_t got = read(socket.get(), bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0 || answer.size() + static_cast<std::size_t>(got) > max_answer) return {};
    // Only an answer that has come to its end is complete.
    if (got == 0) return printable(answer);
    answer.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, which terminals obey as well.
    const bool second_control = byte == 0xc2 && i + 1 < text.size() &&
                                static_cast<unsigned char>(text[i + 1]) >= 0x80 &&
                                static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (byte == '\n' || (byte >= 0x20 && byte != 0x7f && !second_control)) {
      shown += text[i];
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
    shown += escaped;
  }
  return shown;
}

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
