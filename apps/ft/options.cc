#include "options.h"

#include <CLI/CLI.hpp>

namespace ft {

ParsedOptions parse_options(int argc, char** argv, const char* program, const char* library,
                            const std::vector<std::string>& variants) {
  ParsedOptions parsed;
  Options& options = parsed.options;
  std::string names = variants.front();
  for (std::size_t i = 1; i < variants.size(); ++i)
    names += (i + 1 == variants.size() ? " or " : ", ") + variants[i];
  CLI::App app(std::string("NAS FT on ") + library + ": exchange, slabs and pencils", program);
  app.add_option("--class", options.problem, "S, W, A, B, C, D, ...")->required();
  app.add_option("--variant", options.variant, names + "; all of them if not given")
      ->check(CLI::IsMember(variants));
  app.add_option("--iterations", options.iterations, "the first N only")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--padding", options.padding, "unused elements after each row of x")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  app.add_option("--reference", options.reference,
                 "a file of classes and checksums in the form of nas_ft.json");
  app.add_flag("--ranks-info", options.ranks_info, "messages, bytes and seconds of each rank");
  app.add_flag("--json", options.json, "print one JSON object instead of text");
  app.footer("Exit status: 0 when the checksums verify, 1 when not, 2 for a wrong command line.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    parsed.help = app.help();
  } catch (const CLI::ParseError& error) {
    parsed.error = std::string(error.what()) + " (" + program + " --help lists the options)";
  }
  return parsed;
}

}  // namespace ft
