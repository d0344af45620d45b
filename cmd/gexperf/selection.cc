#include "selection.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/os_cpu.h"
#include "explanations.h"

namespace gexperf {

namespace {

std::string_view group_name(const Row& row) {
  return group_names[static_cast<int>(row.group)];
}

}  // namespace

std::string check_word(const std::string& word) {
  for (const Row& row : rows())
    if (word == row.name || word == group_name(row)) return "";
  std::string groups;
  for (const std::string_view group : group_names)
    groups += (groups.empty() ? "" : ",") + std::string(group);
  return "'" + word + "' is not in {" + groups + "}, and no name of a row";
}

std::vector<const Row*> select_rows(const std::vector<std::string>& words) {
  std::vector<const Row*> selected;
  for (const Row& row : rows()) {
    const bool named = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return word == row.name || word == group_name(row);
    });
    if (named || (words.empty() && is_usual(row.group))) selected.push_back(&row);
  }
  return selected;
}

std::string reason_to_leave_out(const Plan& plan, const Row& row) {
  // The other rows only need two processors, which may be of one core.
  const bool needs_cores =
      row.group == Group::threads || row.group == Group::cores || row.cores_of_their_own;
  if (!needs_cores || plan.oversubscribe || row.cores() <= plan.cores) return "";
  return "needs " + std::to_string(row.cores()) + " cores, and may use " +
         std::to_string(plan.cores);
}

std::vector<std::string> left_out_messages(const Plan& plan, const std::vector<const Row*>& rows) {
  std::map<std::string, std::string> by_reason;
  for (const Row* row : rows) {
    const std::string reason = reason_to_leave_out(plan, *row);
    if (!reason.empty()) by_reason[reason] += " " + std::string(row->name);
  }
  std::vector<std::string> messages;
  messages.reserve(by_reason.size());
  for (const auto& [reason, names] : by_reason) {
    std::string& message = messages.emplace_back("left out what ");
    message.append(reason).append(":").append(names);
  }
  return messages;
}

std::string list_rows(const Plan& plan, const std::vector<const Row*>& rows, bool json) {
  std::string text;
  auto array = nlohmann::ordered_json::array();
  for (const Row* row : rows) {
    const std::string reason = reason_to_leave_out(plan, *row);
    if (json) {
      array.push_back({{"name", row->name},
                       {"what", explained(*row)},
                       {"group", group_name(*row)},
                       {"size", row->size},
                       {"unit", row->unit()},
                       {"cores", row->cores()},
                       {"left_out", reason.empty() ? nlohmann::ordered_json(nullptr)
                                                   : nlohmann::ordered_json(reason)}});
    } else {
      char line[128];
      std::snprintf(line, sizeof line, "%-34s %3u cores", std::string(row->name).c_str(),
                    row->cores());
      text += line + (reason.empty() ? "" : "  left out: " + reason) + "\n    " + explained(*row) +
              "\n";
    }
  }
  return json ? array.dump(2) + "\n" : text;
}

void find_processors(Plan& plan, bool hardware_threads) {
  plan.processors = gex::os::allowed_cores();
  const auto count = static_cast<std::uint32_t>(plan.processors.size());
  plan.cores = std::min(hardware_threads ? count : gex::os::physical_core_count(plan.processors),
                        gex::os::core_share().at_a_time);
}

}  // namespace gexperf
