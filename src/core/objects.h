#pragma once
// Clients, endpoints, segments: what the handles point to.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace gex {
class Team;
}

/// Handle of a client.
struct _gex_Client {
  std::string name;
  gex_Flags_t flags = 0;
  const void* client_data = nullptr;
  std::uint8_t index = 0;  ///< in message headers
  gex_EP_t endpoint = nullptr;
  gex_TM_t team = nullptr;
  bool progress_threads_queried = false;
};

/// Handle of a segment.
struct _gex_Segment {
  gex_Client_t client = nullptr;
  gex_Flags_t flags = 0;
  const void* client_data = nullptr;
  std::byte* address = nullptr;
  std::uintptr_t size = 0;

  bool contains(const void* start, std::size_t bytes) const noexcept {
    const auto offset = static_cast<std::uintptr_t>(static_cast<const std::byte*>(start) - address);
    return offset <= size && bytes <= size - offset;
  }
};

/// Handle of an endpoint; starts with the prefix that inline code reads.
struct _gex_EP : gex_EndpointPrefix_ {
  /// Handler table; entries without a function have one that ends the job (am/handlers.cc).
  gex_AM_Entry_t handlers[256];
};

namespace gex {

namespace detail {
extern gex_Client_t the_client;
/// Endpoints by address (Endpoints::target_address in shm/message.h).
inline constexpr unsigned endpoint_addresses = 1024;
extern gex_EP_t endpoint_table[endpoint_addresses];
}  // namespace detail

/// The client of this process, or null before gex_Client_Init.
inline gex_Client_t only_client() noexcept {
  return detail::the_client;
}

/// The endpoint at that address of this process, or null.
inline gex_EP_t endpoint_at(unsigned address) noexcept {
  return detail::endpoint_table[address];
}
/// The endpoint with that client and index in this process, or null.
inline gex_EP_t find_endpoint(unsigned client, unsigned index) noexcept {
  const unsigned address = client | index << 4;
  return client < 16 && address < detail::endpoint_addresses ? endpoint_at(address) : nullptr;
}

/// Makes a client with its primordial endpoint. Names are checked by the caller.
gex_Client_t create_client(const char* name, gex_Flags_t flags);

}  // namespace gex
