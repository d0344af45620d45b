#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace ft {

namespace {

enum LongOption { problem_class = 256, variant, iterations, padding, reference, ranks_info, json };

constexpr option long_options[] = {
    {"class", required_argument, nullptr, problem_class},
    {"variant", required_argument, nullptr, variant},
    {"iterations", required_argument, nullptr, iterations},
    {"padding", required_argument, nullptr, padding},
    {"reference", required_argument, nullptr, reference},
    {"ranks-info", no_argument, nullptr, ranks_info},
    {"json", no_argument, nullptr, json},
    {"help", no_argument, nullptr, 'h'},
    {nullptr, 0, nullptr, 0},
};

constexpr int max_iterations = 1000000;
constexpr int max_padding = 4096;

std::string listed(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

std::string help_of(const char* program, const char* library,
                    const std::vector<std::string>& variants) {
  return std::string("Usage: ") + program + " --class CLASS [OPTION]...\nNAS FT on " + library +
         R"(: exchange, slabs and pencils.

      --class CLASS     S, W, A, B, C, D, ...
      --variant NAME    )" +
         listed(variants) + R"(; all of them if not given
      --iterations N    the first N only
      --padding N       unused elements after each row of x (default: )" +
         std::to_string(Options{}.padding) + R"()
      --reference FILE  a file of classes and checksums in the form of nas_ft.json
      --ranks-info      messages, bytes and seconds of each rank
      --json            print one JSON object instead of text
  -h, --help            print this and exit

Exit status: 0 when the checksums verify, 1 when not, 2 for a wrong command line.
)";
}

/// The value of an option as a number in a range.
std::optional<int> number_in(int min, int max) {
  const std::string_view text = optarg;
  int number = 0;
  const auto [rest, error] = std::from_chars(text.begin(), text.end(), number);
  if (error != std::errc() || rest != text.end() || number < min || number > max)
    return std::nullopt;
  return number;
}

std::string no_number(const char* name, int min, int max) {
  return std::string(name) + ": '" + optarg + "' is not a number from " + std::to_string(min) +
         " to " + std::to_string(max);
}

/// Takes an option that was read; returns why it is refused, or an empty text.
std::string take(int found, Options& options, const std::vector<std::string>& variants,
                 const char* word) {
  switch (found) {
    case problem_class:
      options.problem = optarg;
      return "";
    case variant:
      options.variant = optarg;
      if (std::ranges::find(variants, options.variant) != variants.end()) return "";
      return "--variant: '" + options.variant + "' is not " + listed(variants);
    case iterations:
      options.iterations = number_in(1, max_iterations).value_or(0);
      return options.iterations != 0 ? "" : no_number("--iterations", 1, max_iterations);
    case padding: {
      const std::optional<int> elements = number_in(0, max_padding);
      if (!elements) return no_number("--padding", 0, max_padding);
      options.padding = static_cast<std::size_t>(*elements);
      return "";
    }
    case reference:
      options.reference = optarg;
      return "";
    case ranks_info:
      options.ranks_info = true;
      return "";
    case json:
      options.json = true;
      return "";
    case ':':
      return std::string("option ") + word + " needs a value";
    default:
      return std::string("unknown option ") + word;
  }
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv, const char* program, const char* library,
                            const std::vector<std::string>& variants) {
  ParsedOptions parsed;
  opterr = 0;
  optind = 1;
  for (int found; parsed.error.empty() &&
                  (found = getopt_long(argc, argv, ":h", long_options, nullptr)) != -1;) {
    if (found == 'h') {
      parsed.help = help_of(program, library, variants);
      return parsed;
    }
    parsed.error = take(found, parsed.options, variants, argv[optind - 1]);
  }
  if (parsed.error.empty() && optind != argc)
    parsed.error = std::string("unexpected argument '") + argv[optind] + "'";
  if (parsed.error.empty() && parsed.options.problem.empty()) parsed.error = "--class is needed";
  if (!parsed.error.empty())
    parsed.error += std::string(" (") + program + " --help lists the options)";
  return parsed;
}

}  // namespace ft
