#include "core/objects.h"

namespace gex {

gex_Client_t detail::the_client = nullptr;

gex_Client_t create_client(const char* name, gex_Flags_t flags) {
  auto* client = new _gex_Client;
  client->name = name;
  client->flags = flags;
  auto* endpoint = new _gex_EP{};
  endpoint->client = client;
  client->endpoint = endpoint;
  detail::the_client = client;
  return client;
}

}  // namespace gex
