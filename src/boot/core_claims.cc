#include "boot/core_claims.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace gex::boot {

namespace {

/// A socket with the processor's name; none, with errno.
os::FileDescriptor claim(std::uint32_t core) {
  os::FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The zero byte before it makes a name abstract.
  const int length = std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                                   "libgex-ranks-on-processor-%u", core);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return {};
  return socket;
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

}  // namespace gex::boot
