#include "environment.h"

#include <algorithm>
#include <utility>

namespace gexinfo {

namespace env = gex::env;

std::vector<EnvironmentRow> environment() {
  std::vector<EnvironmentRow> rows;
  for (std::size_t i = 0; i < env::table().size(); ++i) {
    const auto variable = static_cast<env::Variable>(i);
    const env::Description& description = env::describe(variable);
    const auto set = env::value(variable);
    rows.push_back(
        {description.name, &description, set.has_value(), set ? *set : description.default_text});
    for (env::Member& member : env::members(variable)) {
      rows.push_back({std::move(member.name), &description, true, std::move(member.value)});
    }
  }
  std::ranges::stable_sort(rows, {}, [](const EnvironmentRow& row) {
    return std::ranges::find(env::categories, row.description->category);
  });
  return rows;
}

}  // namespace gexinfo
