#include "environment.h"

namespace gexinfo {

namespace env = gex::env;

std::vector<EnvironmentRow> environment() {
  std::vector<EnvironmentRow> rows;
  for (std::size_t i = 0; i < env::table().size(); ++i) {
    const auto variable = static_cast<env::Variable>(i);
    const env::Description& description = env::describe(variable);
    const auto set = env::value(variable);
    rows.push_back({&description, set.has_value(), set ? *set : description.default_text});
  }
  return rows;
}

}  // namespace gexinfo
