#pragma once
// Clients, endpoints, segments: what the handles point to.

#include <gasnetex.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/endpoint_address.h"
#include "core/memory.h"

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

/// Handle of a memory kind other than the host's.
struct _gex_MK {
  gex_Client_t client = nullptr;
  const gex::MemoryKind* kind = nullptr;
  std::atomic<std::uint32_t> segments{0};  ///< made of it; relaxed, only a count
};

/// Handle of a segment.
struct _gex_Segment {
  gex_Client_t client = nullptr;
  gex_Flags_t flags = 0;
  const void* client_data = nullptr;
  std::byte* address = nullptr;
  std::uintptr_t size = 0;
  bool shared = false;                    ///< in this process's part of the neighborhood's memory
  const gex::MemoryKind* kind = nullptr;  ///< null: memory of the host
  gex_MK_t made_of = nullptr;             ///< null: memory of the host
  std::shared_ptr<void> memory;           ///< of the library's, not shared; it ends with this
  std::uint32_t bindings = 0;             ///< endpoints it is bound to
  /// With the network (give_to_network, core/segment.h).
  enum class Registration : unsigned char { none, refused, done };
  std::atomic<Registration> registration{Registration::none};
  std::vector<std::uint64_t> key;  ///< the network's, once registered

  bool contains(const void* start, std::size_t bytes) const noexcept {
    const auto offset = static_cast<std::uintptr_t>(static_cast<const std::byte*>(start) - address);
    return offset <= size && bytes <= size - offset;
  }
};

/// Handle of an endpoint; starts with the prefix that inline code reads.
struct _gex_EP : gex_EndpointPrefix_ {
  /// Handler table; entries without a function have one that ends the job (am/handlers.cc).
  gex_AM_Entry_t handlers[256];
  gex_EP_Capabilities_t capabilities;

  unsigned address() const noexcept { return gex::endpoint_address(client->index, index); }
};

namespace gex {

static_assert(GASNET_MAXEPS == max_endpoints);

namespace detail {
extern gex_EP_t endpoint_table[endpoint_addresses];
}  // namespace detail

/// The client of that name, or null.
gex_Client_t find_client(const char* name) noexcept;
/// The client of GASNet-1's calls: the one made with GEX_FLAG_USES_GASNET1, else the first; null
/// before gex_Client_Init.
gex_Client_t gasnet1_client() noexcept;

/// The endpoint at that address of this process, or null.
inline gex_EP_t endpoint_at(unsigned address) noexcept {
  return detail::endpoint_table[address];
}
/// The endpoint with that client and index in this process, or null.
inline gex_EP_t find_endpoint(unsigned client, unsigned index) noexcept {
  return client < max_clients && index < max_endpoints
             ? endpoint_at(endpoint_address(client, index))
             : nullptr;
}

/// Returns true if there are calls of more than one client to expect.
bool has_several_clients() noexcept;

/// Makes a client with its primordial endpoint; null when a process cannot have one more. Names are
/// checked by the caller. One thread at a time.
gex_Client_t create_client(const char* name, gex_Flags_t flags);

/// Makes an endpoint of the client's; null when it cannot have one more. Any thread.
gex_EP_t create_endpoint(gex_Client_t client, gex_EP_Capabilities_t capabilities,
                         gex_Flags_t flags);

}  // namespace gex
