#pragma once
// Options for a job that makes no progress.

#include <optional>
#include <string>
#include <string_view>

namespace gex::launch {

struct HangOptions {
  enum class Action { report, end };

  double after_s = 0;  ///< seconds without progress; 0: the job is not watched
  Action action = Action::report;
  std::string report_file;  ///< also as JSON, to this file; empty: no file
};

/// As GEX_HANG_AFTER, GEX_HANG_ACTION and GEX_HANG_REPORT have it. Ends the process with a message
/// if one of them is malformed.
HangOptions hang_options_of_environment();

/// Empty: there is no such action.
std::optional<HangOptions::Action> parse_hang_action(std::string_view text) noexcept;

}  // namespace gex::launch
