#pragma once
// Clients and endpoints as numbers, in a process and in messages.

#include <cstdint>

namespace gex {

/// A message can name so many clients of a process, and endpoints of a client.
inline constexpr unsigned max_clients = 16;
inline constexpr unsigned max_endpoints = 64;

/// A client and one of its endpoints as one number, an endpoint's address in its process.
constexpr unsigned endpoint_address(unsigned client, unsigned endpoint) noexcept {
  return client | endpoint << 4;
}
inline constexpr unsigned endpoint_addresses = max_clients * max_endpoints;

/// The endpoints of a message: client (4 bits), target endpoint (6), source endpoint (6).
struct Endpoints {
  std::uint16_t bits;

  static constexpr Endpoints make(unsigned client, unsigned source, unsigned target) noexcept {
    return {static_cast<std::uint16_t>(endpoint_address(client, target) | source << 10)};
  }
  /// Returns the endpoints of the answer.
  constexpr Endpoints reversed() const noexcept { return make(client(), target(), source()); }
  constexpr unsigned client() const noexcept { return bits & 15U; }
  constexpr unsigned target() const noexcept { return bits >> 4 & 63U; }
  constexpr unsigned source() const noexcept { return bits >> 10; }
  constexpr unsigned target_address() const noexcept { return bits & (endpoint_addresses - 1); }
  constexpr unsigned source_address() const noexcept {
    return endpoint_address(client(), source());
  }
};

}  // namespace gex
