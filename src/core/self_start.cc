#include "core/self_start.h"

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/os_proc.h"
#include "core/client_notes.h"
#include "job/limits.h"

namespace gex {

namespace {

constexpr const char* label = "udp";

/// Returns the name of what asks for ranks on other machines; empty: nothing does.
std::string asks_for_machines() {
  const std::string how = env::text(env::Variable::spawn_function);
  if (how == "L" || how == "l") return {};
  if (!how.empty()) return "GASNET_SPAWNFN=" + how;
  for (const char* const name :
       {"GASNET_SSH_NODEFILE", "GASNET_SSH_SERVERS", "SSH_SERVERS", "GASNET_NODEFILE"}) {
    if (env::value(name)) return name;
  }
  return {};
}

/// The command line of a client that passes none to gex_Client_Init; empty if it cannot be read.
struct OwnCommandLine {
  std::string text;
  std::vector<char*> words;
  char** arguments = nullptr;
  int count = 0;

  OwnCommandLine() : text(os::command_line()) {
    for (std::size_t at = 0; at < text.size(); at += std::strlen(&text[at]) + 1)
      words.push_back(&text[at]);
    count = static_cast<int>(words.size());
    words.push_back(nullptr);
    arguments = words.data();
  }
};

/// Returns only by the end of the process.
[[noreturn]] void become_amudprun(const std::string& reason, const CommandLine& line) {
  std::string program(PATH_MAX, '\0');
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size());
  program.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  if (program.empty()) program = (*line.arguments)[0];
  std::string launcher = "amudprun";
  std::string option = "-np";
  std::vector<char*> words = {launcher.data(), option.data(), (*line.arguments)[1], program.data()};
  for (int i = 2; i < *line.count; ++i) words.push_back((*line.arguments)[i]);
  words.push_back(nullptr);
  execvp(words[0], words.data());
  fatal(
      "%s asks for ranks on other machines, which amudprun starts, but amudprun cannot be "
      "executed: "
      "%s; add the folder of libgex's programs to PATH, or set GASNET_SPAWNFN=L for ranks on this "
      "machine",
      reason.c_str(), std::strerror(errno));
}

}  // namespace

std::uint32_t take_ranks(const CommandLine& given) {
  if (read_client_notes().conduit != label) return 0;
  OwnCommandLine own;
  const bool is_given = given.count != nullptr && given.arguments != nullptr;
  const CommandLine line = is_given ? given : CommandLine{&own.count, &own.arguments};
  if (*line.count < 2) return 0;
  char** const arguments = *line.arguments;
  const auto ranks = env::parse_integer(arguments[1]);
  if (!ranks || *ranks < 1 || *ranks > job::max_ranks) {
    fatal(
        "the first argument of %s is '%s', not a number of ranks from 1 to %u: without a launcher "
        "a program of the network %s is called with that number before its own arguments "
        "(GASNET_PSHM_NODES=1: as one rank, with all of them)",
        arguments[0], arguments[1], job::max_ranks, label);
  }
  if (const std::string reason = asks_for_machines(); !reason.empty())
    become_amudprun(reason, line);
  // With the null pointer at the end. A client that passes no arguments keeps all of them.
  for (int i = 1; i < *line.count; ++i) arguments[i] = arguments[i + 1];
  --*line.count;
  return static_cast<std::uint32_t>(*ranks);
}

}  // namespace gex
