#pragma once
// How a command is started on another host.

#include <map>
#include <string>
#include <vector>

namespace gex::launch {

struct RemoteStart {
  std::vector<std::string> rsh;              ///< the words before the host's name and the command
  std::map<std::string, std::string> words;  ///< the word for a host where it is not its name
  bool by_shell = true;                      ///< a shell splits the command into words there
  bool from_all_hosts = true;                ///< the job's hosts start others by it too
  std::string gexrun;                        ///< path of gexrun on the other host
};

}  // namespace gex::launch
