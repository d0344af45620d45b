#pragma once
// Asks the jobs of this user on this machine for reports (report_server.h).

#include <sys/types.h>

#include <optional>
#include <string>

namespace gex::launch {

/// A line for each job that answers: the number that `report_of` takes, its program, its ranks.
std::string list_jobs();

enum class ReportFormat { text, json };
/// The report of the job that the process belongs to: its launcher, or one of its ranks here.
/// Empty: there is no such job of this user on this machine.
std::optional<std::string> report_of(pid_t process, ReportFormat format);

}  // namespace gex::launch
