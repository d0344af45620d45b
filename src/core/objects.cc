#include "core/objects.h"

namespace gex {

namespace {
gex_Client_t the_client = nullptr;
}

gex_Client_t only_client() noexcept { return the_client; }

gex_EP_t find_endpoint(unsigned client, unsigned index) noexcept {
  if (the_client == nullptr || client != the_client->index) return nullptr;
  const gex_EP_t endpoint = the_client->endpoint;
  return endpoint != nullptr && endpoint->index == index ? endpoint : nullptr;
}

gex_Client_t create_client(const char* name, gex_Flags_t flags) {
  auto* client = new _gex_Client;
  client->name = name;
  client->flags = flags;
  auto* endpoint = new _gex_EP{};
  endpoint->client = client;
  client->endpoint = endpoint;
  the_client = client;
  return client;
}

}  // namespace gex
