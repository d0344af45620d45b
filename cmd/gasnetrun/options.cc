#include "options.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace gasnetrun {

namespace {

using gex::cmd::OptionReader;

constexpr std::string_view gasnetrun_prefix = "gasnetrun_";

constexpr const char* gasnetrun_usage =
    R"(Usage: gasnetrun_NETWORK -n N [OPTION]... [--] PROGRAM [ARGUMENT]...
Runs PROGRAM as a job of N ranks on this machine and on the network NETWORK, unless GEX_CONDUIT names
another. It is gexrun under a name and with the options that software written for GASNet uses.

  -n, -np N       number of ranks
  -N NODES        number of machines: 1
  -c CPUS         processors of a rank: a hint, of which nothing follows here
  -E VARS         comma-separated list of environment variables for the ranks
  -spawner=fork   how ranks are started; ssh, mpi and pmi are refused
  -v              say what is done
  -t              print the command that would be run, and do no more
  -k              keep temporary files: there are none
  -h, --help      print this and exit
      --version   print the version and exit
)";

constexpr const char* amudprun_usage =
    R"(Usage: amudprun -np N [OPTION]... [--] PROGRAM [ARGUMENT]...
Runs PROGRAM as a job of N ranks on this machine. It is gexrun under a name and with the options that
software written for GASNet uses.

  -np, -n, -N N   number of ranks
  -spawn L        how ranks are started: L, on this machine; S, C and others are refused
  -depth D        depth of the network: a hint, of which nothing follows here
  -E VARS         comma-separated list of environment variables for the ranks
  -v              say what is done
  -h, --help      print this and exit
      --version   print the version and exit
)";

enum LongOption { spawner = 256, spawn, depth, version };

constexpr option gasnetrun_options[] = {
    {"np", required_argument, nullptr, 'n'},
    {"spawner", required_argument, nullptr, spawner},
    {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, version},
    {nullptr, 0, nullptr, 0},
};

constexpr option amudprun_options[] = {
    {"np", required_argument, nullptr, 'n'},      {"spawn", required_argument, nullptr, spawn},
    {"depth", required_argument, nullptr, depth}, {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, version},   {nullptr, 0, nullptr, 0},
};

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// The first of these environment variables that is set and not empty, or "".
std::string variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// What cannot be done about a way to start ranks; empty when it is the one there is.
std::string refusal_of_spawner(const std::string& asked) {
  if (asked.empty() || asked == "fork") return {};
  return "spawner '" + asked + "' is not here: ranks are started on this machine (-spawner=fork)";
}
std::string refusal_of_spawn_function(const std::string& asked) {
  if (asked.empty() || upper(asked) == "L") return {};
  return "spawn function '" + asked + "' is not here: ranks are started on this machine (-spawn L)";
}

}  // namespace

std::string network_of(const std::string& launcher) {
  return launcher.starts_with(gasnetrun_prefix) ? launcher.substr(gasnetrun_prefix.size()) : "";
}

Reading read_command_line(const std::string& launcher, int count, char** arguments) {
  const bool amudprun = launcher == "amudprun";
  Options options;
  // GASNET_SPAWNER is for networks that have a choice of spawners: ranks of these are forked.
  std::string asked_spawner = variable("GASNET_" + upper(network_of(launcher)) + "_SPAWNER");
  std::string asked_function = variable("GASNET_SPAWNFN");
  const OptionReader reader(launcher, count, arguments, amudprun ? "n:N:E:vh" : "n:N:c:E:vtkh",
                            amudprun ? amudprun_options : gasnetrun_options,
                            OptionReader::Dashes::one);
  for (int found; (found = reader.next()) != -1;) {
    const std::string value = reader.value();
    switch (found) {
      case 'N':
        if (!amudprun) {
          if (!is_number(value)) {
            return reader.refuse<Options>("-N '" + value + "' is not a number of machines");
          }
          if (value != "1") {
            return reader.refuse<Options>("-N " + value + ": a job runs on one machine");
          }
          break;
        }
        [[fallthrough]];
      case 'n':
        if (!is_number(value)) {
          return reader.refuse<Options>("-n '" + value + "' is not a number of ranks");
        }
        options.ranks = value;
        break;
      case 'c':
        if (!is_number(value)) {
          return reader.refuse<Options>("-c '" + value + "' is not a number of processors");
        }
        break;
      case 'E':
        if (!value.empty()) options.variables.push_back(value);
        break;
      case 'v':
        options.verbose = true;
        break;
      case 't':
        options.only_print = true;
        break;
      case 'k':
      case depth:
        break;
      case spawner:
        asked_spawner = value;
        break;
      case spawn:
        asked_function = value;
        break;
      case 'h':
        return {{}, amudprun ? amudprun_usage : gasnetrun_usage, 0};
      case version:
        return reader.version<Options>();
      default:
        return reader.refuse_option<Options>(found);
    }
  }
  const std::string refusal =
      amudprun ? refusal_of_spawn_function(asked_function) : refusal_of_spawner(asked_spawner);
  if (!refusal.empty()) return reader.refuse<Options>(refusal);
  options.command.assign(reader.rest().begin(), reader.rest().end());
  if (options.ranks.empty()) return reader.refuse<Options>("the number of ranks is missing: -n N");
  if (options.command.empty()) return reader.refuse<Options>("the program to run is missing");
  return {std::move(options), {}, 0};
}

}  // namespace gasnetrun
