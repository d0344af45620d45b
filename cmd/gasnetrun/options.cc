#include "options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>

#include "environment.h"
#include "hosts.h"

namespace gasnetrun {

namespace {

using gex::cmd::OptionReader;

constexpr std::string_view gasnetrun_prefix = "gasnetrun_";

constexpr const char* gasnetrun_usage =
    R"(Usage: gasnetrun_NETWORK -n N [OPTION]... [--] PROGRAM [ARGUMENT]...
Runs PROGRAM as a job of N ranks on the network NETWORK, unless GEX_CONDUIT names another, on this
machine or on several. It is gexrun under a name and with the options that software written for
GASNet uses.

  -n, -np N       number of ranks
  -N NODES        number of machines, the first of those that are named; each takes a block of
                  ranks, all of one size or as near as can be (default: all that are named, one
                  rank each at least; if none is, this machine)
  -c CPUS         processors of a rank: a hint, of which nothing follows here
  -E VARS         comma-separated list of environment variables for the ranks
  -spawner=S      fork: ranks are started on this machine; ssh: on those that are named. mpi and
                  pmi are for mpirun and srun, with PROGRAM itself. (default: what
                  GASNET_NETWORK_SPAWNER or GASNET_SPAWNER says, else ssh where machines are
                  named and the network, unlike smp and emu, leads from one to the other)
  -v              say what is done
  -t              print the command that would be run, and do no more
  -k              keep temporary files: there are none
  -h, --help      print this and exit
      --version   print the version and exit

Machines are named by the first of these variables that is set: GASNET_SSH_NODEFILE (a file, one
name a line), GASNET_SSH_SERVERS, SSH_SERVERS (lists), GASNET_NODEFILE (a file). They are reached as
GASNET_SSH_CMD and GASNET_SSH_OPTIONS say (default: ssh).

Exit status: 2 for a wrong command line; otherwise gexrun's.
)";

constexpr const char* amudprun_usage =
    R"(Usage: amudprun -np N [OPTION]... [--] PROGRAM [ARGUMENT]...
Runs PROGRAM as a job of N ranks, on this machine or on several. It is gexrun under a name and with
the options that software written for GASNet uses.

  -np, -n, -N N   number of ranks
  -spawn F        how ranks are started: L, on this machine; S, over ssh, each on the next of the
                  servers that are named; C and others are refused (default: what GASNET_SPAWNFN
                  says, else S where servers are named)
  -depth D        depth of the network: a hint, of which nothing follows here
  -E VARS         comma-separated list of environment variables for the ranks
  -v              say what is done
  -h, --help      print this and exit
      --version   print the version and exit

Servers are named by the first of these that is set: GASNET_SSH_NODEFILE, a file with one on each
line; GASNET_SSH_SERVERS, SSH_SERVERS, lists; GASNET_NODEFILE. One that stands several times takes
several ranks, consecutive ones. They are reached as GASNET_SSH_CMD and GASNET_SSH_OPTIONS say
(default: ssh).

Exit status: 2 for a wrong command line; otherwise gexrun's.
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

/// The number above 0 that `text` is.
std::optional<std::uint32_t> count_of(std::string_view text) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || rest != end || count < 1) return std::nullopt;
  return count;
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Where ranks are started; `either`: on the hosts that are named, and on this machine if none is.
enum class Start { here, on_hosts, either };

/// What the user asks for.
struct Asked {
  std::string network;      ///< that the job runs on, if that is known here
  std::string how;          ///< a spawner, for amudprun a spawn function; empty: not said
  std::uint32_t nodes = 0;  ///< 0: not said
};

/// Nothing when there is no such spawner.
std::optional<Start> start_of_spawner(const std::string& spawner) {
  if (spawner.empty()) return Start::either;
  if (spawner == "fork") return Start::here;
  if (spawner == "ssh") return Start::on_hosts;
  return std::nullopt;
}
std::optional<Start> start_of_function(const std::string& function) {
  if (function.empty()) return Start::either;
  if (upper(function) == "L") return Start::here;
  if (upper(function) == "S") return Start::on_hosts;
  return std::nullopt;
}

/// Networks that are in every libgex and are of one machine; of others it is theirs to say.
bool is_of_one_machine(const std::string& network) {
  return network == "smp" || network == "emu";
}

std::string plural(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Gives the ranks to the hosts that are named; why they cannot have them, or empty.
std::string place_on_nodes(const Asked& asked, const NamedHosts& named, Options& options) {
  const std::string nodes = "-N " + std::to_string(asked.nodes) + ": ";
  const std::vector<std::string> hosts = without_repetitions(named.names);
  if (asked.nodes > hosts.size()) {
    return nodes + named.variable + " names " + plural(hosts.size(), "machine");
  }
  if (asked.nodes > options.ranks) return nodes + "too many for " + plural(options.ranks, "rank");
  const std::size_t used =
      asked.nodes > 0 ? asked.nodes : std::min<std::size_t>(hosts.size(), options.ranks);
  options.hosts = blocks(std::span(hosts).first(used), options.ranks);
  return {};
}
std::string place_on_servers(const NamedHosts& named, Options& options) {
  if (named.names.size() < options.ranks) {
    return plural(options.ranks, "rank") + " need as many server names, and " + named.variable +
           " names " + std::to_string(named.names.size()) +
           " (name a server once for each of its ranks)";
  }
  for (std::size_t rank = 0; rank < options.ranks; ++rank) {
    options.hosts += (rank == 0 ? "" : ",") + named.names[rank];
  }
  return {};
}

/// Decides where ranks are started; why they cannot be, or empty.
std::string place(bool amudprun, const Asked& asked, Options& options) {
  const std::string spawner = (amudprun ? "spawn function '" : "spawner '") + asked.how + "'";
  const auto start = amudprun ? start_of_function(asked.how) : start_of_spawner(asked.how);
  if (!start) {
    return spawner + " is not supported; available: " +
           (amudprun ? "L, this machine, and S, ssh" : "fork, on this machine, and ssh") +
           "; mpirun and srun start the program itself";
  }
  const bool several_asked = asked.nodes > 1;
  const std::string nodes = "-N " + std::to_string(asked.nodes);
  if (is_of_one_machine(asked.network) && (*start == Start::on_hosts || several_asked)) {
    return (several_asked ? nodes : spawner) + ": the network " + asked.network +
           " works on one machine only";
  }
  if (*start == Start::here && several_asked) {
    return nodes + ": " + spawner + " starts ranks on this machine";
  }
  if (*start == Start::here || is_of_one_machine(asked.network)) return {};
  const NamedHosts named = named_hosts();
  if (!named.mistake.empty()) return named.mistake;
  if (named.names.empty()) {
    if (*start == Start::either && !several_asked) return {};
    return (several_asked ? nodes : spawner) +
           ": no machines are named, in GASNET_SSH_SERVERS or GASNET_SSH_NODEFILE";
  }
  options.rsh = remote_shell();
  return amudprun ? place_on_servers(named, options) : place_on_nodes(asked, named, options);
}

/// The network of the job, if launcher or environment say it. Who names one in the environment
/// means this job; the launcher's name is in a script.
std::string network_of_job(const std::string& launcher) {
  const std::string chosen = variable("GEX_CONDUIT");
  return chosen.empty() ? network_of(launcher) : chosen;
}

/// The spawner that the environment asks for. GASNET_SPAWNER is for networks that have a choice.
std::string spawner_of_environment(const std::string& launcher, const std::string& network) {
  std::string spawner = variable("GASNET_" + upper(network_of(launcher)) + "_SPAWNER");
  if (spawner.empty() && !is_of_one_machine(network)) spawner = variable("GASNET_SPAWNER");
  return spawner;
}

}  // namespace

std::string network_of(const std::string& launcher) {
  return launcher.starts_with(gasnetrun_prefix) ? launcher.substr(gasnetrun_prefix.size()) : "";
}

Reading read_command_line(const std::string& launcher, int count, char** arguments) {
  const bool amudprun = launcher == "amudprun";
  Options options;
  Asked asked;
  asked.network = network_of_job(launcher);
  asked.how =
      amudprun ? variable("GASNET_SPAWNFN") : spawner_of_environment(launcher, asked.network);
  const OptionReader reader(launcher, count, arguments, amudprun ? "n:N:E:vh" : "n:N:c:E:vtkh",
                            amudprun ? amudprun_options : gasnetrun_options,
                            OptionReader::Dashes::one);
  for (int found; (found = reader.next()) != -1;) {
    const std::string value = reader.value();
    switch (found) {
      case 'N':
        if (!amudprun) {
          const auto nodes = count_of(value);
          if (!nodes) {
            return reader.refuse<Options>("-N '" + value + "' is not a number of machines");
          }
          asked.nodes = *nodes;
          break;
        }
        [[fallthrough]];
      case 'n': {
        const auto ranks = count_of(value);
        if (!ranks) return reader.refuse<Options>("-n '" + value + "' is not a number of ranks");
        options.ranks = *ranks;
        break;
      }
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
      case spawn:
        asked.how = value;
        break;
      case 'h':
        return {{}, amudprun ? amudprun_usage : gasnetrun_usage, 0};
      case version:
        return reader.version<Options>();
      default:
        return reader.refuse_option<Options>(found);
    }
  }
  options.command.assign(reader.rest().begin(), reader.rest().end());
  if (options.ranks == 0) return reader.refuse<Options>("the number of ranks is missing: -n N");
  if (options.command.empty()) return reader.refuse<Options>("the program to run is missing");
  const std::string refusal = place(amudprun, asked, options);
  if (!refusal.empty()) return reader.refuse<Options>(refusal);
  return {std::move(options), {}, 0};
}

}  // namespace gasnetrun
