#include "options.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "../shell_words.h"
#include "job/limits.h"
#include "launch/local/binding.h"

namespace gexrun {

namespace {

constexpr const char* usage =
    R"(Usage: gexrun -n N [OPTION]... PROGRAM [ARGUMENT]...
       gexrun --report [JOB] [--json]
Runs PROGRAM as a job of N ranks, on this machine or on several, and exits with the status of the
first rank that fails, or 0.

  -n, -np, --ranks N     number of ranks, 1 to 1048576
      --conduit C        network of the job (sets GEX_CONDUIT; gexinfo lists what there is)
      --hosts LIST       run on these hosts, NAME or NAME:SLOTS each, separated by commas: each
                         takes as many ranks as it has slots (1 if not given). Without it:
                         the hosts of the batch system's allocation, or this one
      --hostfile FILE    the same, one host a line: NAME, NAME:SLOTS or NAME slots=SLOTS
      --map block|cyclic
                         fill the hosts one after the other, each with consecutive ranks, or give
                         them one rank each in turn (default: block)
      --rsh COMMAND      reaches the other hosts: run as COMMAND HOST PROGRAM ARGUMENT..., it
                         runs the program there (default: ssh, or the batch system's own;
                         COMMAND may have options, and quotes as for a shell)
      --prefix DIR       where libgex is installed on the other hosts (default: as here)
  -E NAME=VALUE          set a variable in the environment of the ranks; VALUE is all the rest of
                         the argument, commas too. Repeat -E for each variable. Names before it,
                         as in -E NAME,NAME, are ignored: the ranks get all variables of gexrun
      --trace FILE       record calls, messages, handlers and waits of rank R in FILE.R (sets
                         GEX_TRACE); gextrace makes a timeline and a summary of them
      --tag-output       begin each line that a rank prints with "[RANK] "
      --bind share|core|none
                         bind each rank to an equal share of its host's processors, or the r-th
                         rank of a host to its r-th processor, or nothing (default: GEX_BIND,
                         or share, which does not change a binding by the user)
      --timeout S        end the job with status 124 if it has not ended after S seconds
      --hang-after S         once nothing has completed and no message has arrived for S seconds while
                         a rank waits, print which ranks wait for which others and why
                         (default: GEX_HANG_AFTER, or never)
      --hang-action report|end
                         then go on (the default), or end the job with status 1
      --hang-report FILE write that report as JSON to FILE as well
      --report           report at once of a job that runs on this machine. JOB: the process id of
                         its gexrun, or of one of its ranks; without it: list your jobs
      --json             of --report: as JSON
      --debugger D       run each rank under gdb, which prints backtraces when one crashes, or
                         under valgrind
  -v, --verbose          print what is done
  -h, --help             print this and exit
      --version          print the version and exit

Standard input goes to rank 0. Output of the ranks is forwarded in whole lines; on a terminal the
beginning of a line is shown after a tenth of a second. SIGINT, SIGTERM and SIGHUP go to the ranks
and end the job; a second one kills them. Other signals are forwarded.

Firewalls: GEX_PORTS=FIRST-LAST names the ports that gexrun and the ranks may listen on.

Exit status: the job's. 1 when libgex ends the job for an error, or gexrun cannot run it; 2 for a
wrong command line; 124 when the time limit of --timeout is over; 126 or 127 when PROGRAM cannot be
executed or is missing; 128+S when a rank is killed by signal S.
)";

enum LongOption {
  conduit = 256,
  hosts,
  hostfile,
  map,
  rsh,
  prefix,
  trace,
  hang_after,
  hang_action,
  hang_report,
  report,
  json,
  tag_output,
  bind,
  timeout,
  debugger,
  version
};

constexpr option long_options[] = {
    {"ranks", required_argument, nullptr, 'n'},
    {"conduit", required_argument, nullptr, conduit},
    {"hosts", required_argument, nullptr, hosts},
    {"hostfile", required_argument, nullptr, hostfile},
    {"map", required_argument, nullptr, map},
    {"rsh", required_argument, nullptr, rsh},
    {"prefix", required_argument, nullptr, prefix},
    {"trace", required_argument, nullptr, trace},
    {"hang-after", required_argument, nullptr, hang_after},
    {"hang-action", required_argument, nullptr, hang_action},
    {"hang-report", required_argument, nullptr, hang_report},
    {"report", no_argument, nullptr, report},
    {"json", no_argument, nullptr, json},
    {"tag-output", no_argument, nullptr, tag_output},
    {"bind", required_argument, nullptr, bind},
    {"timeout", required_argument, nullptr, timeout},
    {"debugger", required_argument, nullptr, debugger},
    {"verbose", no_argument, nullptr, 'v'},
    {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, version},
    {nullptr, 0, nullptr, 0},
};

std::optional<std::uint32_t> parse_ranks(std::string_view text) {
  const std::optional<std::uint32_t> ranks = gex::cmd::whole_number(text);
  return ranks && *ranks >= 1 && *ranks <= gex::job::max_ranks ? ranks : std::nullopt;
}

std::optional<double> parse_seconds(std::string_view text) {
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seconds);
  if (error != std::errc() || rest != end || !std::isfinite(seconds) || seconds <= 0) {
    return std::nullopt;
  }
  return seconds;
}

std::optional<pid_t> parse_process(std::string_view text) {
  pid_t process = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, process);
  if (error != std::errc() || rest != end || process <= 0) return std::nullopt;
  return process;
}

/// Why no file can be written under that name, or null.
const char* why_no_file(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) return std::strerror(errno);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return std::strerror(EISDIR);
  return nullptr;
}

/// Parses an argument of -E and adds the assignment at its end, if any. Names before it are
/// ignored, since the ranks inherit the environment. Returns false if a name is empty.
bool add_variables(std::string_view argument, Options& options) {
  for (;;) {
    const std::size_t end = argument.find_first_of(",=");
    const std::string_view name = argument.substr(0, end);
    if (name.empty()) return false;
    if (end == argument.npos) return true;
    const bool assigned = argument[end] == '=';
    argument.remove_prefix(end + 1);
    if (assigned) {
      options.variables.emplace_back(name, argument);
      return true;
    }
  }
}

/// Where the ranks run `env NAME=VALUE... PROGRAM`, what it sets of libgex holds for gexrun too,
/// which reads some variables itself.
void add_variables_of_env_command(Options& options) {
  const std::vector<std::string>& words = options.command;
  if (std::filesystem::path(words.front()).filename() != "env") return;
  for (auto word = words.begin() + 1; word != words.end(); ++word) {
    const std::size_t end = word->find('=');
    if (end == word->npos || word->starts_with('-')) return;
    if (word->starts_with("GEX_") || word->starts_with("GASNET_"))
      options.variables.emplace_back(word->substr(0, end), word->substr(end + 1));
  }
}

/// Takes an option of where and how ranks run. Returns why it is refused; empty: it is taken.
std::string take_of_place(int option, const std::string& value, Options& options) {
  if (option == conduit) {
    if (value.empty()) return "--conduit needs a name";
    options.conduit = value;
  } else if (option == hosts) {
    const std::string why = gex::launch::add_hosts(value, options.hosts);
    if (!why.empty()) return "--hosts: " + why;
  } else if (option == hostfile) {
    const std::string why = gex::launch::add_hosts_of_file(value, options.hosts);
    if (!why.empty()) return "--hostfile: " + why;
  } else if (option == map) {
    if (value != "block" && value != "cyclic")
      return "--map '" + value + "' is neither block nor cyclic";
    options.map = value == "cyclic" ? gex::launch::Map::cyclic : gex::launch::Map::block;
  } else if (option == rsh) {
    auto words = gex::cmd::shell_words(value);
    if (!words) return "--rsh '" + value + "' has an open quote";
    if (words->empty()) return "--rsh needs a command";
    options.rsh = *std::move(words);
  } else if (option == prefix) {
    options.prefix = value;
  } else if (option == bind) {
    options.bind = gex::launch::parse_bind(value);
    if (!options.bind) return "--bind '" + value + "' is " + gex::launch::bind_words;
  }
  return {};
}

/// Takes an option of reports and limits. Returns why it is refused; empty: it is taken.
std::string take_of_report(int option, const std::string& value, Options& options) {
  if (option == trace) {
    if (value.empty()) return "--trace needs the name of a file";
    // Ranks may have another working directory.
    std::error_code error;
    options.trace = std::filesystem::absolute(value, error).string();
    if (error) return "--trace '" + value + "': " + error.message();
  } else if (option == hang_after) {
    options.hang_after = parse_seconds(value);
    if (!options.hang_after)
      return "--hang-after '" + value + "' is not a number of seconds above 0";
  } else if (option == hang_action) {
    options.hang_action = gex::launch::parse_hang_action(value);
    if (!options.hang_action) return "--hang-action '" + value + "' is neither report nor end";
  } else if (option == hang_report) {
    if (value.empty()) return "--hang-report needs the name of a file";
    if (const char* const why = why_no_file(value); why != nullptr)
      return "--hang-report '" + value + "' cannot be written: " + why;
    options.hang_report = value;
  } else if (option == timeout) {
    options.time_limit = parse_seconds(value);
    if (!options.time_limit) return "--timeout '" + value + "' is not a number of seconds above 0";
  } else if (option == debugger) {
    if (value != "gdb" && value != "valgrind")
      return "--debugger '" + value + "' is neither gdb nor valgrind";
    options.debugger = value == "gdb" ? Debugger::gdb : Debugger::valgrind;
  }
  return {};
}

/// Takes any option but those that end the reading. Returns why it is refused; empty: it is taken.
std::string take(int option, const std::string& value, Options& options) {
  switch (option) {
    case 'n':
      options.ranks = parse_ranks(value).value_or(0);
      if (options.ranks != 0) return {};
      return "-n '" + value + "' is not a number of ranks from 1 to " +
             std::to_string(gex::job::max_ranks);
    case 'E':
      if (add_variables(value, options)) return {};
      return "-E '" + value + "' is neither NAME,... nor NAME=VALUE";
    case 'v':
      options.verbose = true;
      return {};
    case report:
      options.report = true;
      return {};
    case json:
      options.json = true;
      return {};
    case tag_output:
      options.tag_output = true;
      return {};
    case conduit:
    case hosts:
    case hostfile:
    case map:
    case rsh:
    case prefix:
    case bind:
      return take_of_place(option, value, options);
    default:
      return take_of_report(option, value, options);
  }
}

/// Completes the options of --report. Returns why they are refused; empty: they are not.
std::string complete_report(Options& options) {
  // No program follows, and so no option of a program's.
  options.json |= std::erase(options.command, "--json") != 0;
  if (options.command.size() > 1) return "--report takes one JOB";
  if (options.command.empty()) return {};
  options.reported_job = parse_process(options.command.front());
  if (options.reported_job) return {};
  return "--report '" + options.command.front() + "' is not a process id";
}

/// Completes the options of a job. Returns why they are refused; empty: they are not.
std::string complete_job(Options& options) {
  if (options.json) return "--json is for --report";
  if (options.ranks == 0) return "the number of ranks is missing: -n N";
  if (options.command.empty()) return "the program to run is missing";
  add_variables_of_env_command(options);
  if (options.hosts.empty()) return {};
  if (const std::uint64_t slots = gex::launch::slots_of(options.hosts); slots < options.ranks)
    return std::to_string(options.ranks) + " ranks do not fit into the " + std::to_string(slots) +
           " slot" + (slots == 1 ? "" : "s") + " of the hosts";
  if (options.debugger == Debugger::gdb)
    return "--debugger gdb works on this host only, without --hosts";
  return {};
}

}  // namespace

Reading read_command_line(int count, char** arguments) {
  Options options;
  // The words after the program's name are its arguments.
  const gex::cmd::OptionReader reader("gexrun", count, arguments, "n:E:vh", long_options);
  for (int found; (found = reader.next()) != -1;) {
    std::string value = reader.value();
    if (found == 'h') return {{}, usage, 0};
    if (found == version) return reader.version<Options>();
    if (found == ':' || found == '?') return reader.refuse_option<Options>(found);
    if (found == 'n' && std::strcmp(reader.word(), "-np") == 0) {
      const char* const number = reader.take_word();
      if (number == nullptr) return reader.refuse<Options>("option -np needs a value");
      value = number;
    }
    const std::string why = take(found, value, options);
    if (!why.empty()) return reader.refuse<Options>(why);
  }
  options.command.assign(reader.rest().begin(), reader.rest().end());
  const std::string why = options.report ? complete_report(options) : complete_job(options);
  if (!why.empty()) return reader.refuse<Options>(why);
  return {std::move(options), {}, 0};
}

}  // namespace gexrun
