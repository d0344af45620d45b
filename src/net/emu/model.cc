#include "net/emu/model.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace gex::net::emu {

namespace {

enum class Unit { time, bandwidth, rate, memory };

/// A suffix and what it multiplies by.
struct Suffix {
  std::string_view text;
  double factor;
};
constexpr Suffix times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Suffix bandwidths[] = {{"B/s", 1},        {"kB/s", 1e3},      {"MB/s", 1e6},
                                 {"GB/s", 1e9},     {"KiB/s", 1 << 10}, {"MiB/s", 1 << 20},
                                 {"GiB/s", 1 << 30}};
constexpr Suffix memories[] = {{"B", 1},         {"kB", 1e3},      {"MB", 1e6},     {"GB", 1e9},
                               {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
constexpr Suffix rates[] = {{"", 1}, {"/s", 1}, {"k/s", 1e3}, {"M/s", 1e6}};

struct UnitWords {
  std::span<const Suffix> suffixes;
  const char* example;
};
UnitWords words_of(Unit unit) noexcept {
  switch (unit) {
    case Unit::time:
      return {times, "a time such as 1.5us"};
    case Unit::bandwidth:
      return {bandwidths, "a bandwidth such as 10GB/s"};
    case Unit::rate:
      return {rates, "a rate such as 2.5M/s"};
    case Unit::memory:
      return {memories, "an amount of memory such as 64MB"};
  }
  return {};
}

struct Quantity {
  const char* name;
  double Model::*value;
  Unit unit;
};
constexpr Quantity quantities[] = {
    {"latency", &Model::latency, Unit::time},
    {"send_overhead", &Model::send_overhead, Unit::time},
    {"receive_overhead", &Model::receive_overhead, Unit::time},
    {"gap", &Model::gap, Unit::time},
    {"bandwidth", &Model::bandwidth, Unit::bandwidth},
    {"rate", &Model::rate, Unit::rate},
    {"bisection", &Model::bisection, Unit::bandwidth},
    {"registration", &Model::registration, Unit::time},
    {"cache", &Model::cache, Unit::memory},
    {"jitter", &Model::jitter, Unit::time},
};

struct Switch {
  const char* name;
  bool Model::*value;
};
constexpr Switch switches[] = {{"native", &Model::native}, {"atomics", &Model::atomics}};

struct Count {
  const char* name;
  std::uint32_t Model::*value;
  std::uint32_t least, max;
};
constexpr Count counts[] = {{"depth", &Model::depth, 1, 4096},
                            {"pieces", &Model::pieces, 0, 256},
                            {"total", &Model::total, 0, 1 << 20}};

constexpr std::uint32_t default_depth = 64;
constexpr std::uint32_t default_pieces = 64;
/// Beyond that a mistake is likelier than a network: 1000 s, a petabyte, and 1 byte each.
constexpr double longest_time = 1e12;
constexpr double max_memory = 1e15;

// Latencies are half of a round trip of a small message and bandwidths those of large transfers, as
// the makers and users of these networks gave them at the time, rounded; the papers draw them.
constexpr Preset table[] = {
    {"myrinet", "Myrinet 2000, GM, of the FT paper",
     "latency=6us,send_overhead=500ns,receive_overhead=700ns,gap=1us,bandwidth=245MB/s,"
     "registration=20us"},
    {"elan3", "Quadrics QsNet, Elan3, of the FT paper",
     "latency=2us,send_overhead=400ns,receive_overhead=800ns,gap=1us,bandwidth=310MB/s"},
    {"elan4", "Quadrics QsNetII, Elan4, of the FT paper",
     "latency=1.1us,send_overhead=300ns,receive_overhead=500ns,gap=500ns,bandwidth=900MB/s"},
    {"infiniband", "InfiniBand 4x, VAPI, of the FT paper",
     "latency=3.5us,send_overhead=600ns,receive_overhead=800ns,gap=800ns,bandwidth=800MB/s,"
     "registration=30us"},
    {"xt", "Cray XT, SeaStar, Portals, of the paper on that port",
     "latency=4us,send_overhead=600ns,receive_overhead=1us,gap=1.5us,bandwidth=1.7GB/s,"
     "registration=3us"},
    {"aries", "Cray XC, Aries, of the specialization report",
     "latency=1us,send_overhead=200ns,receive_overhead=300ns,gap=100ns,bandwidth=9GB/s"},
    {"edr", "InfiniBand EDR, of the Exascale presentation",
     "latency=900ns,send_overhead=150ns,receive_overhead=250ns,gap=100ns,bandwidth=12GB/s"},
};

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

bool parse_quantity(std::string_view text, Unit unit, double& value) {
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return false;
  const std::string_view suffix(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  for (const Suffix& each : words_of(unit).suffixes) {
    if (suffix != each.text) continue;
    value *= each.factor;
    if (unit == Unit::time) return value <= longest_time;
    return value == 0 || (value >= 1 && (unit != Unit::memory || value <= max_memory));
  }
  return false;
}

std::string known_names() {
  std::string names;
  const auto add = [&names](const char* name) {
    names.append(names.empty() ? "" : ", ").append(name);
  };
  for (const Quantity& quantity : quantities) add(quantity.name);
  for (const Count& count : counts) add(count.name);
  for (const Switch& each : switches) add(each.name);
  return names;
}

bool set(Model& model, std::string_view key, std::string_view value, std::string& why) {
  for (const Quantity& quantity : quantities) {
    if (key != quantity.name) continue;
    if (parse_quantity(value, quantity.unit, model.*quantity.value)) return true;
    why = std::string(key) + "=" + std::string(value) + ": expected " +
          words_of(quantity.unit).example;
    return false;
  }
  for (const Switch& each : switches) {
    if (key != each.name) continue;
    if (value == "0" || value == "1") {
      model.*each.value = value == "1";
      return true;
    }
    why = std::string(key) + "=" + std::string(value) + ": expected 0 or 1";
    return false;
  }
  for (const Count& count : counts) {
    if (key != count.name) continue;
    std::uint32_t& number = model.*count.value;
    const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && rest == value.data() + value.size() && number >= count.least &&
        number <= count.max)
      return true;
    why = std::string(key) + "=" + std::string(value) + ": expected " +
          std::to_string(count.least) + " to " + std::to_string(count.max);
    return false;
  }
  why = quoted(key) + " is not a setting; available: " + known_names();
  return false;
}

bool apply(Model& model, std::string_view text, std::string& why);

bool apply_one(Model& model, std::string_view item, std::string& why) {
  if (const std::size_t equals = item.find('='); equals != item.npos)
    return set(model, item.substr(0, equals), item.substr(equals + 1), why);
  std::string names;
  for (const Preset& preset : table) {
    if (item == preset.name) return apply(model, preset.settings, why);
    names.append(names.empty() ? "" : ", ").append(preset.name);
  }
  why = quoted(item) + " is not a known network; available: " + names + "; and settings key=value";
  return false;
}

bool apply(Model& model, std::string_view text, std::string& why) {
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (!apply_one(model, text.substr(0, comma), why)) return false;
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
  }
  return true;
}

}  // namespace

bool Model::has_time() const noexcept {
  for (const Quantity& quantity : quantities)
    if (quantity.unit != Unit::memory && this->*quantity.value != 0) return true;
  return false;
}

std::span<const Preset> presets() noexcept {
  return table;
}

std::optional<Model> parse_model(std::string_view text, std::string& why) {
  Model model;
  model.depth = default_depth;
  model.pieces = default_pieces;
  if (!apply(model, text, why)) return std::nullopt;
  return model;
}

std::string describe(const Model& model) {
  std::string text;
  for (const Quantity& quantity : quantities) {
    const double value = model.*quantity.value;
    if (value == 0) continue;
    char words[80];
    switch (quantity.unit) {
      case Unit::time:
        std::snprintf(words, sizeof words, "%s %g us", quantity.name, value / 1e3);
        break;
      case Unit::bandwidth:
        std::snprintf(words, sizeof words, "%s %g MB/s", quantity.name, value / 1e6);
        break;
      case Unit::rate:
        std::snprintf(words, sizeof words, "%s %g M/s", quantity.name, value / 1e6);
        break;
      case Unit::memory:
        std::snprintf(words, sizeof words, "%s %g MB", quantity.name, value / 1e6);
        break;
    }
    text.append(text.empty() ? "" : ", ").append(words);
  }
  return text.empty() ? "no time passes" : text;
}

}  // namespace gex::net::emu
