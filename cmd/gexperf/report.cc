#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace gexperf {

namespace {

constexpr const char* line_format = "%-34s %11s %12s %7s %12s %7s %8s %-9s %s\n";

std::string line(const std::string& name, const std::string& size, const std::string& median,
                 const std::string& spread, const std::string& limit, const std::string& ratio,
                 const std::string& budget, const std::string& met, const std::string& runs) {
  char text[256];
  std::snprintf(text, sizeof text, line_format, name.c_str(), size.c_str(), median.c_str(),
                spread.c_str(), limit.c_str(), ratio.c_str(), budget.c_str(), met.c_str(),
                runs.c_str());
  return text;
}

std::string number(const char* format, double value, std::string_view unit = "") {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return unit.empty() ? text : std::string(text) + " " + std::string(unit);
}

std::string measured(double value, std::string_view unit) {
  return number(value < 100 ? "%.2f" : "%.0f", value, unit);
}

std::string verdict(const Result& result) {
  if (result.oversubscribed) return "few cores";
  if (result.fake_device) return "fake";
  if (result.below_floor()) return "mistake";
  if (result.accepted == 0) return "disturbed";
  if (!result.has_budget()) return "-";
  return result.met() ? "yes" : "no";
}

/// Three digits more than are printed in the table: enough for any comparison.
double rounded(double value) {
  if (value == 0) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}

nlohmann::ordered_json or_null(bool present, double value) {
  return present ? nlohmann::ordered_json(rounded(value)) : nlohmann::ordered_json(nullptr);
}

}  // namespace

std::string table_heading() {
  return line("name", "size", "median", "spread", "limit", "ratio", "budget", "met", "runs");
}

std::string table_line(const Result& result) {
  const Row& row = *result.row;
  const bool limited = result.ratio != 0;
  return line(
      std::string(row.name), std::string(row.size), measured(result.value, row.unit()),
      number("%.1f%%", 100 * result.spread), limited ? measured(result.limit, row.unit()) : "-",
      limited ? number("%.3f", result.ratio) : "-", result.has_budget() ? row.budget_text() : "-",
      verdict(result), std::to_string(result.accepted) + " of " + std::to_string(result.tried));
}

std::string table_remarks(const std::vector<Result>& results) {
  std::string disturbed;
  std::string mistaken;
  Disturbance worst;
  bool any_quiet = false;
  for (const Result& result : results) {
    if (result.below_floor()) mistaken += " " + std::string(result.row->name);
    any_quiet = any_quiet || result.accepted != 0;
    if (result.accepted != 0) continue;
    disturbed += " " + std::string(result.row->name);
    worst.others = std::max(worst.others, result.worst.others);
    worst.stolen = std::max(worst.stolen, result.worst.stolen);
  }
  std::string text;
  if (!disturbed.empty()) {
    text += "No quiet run was to be had, and the figures are of disturbed ones:" +
            (any_quiet ? disturbed : " all") + " (other processes used up to " +
            number("%.0f%%", 100 * worst.others) + " of the processors, up to " +
            number("%.0f%%", 100 * worst.stolen) + " was stolen).\n";
  }
  if (!mistaken.empty()) {
    text += "Less than can be, so something is wrong with the measurement:" + mistaken + ".\n";
  }
  for (const Result& result : results) {
    if (result.device.empty()) continue;
    text += "Memory of " + result.device;
    text += result.fake_device ? ", a driver for tests: its figures mean nothing.\n" : ".\n";
    break;
  }
  return text;
}

std::string to_json(const std::vector<Result>& results) {
  auto array = nlohmann::ordered_json::array();
  for (const Result& result : results) {
    const Row& row = *result.row;
    const bool limited = result.ratio != 0;
    constexpr const char* held_names[] = {"none", "ratio", "value", "excess"};
    nlohmann::ordered_json object;
    object["name"] = row.name;
    object["size"] = row.size;
    object["value"] = rounded(result.value);
    object["unit"] = row.unit();
    object["spread"] = rounded(result.spread);
    object["limit"] = or_null(limited, result.limit);
    object["ratio"] = or_null(limited, result.ratio);
    object["budget"] = or_null(result.has_budget(), row.budget);
    object["allowance_ns"] = or_null(row.allowance_ns != 0, row.allowance_ns);
    object["budget_of"] = result.has_budget()
                              ? nlohmann::ordered_json(held_names[static_cast<int>(row.held)])
                              : nlohmann::ordered_json(nullptr);
    object["met"] = result.has_budget() ? nlohmann::ordered_json(result.met())
                                        : nlohmann::ordered_json(nullptr);
    object["accepted"] = result.accepted;
    object["runs"] = result.tried;
    object["below_floor"] = result.below_floor();
    object["device"] = result.device.empty() ? nlohmann::ordered_json(nullptr)
                                             : nlohmann::ordered_json(result.device);
    object["fake_device"] = result.fake_device;
    array.push_back(std::move(object));
  }
  return array.dump(2) + "\n";
}

}  // namespace gexperf
