#pragma once
// `Address`: where a peer's datagrams go.

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace gex::net {

/// An IPv4 or IPv6 address and port, as the kernel takes it. Its bytes may be given to other
/// processes of any host; addresses that are only valid on one interface (fe80::) are not used.
class Address {
 public:
  Address() = default;
  /// Takes the address that the kernel filled in; empty for another family than AF_INET and
  /// AF_INET6.
  explicit Address(const sockaddr* address) noexcept;
  /// "10.0.0.1", "fd00::1": numbers only, no name is looked up. Empty if it is neither.
  static Address parse(std::string_view text, std::uint16_t port) noexcept;

  bool is_empty() const noexcept { return length_ == 0; }
  bool is_loopback() const noexcept;
  int family() const noexcept { return storage_.sin6_family; }
  std::uint16_t port() const noexcept;
  Address with_port(std::uint16_t port) const noexcept;
  /// "10.0.0.1:4711", "[fd00::1]:4711".
  std::string text() const;
  /// The host alone: "10.0.0.1", "fd00::1".
  std::string host_text() const;

  const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage_); }
  sockaddr* data() noexcept { return reinterpret_cast<sockaddr*>(&storage_); }
  /// Returns the length of `data()`, as the kernel wants it.
  socklen_t length() const noexcept { return length_; }
  /// After the kernel has written to `data()`.
  void set_length(socklen_t length) noexcept { length_ = length; }
  static constexpr socklen_t max_length = sizeof(sockaddr_in6);

  /// The host's number without the port: 4 or 16 bytes, none of an empty address.
  std::span<const std::byte> host_bytes() const noexcept;

  /// Equal host and port; what else an IPv6 address has (flow, scope) does not count.
  bool operator==(const Address& other) const noexcept;

 private:
  sockaddr_in6 storage_{};  ///< or a sockaddr_in, which is shorter and begins alike
  std::uint32_t length_ = 0;
};
static_assert(std::is_trivially_copyable_v<Address> && sizeof(Address) == 32);

}  // namespace gex::net
