#include "launch/local/core_claims.h"

#include <cerrno>
#include <string>
#include <utility>

#include "base/os_name_claim.h"

namespace gex::launch {

namespace {

os::FileDescriptor claim(std::uint32_t core) {
  return os::claim_name("libgex-ranks-on-processor-" + std::to_string(core));
}

}  // namespace

CoreClaims::Refusal CoreClaims::claim_all(std::span<const std::uint32_t> rising) {
  std::vector<os::FileDescriptor> sockets;
  for (const std::uint32_t core : rising) {
    sockets.push_back(claim(core));
    if (!sockets.back()) return {errno, core};
  }
  sockets_ = std::move(sockets);
  return {};
}

void CoreClaims::claim_free(std::span<const std::uint32_t> cores) {
  for (const std::uint32_t core : cores) {
    if (os::FileDescriptor socket = claim(core)) sockets_.push_back(std::move(socket));
  }
}

}  // namespace gex::launch
