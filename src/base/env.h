#pragma once
// The environment table: every variable that libgex and its launchers read.
//
// The table is the single source of parsing, of `gexinfo --env` and of docs/environment.md. Its
// rows stand in the file environment.def of the room, conduit or program that reads the variable:
//
//     GEX_ENV(identifier, "NAME", type, "default", "category", "help")
//
// The build finds these files by itself; after a change run tools/generate-env-docs. GASNET_ names
// keep the meaning that existing programs and scripts give them; names of our own begin with GEX_.
//
// Each variable has a type; a value that does not parse ends the job with one line naming the
// variable, the value and what was expected: at start (`check_values`), whether or not the value is
// used. A variable beginning GEX_ that is not in the table is warned about once (`warn_unknown`);
// unknown GASNET_ ones are ignored. A variable that is set but empty, or holds only blanks, counts
// as unset; blanks around a value are ignored.
//
// A program that has been given the rights of another user or group (AT_SECURE: setuid, setgid,
// file capabilities) must not do with them what its caller's environment asks for. There variables
// of the types file, plugin and command count as unset; `warn_unknown` names them.
//
// With GASNET_VERBOSEENV=1 the process that speaks for the job prints each variable's value on
// standard error, when it is first asked for.
//
// Requirements: `Variable` values come from the table, and are asked for by the function of their
// type. Values are read from the environment at each call (start-up only, never on a fast path).
// Any thread may call, as long as none changes the environment meanwhile.
//
// A row whose name ends in `*` is a family: every variable of the environment that begins as it
// does has its type, default and help. `members` lists those that are set.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env_grammar.h"
#include "base/port_range.h"

namespace gex::env {

/// The grammar of a variable's value.
enum class Type {
  text,     ///< any string
  file,     ///< a file or folder, or several folders with colons between them
  plugin,   ///< what is loaded into the process, by its name or its file
  command,  ///< a command, or a part of one
  boolean,  ///< 0 1 n y no yes off on false true, any case
  integer,  ///< decimal or 0x hexadecimal, with optional sign
  seconds,  ///< decimal number of seconds, fractions allowed
  memory,  ///< bytes (see parse_size), or a fraction of physical memory below 1, then optionally /P
           ///< or /H
  ports,   ///< a port, or a first and a last one: 41000-41999
};

/// The categories of variables, which are sections of documents, in that order.
inline constexpr std::array<std::string_view, 5> categories{"network", "launch", "memory",
                                                            "threads", "diagnosis"};

enum class Variable : std::uint16_t {
#define GEX_ENV(identifier, name, type, default_text, category, help) identifier,
#include <environment_table.def>
#undef GEX_ENV
  count
};

/// One row of the table, as documentation and gexinfo print it.
struct Description {
  const char* name;
  Type type;
  const char* default_text;  ///< "" when unset has a meaning of its own, which `help` explains
  const char* category;
  const char* help;
};

std::span<const Description> table() noexcept;
const Description& describe(Variable variable) noexcept;

/// The row of that name, if the table has it: for conduits, which ask by name.
std::optional<Variable> find(std::string_view name) noexcept;

/// A variable of a family that the user has set.
struct Member {
  std::string name;
  std::string value;
};

bool is_family(Variable variable) noexcept;

/// The members of a family that are set, by name; none if the row is no family's.
std::vector<Member> members(Variable family);

/// The word for a type in documents: the enumerator's name.
const char* type_name(Type type) noexcept;

/// The raw value set by the user, if any; by name for variables of clients, which the table does
/// not hold.
std::optional<std::string> value(Variable variable);
std::optional<std::string> value(const char* name);

/// The value as the environment holds it, with its blanks, or null; no memory is allocated. For
/// conduits, and for where an error is being reported already.
const char* raw(Variable variable) noexcept;

/// Typed access: the user's value, else the table's default, else (when that is "") an empty text,
/// false or 0. Ends the job on a malformed value.
std::string text(Variable variable);
bool boolean(Variable variable);
std::int64_t integer(Variable variable);
double seconds(Variable variable);
Memory memory(Variable variable);
/// Empty: not set.
std::optional<PortRange> ports(Variable variable);

/// Typed access to a family's member, whose name is the family's stem and `rest`.
bool boolean(Variable family, std::string_view rest);

/// Ends the job if a variable of the table has a malformed value.
void check_values();

/// Prints "NAME = VALUE", with "(default)" where it is that, under GASNET_VERBOSEENV=1 and in the
/// process that speaks for the job, once for each name; for variables of clients. Typed access does
/// it by itself.
void display(std::string_view name, std::string_view value, bool is_default);

/// Returns true if `display` prints in this process.
bool verbose();

/// Warns once about each GEX_ variable in the environment that is not in the table, naming the one
/// that is most like it. Only the process that speaks for the job does, and only the first call.
void warn_unknown();

/// Returns true if this program has the rights of another user (see above). Tests pretend.
bool has_rights_of_another() noexcept;
void pretend_rights_of_another(bool pretend) noexcept;

}  // namespace gex::env
