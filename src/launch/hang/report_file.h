#pragma once
// The file of --hang-report, which a report replaces if it is one.

#include <string>

namespace gex::launch {

struct HangReport;

/// Why a report could not be written to the file: its folder is missing or must not be written to,
/// or there is something of that name which is no report. Empty: it could.
std::string why_no_report_file(const std::string& path);

/// Writes the report as JSON. Returns the reason if that fails.
std::string write_report_file(const std::string& path, const HangReport& report);

}  // namespace gex::launch
