#include "knobs.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "presets.h"

namespace gexsim {

namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view which) {
  std::fprintf(stderr, "gexsim: %.*s '%.*s'\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(which.size()), which.data());
  _exit(99);
}

bool parse(std::string_view text, std::uint64_t& value) {
  if (text == "max") {
    value = Knobs::max;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (unit == "K")
    value *= Knobs::K;
  else if (unit == "M")
    value *= Knobs::M;
  else if (unit == "G")
    value *= Knobs::G;
  else
    return unit.empty();
  return true;
}

bool parse(std::string_view text, std::string& value) {
  value = text;
  return true;
}

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

/// The number that a variable has; `otherwise` if it has none.
std::uint64_t number_of(const std::string& name, std::uint64_t otherwise) {
  std::uint64_t value = otherwise;
  if (!name.empty()) parse(variable(name.c_str()), value);
  return value;
}

/// The knobs of FI_GEXSIM_WHERE="VARIABLE=VALUE:knobs", if they hold here.
std::string_view knobs_of_here() {
  const std::string_view where = variable("FI_GEXSIM_WHERE");
  if (where.empty()) return {};
  const std::size_t equals = where.find('='), colon = where.find(':');
  if (equals == std::string_view::npos || colon == std::string_view::npos || colon < equals)
    refuse("FI_GEXSIM_WHERE is no VARIABLE=VALUE:KNOBS:", where);
  const std::string name(where.substr(0, equals));
  const std::string_view value = where.substr(equals + 1, colon - equals - 1);
  return variable(name.c_str()) == value ? where.substr(colon + 1) : std::string_view();
}

}  // namespace

bool Knobs::set(std::string_view knob, std::string_view value) {
#define KNOB(name, type, initial, doc) \
  if (knob == #name) return parse(value, this->name);
#include "knobs.def"
#undef KNOB
  return false;
}

void Knobs::set_all(std::string_view list) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(one.size() == list.size() ? list.size() : one.size() + 1);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || !set(one.substr(0, equals), one.substr(equals + 1)))
      refuse("no knob and value:", one);
  }
}

Knobs read_environment() {
  Knobs read;
  if (const std::string_view name = variable("FI_GEXSIM_PRESET"); !name.empty()) {
    const Preset* const preset = find_preset(name);
    if (preset == nullptr) refuse("there is no preset", name);
    read.set_all(preset->knobs);
  }
  read.set_all(variable("FI_GEXSIM_KNOBS"));
  read.set_all(knobs_of_here());
  if (const std::string_view seed = variable("FI_GEXSIM_SEED");
      !seed.empty() && !parse(seed, read.seed))
    refuse("no seed:", seed);
  // Variables by which real providers are set. They are read once, as most of those do.
  read.eager = number_of(read.eager_variable, read.eager);
  if (const std::uint64_t seconds = number_of(read.patience_variable, 0); seconds != 0)
    read.connect_patience_ms = 1000 * seconds;
  read.universe_cq *= number_of("FI_UNIVERSE_SIZE", 1024);
  return read;
}

const Knobs& knobs() {
  static const Knobs read = read_environment();
  return read;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find('|'));
    words.push_back(word);
    text.remove_prefix(word.size() == text.size() ? text.size() : word.size() + 1);
  }
  return words;
}

const std::vector<KnobRow>& knob_rows() {
  static const std::vector<KnobRow> rows = {
#define KNOB(name, type, value, doc) {#name, doc},
#include "knobs.def"
#undef KNOB
  };
  return rows;
}

}  // namespace gexsim
