// gexperf: the limits of this machine, and libgex measured against them. This program is no rank:
// it starts jobs of gexperf-seq and gexperf-par, which measure, and evaluates what they report.

#include <gex/version.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../output.h"
#include "bare.h"
#include "busy.h"
#include "catalogue.h"
#include "child.h"
#include "measure.h"
#include "report.h"
#include "selection.h"

namespace gexperf {

namespace {

constexpr int usage_error = 2;
constexpr const char* provider_variable = "GEX_OFI_PROVIDER";
constexpr unsigned max_rounds = 100000;
constexpr unsigned max_runs = 1000;

struct Options {
  std::vector<std::string> groups;  ///< empty: all
  bool json = false;
  bool list = false;
  bool hardware_threads = false;
};

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

int print(const std::string& text) noexcept {
  return gex::cmd::print_output("gexperf", text);
}

int complain(const char* what, int status) noexcept {
  std::fprintf(stderr, "gexperf: %s\n", what);
  return status;
}

int complain(const std::string& what, int status) noexcept {
  return complain(what.c_str(), status);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
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

/// Beside this program is gexrun; the workers, which are not started by hand, are in a folder that
/// is in the same place of the build and of the installed tree.
bool find_programs(Plan& plan, std::string& missing) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path folder = self.parent_path();
  plan.launcher = folder / "gexrun";
  plan.worker_folder = (folder.parent_path() / GEXPERF_WORKER_FOLDER).lexically_normal();
  for (const std::string& program :
       {plan.launcher, plan.worker(Mode::seq), plan.worker(Mode::par)}) {
    if (access(program.c_str(), X_OK) == 0) continue;
    missing = program;
    return false;
  }
  return true;
}

int measure_all(const Plan& plan, const Options& options) {
  // A table is printed line by line, and nothing is measured for one that cannot be written.
  if (!options.json && print(table_heading()) != 0) return 1;
  std::vector<Result> results;
  std::map<std::string_view, std::string> why_not;  // by way_of
  const std::vector<const Row*> selected = select_rows(options.groups);
  for (const Row* row : selected) {
    if (!reason_to_leave_out(plan, *row).empty()) continue;
    const std::string_view way = way_of(*row);
    if (!why_not.contains(way)) why_not[way] = why_no_bare(plan, *row);
    if (!why_not[way].empty()) continue;
    Result result{.row = row};
    std::string trouble;
    if (!measure(plan, *row, result, trouble))
      return complain(std::string(row->name) + ": " + trouble, 1);
    results.push_back(result);
    if (!options.json && print(table_line(result)) != 0) return 1;
  }
  for (const std::string& message : left_out_messages(plan, selected)) complain(message, 0);
  for (const auto& [way, reason] : why_not)
    if (!reason.empty())
      complain("what goes over " + std::string(way) + " was left out: " + reason, 0);
  return print(options.json ? to_json(results) : table_remarks(results));
}

int run_command_line(int argc, char** argv) {
  Options options;
  Plan plan;
  std::string hosts;
  CLI::App app("", "gexperf");
  app.set_version_flag("--version", "gexperf (libgex) " GEX_LIBRARY_VERSION);
  app.add_option("WHAT", options.groups)->check([](const std::string& word) {
    // `busy` takes the names of networks beside it, which are not all groups.
    return word == busy_word || word == "smp" ? "" : check_word(word);
  });
  app.add_flag("--json", options.json);
  app.add_flag("--list", options.list);
  app.add_flag("--hardware-threads", options.hardware_threads);
  app.add_flag("--oversubscribe", plan.oversubscribe);
  app.add_option("--rounds", plan.rounds)->check(CLI::Range(1U, max_rounds));
  app.add_option("--runs", plan.runs)->check(CLI::Range(1U, max_runs));
  app.add_option("--tries", plan.tries)->check(CLI::Range(1U, max_runs));
  app.add_option("--model", plan.emu_model)->check([](const std::string& model) {
    return why_no_emu_time(model);
  });
  app.add_option("--hosts", hosts)->check([](const std::string& value) {
    return two_hosts(value) ? "" : "'" + value + "' is not two hosts, as in A,B";
  });
  app.add_option("--rsh", plan.rsh);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return print(usage());
  } catch (const CLI::CallForVersion& version) {
    return print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    return complain(first_line(error.what()) + " (gexperf --help)", usage_error);
  }
  const bool is_busy = std::ranges::find(options.groups, busy_word) != options.groups.end();
  const std::string wrong = is_busy ? check_busy_words(options.groups) : "";
  if (!wrong.empty()) return complain(wrong + " (gexperf --help)", usage_error);
  if (!is_busy && std::ranges::find(options.groups, "smp") != options.groups.end())
    return complain("smp is measured by 'busy' only (gexperf --help)", usage_error);
  plan.hosts = two_hosts(hosts);

  // The workers take theirs from the environment.
  if (const char* provider = std::getenv(provider_variable)) plan.provider = provider;
  setenv(provider_variable, plan.provider.c_str(), 1);

  std::string missing;
  if (!find_programs(plan, missing)) return complain("'" + missing + "' is missing", 1);
  find_processors(plan, options.hardware_threads);
  if (is_busy) {
    pass_on_interrupts();
    return measure_busy(plan, options.groups, options.json);
  }
  if (options.list) return print(list_rows(plan, select_rows(options.groups), options.json));
  if (plan.processors.size() < 2) {
    return complain("needs two processors, and may use " + std::to_string(plan.processors.size()),
                    1);
  }
  pass_on_interrupts();
  return measure_all(plan, options);
}

}  // namespace

}  // namespace gexperf

int main(int argc, char** argv) {
  try {
    return gexperf::run_command_line(argc, argv);
  } catch (const std::exception& error) {
    return gexperf::complain(error.what(), 1);
  }
}
