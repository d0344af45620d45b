#include "base/os_abstract_name.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace gex::os {

namespace {

int with_address(int (*call)(int, const sockaddr*, socklen_t), int socket,
                 std::string_view name) noexcept {
  sockaddr_un address{};
  if (name.size() > sizeof address.sun_path - 1) {
    errno = ENAMETOOLONG;
    return -1;
  }
  address.sun_family = AF_UNIX;
  // The zero byte before it makes a name abstract.
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return call(socket, reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace

int bind_abstract(int socket, std::string_view name) noexcept {
  return with_address(::bind, socket, name);
}

int connect_abstract(int socket, std::string_view name) noexcept {
  return with_address(::connect, socket, name);
}

}  // namespace gex::os
