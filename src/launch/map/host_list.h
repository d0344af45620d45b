#pragma once
// The short forms in which batch systems write lists of hosts and of numbers.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gex::launch {

/// The names of "n[001-004,7],g5": a comma separates names, and brackets hold numbers or ranges,
/// whose first number has as many digits as all. Several brackets in a name stand for each
/// combination. Empty if the text is no such list, or one of more hosts than a job can have.
std::optional<std::vector<std::string>> expand_host_list(std::string_view list);

/// The numbers of "4(x2),3": 4, 4, 3. Empty if the text is no such list.
std::optional<std::vector<std::uint32_t>> expand_counts(std::string_view list);

}  // namespace gex::launch
