#include "hosts.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "../default_rsh.h"
#include "environment.h"

namespace gasnetrun {

namespace {

constexpr const char* blank = " \t\r\n";

/// Splits `text` at any of `separators`, without empty parts.
std::vector<std::string> parts(std::string_view text, std::string_view separators) {
  std::vector<std::string> found;
  while (true) {
    const std::size_t begin = text.find_first_not_of(separators);
    if (begin == text.npos) return found;
    text.remove_prefix(begin);
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    found.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// Adds the hosts of a file to `hosts`.
void read(const std::string& path, NamedHosts& hosts) {
  std::ifstream file(path);
  if (!file) {
    hosts.mistake = hosts.variable + ": cannot read '" + path + "': " + std::strerror(errno);
    return;
  }
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> words = parts(line.substr(0, line.find('#')), blank);
    if (!words.empty()) hosts.names.push_back(std::move(words.front()));
  }
  // A folder can be opened.
  if (file.bad()) hosts.mistake = hosts.variable + ": cannot read '" + path + "'";
  if (hosts.names.empty() && hosts.mistake.empty())
    hosts.mistake = hosts.variable + ": '" + path + "' names no host";
}

}  // namespace

NamedHosts named_hosts() {
  struct Source {
    const char* variable;
    bool is_file;
  };
  constexpr Source sources[] = {{"GASNET_SSH_NODEFILE", true},
                                {"GASNET_SSH_SERVERS", false},
                                {"SSH_SERVERS", false},
                                {"GASNET_NODEFILE", true}};
  NamedHosts hosts;
  for (const Source& source : sources) {
    const std::string value = variable(source.variable);
    if (value.find_first_not_of(source.is_file ? " \t" : " \t\r\n,") == value.npos) continue;
    hosts.variable = source.variable;
    if (source.is_file) {
      read(value, hosts);
    } else {
      hosts.names = parts(value, " \t\r\n,");
    }
    break;
  }
  for (std::string& name : hosts.names) {
    in6_addr address{};
    if (inet_pton(AF_INET6, name.c_str(), &address) == 1) name.insert(0, "[").append("]");
    if (name.front() == '[' && name.back() == ']') continue;
    // gexrun would parse a comma as the end of the name and a colon as the number of slots, and ssh
    // a dash as an option.
    if (hosts.mistake.empty() && (name.front() == '-' || name.find_first_of(":,") != name.npos)) {
      hosts.mistake = hosts.variable + ": '" + name + "' is not the name of a host";
    }
  }
  return hosts;
}

std::vector<std::string> without_repetitions(const std::vector<std::string>& names) {
  std::vector<std::string> once;
  for (const std::string& name : names) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(name);
  }
  return once;
}

std::string blocks(std::span<const std::string> nodes, std::uint32_t ranks) {
  std::string list;
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    const std::size_t size = ranks / nodes.size() + (node < ranks % nodes.size() ? 1 : 0);
    list += (node == 0 ? "" : ",") + nodes[node] + ":" + std::to_string(size);
  }
  return list;
}

std::string remote_shell() {
  std::string command = either_variable("GASNET_SSH_CMD", "SSH_CMD");
  const std::string options = either_variable("GASNET_SSH_OPTIONS", "SSH_OPTIONS");
  if (command.empty() && options.empty()) return {};
  // For plain ssh use gexrun's default options, with which it never asks for a password.
  if (command.empty() || command == "ssh") command = gex::cmd::default_rsh;
  return options.empty() ? command : command + " " + options;
}

}  // namespace gasnetrun
