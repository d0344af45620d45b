#pragma once
// Numeric addresses of IPv4 and IPv6 as text.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace gex::launch {

/// "" for an address of another family.
inline std::string address_text(const sockaddr* address) {
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET)
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  else if (address->sa_family == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  char text[INET6_ADDRSTRLEN] = "";
  if (bytes != nullptr) inet_ntop(address->sa_family, bytes, text, sizeof text);
  return text;
}

}  // namespace gex::launch
