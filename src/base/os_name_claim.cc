#include "base/os_name_claim.h"

#include <sys/socket.h>

#include "base/os_abstract_name.h"

namespace gex::os {

FileDescriptor claim_name(const std::string& name) noexcept {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket || bind_abstract(socket.get(), name) != 0) return {};
  return socket;
}

}  // namespace gex::os
