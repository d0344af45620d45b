#include "net/mpi/library/pmi_server.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "base/os_thread.h"

namespace gex::net::mpi {

namespace {

constexpr const char* variables[] = {"PMI_FD", "PMI_RANK", "PMI_SIZE"};

/// The value of a word "key=value" of a line, the first of several.
std::optional<std::string_view> find_value(std::string_view line, std::string_view key) {
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string_view word = line.substr(at, end - at);
    if (word.starts_with(key) && word.substr(key.size()).starts_with('='))
      return word.substr(key.size() + 1);
    at = end + 1;
  }
  return std::nullopt;
}

/// The value of a word "key=value" of a line, the first of several; empty if there is none.
std::string_view value_of(std::string_view line, std::string_view key) {
  return find_value(line, key).value_or(std::string_view());
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Ends the process, and so its job, with the code of an MPI_Abort. That is no success, whatever
/// its code.
[[noreturn]] void exit_as(std::string_view number) {
  int code = 0;
  std::from_chars(number.data(), number.data() + number.size(), code);
  std::exit((code & 0xff) != 0 ? code : EXIT_FAILURE);
}

}  // namespace

PmiServer::PmiServer(const Host& host)
    : host_(host), rank_(host.rank), size_(host.size), mapping_(process_mapping()) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
  own_ = pair[0];
  library_ = pair[1];
}

PmiServer::~PmiServer() {
  change(Phase::finalization);
  if (own_ >= 0) shutdown(own_, SHUT_RDWR);
  if (ended_) ended_->wait(false);
  if (own_ >= 0) close(own_);
}

std::string PmiServer::process_mapping() const {
  // Runs of ranks on one host: (first host, hosts, ranks on each).
  std::string text = "(vector";
  for (std::uint32_t rank = 0; rank < size_;) {
    const std::uint32_t host = host_.host_of(rank);
    std::uint32_t end = rank + 1;
    while (end < size_ && host_.host_of(end) == host) ++end;
    text += ",(" + std::to_string(host) + ",1," + std::to_string(end - rank) + ")";
    rank = end;
  }
  return text + ")";
}

int PmiServer::begin() {
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread server;
  const int error = os::start_thread(server, [this, ended] {
    serve();
    // A connection that has ended has no initialization to wait for.
    if (phase_.load() == Phase::initialization) change(Phase::running);
    ended->store(true);
    ended->notify_all();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return error;
  server.detach();
  ended_ = ended;
  setenv("PMI_FD", std::to_string(library_).c_str(), 1);
  setenv("PMI_RANK", std::to_string(rank_).c_str(), 1);
  setenv("PMI_SIZE", std::to_string(size_).c_str(), 1);
  return 0;
}

void PmiServer::change(Phase phase) {
  phase_.store(phase);
  phase_.notify_all();
}

void PmiServer::end_of_init() {
  for (const char* const variable : variables) unsetenv(variable);
  // Behind what MPI has asked.
  write_all(library_, "cmd=gex_end_of_init\n");
  phase_.wait(Phase::initialization);
}

void PmiServer::begin_finalize() {
  change(Phase::finalization);
}

void PmiServer::serve() {
  std::string received;
  for (;;) {
    const std::size_t end = received.find('\n');
    if (end == received.npos) {
      char bytes[2048];
      const ssize_t got = read(own_, bytes, sizeof bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return;
      received.append(bytes, static_cast<std::size_t>(got));
      continue;
    }
    const std::string line = received.substr(0, end);
    received.erase(0, end + 1);
    const std::string_view command = value_of(line, "cmd");
    if (command == "gex_end_of_init") {
      change(Phase::running);
      continue;
    }
    if (command == "abort") exit_as(value_of(line, "exitcode"));
    // MPI may ask before its finalization is seen to begin.
    if (command == "barrier_in") phase_.wait(Phase::running);
    if (!write_all(own_, answer(line) + '\n')) return;
    if (command == "finalize") return;
  }
}

std::string PmiServer::answer(std::string_view line) {
  const std::string_view command = value_of(line, "cmd");
  if (command == "init") return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";
  if (command == "get_maxes") return "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0";
  if (command == "get_appnum") return "cmd=appnum appnum=0 rc=0";
  if (command == "get_universe_size")
    return "cmd=universe_size size=" + std::to_string(size_) + " rc=0";
  if (command == "get_my_kvsname") return "cmd=my_kvsname kvsname=gex rc=0";
  if (command == "put") {
    const std::string_view key = value_of(line, "key");
    const std::optional<std::string_view> value = find_value(line, "value");
    // A fence divides a pair at its first '='.
    if (key.empty() || key.find('=') != key.npos || !value)
      return "cmd=put_result rc=-1 msg=malformed";
    unpublished_.append(key).append("=").append(*value) += '\n';
    return "cmd=put_result rc=0 msg=success";
  }
  if (command == "barrier_in") {
    if (phase_.load() == Phase::initialization) fence();
    return "cmd=barrier_out rc=0 msg=success";
  }
  if (command == "get") {
    const std::string_view key = value_of(line, "key");
    if (key == "PMI_process_mapping") return "cmd=get_result rc=0 msg=success value=" + mapping_;
    const auto found = values_.find(key);
    if (found == values_.end()) return "cmd=get_result rc=-1 msg=key_not_found value=unknown";
    return "cmd=get_result rc=0 msg=success value=" + found->second;
  }
  if (command == "finalize") return "cmd=finalize_ack rc=0";
  return "cmd=" + std::string(command) + " rc=-1 msg=not_supported";
}

void PmiServer::fence() {
  const auto bytes = static_cast<std::uint64_t>(unpublished_.size());
  std::vector<std::uint64_t> sizes(size_);
  host_.exchange(&bytes, sizeof bytes, sizes.data());
  const std::size_t room = *std::max_element(sizes.begin(), sizes.end());
  if (room == 0) return;
  unpublished_.resize(room, '\n');
  std::string all(room * size_, '\0');
  host_.exchange(unpublished_.data(), room, all.data());
  unpublished_.clear();
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    const std::string_view pair = std::string_view(all).substr(at, end - at);
    const std::size_t equals = pair.find('=');
    if (equals != pair.npos)
      values_.insert_or_assign(std::string(pair.substr(0, equals)),
                               std::string(pair.substr(equals + 1)));
    at = end + 1;
  }
}

}  // namespace gex::net::mpi
