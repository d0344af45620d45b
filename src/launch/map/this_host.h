#pragma once

#include <string>

namespace gex::launch {

/// Returns true if the text is a name of this host, in either case and with or without its domain,
/// or a numeric address of it.
bool is_this_host(const std::string& text);

}  // namespace gex::launch
