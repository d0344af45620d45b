#pragma once
// The rows that a command line asks for, and those of them that this machine has too few cores for.

#include <string>
#include <vector>

#include "measure.h"

namespace gexperf {

/// A reason why a word names no rows; empty if it is a group or the name of a row.
std::string check_word(const std::string& word);

/// The rows that `words` name, in the order of the catalogue; without any, all usual ones.
std::vector<const Row*> select_rows(const std::vector<std::string>& words);

/// The reason why a row is left out on this machine; empty if it is measured.
std::string reason_to_leave_out(const Plan& plan, const Row& row);

/// Messages about the rows that are left out, one for each reason.
std::vector<std::string> left_out_messages(const Plan& plan, const std::vector<const Row*>& rows);

/// The rows with the cores that they need, the reason why they are left out, if they are, and what
/// they measure.
std::string list_rows(const Plan& plan, const std::vector<const Row*>& rows, bool json);

/// The processors that may be used, and how many physical cores they are; `hardware_threads`: count
/// each of a core's processors as a core.
void find_processors(Plan& plan, bool hardware_threads);

}  // namespace gexperf
