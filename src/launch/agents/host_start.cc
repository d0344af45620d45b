#include "launch/agents/host_start.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>

#include "job/limits.h"
#include "job/packed_table.h"

namespace gex::launch {

namespace {

constexpr std::string_view name = "gexrun8 ";
constexpr std::size_t max_size = 64U << 20;

class Writer {
 public:
  void number(std::uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), 8); }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const std::string& value : values) text(value);
  }
  void remote(const RemoteStart& start) {
    texts(start.rsh);
    number(start.words.size());
    for (const auto& [host, word] : start.words) {
      text(host);
      text(word);
    }
    number(start.by_shell ? 1 : 0);
    text(start.gexrun);
  }
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// Parses the output of Writer. After an error all further results are empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number(std::uint64_t limit) {
    std::uint64_t value = 0;
    if (bytes_.size() < sizeof value) return fail();
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value <= limit ? value : fail();
  }
  std::string text() {
    const std::uint64_t size = number(bytes_.size());
    if (size > bytes_.size()) fail();
    std::string value(bytes_.substr(0, failed_ ? 0 : size));
    bytes_.remove_prefix(value.size());
    return value;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> values;
    // A text takes at least eight bytes, which bounds the count by the size of the message.
    for (std::uint64_t left = number(bytes_.size() / 8); left > 0 && !failed_; --left) {
      values.push_back(text());
    }
    return values;
  }
  RemoteStart remote() {
    RemoteStart start;
    start.rsh = texts();
    for (std::uint64_t left = number(bytes_.size() / 16); left > 0 && !failed_; --left) {
      const std::string host = text();
      start.words[host] = text();
    }
    start.by_shell = number(1) != 0;
    start.gexrun = text();
    return start;
  }
  bool complete() const noexcept { return !failed_ && bytes_.empty(); }

 private:
  std::uint64_t fail() {
    failed_ = true;
    bytes_ = {};
    return 0;
  }

  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace

std::string pack(const HostStart& start) {
  const Launch& launch = start.launch;
  Writer body;
  body.text({reinterpret_cast<const char*>(start.secret.bytes().data()), Secret::size});
  body.number(start.root.port);
  body.texts(start.root.hosts);
  body.number(launch.hosts.size());
  for (const job::HostPart& part : launch.hosts) body.text(part.name);
  body.number(launch.hosts.ranks());
  const std::vector<std::byte> host_of = job::pack_rows(launch.hosts.host_of());
  body.text({reinterpret_cast<const char*>(host_of.data()), host_of.size()});
  body.number(launch.host);
  body.number(launch.tag_output ? 1 : 0);
  const OutputTerminals& terminals = launch.terminals;
  body.number(terminals.output ? 1 : 0);
  body.number(terminals.error ? 1 : 0);
  body.number(terminals.same ? 1 : 0);
  body.number(terminals.rows);
  body.number(terminals.columns);
  body.number(static_cast<std::uint64_t>(launch.bind));
  body.number(launch.verbose ? 1 : 0);
  body.text(start.directory);
  body.texts(launch.command);
  body.texts(start.environment);
  body.remote(start.remote);
  body.number(start.below.size());
  for (const std::uint32_t host : start.below) body.number(host);
  char size[start_prefix - name.size() + 1];
  std::snprintf(size, sizeof size, "%08zx", body.bytes().size());
  return std::string(name) + size + body.bytes();
}

std::optional<std::size_t> packed_size(std::string_view prefix) {
  if (prefix.size() != start_prefix || !prefix.starts_with(name)) return std::nullopt;
  prefix.remove_prefix(name.size());
  std::size_t size = 0;
  const auto [rest, error] = std::from_chars(prefix.begin(), prefix.end(), size, 16);
  if (error != std::errc() || rest != prefix.end() || size > max_size) return std::nullopt;
  return size;
}

namespace {

/// Adds exactly `size` bytes.
bool read_exactly(int descriptor, std::string& bytes, std::size_t size) {
  std::size_t at = bytes.size();
  bytes.resize(at + size);
  while (at < bytes.size()) {
    const ssize_t more = read(descriptor, bytes.data() + at, bytes.size() - at);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    at += static_cast<std::size_t>(more);
  }
  return true;
}

}  // namespace

std::string read_start_message(int descriptor, std::string& message) {
  const bool has_prefix = read_exactly(descriptor, message, start_prefix);
  const auto size = packed_size(message);
  if (has_prefix && !size && message.starts_with("gexrun"))
    return "the gexrun that started the job is of another version than this one; --prefix DIR "
           "names "
           "the folder of the same version here";
  if (!size || !read_exactly(descriptor, message, *size))
    return std::string(host_part_argument) +
           " is internal: gexrun uses it on other hosts, where no startup file of the shell may "
           "read standard input";
  return {};
}

namespace {

/// Reads the number of each rank's host.
bool place_ranks(Reader& body, job::HostParts& hosts) {
  const std::uint64_t ranks = body.number(job::max_ranks);
  const std::string packed = body.text();
  if (ranks == 0) return false;
  const auto numbers = job::unpack_rows<std::uint32_t>(std::as_bytes(std::span(packed)), ranks);
  if (!numbers) return false;
  for (const std::uint32_t host : *numbers) {
    if (host >= hosts.size()) return false;
    hosts.place_next(host);
  }
  return true;
}

}  // namespace

std::optional<HostStart> unpack(std::string_view bytes) {
  Reader body(bytes);
  HostStart start;
  const std::string secret = body.text();
  if (secret.size() != Secret::size) return std::nullopt;
  Secret::Bytes key;
  std::memcpy(key.data(), secret.data(), key.size());
  start.secret = Secret(key);
  start.root.port = static_cast<std::uint16_t>(body.number(0xffff));
  start.root.hosts = body.texts();
  job::HostParts& hosts = start.launch.hosts;
  for (std::uint64_t left = body.number(job::max_ranks); left > 0; --left) hosts.add(body.text());
  if (hosts.size() == 0) return std::nullopt;
  if (!place_ranks(body, hosts)) return std::nullopt;
  for (const job::HostPart& part : hosts) {
    if (part.ranks.empty()) return std::nullopt;
  }
  start.launch.host = static_cast<std::uint32_t>(body.number(job::max_ranks));
  start.launch.tag_output = body.number(1) != 0;
  OutputTerminals& terminals = start.launch.terminals;
  terminals.output = body.number(1) != 0;
  terminals.error = body.number(1) != 0;
  terminals.same = body.number(1) != 0;
  terminals.rows = static_cast<std::uint16_t>(body.number(0xffff));
  terminals.columns = static_cast<std::uint16_t>(body.number(0xffff));
  start.launch.bind = static_cast<Bind>(body.number(static_cast<std::uint64_t>(Bind::share)));
  start.launch.verbose = body.number(1) != 0;
  start.directory = body.text();
  start.launch.command = body.texts();
  start.environment = body.texts();
  start.remote = body.remote();
  for (std::uint64_t left = body.number(job::max_ranks); left > 0; --left)
    start.below.push_back(static_cast<std::uint32_t>(body.number(hosts.size() - 1)));
  if (!body.complete() || start.launch.host >= hosts.size() || start.launch.command.empty()) {
    return std::nullopt;
  }
  return start;
}

}  // namespace gex::launch
