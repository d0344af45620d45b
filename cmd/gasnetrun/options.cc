#include "options.h"

#include <algorithm>
#include <cctype>
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
machine or on several. It is gexrun with the name and options that software written for GASNet
uses.

  -n, -np N       number of ranks
  -N NODES        number of machines, the first NODES of the named ones; each gets a block of
                  ranks of equal or nearly equal size (default: all named machines, with at least
                  one rank each; this machine if none is named)
  -c CPUS         processors of a rank: accepted and ignored
  -E VARS         comma-separated list of environment variables for the ranks
  -spawner=S      fork: start all ranks on this machine, whatever -N is; ssh: on the named
                  machines; instead of mpi or pmi, run PROGRAM under mpirun or srun (default:
                  GASNET_NETWORK_SPAWNER or GASNET_SPAWNER; else ssh if machines are named and the
                  network connects machines, which smp and emu do not; else fork)
  -v              print what is done
  -t              print the command that would be run, and exit
  -k              keep temporary files: ignored, since there are none
  -h, --help      print this and exit
      --version   print the version and exit

Machines are named by the first of these variables that is set: GASNET_SSH_NODEFILE (a file, one
name a line), GASNET_SSH_SERVERS, SSH_SERVERS (lists), GASNET_NODEFILE (a file). GASNET_SSH_CMD and
GASNET_SSH_OPTIONS are the remote shell and its options (default: ssh).

Exit status: 2 for a wrong command line; otherwise gexrun's.
)";

constexpr const char* amudprun_usage =
    R"(Usage: amudprun -np N [OPTION]... [--] PROGRAM [ARGUMENT]...
Runs PROGRAM as a job of N ranks, on this machine or on several. It is gexrun with the name and
options that software written for GASNet uses.

  -np, -n, -N N   number of ranks
  -spawn F        L: start ranks on this machine; S: over ssh, each on the next of the named
                  servers; C and others are refused (default: GASNET_SPAWNFN; else S if servers
                  are named; else L)
  -depth D        depth of the network: accepted and ignored
  -E VARS         comma-separated list of environment variables for the ranks
  -v              print what is done
  -h, --help      print this and exit
      --version   print the version and exit

Servers are named by the first of these variables that is set: GASNET_SSH_NODEFILE (a file, one name
a line), GASNET_SSH_SERVERS, SSH_SERVERS (lists), GASNET_NODEFILE (a file). A server that is named
several times gets several consecutive ranks. GASNET_SSH_CMD and GASNET_SSH_OPTIONS are the remote
shell and its options (default: ssh).

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

/// Parses a number above 0.
std::optional<std::uint32_t> count_of(std::string_view text) {
  const std::optional<std::uint32_t> count = gex::cmd::whole_number(text);
  return count && *count >= 1 ? count : std::nullopt;
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

/// Where ranks are started. `either`: on the named hosts, or on this machine if none is named.
enum class Start { here, on_hosts, either };

/// The user's request.
struct Request {
  std::string network;      ///< the job's network, if it is known
  std::string how;          ///< a spawner, for amudprun a spawn function; empty: not given
  std::uint32_t nodes = 0;  ///< 0: not given
};

/// The place for a spawner or a spawn function; empty if it is not supported.
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

/// Returns true if the network works on one machine only. Other networks refuse several hosts
/// themselves.
bool is_of_one_machine(const std::string& network) {
  if (network == "smp") return true;
#define GEX_BUILT_IN_CONDUIT(name, is_of_one_machine, preference) \
  if (network == #name) return is_of_one_machine;
#define GEX_PLUGIN_CONDUIT GEX_BUILT_IN_CONDUIT
#include <declared_conduits.def>
#undef GEX_PLUGIN_CONDUIT
#undef GEX_BUILT_IN_CONDUIT
  return false;
}

std::string plural(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// Places the ranks on the named hosts. Returns a message on failure, otherwise "".
std::string place_on_nodes(const Request& request, const NamedHosts& named, Options& options) {
  const std::string nodes = "-N " + std::to_string(request.nodes) + ": ";
  const std::vector<std::string> hosts = without_repetitions(named.names);
  if (request.nodes > hosts.size()) {
    return nodes + named.variable + " names " + plural(hosts.size(), "machine");
  }
  if (request.nodes > options.ranks) return nodes + "too many for " + plural(options.ranks, "rank");
  const std::size_t used =
      request.nodes > 0 ? request.nodes : std::min<std::size_t>(hosts.size(), options.ranks);
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

/// Decides where ranks are started. Returns a message on failure, otherwise "".
std::string place(bool amudprun, const Request& request, Options& options) {
  const std::string spawner = (amudprun ? "spawn function '" : "spawner '") + request.how + "'";
  const auto start = amudprun ? start_of_function(request.how) : start_of_spawner(request.how);
  if (!start) {
    return spawner + " is not supported; available: " +
           (amudprun ? "L, this machine, and S, ssh" : "fork, on this machine, and ssh") +
           "; mpirun and srun start the program itself";
  }
  const bool several_asked = request.nodes > 1;
  const std::string nodes = "-N " + std::to_string(request.nodes);
  if (*start == Start::here) {
    // Whatever the number of machines: launchers of runtimes that always ask for one a rank leave
    // no other way to run them on one.
    return {};
  }
  if (is_of_one_machine(request.network)) {
    if (*start == Start::either && !several_asked) return {};
    return (several_asked ? nodes : spawner) + ": the network " + request.network +
           " works on one machine only";
  }
  const NamedHosts named = named_hosts();
  if (!named.mistake.empty()) return named.mistake;
  if (named.names.empty()) {
    if (*start == Start::either && !several_asked) return {};
    return (several_asked ? nodes : spawner) +
           ": no machines are named, in GASNET_SSH_SERVERS or GASNET_SSH_NODEFILE" +
           (amudprun ? " (GASNET_SPAWNFN=L: all ranks on this machine)"
                     : " (GASNET_SPAWNER=fork: all ranks on this machine)");
  }
  options.rsh = remote_shell();
  return amudprun ? place_on_servers(named, options) : place_on_nodes(request, named, options);
}

/// The network of the job, by the environment or the launcher's name; empty if neither names one.
/// The environment goes first, since it is set for this job, and the launcher's name may stand in a
/// script.
std::string network_of_job(const std::string& launcher) {
  const std::string chosen = variable("GEX_CONDUIT");
  return chosen.empty() ? network_of(launcher) : chosen;
}

/// The spawner by the environment. GASNET_SPAWNER applies to networks with more than one.
std::string spawner_of_environment(const std::string& launcher, const std::string& network) {
  std::string spawner = variable("GASNET_" + upper(network_of(launcher)) + "_SPAWNER");
  if (spawner.empty() && !is_of_one_machine(network)) spawner = variable("GASNET_SPAWNER");
  return spawner;
}

/// Notes an option that has been read; `found` as getopt_long returns it. Returns a reading where
/// that ends the command line: with a text to print, or a refusal.
std::optional<Reading> take_option(const OptionReader& reader, int found, bool amudprun,
                                   Request& request, Options& options) {
  const std::string value = reader.value();
  switch (found) {
    case 'N':
      if (!amudprun) {
        const auto nodes = count_of(value);
        if (!nodes) return reader.refuse<Options>("-N '" + value + "' is not a number of machines");
        request.nodes = *nodes;
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
      if (!is_number(value))
        return reader.refuse<Options>("-c '" + value + "' is not a number of processors");
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
      request.how = value;
      break;
    case 'h':
      return Reading{{}, amudprun ? amudprun_usage : gasnetrun_usage, 0};
    case version:
      return reader.version<Options>();
    default:
      return reader.refuse_option<Options>(found);
  }
  return std::nullopt;
}

}  // namespace

std::string network_of(const std::string& launcher) {
  return launcher.starts_with(gasnetrun_prefix) ? launcher.substr(gasnetrun_prefix.size()) : "";
}

Reading read_command_line(const std::string& launcher, int count, char** arguments) {
  const bool amudprun = launcher == "amudprun";
  Options options;
  Request request;
  request.network = network_of_job(launcher);
  request.how =
      amudprun ? variable("GASNET_SPAWNFN") : spawner_of_environment(launcher, request.network);
  const OptionReader reader(launcher, count, arguments, amudprun ? "n:N:E:vh" : "n:N:c:E:vtkh",
                            amudprun ? amudprun_options : gasnetrun_options,
                            OptionReader::Dashes::one);
  for (int found; (found = reader.next()) != -1;)
    if (auto ended = take_option(reader, found, amudprun, request, options)) return *ended;
  options.command.assign(reader.rest().begin(), reader.rest().end());
  if (options.ranks == 0) return reader.refuse<Options>("the number of ranks is missing: -n N");
  if (options.command.empty()) return reader.refuse<Options>("the program to run is missing");
  const std::string refusal = place(amudprun, request, options);
  if (!refusal.empty()) return reader.refuse<Options>(refusal);
  return {std::move(options), {}, 0};
}

}  // namespace gasnetrun
