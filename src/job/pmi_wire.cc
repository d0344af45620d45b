#include "job/pmi_wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "job/limits.h"

namespace gex::job {

namespace {

constexpr std::size_t max_message = 8192;

std::optional<std::uint32_t> number_of(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<PmiPlace> pmi_place() {
  const auto wire = number_of("PMI_FD");
  const auto rank = number_of("PMI_RANK");
  const auto size = number_of("PMI_SIZE");
  if (!wire || !rank || !size || *rank >= *size || *size > max_ranks) return std::nullopt;
  return PmiPlace{static_cast<int>(*wire), *rank, *size};
}

std::string pmi_key(std::uint32_t rank, const std::string& key) {
  return "gex." + std::to_string(rank) + "." + key;
}

std::string pmi_value(std::string_view text, std::string_view key, char separator) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (word.starts_with(key) && word.substr(key.size()).starts_with('=')) {
      const std::string_view value = word.substr(key.size() + 1);
      return std::string(value.substr(0, value.find('\n')));
    }
    at = end + 1;
  }
  return {};
}

std::vector<std::uint32_t> nodes_of_mapping(std::string_view mapping, std::uint32_t ranks) {
  constexpr std::string_view begin = "(vector";
  if (!mapping.starts_with(begin) || !mapping.ends_with(')')) return {};
  std::vector<std::uint32_t> numbers;  // three for each block
  const char* at = mapping.data() + begin.size();
  const char* const end = mapping.data() + mapping.size();
  while (at != end) {
    std::uint32_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error == std::errc()) {
      numbers.push_back(number);
      at = rest;
    } else if (error == std::errc::result_out_of_range || !std::strchr("(),", *at)) {
      return {};
    } else {
      ++at;
    }
  }
  if (numbers.empty() || numbers.size() % 3 != 0) return {};
  std::vector<std::uint32_t> nodes;
  for (std::size_t before = 0; nodes.size() < ranks; before = nodes.size()) {
    for (std::size_t block = 0; block < numbers.size(); block += 3) {
      const std::uint64_t places = std::uint64_t{numbers[block + 1]} * numbers[block + 2];
      for (std::uint64_t place = 0; place < places && nodes.size() < ranks; ++place)
        nodes.push_back(numbers[block] + static_cast<std::uint32_t>(place / numbers[block + 2]));
    }
    if (nodes.size() == before) return {};
  }
  return nodes;
}

PmiWire::PmiWire(int descriptor) : descriptor_(descriptor) {
  struct stat status {};
  fstat(descriptor_, &status);
  inode_ = status.st_ino;
}

bool PmiWire::is_open() const noexcept {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && status.st_ino == inode_;
}

bool PmiWire::send(std::string_view bytes) {
  if (!error_.empty()) return false;
  while (!bytes.empty()) {
    // A connection that the launcher has closed is an error, not a signal that ends the rank.
    ssize_t written = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == ENOTSOCK) written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      error_ = std::string("its connection is broken: ") + std::strerror(errno);
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool PmiWire::receive_byte(char& byte) {
  for (;;) {
    pollfd readable{descriptor_, POLLIN, 0};
    if (on_long_wait_ && poll(&readable, 1, long_wait_ms_) == 0)
      std::exchange(on_long_wait_, nullptr)();
    const ssize_t got = read(descriptor_, &byte, 1);
    if (got > 0) return true;
    if (got < 0 && errno == EINTR) continue;
    error_ = "it has closed the connection";
    return false;
  }
}

std::optional<std::string> PmiWire::receive_line() {
  std::string line;
  for (char byte = 0; receive_byte(byte);) {
    if (byte == '\n') return line;
    line += byte;
    if (line.size() > max_message) {
      error_ = "its message is longer than PMI allows";
      break;
    }
  }
  return std::nullopt;
}

std::optional<std::string> PmiWire::receive(std::size_t bytes) {
  if (bytes > max_message) {
    error_ = "its message is longer than PMI allows";
    return std::nullopt;
  }
  std::string text(bytes, '\0');
  for (char& byte : text)
    if (!receive_byte(byte)) return std::nullopt;
  return text;
}

void PmiWire::finalize(std::string_view bytes, bool (*whole)(std::string_view) noexcept) noexcept {
  if (!is_open()) return;
  if (::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
  char answer[256];
  std::size_t got = 0;
  while (got < sizeof answer && !whole({answer, got})) {
    const ssize_t more = recv(descriptor_, answer + got, sizeof answer - got, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return;
    got += static_cast<std::size_t>(more);
  }
  // MPI shares this connection, and MPICH 5 finalizes it in a destructor, which comes later: it
  // would be ended by SIGPIPE. It finds the same answer instead.
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return;
  ::send(pair[1], answer, got, MSG_NOSIGNAL);
  dup2(pair[0], descriptor_);
  close(pair[0]);
}

}  // namespace gex::job
