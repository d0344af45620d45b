#pragma once
// UCX has no function that returns its transports: it prints them.

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace gex::net::ucx {

/// The lines that `print` writes to a stream; none if there is no memory for them.
std::vector<std::string> printed_lines(const std::function<void(std::FILE*)>& print);

}  // namespace gex::net::ucx
