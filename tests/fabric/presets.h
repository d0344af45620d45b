#pragma once
// The providers of libfabric's that are simulated: each a row of knobs.

#include <string_view>
#include <vector>

namespace gexsim {

struct Preset {
  std::string_view name;
  std::string_view knobs;
};

const std::vector<Preset>& presets();
/// Null: there is none of this name.
const Preset* find_preset(std::string_view name);

}  // namespace gexsim
