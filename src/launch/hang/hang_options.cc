#include "launch/hang/hang_options.h"

#include "base/env.h"
#include "base/error.h"

namespace gex::launch {

std::optional<HangOptions::Action> parse_hang_action(std::string_view text) noexcept {
  if (text == "report") return HangOptions::Action::report;
  if (text == "end") return HangOptions::Action::end;
  return std::nullopt;
}

HangOptions hang_options_of_environment() {
  HangOptions options;
  options.after_s = env::seconds(env::Variable::hang_after);
  options.report_file = env::text(env::Variable::hang_report);
  const std::string text = env::text(env::Variable::hang_action);
  const auto action = parse_hang_action(text);
  if (!action) fatal("GEX_HANG_ACTION='%s': expected report or end", text.c_str());
  options.action = *action;
  return options;
}

}  // namespace gex::launch
