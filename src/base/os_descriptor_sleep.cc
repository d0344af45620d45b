#include "base/os_descriptor_sleep.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <ctime>
#include <utility>

namespace gex::os {

namespace {

constexpr std::uint64_t ns_in_second = 1'000'000'000;

/// An abstract name that the kernel has chosen: a zero byte and five hexadecimal digits.
constexpr std::size_t digits = 5;
constexpr socklen_t address_size = offsetof(sockaddr_un, sun_path) + 1 + digits;

sockaddr_un wake_address(std::uint32_t number) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  for (std::size_t i = digits; i != 0; --i, number /= 16)
    address.sun_path[i] = "0123456789abcdef"[number % 16];
  return address;
}

}  // namespace

void sleep_on(std::span<const int> descriptors, std::uint64_t limit_ns) noexcept {
  pollfd polled[max_slept_on];
  const std::size_t count = std::min(descriptors.size(), max_slept_on);
  for (std::size_t i = 0; i < count; ++i) polled[i] = {descriptors[i], POLLIN, 0};
  const timespec limit{static_cast<std::time_t>(limit_ns / ns_in_second),
                       static_cast<long>(limit_ns % ns_in_second)};
  syscall(SYS_ppoll, polled, count, &limit, nullptr, 0);
}

bool WakeSocket::open() noexcept {
  FileDescriptor made(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // An address without a name asks for one.
  const auto* const wanted = reinterpret_cast<const sockaddr*>(&address);
  if (bind(made.get(), wanted, sizeof address.sun_family) != 0) return false;
  socklen_t size = sizeof address;
  if (getsockname(made.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      size != address_size)
    return false;
  std::uint32_t number = 0;
  const char* const first = address.sun_path + 1;
  if (std::from_chars(first, first + digits, number, 16).ptr != first + digits) return false;
  socket_ = std::move(made);
  name_ = number + 1;
  return true;
}

void WakeSocket::drain() noexcept {
  char byte;
  while (syscall(SYS_recvfrom, socket_.get(), &byte, sizeof byte, MSG_DONTWAIT, nullptr, nullptr) >
         0) {
  }
}

void WakeSocket::wake(std::uint32_t name) const noexcept {
  if (name == 0) return;
  const sockaddr_un address = wake_address(name - 1);
  const char byte = 0;
  syscall(SYS_sendto, socket_.get(), &byte, sizeof byte, MSG_DONTWAIT | MSG_NOSIGNAL, &address,
          address_size);
}

}  // namespace gex::os
