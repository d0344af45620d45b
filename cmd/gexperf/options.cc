#include "options.h"

#include <algorithm>
#include <optional>

#include "busy.h"
#include "catalogue.h"
#include "selection.h"

namespace gexperf {

namespace {

constexpr std::uint32_t max_rounds = 100000;
constexpr std::uint32_t max_runs = 1000;

/// The text of --help, with the defaults of an unchanged plan.
std::string usage() {
  const Plan plan;
  return R"(Usage: gexperf [OPTION]... [WHAT]...
Measures the limits of this machine, and libgex against them; --list explains each row. Two
ranks are bound to two processors. A run counts only if the machine was quiet.

WHAT is limits, put, get, atomic, vis, am, barrier, coll, poll, emu, ofi, udp, ucx, mpi, launch,
scale, threads, cores, cuda, or the name of a row; all but the last four if none is named. Or busy, alone
or with smp, udp, ofi, ucx, mpi, emu: operations over that network (smp) beside other programs that
gexperf starts, as multiples of what they take without them.

      --json         print an array of objects instead of a table
      --list         print the rows, the cores that they need and what they measure; measure nothing
      --rounds R     pairs of samples of subject and limit in each run (default: )" +
         std::to_string(plan.rounds) + R"()
      --runs N       quiet runs wanted (default: )" +
         std::to_string(plan.runs) + R"()
      --tries N      runs made at most to get them (default: three times as many)
      --hardware-threads
                     count each hardware thread of a core as a core
      --oversubscribe
                     measure threads and cores even where there are too few cores: a trial of the
                     programs, without figures
      --model MODEL  what emu pretends to be in the rows over it, as GEX_EMU has it (default:
                     )" +
         plan.emu_model + R"()
      --hosts A,B    two hosts between which what goes over libfabric is measured; the same folders
                     and fi_pingpong on both
      --rsh COMMAND  the command that runs others on them (default:
                     )" +
         plan.rsh + R"()
  -h, --help         print this and exit
      --version      print the version and exit

Exit status: 0 when everything was measured, whether budgets are met or not; 1 when something could not be
run; 2 for a wrong command line.
)";
}

/// The hosts of "A,B"; nothing when the text is anything else.
std::optional<Hosts> two_hosts(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  Hosts hosts{text.substr(0, comma), text.substr(comma + 1)};
  for (const std::string& host : {hosts.first, hosts.second}) {
    // A name that begins like an option would be one to ssh.
    if (host.empty() || host.front() == '-' || host.find_first_of(", \t") != host.npos) {
      return std::nullopt;
    }
  }
  return hosts;
}

enum LongOption {
  json = 256,
  list,
  rounds,
  runs,
  tries,
  hardware_threads,
  oversubscribe,
  model,
  hosts,
  rsh,
  version
};

constexpr option long_options[] = {
    {"json", no_argument, nullptr, json},
    {"list", no_argument, nullptr, list},
    {"rounds", required_argument, nullptr, rounds},
    {"runs", required_argument, nullptr, runs},
    {"tries", required_argument, nullptr, tries},
    {"hardware-threads", no_argument, nullptr, hardware_threads},
    {"oversubscribe", no_argument, nullptr, oversubscribe},
    {"model", required_argument, nullptr, model},
    {"hosts", required_argument, nullptr, hosts},
    {"rsh", required_argument, nullptr, rsh},
    {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, version},
    {nullptr, 0, nullptr, 0},
};

/// Sets a number of rounds or runs; returns why the value is invalid, or an empty text.
std::string set_number(const char* name, std::uint32_t max, unsigned& number) {
  const std::string text = gex::cmd::OptionReader::value();
  const std::optional<std::uint32_t> given = gex::cmd::whole_number(text);
  if (given && *given >= 1 && *given <= max) {
    number = *given;
    return "";
  }
  return std::string(name) + ": '" + text + "' is not a number from 1 to " + std::to_string(max);
}

/// Sets the value of an option that has one; returns why that cannot be, or an empty text.
std::string set_value(int found, Plan& plan) {
  const std::string value = gex::cmd::OptionReader::value();
  switch (found) {
    case rounds:
      return set_number("--rounds", max_rounds, plan.rounds);
    case runs:
      return set_number("--runs", max_runs, plan.runs);
    case tries:
      return set_number("--tries", max_runs, plan.tries);
    case model:
      plan.emu_model = value;
      if (std::string why = why_no_emu_time(value); !why.empty()) return "--model: " + why;
      return "";
    case hosts:
      plan.hosts = two_hosts(value);
      return plan.hosts ? "" : "--hosts: '" + value + "' is not two hosts, as in A,B";
    default:
      plan.rsh = value;
      return "";
  }
}

/// Returns why these words name nothing to be measured, or an empty text.
std::string check_words(const Options& options) {
  if (options.is_busy) return check_busy_words(options.groups);
  for (const std::string& word : options.groups) {
    if (word == "smp") return "smp is measured by 'busy' only";
    if (std::string why = check_word(word); !why.empty()) return why;
  }
  return "";
}

}  // namespace

Reading read_command_line(int count, char** arguments) {
  using gex::cmd::OptionReader;
  Options options;
  const OptionReader reader("gexperf", count, arguments, "h", long_options,
                            OptionReader::Dashes::two, OptionReader::Place::anywhere);
  for (int found; (found = reader.next()) != -1;) {
    switch (found) {
      case json:
        options.json = true;
        break;
      case list:
        options.list = true;
        break;
      case hardware_threads:
        options.hardware_threads = true;
        break;
      case oversubscribe:
        options.plan.oversubscribe = true;
        break;
      case rounds:
      case runs:
      case tries:
      case model:
      case hosts:
      case rsh:
        if (const std::string why = set_value(found, options.plan); !why.empty())
          return reader.refuse<Options>(why);
        break;
      case 'h':
        return {{}, usage(), 0};
      case version:
        return reader.version<Options>();
      default:
        return reader.refuse_option<Options>(found);
    }
  }
  options.groups.assign(reader.rest().begin(), reader.rest().end());
  options.is_busy = std::ranges::find(options.groups, busy_word) != options.groups.end();
  if (const std::string why = check_words(options); !why.empty())
    return reader.refuse<Options>(why);
  return {options, {}, 0};
}

}  // namespace gexperf
