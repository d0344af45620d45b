#pragma once
// Both ends of a TCP connection on this host, like that of a guardian and the root.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <utility>

#include "base/os_file.h"

namespace gex::launch {

inline std::pair<os::FileDescriptor, os::FileDescriptor> tcp_pair() {
  const os::FileDescriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  EXPECT_EQ(bind(listener.get(), where, length), 0);
  EXPECT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(getsockname(listener.get(), where, &length), 0);
  os::FileDescriptor one(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(connect(one.get(), where, length), 0);
  return {std::move(one), os::FileDescriptor(accept(listener.get(), nullptr, nullptr))};
}

}  // namespace gex::launch
