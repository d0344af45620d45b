#include "core/objects.h"

namespace gex {

gex_Client_t detail::the_client = nullptr;
gex_EP_t detail::endpoint_table[endpoint_addresses];

gex_Client_t create_client(const char* name, gex_Flags_t flags) {
  auto* client = new _gex_Client;
  client->name = name;
  client->flags = flags;
  auto* endpoint = new _gex_EP{};
  endpoint->client = client;
  client->endpoint = endpoint;
  detail::endpoint_table[client->index | endpoint->index << 4] = endpoint;
  detail::the_client = client;
  return client;
}

}  // namespace gex
