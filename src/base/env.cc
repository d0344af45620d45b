#include "base/env.h"

#include <sys/auxv.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"

namespace gex::env {
namespace {

constexpr Description rows[] = {
#define GEX_ENV(identifier, name, type, default_text, category, help) \
  {name, Type::type, default_text, category, help},
#include <environment_table.def>
#undef GEX_ENV
};
static_assert(std::size(rows) == static_cast<std::size_t>(Variable::count));
static_assert(std::ranges::all_of(rows,
                                  [](const Description& row) {
                                    return std::ranges::find(categories, row.category) !=
                                           categories.end();
                                  }),
              "a row of the environment table has a category that is not listed in env.h");

std::size_t index_of(Variable variable) noexcept {
  return static_cast<std::size_t>(variable);
}

/// Returns the grammar of a type, for the message about a value that does not follow it.
const char* expectation(Type type) noexcept {
  switch (type) {
    case Type::text:
    case Type::file:
    case Type::plugin:
    case Type::command:
      return "any text";
    case Type::boolean:
      return "1, 0, yes, no, y, n, on, off, true or false";
    case Type::integer:
      return "a whole number, decimal or 0x hexadecimal";
    case Type::seconds:
      return "a number of seconds, such as 2.5";
    case Type::memory:
      return "an amount of memory, such as 256MB, 128.0MB/P or 0.5/H";
    case Type::ports:
      return "a port from 1 to 65535, or a first and a last one, such as 41000-41999";
  }
  return "";
}

/// The text to parse, displayed if that is asked for; empty when unset and without a default.
std::string text_of(Variable variable) {
  const Description& row = describe(variable);
  const std::optional<std::string> set = value(variable);
  std::string text = set ? *set : row.default_text;
  if (variable != Variable::verboseenv) display(row.name, text.empty() ? "(unset)" : text, !set);
  return text;
}

[[noreturn]] void refuse(const char* name, Type type, const std::string& text) {
  fatal("%s='%s' is not understood: expected %s", name, text.c_str(), expectation(type));
}

/// Returns the text that the names of a family begin with.
std::string_view stem_of(Variable family) noexcept {
  std::string_view name = describe(family).name;
  name.remove_suffix(1);
  return name;
}

/// Returns true if this is the first time that a variable is to be displayed.
bool first_time(std::string_view name) {
  static std::mutex mutex;
  // Never destroyed: exit handlers of the client may still ask.
  static auto& known = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  return known.emplace(name).second;
}

/// Returns true if a value follows the grammar of its type.
bool is_well_formed(Type type, std::string_view text) {
  switch (type) {
    case Type::text:
    case Type::file:
    case Type::plugin:
    case Type::command:
      return true;
    case Type::boolean:
      return parse_boolean(text).has_value();
    case Type::integer:
      return parse_integer(text).has_value();
    case Type::seconds:
      return parse_seconds(text).has_value();
    case Type::memory:
      return parse_memory(text).has_value();
    case Type::ports:
      return parse_port_range(text).has_value();
  }
  return false;
}

/// The variable's value by the parser of its type.
template <class T>
T parsed(Variable variable, std::optional<T> (*parse)(std::string_view)) {
  const std::string text = text_of(variable);
  if (text.empty()) return T{};
  if (const std::optional<T> result = parse(text)) return *result;
  refuse(describe(variable).name, describe(variable).type, text);
}

std::atomic<bool> pretends{false};

/// Returns true if the caller of a program with another's rights may not decide it.
bool is_withheld(Variable variable) noexcept {
  const Type type = describe(variable).type;
  return (type == Type::file || type == Type::plugin || type == Type::command) &&
         has_rights_of_another();
}

/// In one line, also where warnings are silenced.
void name_withheld() {
  std::string names;
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const char* const set = std::getenv(rows[i].name);
    if (set == nullptr || *set == '\0' || !is_withheld(static_cast<Variable>(i))) continue;
    names += (names.empty() ? "" : ", ") + std::string(rows[i].name);
  }
  if (names.empty()) return;
  note(
      "ignored, as this program has the rights of another user (setuid, setgid or capabilities): "
      "%s",
      names.c_str());
}

/// The number of single-character changes that turn one name into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// A name behind its prefix: GEX_MAX_SEGSIZE is meant for GASNET_MAX_SEGSIZE.
std::string_view without_prefix(std::string_view name) {
  return name.substr(name.find('_') + 1);
}

const Description& nearest(std::string_view name) {
  return *std::min_element(std::begin(rows), std::end(rows),
                           [&](const Description& a, const Description& b) {
                             const auto tail = without_prefix(name);
                             return edit_distance(tail, without_prefix(a.name)) <
                                    edit_distance(tail, without_prefix(b.name));
                           });
}

}  // namespace

std::span<const Description> table() noexcept {
  return rows;
}

const Description& describe(Variable variable) noexcept {
  return rows[index_of(variable)];
}

std::optional<Variable> find(std::string_view name) noexcept {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    if (name == rows[i].name) return static_cast<Variable>(i);
  }
  return std::nullopt;
}

const char* type_name(Type type) noexcept {
  switch (type) {
    case Type::text:
      return "text";
    case Type::file:
      return "file";
    case Type::plugin:
      return "plugin";
    case Type::command:
      return "command";
    case Type::boolean:
      return "boolean";
    case Type::integer:
      return "integer";
    case Type::seconds:
      return "seconds";
    case Type::memory:
      return "memory";
    case Type::ports:
      return "ports";
  }
  return "";
}

bool is_family(Variable variable) noexcept {
  return std::string_view(describe(variable).name).ends_with('*');
}

std::vector<Member> members(Variable family) {
  std::vector<Member> found;
  if (!is_family(family)) return found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    std::string name(*entry, std::strcspn(*entry, "="));
    if (!name.starts_with(stem_of(family))) continue;
    if (std::optional<std::string> set = value(name.c_str())) {
      found.push_back({std::move(name), std::move(*set)});
    }
  }
  std::ranges::sort(found, {}, &Member::name);
  return found;
}

std::optional<std::string> value(Variable variable) {
  return value(describe(variable).name);
}

std::optional<std::string> value(const char* name) {
  const std::optional<Variable> row = find(name);
  const char* set = row ? raw(*row) : std::getenv(name);
  if (set == nullptr) return std::nullopt;
  const std::string_view text = trimmed(set);
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

const char* raw(Variable variable) noexcept {
  if (is_withheld(variable)) return nullptr;
  return std::getenv(describe(variable).name);
}

bool has_rights_of_another() noexcept {
  static const bool has = ::getauxval(AT_SECURE) != 0;
  return has || pretends.load(std::memory_order_relaxed);
}

void pretend_rights_of_another(bool pretend) noexcept {
  pretends.store(pretend, std::memory_order_relaxed);
}

std::string text(Variable variable) {
  return text_of(variable);
}

bool boolean(Variable variable) {
  return parsed<bool>(variable, parse_boolean);
}

bool boolean(Variable family, std::string_view rest) {
  const Description& row = describe(family);
  const std::string name = std::string(stem_of(family)) + std::string(rest);
  const std::optional<std::string> set = value(name.c_str());
  const std::string text = set ? *set : row.default_text;
  display(name, text, !set);
  if (const std::optional<bool> result = parse_boolean(text)) return *result;
  refuse(name.c_str(), row.type, text);
}

std::int64_t integer(Variable variable) {
  return parsed<std::int64_t>(variable, parse_integer);
}

double seconds(Variable variable) {
  return parsed<double>(variable, parse_seconds);
}

Memory memory(Variable variable) {
  return parsed<Memory>(variable, parse_memory);
}

std::optional<PortRange> ports(Variable variable) {
  const std::string text = text_of(variable);
  if (text.empty()) return std::nullopt;
  if (const auto range = parse_port_range(text)) return range;
  refuse(describe(variable).name, describe(variable).type, text);
}

void check_values() {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const auto variable = static_cast<Variable>(i);
    const Type type = rows[i].type;
    const std::optional<std::string> set = value(variable);
    if (set && !is_well_formed(type, *set)) refuse(rows[i].name, type, *set);
    for (const Member& member : members(variable)) {
      if (!is_well_formed(type, member.value)) refuse(member.name.c_str(), type, member.value);
    }
  }
}

bool verbose() {
  return speaks_for_job() && boolean(Variable::verboseenv);
}

void display(std::string_view name, std::string_view value, bool is_default) {
  if (!verbose() || !first_time(name)) return;
  note("%.*s = %.*s%s", static_cast<int>(name.size()), name.data(), static_cast<int>(value.size()),
       value.data(), is_default ? " (default)" : "");
}

void warn_unknown() {
  static std::atomic<bool> done{false};
  if (!speaks_for_job() || done.exchange(true, std::memory_order_relaxed)) return;
  name_withheld();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view name(*entry, std::strcspn(*entry, "="));
    if (!name.starts_with("GEX_") || find(name)) continue;
    warn("%.*s is not a variable of libgex; did you mean %s?", static_cast<int>(name.size()),
         name.data(), nearest(name).name);
  }
}

}  // namespace gex::env
