#include "options.h"

#include <getopt.h>
#include <gex/version.h>

#include <cstring>

namespace gexinfo {

namespace {

constexpr int usage_error = 2;

constexpr const char* usage =
    R"(Usage: gexinfo [OPTION]...
Says what this libgex and this machine can do: version, networks, limits, memory, and what was
probed and chosen here and why. Started by gexrun it describes that job (rank 0 prints); alone, a
job of one rank.

      --env      print every environment variable that libgex reads instead: its value and where
                 that comes from, its default, its meaning
      --json     print one JSON value, of the same content
  -h, --help     print this and exit
      --version  print the version and exit

Exit status: 2 for a wrong command line; 1 when the environment asks for what cannot be had, as it
would be for any program of libgex.
)";

enum LongOption { environment = 256, json, version };

constexpr option long_options[] = {
    {"env", no_argument, nullptr, environment},
    {"json", no_argument, nullptr, json},
    {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, version},
    {nullptr, 0, nullptr, 0},
};

Reading refuse(const std::string& what) {
  return {{}, "gexinfo: " + what + " (gexinfo --help)\n", usage_error};
}

/// What getopt stopped at, as the user wrote it.
std::string rejected_option(char** arguments) {
  const char* const word = arguments[optind - 1];
  if (std::strncmp(word, "--", 2) == 0) return word;
  return optopt > 0 && optopt < 256 ? std::string("-") + static_cast<char>(optopt) : word;
}

}  // namespace

Reading read_command_line(int count, char** arguments) {
  Options options;
  opterr = 0;
  for (;;) {
    const int found = getopt_long(count, arguments, "+:h", long_options, nullptr);
    if (found == -1) break;
    switch (found) {
      case environment:
        options.environment = true;
        break;
      case json:
        options.json = true;
        break;
      case 'h':
        return {{}, usage, 0};
      case version:
        return {{}, "gexinfo (libgex) " GEX_LIBRARY_VERSION "\n", 0};
      default:
        return refuse("unknown option " + rejected_option(arguments));
    }
  }
  if (optind < count) return refuse(std::string("unexpected argument '") + arguments[optind] + "'");
  return {options, {}, 0};
}

}  // namespace gexinfo
