// gasnetrun_<network> and amudprun: the launchers that software written for GASNet calls. One
// program under all these names; it translates the options to gexrun's, and executes the gexrun in
// its folder.

#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/shell_word.h"
#include "environment.h"
#include "options.h"

namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// The path of gexrun, in the folder of this program's file; links to it are resolved.
std::string gexrun() {
  std::string path(PATH_MAX, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return path.substr(0, path.rfind('/') + 1) + "gexrun";
}

std::vector<std::string> gexrun_command(const std::string& network,
                                        const gasnetrun::Options& options) {
  std::vector<std::string> words = {gexrun(), "-n", std::to_string(options.ranks)};
  // The environment overrides the launcher's name.
  if (!network.empty() && gasnetrun::variable("GEX_CONDUIT").empty())
    words.insert(words.end(), {"--conduit", network});
  if (!options.hosts.empty()) words.insert(words.end(), {"--hosts", options.hosts});
  if (!options.rsh.empty()) words.insert(words.end(), {"--rsh", options.rsh});
  for (const std::string& list : options.variables) words.insert(words.end(), {"-E", list});
  if (options.verbose) words.emplace_back("-v");
  words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  return words;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string launcher = last_part(count > 0 ? arguments[0] : "gasnetrun");
  const gasnetrun::Reading reading = gasnetrun::read_command_line(launcher, count, arguments);
  if (!reading.message.empty()) return reading.print(launcher.c_str());
  std::vector<std::string> words = gexrun_command(gasnetrun::network_of(launcher), reading.options);
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + gex::shell_word(word);
  if (reading.options.only_print) return gex::cmd::print_output(launcher.c_str(), line + "\n");
  if (reading.options.verbose) std::fprintf(stderr, "%s: %s\n", launcher.c_str(), line.c_str());

  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  const int error = errno;
  std::fprintf(stderr, "%s: cannot execute '%s': %s\n", launcher.c_str(), words[0].c_str(),
               std::strerror(error));
  return error == ENOENT ? 127 : 126;
}
