#include "environment.h"

namespace gexinfo {

namespace env = gex::env;

void check_environment() {
  for (std::size_t i = 0; i < env::table().size(); ++i) {
    const auto variable = static_cast<env::Variable>(i);
    switch (env::describe(variable).type) {
      case env::Type::text:
        env::text(variable);
        break;
      case env::Type::boolean:
        env::boolean(variable);
        break;
      case env::Type::integer:
        env::integer(variable);
        break;
      case env::Type::seconds:
        env::seconds(variable);
        break;
      case env::Type::size:
        env::size(variable);
        break;
      case env::Type::memory:
        env::memory(variable);
        break;
    }
  }
}

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
