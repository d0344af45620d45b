#pragma once
// Asks the jobs of this user on this machine for reports (report_server.h). Another user's process
// that answers in their place is not trusted, and every wait has a limit.

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace gex::launch {

/// The text with control characters but newlines as "\\x1b": a terminal would obey them.
std::string printable(std::string_view text);

/// A line for each job that answers: the number that `report_of` takes, its program, its ranks.
std::string list_jobs();

enum class ReportFormat { text, json };
/// The report of the job that the process belongs to: its launcher, or one of its ranks here.
/// Empty: there is no such job of this user on this machine.
std::optional<std::string> report_of(pid_t process, ReportFormat format);

}  // namespace gex::launch
