#include "net/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace gex::net {

namespace {

const sockaddr_in& v4(const sockaddr_in6& storage) noexcept {
  return reinterpret_cast<const sockaddr_in&>(storage);
}

}  // namespace

Address::Address(const sockaddr* address) noexcept {
  const std::size_t length = address->sa_family == AF_INET    ? sizeof(sockaddr_in)
                             : address->sa_family == AF_INET6 ? sizeof(sockaddr_in6)
                                                              : 0;
  std::memcpy(&storage_, address, length);
  length_ = static_cast<std::uint32_t>(length);
}

Address Address::parse(std::string_view text, std::uint16_t port) noexcept {
  char terminated[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof terminated) return {};
  std::memcpy(terminated, text.data(), text.size());
  terminated[text.size()] = '\0';
  sockaddr_in in{};
  if (inet_pton(AF_INET, terminated, &in.sin_addr) == 1) {
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    return Address(reinterpret_cast<const sockaddr*>(&in));
  }
  sockaddr_in6 in6{};
  if (inet_pton(AF_INET6, terminated, &in6.sin6_addr) == 1) {
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(port);
    return Address(reinterpret_cast<const sockaddr*>(&in6));
  }
  return {};
}

bool Address::is_loopback() const noexcept {
  if (length_ == 0) return false;
  if (family() == AF_INET) return ntohl(v4(storage_).sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&storage_.sin6_addr) != 0;
}

std::uint16_t Address::port() const noexcept {
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  return ntohs(storage_.sin6_port);
}

Address Address::with_port(std::uint16_t port) const noexcept {
  Address result = *this;
  result.storage_.sin6_port = htons(port);
  return result;
}

std::span<const std::byte> Address::host_bytes() const noexcept {
  if (length_ == 0) return {};
  if (family() == AF_INET) return std::as_bytes(std::span(&v4(storage_).sin_addr, 1));
  return std::as_bytes(std::span(&storage_.sin6_addr, 1));
}

std::string Address::host_text() const {
  if (length_ == 0) return "no address";
  char text[INET6_ADDRSTRLEN];
  inet_ntop(family(), host_bytes().data(), text, sizeof text);
  return text;
}

std::string Address::text() const {
  std::string host = host_text();
  if (length_ == 0) return host;
  return (family() == AF_INET ? host : "[" + host + "]") + ":" + std::to_string(port());
}

bool Address::operator==(const Address& other) const noexcept {
  if (length_ != other.length_ || family() != other.family() ||
      storage_.sin6_port != other.storage_.sin6_port)
    return false;
  return std::ranges::equal(host_bytes(), other.host_bytes());
}

}  // namespace gex::net
