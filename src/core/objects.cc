#include "core/objects.h"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace gex {

constinit gex_EP_t detail::endpoint_table[endpoint_addresses] = {};

namespace {

constinit gex_Client_t clients[max_clients] = {};
constinit std::mutex creating_endpoints;

}  // namespace

gex_Client_t find_client(const char* name) noexcept {
  for (const gex_Client_t client : clients)
    if (client != nullptr && client->name == name) return client;
  return nullptr;
}

gex_Client_t gasnet1_client() noexcept {
  for (const gex_Client_t client : clients)
    if (client != nullptr && (client->flags & GEX_FLAG_USES_GASNET1) != 0) return client;
  return clients[0];
}

bool has_several_clients() noexcept {
  return clients[1] != nullptr;
}

gex_Client_t create_client(const char* name, gex_Flags_t flags) {
  auto* const place = std::find(std::begin(clients), std::end(clients), nullptr);
  if (place == std::end(clients)) return nullptr;
  auto* client = new _gex_Client;
  client->name = name;
  client->flags = flags;
  client->index = static_cast<std::uint8_t>(place - clients);
  client->endpoint = create_endpoint(client, GEX_EP_CAPABILITY_ALL, 0);
  *place = client;
  return client;
}

gex_EP_t create_endpoint(gex_Client_t client, gex_EP_Capabilities_t capabilities,
                         gex_Flags_t flags) {
  const std::lock_guard lock(creating_endpoints);
  unsigned index = 0;
  while (index < max_endpoints && find_endpoint(client->index, index) != nullptr) ++index;
  if (index == max_endpoints) return nullptr;
  auto* endpoint = new _gex_EP{};
  endpoint->client = client;
  endpoint->flags = flags;
  endpoint->index = static_cast<gex_EP_Index_t>(index);
  endpoint->capabilities = capabilities;
  detail::endpoint_table[endpoint->address()] = endpoint;
  return endpoint;
}

}  // namespace gex
