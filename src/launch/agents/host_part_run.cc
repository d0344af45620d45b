#include "launch/agents/host_part_run.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/os_host.h"
#include "launch/agents/branch.h"
#include "launch/agents/host_start.h"
#include "launch/agents/task_shell.h"
#include "launch/local/launcher.h"
#include "launch/report.h"

namespace gex::launch {

void run_host_part(const char* program_name, const std::string& plugin_folder,
                   const std::string& task_file) {
  std::string message;
  std::string why = task_file.empty() ? read_start_message(STDIN_FILENO, message)
                                      : enter_task(task_file, message);
  auto start = why.empty() ? unpack(std::string_view(message).substr(start_prefix)) : std::nullopt;
  if (!start) {
    report(program_name, "host %s: %s", os::hostname().c_str(),
           why.empty() ? "the start message is not valid" : why.c_str());
    _exit(reported_status);
  }
  Launch& launch_here = start->launch;
  launch_here.program_name = program_name;
  const char* const host = launch_here.part().name.c_str();
  if (chdir(start->directory.c_str()) != 0) {
    report(program_name, "host %s: cannot change to the folder '%s': %s", host,
           start->directory.c_str(), std::strerror(errno));
    _exit(reported_status);
  }
  for (const std::string& variable : start->environment) {
    const std::size_t equals = variable.find('=');
    if (equals == variable.npos || equals == 0) continue;
    setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
  }
  // The folder may differ from the one on the root's host (--prefix).
  setenv("GEX_PLUGIN_FOLDER", plugin_folder.c_str(), 1);
  const bool is_branch = !start->below.empty();
  const std::uint32_t number = launch_here.host + (is_branch ? launch_here.hosts.size() : 0);
  RootConnection root = connect_to_root(start->root, start->secret, number, why);
  if (!root) {
    report(program_name, "host %s: cannot connect to the gexrun that has started this one: %s",
           host, why.c_str());
    _exit(reported_status);
  }
  if (is_branch) _exit(run_branch(*start, std::move(root)));
  launch_here.root = root.socket.release();
  launch_here.root_keys = root.keys;
  launch(launch_here);
  _exit(reported_status);
}

}  // namespace gex::launch
