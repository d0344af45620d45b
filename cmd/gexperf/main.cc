// gexperf: the limits of this machine, and libgex measured against them. This program is no rank:
// it starts jobs of gexperf-seq and gexperf-par, which measure, and evaluates what they report.

#include <unistd.h>

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
#include "options.h"
#include "report.h"
#include "selection.h"

namespace gexperf {

namespace {

constexpr const char* provider_variable = "GEX_OFI_PROVIDER";

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

int carry_out(Options options) {
  Plan& plan = options.plan;
  // The workers take theirs from the environment.
  if (const char* provider = std::getenv(provider_variable)) plan.provider = provider;
  setenv(provider_variable, plan.provider.c_str(), 1);

  std::string missing;
  if (!find_programs(plan, missing)) return complain("'" + missing + "' is missing", 1);
  find_processors(plan, options.hardware_threads);
  if (options.is_busy) {
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
  const gexperf::Reading read = gexperf::read_command_line(argc, argv);
  if (!read.message.empty()) return read.print("gexperf");
  try {
    return gexperf::carry_out(read.options);
  } catch (const std::exception& error) {
    return gexperf::complain(error.what(), 1);
  }
}
