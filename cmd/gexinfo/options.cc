#include "options.h"

namespace gexinfo {

namespace {

constexpr const char* usage =
    R"(Usage: gexinfo [OPTION]...
Prints what this libgex and this machine can do: version, networks, limits, memory, and what was
probed and chosen here and why. Started by gexrun it describes that job (rank 0 prints); alone, a
job of one rank.

      --env      print every environment variable that libgex reads instead: its value and where
                 that comes from, its default, its meaning
      --pairs    print instead which way messages go between the ranks of this job, with the limits
                 of that way and why there is no better one, for each class of pairs; alone, what
                 jobs that are started here would have
      --matrix   the same, and the class of every pair
      --json     print one JSON value, of the same content
  -h, --help     print this and exit
      --version  print the version and exit

Exit status: 2 for a wrong command line; 1 when the environment asks for what cannot be had, as it
would be for any program of libgex.
)";

enum LongOption { environment = 256, json, pairs, matrix, version };

constexpr option long_options[] = {
    {"env", no_argument, nullptr, environment},
    {"json", no_argument, nullptr, json},
    {"pairs", no_argument, nullptr, pairs},
    {"matrix", no_argument, nullptr, matrix},
    {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, version},
    {nullptr, 0, nullptr, 0},
};

}  // namespace

Reading read_command_line(int count, char** arguments) {
  Options options;
  const gex::cmd::OptionReader reader("gexinfo", count, arguments, "h", long_options);
  for (int found; (found = reader.next()) != -1;) {
    switch (found) {
      case environment:
        options.environment = true;
        break;
      case json:
        options.json = true;
        break;
      case matrix:
        options.matrix = true;
        [[fallthrough]];
      case pairs:
        options.pairs = true;
        break;
      case 'h':
        return {{}, usage, 0};
      case version:
        return reader.version<Options>();
      default:
        return reader.refuse_option<Options>(found);
    }
  }
  if (!reader.rest().empty())
    return reader.refuse<Options>(std::string("unexpected argument '") + reader.rest().front() +
                                  "'");
  if (options.environment && options.pairs)
    return reader.refuse<Options>("--env and --pairs print different things");
  return {options, {}, 0};
}

}  // namespace gexinfo
