#pragma once
// Files by which ranks send one another something without polling. They lie in TMPDIR, which in a
// job of several hosts must be a folder that all of them see.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "conformance.h"

namespace conformance {

/// Collective: the same path on every rank, that of no other job.
inline std::string shared_path(const std::string& name) {
  const char* const folder = std::getenv("TMPDIR");
  return std::string(folder != nullptr ? folder : "/tmp") + "/gex-conformance-" +
         std::to_string(gather(std::uint64_t(getpid()))[0]) + "-" + name;
}

}  // namespace conformance
