// gexrun: runs a program as a job of many ranks, on this machine or on several.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "../output.h"
#include "base/env.h"
#include "base/error_environment.h"
#include "base/os_file.h"
#include "base/os_host.h"
#include "debugger.h"
#include "hosts.h"
#include "launch/agents/host_part_run.h"
#include "launch/agents/host_start.h"
#include "launch/agents/launch_agents.h"
#include "launch/agents/task_shell.h"
#include "launch/hang/hang_options.h"
#include "launch/hang/report_client.h"
#include "launch/hang/report_file.h"
#include "launch/local/binding.h"
#include "launch/local/launcher.h"
#include "launch/local/spawn.h"
#include "launch/report.h"
#include "options.h"

namespace {

constexpr const char* name = "gexrun";

/// Removes the membership of an outer job, in which this gexrun runs as the program of a rank: its
/// own ranks must not inherit it.
void leave_outer_job() {
  const char* const outer = std::getenv("GEX_JOB");
  if (outer == nullptr) return;
  std::string why;
  if (const auto membership = gex::job::parse_membership(outer, why)) {
    fcntl(membership->control, F_SETFD, FD_CLOEXEC);
  }
  unsetenv("GEX_JOB");
}

/// The folder of the libgex that this gexrun was installed or built with; empty if there is none.
std::string library_folder() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::canonical("/proc/self/exe", error);
  if (error) return {};
  const fs::path folder = fs::canonical(program.parent_path() / GEX_LIBRARY_FOLDER, error);
  return error ? std::string() : folder.string();
}

/// The command line before the environment. Ranks see whether they are watched.
gex::launch::HangOptions hang_options(const gexrun::Options& options) {
  gex::launch::HangOptions hang = gex::launch::hang_options_of_environment();
  if (options.hang_after) {
    hang.after_s = *options.hang_after;
    setenv("GEX_HANG_AFTER", std::to_string(hang.after_s).c_str(), 1);
  }
  if (options.hang_action) hang.action = *options.hang_action;
  if (options.hang_report) hang.report_file = *options.hang_report;
  if (options.hang_action && hang.after_s <= 0)
    gex::launch::report(name, "--hang-action does nothing without --hang-after or GEX_HANG_AFTER");
  return hang;
}

int report_job(const gexrun::Options& options) {
  if (!options.reported_job) {
    const std::string jobs = gex::launch::list_jobs();
    if (!jobs.empty()) return gex::cmd::print_output(name, jobs);
    gex::launch::report(name, "no job of yours runs on this machine");
    return 1;
  }
  const auto report =
      gex::launch::report_of(*options.reported_job, options.json ? gex::launch::ReportFormat::json
                                                                 : gex::launch::ReportFormat::text);
  if (report) return gex::cmd::print_output(name, *report);
  gex::launch::report(name, "no job of yours on this machine has the process %d (gexrun --report)",
                      static_cast<int>(*options.reported_job));
  return 1;
}

/// The environment of the ranks, and of what the launcher itself reads of it.
void set_environment(const gexrun::Options& options) {
  leave_outer_job();
  for (const auto& [variable, value] : options.variables)
    setenv(variable.c_str(), value.c_str(), 1);
  setenv("GEX_PLUGIN_FOLDER", library_folder().c_str(), 1);
  if (!options.trace.empty()) setenv("GEX_TRACE", options.trace.c_str(), 1);
  if (!options.conduit.empty()) setenv("GEX_CONDUIT", options.conduit.c_str(), 1);
}

/// The job that is asked for, by the command line and the environment. Its `command` is empty, with
/// the reason, where that cannot be had.
gex::launch::Launch launch_of(const gexrun::Options& options, const gexrun::Hosts& hosts,
                              std::string& why) {
  gex::launch::Launch launch;
  launch.program_name = name;
  if (hosts.slots.empty())
    launch.hosts.add(gex::os::hostname(), options.ranks);
  else
    launch.hosts = gex::launch::place(options.ranks, hosts.slots, options.map);
  launch.command = gexrun::under_debugger(options.debugger, options.command, why);
  if (launch.command.empty()) return launch;
  launch.tag_output = options.tag_output;
  launch.terminals = gex::launch::output_terminals();
  // gdb gives the terminal to the program that it runs; an interrupt would end that alone.
  launch.shares_terminal = options.debugger != gexrun::Debugger::gdb;
  launch.bind = options.bind ? *options.bind : gex::launch::bind_of_environment();
  launch.verbose = options.verbose;
  launch.time_limit = options.time_limit;
  launch.exit_timeout = gex::env::seconds(gex::env::Variable::exit_timeout);
  launch.exit_grace = gex::env::seconds(gex::env::Variable::exit_grace);
  launch.hang = hang_options(options);
  return launch;
}

}  // namespace

int main(int count, char** arguments) {
  gex::os::fill_standard_descriptors();
  gex::follow_error_environment();
  const std::string_view first = count > 1 ? arguments[1] : "";
  if (count == 2 && first.starts_with(gex::launch::host_part_argument)) {
    const std::string_view rest = first.substr(std::strlen(gex::launch::host_part_argument));
    gex::launch::run_host_part(name, library_folder(),
                               std::string(rest.substr(rest.empty() ? 0 : 1)));
  }
  if (first == gex::launch::task_shell_argument)
    return gex::launch::run_task_shell(name, {arguments + 2, arguments + count});
  const gexrun::Reading reading = gexrun::read_command_line(count, arguments);
  if (!reading.message.empty()) return reading.print(name);
  const gexrun::Options& options = reading.options;
  if (options.report) return report_job(options);
  const bool nested = std::getenv("GEX_JOB") != nullptr;
  set_environment(options);

  const gexrun::Hosts hosts = gexrun::choose_hosts(options, nested);
  if (hosts.slots.empty() && gexrun::find_program(options.command.front()).empty()) {
    const int error = errno;
    gex::launch::report(name, "cannot execute '%s': %s", options.command.front().c_str(),
                        std::strerror(error));
    return gex::launch::exec_failure_status(error);
  }
  std::string why;
  gex::launch::Launch launch = launch_of(options, hosts, why);
  if (launch.command.empty()) {
    gex::launch::report(name, "%s", why.c_str());
    return 1;
  }
  if (!launch.hang.report_file.empty()) {
    const std::string no_file = gex::launch::why_no_report_file(launch.hang.report_file);
    if (!no_file.empty()) {
      gex::launch::report(name, "--hang-report '%s': %s", launch.hang.report_file.c_str(),
                          no_file.c_str());
      return 1;
    }
  }
  if (!hosts.slots.empty()) {
    why = gexrun::why_unreachable(launch.hosts, hosts);
    if (!why.empty()) {
      gex::launch::report(name, "%s", why.c_str());
      return 1;
    }
    const int status = gex::launch::run_root(launch, hosts.remote);
    if (std::ranges::find(hosts.remote.rsh, gex::launch::task_shell_argument) !=
        hosts.remote.rsh.end())
      gex::launch::remove_start_files();
    return status;
  }
  gex::launch::launch(launch);
}
