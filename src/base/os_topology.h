#pragma once
// Which processors are near one another, and shares of them that keep neighbors together.
//
// A processor here is what the kernel numbers: a hardware thread. A physical core may have several.
// Functions take the root of the file system as their last parameter, "" outside of tests. Set-up
// only: they read files of /sys, about one for each physical core.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gex::os {

/// The numbers of a kernel's list, "0-3,8"; as far as it can be read.
std::vector<std::uint32_t> parse_number_list(std::string_view text);

/// Divides processors into `count` disjoint shares of as many physical cores each, or of as many
/// processors where there are fewer physical cores than shares; none where there are fewer
/// processors than shares, or no shares. Within a share the numbers rise.
///
/// A physical core is never divided unless all are. Shares lie in one package, NUMA node and cache
/// where that is possible; what is left over lies between the shares, not at the end, so that as
/// many as can be keep clear of such borders.
std::vector<std::vector<std::uint32_t>> equal_shares(const std::vector<std::uint32_t>& processors,
                                                     std::uint32_t count,
                                                     const std::string& root = "");

}  // namespace gex::os
