#include "launch/hang/report_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/os_abstract_name.h"

namespace gex::launch {

namespace {

constexpr std::size_t max_request = 64;
constexpr std::size_t max_connections = 16;

bool is_own_user(int socket) noexcept {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == geteuid() || peer.uid == 0;
}

/// The process of "VERB PID"; 0: it is no such request.
pid_t process_of(std::string_view request, std::string_view verb) noexcept {
  if (!request.starts_with(verb)) return 0;
  request.remove_prefix(verb.size());
  pid_t process = 0;
  const auto [rest, error] =
      std::from_chars(request.data(), request.data() + request.size(), process);
  return error == std::errc() && rest == request.data() + request.size() ? process : 0;
}

}  // namespace

std::string report_socket_prefix() {
  return "gex-report-" + std::to_string(geteuid()) + "-";
}

void ReportServer::serve(EventLoop& loop) {
  listener_.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener_ ||
      os::bind_abstract(listener_.get(), report_socket_prefix() + std::to_string(getpid())) != 0 ||
      listen(listener_.get(), static_cast<int>(max_connections)) != 0) {
    listener_.reset();
    return;
  }
  loop_ = &loop;
  watch_ = loop.watch(listener_.get(), [this] { accept(); });
}

void ReportServer::accept() {
  for (;;) {
    os::FileDescriptor socket(
        accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    if (!is_own_user(socket.get()) || connections_.size() == max_connections) continue;
    const int number = socket.get();
    auto connection = std::make_shared<Connection>();
    connection->socket = std::move(socket);
    connection->watch = loop_->watch(
        number, [this, made = connection.get()] { receive(*made); },
        [this, made = connection.get()] { send(*made); });
    connections_.emplace(number, std::move(connection));
  }
}

void ReportServer::receive(Connection& connection) {
  char bytes[max_request];
  const ssize_t got = read(connection.socket.get(), bytes, sizeof bytes);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // Nothing comes after the request.
  if (got <= 0 || !connection.answer.empty() ||
      connection.request.size() + static_cast<std::size_t>(got) > max_request) {
    close(connection.socket.get());
    return;
  }
  connection.request.append(bytes, static_cast<std::size_t>(got));
  if (!connection.request.ends_with('\n')) return;
  connection.request.pop_back();
  answer(connection);
}

void ReportServer::answer(Connection& connection) {
  const int number = connection.socket.get();
  if (connection.request == "list") {
    connection.answer = std::to_string(job_.launcher) + " " + job_.description + "\n";
    send(connection);
    return;
  }
  const pid_t for_text = process_of(connection.request, "text ");
  const pid_t for_json = process_of(connection.request, "json ");
  const pid_t process = for_text != 0 ? for_text : for_json;
  if (process == 0 || (process != job_.launcher && !job_.contains(process))) {
    close(number);
    return;
  }
  // The connection may be closed before the report is there, and its number used again.
  const std::weak_ptr<Connection> weak = connections_[number];
  job_.request([this, weak, text = for_text != 0](const HangReport& report) {
    const std::shared_ptr<Connection> still = weak.lock();
    if (!still) return;
    still->answer = text ? to_text(report) : to_json(report);
    send(*still);
  });
}

void ReportServer::send(Connection& connection) {
  while (connection.written < connection.answer.size()) {
    const ssize_t sent =
        ::send(connection.socket.get(), connection.answer.data() + connection.written,
               connection.answer.size() - connection.written, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      connection.watch.want_writable(true);
      return;
    }
    if (sent <= 0) break;
    connection.written += static_cast<std::size_t>(sent);
  }
  close(connection.socket.get());
}

}  // namespace gex::launch
