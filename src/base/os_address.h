#pragma once
// Numeric addresses as names of hosts.

#include <string>
#include <string_view>

namespace gex::os {

/// Returns true if the text is an IPv6 address, which may end in a zone ("fe80::1%eth0").
bool is_ipv6_address(std::string_view text);

/// Returns true if the text is a numeric address of this host.
bool is_own_address(const std::string& text);

}  // namespace gex::os
