// Fatal errors, backtraces, debuggers and signals of gasnet_tools.h.

#include <gex/tools_error.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/env.h"
#include "base/env_grammar.h"
#include "base/error.h"
#include "base/error_environment.h"
#include "base/os_debugger.h"
#include "base/os_process.h"

// Weak, so that a program's own definition takes its place in a static link too.
[[gnu::weak]] gasnett_backtrace_type_t gasnett_backtrace_user = {nullptr, nullptr, 0};

/// Set to 0 in a debugger, which must find it by name.
[[gnu::used]] volatile int gex_tools_frozen = 1;

namespace {

struct Mechanism {
  const char* name;
  int (*print)(int descriptor);
};

/// The mechanisms there are, preferred first; the program's own may be absent.
struct Mechanisms {
  Mechanism list[2];
  std::size_t count = 0;

  Mechanisms() noexcept {
    if (gasnett_backtrace_user.fnp != nullptr && gasnett_backtrace_user.name != nullptr) {
      list[count++] = {gasnett_backtrace_user.name, gasnett_backtrace_user.fnp};
    }
    list[count++] = {"EXECINFO",
                     [](int descriptor) { return gex::os::print_backtrace(descriptor); }};
  }
};

bool enabled(gex::env::Variable variable) noexcept {
  // Where an error is being reported already, a value that is no boolean must not be another.
  const char* text = gex::env::raw(variable);
  return text != nullptr && gex::env::parse_boolean(text).value_or(false);
}

int print_backtrace_if_enabled(int descriptor) {
  return enabled(gex::env::Variable::backtrace) ? gasnett_print_backtrace(descriptor) : 1;
}

/// At load, and in a static link before the client's own constructors, which may call the library:
/// its messages follow the environment, and every fatal error prints its backtrace through the
/// client's pointer.
[[gnu::constructor(101)]] void prepare_messages() {
  gex::follow_error_environment();
  gex::set_error_backtrace(
      [](int descriptor) { return gasnett_print_backtrace_ifenabled(descriptor); });
}

}  // namespace

int (*gasnett_print_backtrace_ifenabled)(int fd) = &print_backtrace_if_enabled;

void gex_fatalerror_at_(const char* file, int line, const char* function, const char* format, ...) {
  char place[512];
  std::snprintf(place, sizeof place, "in %s at %s:%d: ", function, file, line);
  std::va_list arguments;
  va_start(arguments, format);
  gex::client_fatal(place, format, arguments);
}

void gasnett_fatalerror_nopos(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  gex::client_fatal("", format, arguments);
}

char* gex_current_loc_(const char* file, int line, const char* function) {
  char* text = nullptr;
  if (::asprintf(&text, "%s at %s:%d", function, file, line) < 0) {
    gex::fatal("gasnett_current_loc: out of memory");
  }
  return text;
}

void gasnett_backtrace_init(const char* exename) {
  static_cast<void>(exename);  // the kernel has the path
  gex::os::prepare_backtrace();
}

int gasnett_print_backtrace(int fd) {
  const Mechanisms mechanisms;
  const char* wanted = gex::env::raw(gex::env::Variable::backtrace_type);
  const auto try_one = [fd](const Mechanism& mechanism) { return mechanism.print(fd) == 0; };
  if (wanted == nullptr || gex::env::trimmed(wanted).empty()) {
    for (std::size_t i = 0; i < mechanisms.count; ++i) {
      if (try_one(mechanisms.list[i])) return 0;
    }
    return 1;
  }
  for (std::string_view rest = wanted; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view name = gex::env::trimmed(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    bool known = false;
    for (std::size_t i = 0; i < mechanisms.count; ++i) {
      if (name != mechanisms.list[i].name) continue;
      known = true;
      if (try_one(mechanisms.list[i])) return 0;
    }
    if (!known) {
      gex::note("GASNET_BACKTRACE_TYPE: there is no backtrace mechanism '%.*s' here",
                static_cast<int>(name.size()), name.data());
    }
  }
  return 1;
}

void gasnett_freezeForDebuggerNow(volatile int* flag, const char* flag_name) {
  gex::os::freeze(flag, flag_name);
}

void gasnett_freezeForDebuggerErr() {
  if (enabled(gex::env::Variable::freeze_on_error)) {
    gex::os::freeze(&gex_tools_frozen, "gex_tools_frozen");
  }
}

void gasnett_killmyprocess(int exit_code) {
  gex::os::exit_at_once(exit_code);
}

gasnett_sighandlerfn_t gasnett_reghandler(int signal_number, gasnett_sighandlerfn_t handler) {
  const gasnett_sighandlerfn_t before = std::signal(signal_number, handler);
  if (before == SIG_ERR) {
    gex::fatal("gasnett_reghandler: signal %d: %s", signal_number, std::strerror(errno));
  }
  return before;
}
