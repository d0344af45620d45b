// The client's side of PMI-1: lines of "cmd=NAME KEY=VALUE ..." over the descriptor PMI_FD, each
// answered by one.

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "boot/job.h"
#include "boot/process_manager.h"

namespace gex::boot {

namespace {

std::optional<std::uint32_t> number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

class Pmi1 final : public ProcessManager {
 public:
  Pmi1(int wire, std::uint32_t rank, std::uint32_t size) : wire_(wire), rank_(rank), size_(size) {
    struct stat status {};
    fstat(wire_, &status);
    inode_ = status.st_ino;
  }

  bool begin() {
    // An MPI library in this program begins again, or has begun; a process manager bears both.
    const auto begun = ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    if (!begun) return false;
    const auto table = ask("cmd=get_my_kvsname", "my_kvsname");
    if (!table) return false;
    table_ = value_of(*table, "kvsname");
    return !table_.empty();
  }

  const char* protocol() const noexcept override { return "PMI-1"; }
  std::uint32_t rank() const noexcept override { return rank_; }
  std::uint32_t size() const noexcept override { return size_; }

  bool put(const std::string& key, const std::string& value) override {
    return ask("cmd=put kvsname=" + table_ + " key=" + of_rank(rank_, key) + " value=" + value,
               "put_result")
        .has_value();
  }
  bool fence() override { return ask("cmd=barrier_in", "barrier_out").has_value(); }
  std::optional<std::string> get(std::uint32_t rank, const std::string& key) override {
    const auto answer =
        ask("cmd=get kvsname=" + table_ + " key=" + of_rank(rank, key), "get_result");
    if (!answer) return std::nullopt;
    return value_of(*answer, "value");
  }

  void leave() noexcept override {
    // An MPI library in this program may have said it already, and closed the descriptor.
    struct stat status {};
    if (fstat(wire_, &status) != 0 || status.st_ino != inode_) return;
    constexpr std::string_view line = "cmd=finalize\n";
    if (send(wire_, line.data(), line.size(), MSG_NOSIGNAL) < 0) return;
    char answer[256];
    while (recv(wire_, answer, sizeof answer, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  static std::string of_rank(std::uint32_t rank, const std::string& key) {
    return "gex." + std::to_string(rank) + "." + key;
  }

  static std::string value_of(const std::string& line, const std::string& key) {
    const std::size_t at = (" " + line).find(" " + key + "=");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + key.size() + 1;
    return line.substr(begin, line.find_first_of(" \n", begin) - begin);
  }

  std::optional<std::string> ask(std::string line, const std::string& expected) {
    line += '\n';
    for (std::string_view rest = line; !rest.empty();) {
      const ssize_t written = write(wire_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0)
        return fail(std::string("its connection is broken: ") + std::strerror(errno));
      rest.remove_prefix(static_cast<std::size_t>(written));
    }
    std::string answer;
    while (answer.empty() || answer.back() != '\n') {
      // No byte beyond the line is ours: an MPI library reads what follows.
      char byte = 0;
      const ssize_t got = read(wire_, &byte, 1);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return fail("it has closed the connection");
      answer += byte;
      constexpr std::size_t longest = 8192;
      if (answer.size() > longest) return fail("it says more than PMI-1 allows");
    }
    const std::string result = value_of(answer, "rc");
    if (value_of(answer, "cmd") != expected || (!result.empty() && result != "0")) {
      answer.pop_back();
      return fail("it answers '" + answer + "'");
    }
    return answer;
  }

  std::nullopt_t fail(std::string why) {
    error_ = std::move(why);
    return std::nullopt;
  }

  int wire_;
  std::uint32_t rank_;
  std::uint32_t size_;
  ino_t inode_ = 0;
  std::string table_;
};

}  // namespace

std::unique_ptr<ProcessManager> connect_pmi1(std::string& why) {
  const auto wire = number_of("PMI_FD");
  const auto rank = number_of("PMI_RANK");
  const auto size = number_of("PMI_SIZE");
  if (!wire || !rank || !size || *rank >= *size || *size > Job::max_ranks) {
    why = "PMI_FD, PMI_RANK and PMI_SIZE are not the place of one of up to " +
          std::to_string(Job::max_ranks) + " processes";
    return nullptr;
  }
  auto connected = std::make_unique<Pmi1>(static_cast<int>(*wire), *rank, *size);
  if (connected->begin()) return connected;
  why = "the launcher does not speak PMI-1 at PMI_FD: " + connected->error();
  return nullptr;
}

}  // namespace gex::boot
