#pragma once
// How the simulated provider behaves: a preset by name, single knobs over it, and a seed.
//
//   FI_GEXSIM_PRESET=cxi                     a row of presets.cc
//   FI_GEXSIM_KNOBS=reorder=8,cq_size=16     rows of knobs.def, over the preset's
//   FI_GEXSIM_WHERE=RANK=1:absent=1          further ones, where this variable has this value
//   FI_GEXSIM_SEED=3                         of all that is drawn
//
// An unknown name or value ends the process: a test must not run without what it asks for.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gexsim {

struct Knobs {
  using number = std::uint64_t;
  using text = std::string;
  static constexpr std::uint64_t max = UINT64_MAX;
  static constexpr std::uint64_t K = 1024, M = 1024 * K, G = 1024 * M;
#define KNOB(name, type, value, doc) type name = value;
#include "knobs.def"
#undef KNOB

  std::uint64_t seed = 0;

  /// Sets one; false: there is no such knob, or the value is no number.
  bool set(std::string_view name, std::string_view value);
  /// Sets all of "name=value,name=value".
  void set_all(std::string_view list);
};

/// The knobs of this process, read at the first call.
const Knobs& knobs();
/// The knobs that the environment asks for now.
Knobs read_environment();

/// The words of "a|b|c".
std::vector<std::string_view> words_of(std::string_view text);

struct KnobRow {
  const char* name;
  const char* doc;
};
/// The rows of all knobs.
const std::vector<KnobRow>& knob_rows();

}  // namespace gexsim
