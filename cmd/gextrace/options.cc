#include "options.h"

#include <cmath>
#include <cstdlib>
#include <optional>

namespace gextrace {

namespace {

constexpr const char* usage =
    R"(Usage: gextrace [OPTION]... FILE...
  or:  gextrace predict --model MODEL [OPTION]... FILE...
Reads the trace that a job has written (gexrun --trace FILE, or GEX_TRACE=FILE): FILE.0, FILE.1 and
so on, one file of each rank. Prints a summary, unless another output is asked for: time by call and
peer, waiting time by cause, bytes by pair of ranks. FILE may also name the file of one rank.
predict: how long the job would take on another machine (gextrace predict --help).

  -o, --perfetto OUT     write the timeline as JSON trace events, which ui.perfetto.dev and
                         chrome://tracing open, with arrows from sends to handlers
      --summary[=text|json]
                         print the summary as text (default) or as one JSON value
      --svg OUT          draw the timeline; for short times, see --from and --to
      --ranks LIST       read these ranks only: numbers and ranges, separated by commas (0-3,7)
      --from S, --to S   what happened between these times only, in seconds since the first event
      --calls PATTERN    calls and handlers of that name only (* and ? as in a shell), with what
                         happened within them; may be repeated
  -h, --help             print this and exit
      --version          print the version and exit

OUT may be -, for standard output. docs/tracing.md explains traces.

Exit status: 0; 1 when FILE cannot be read or OUT not be written; 2 for a wrong command line.
)";

enum LongOption { summary = 256, picture, ranks, from, to, calls, version };

constexpr option long_options[] = {
    {"perfetto", required_argument, nullptr, 'o'}, {"summary", optional_argument, nullptr, summary},
    {"svg", required_argument, nullptr, picture},  {"ranks", required_argument, nullptr, ranks},
    {"from", required_argument, nullptr, from},    {"to", required_argument, nullptr, to},
    {"calls", required_argument, nullptr, calls},  {"help", no_argument, nullptr, 'h'},
    {"version", no_argument, nullptr, version},    {nullptr, 0, nullptr, 0},
};

std::optional<std::int64_t> parse_seconds(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(seconds) || std::abs(seconds) > 1e9)
    return std::nullopt;
  return std::llround(seconds * 1e9);
}

}  // namespace

Reading read_command_line(int count, char** arguments) {
  Options options;
  using Reader = gex::cmd::OptionReader;
  const Reader reader("gextrace", count, arguments, "o:h", long_options, Reader::Dashes::two,
                      Reader::Place::anywhere);
  for (int found; (found = reader.next()) != -1;) {
    const std::string value = reader.value();
    switch (found) {
      case 'o':
        options.perfetto = value;
        break;
      case summary:
        if (!value.empty() && value != "text" && value != "json")
          return reader.refuse<Options>("--summary=" + value + " is neither text nor json");
        options.summary = value == "json" ? SummaryForm::json : SummaryForm::text;
        break;
      case picture:
        options.picture = value;
        break;
      case ranks:
        if (!parse_ranks(value, options.filter.ranks))
          return reader.refuse<Options>("--ranks '" + value + "' is not a list of ranks (0-3,7)");
        break;
      case from:
      case to: {
        const auto at = parse_seconds(value);
        if (!at)
          return reader.refuse<Options>(std::string(found == from ? "--from '" : "--to '") + value +
                                        "' is not a number of seconds");
        (found == from ? options.filter.from : options.filter.to) = *at;
        break;
      }
      case calls:
        options.filter.calls.push_back(value);
        break;
      case 'h':
        return {{}, usage, 0};
      case version:
        return reader.version<Options>();
      default:
        return reader.refuse_option<Options>(found);
    }
  }
  options.files.assign(reader.rest().begin(), reader.rest().end());
  if (options.files.empty()) return reader.refuse<Options>("the trace to read is missing");
  if (!options.picture.empty() && options.picture == options.perfetto)
    return reader.refuse<Options>("-o and --svg need different files");
  if (options.perfetto.empty() && options.picture.empty() && options.summary == SummaryForm::none)
    options.summary = SummaryForm::text;
  return {std::move(options), {}, 0};
}

}  // namespace gextrace
